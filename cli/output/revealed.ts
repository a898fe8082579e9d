import type { Json } from '../../kernel/index.ts'
import type { Session } from '../session.ts'

/** In place of a secret that nobody asked to see, so that a script can tell hidden from absent (ecosystem 1.4). */
const REDACTED: { readonly redacted: true; readonly hint: string } = {
  redacted: true,
  hint: '--reveal'
}

/** A secret for scripts: itself with `--reveal`, a mark without, null where there is none. */
export const secretJson = (session: Pick<Session, 'isOn'>, secret: string | undefined): Json => {
  if (secret === undefined) return null
  return session.isOn('reveal') ? secret : { ...REDACTED }
}

/** The same for people. */
export const secretText = (session: Pick<Session, 'isOn'>, secret: string | undefined): string => {
  if (secret === undefined) return 'none'
  return session.isOn('reveal') ? secret : '(hidden; see it with --reveal)'
}
