import type { Account, Json } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import type { CommandResult } from '../command-result.ts'
import { CliError } from '../errors/cli-error.ts'
import { writeOutputFile } from '../output/output-file.ts'
import { qrLines } from '../output/qr.ts'
import { confirmTyped } from '../session/confirm-typed.ts'
import { findListing } from '../session/find-wallet.ts'
import type { Session } from '../session.ts'

/**
 * Shows the keys of a wallet: public ones, or, with `--reveal`, private ones. Each run logs in anew, which is the fresh
 * authentication; a file of private keys has to be confirmed by typing (ecosystem 1.4).
 */
export const walletsKeys: CommandRun = async (session, text = '') => {
  const isRaw = session.isOn('raw')
  if (session.isOn('private') && session.isOn('public'))
    throw new CliError('USAGE', 'Choose one of --public and --private')
  const isPrivate = session.isOn('private') || (isRaw && !session.isOn('public'))
  const path = session.text('output')
  const isRevealed = !isPrivate || session.isOn('reveal')
  if (!isRevealed && (path !== undefined || session.isOn('qr'))) {
    throw new CliError(
      'USAGE',
      'A private key in a file or a drawing can be read by everybody who finds it',
      {
        hint: 'Say --reveal, too.'
      }
    )
  }
  const { walletId, type } = await findListing(session, text)
  const facts = { walletId, type, kind: isPrivate ? 'private' : 'public', form: isRaw ? 'raw' : 'display' }
  if (isPrivate && path !== undefined) {
    await confirmTyped(session, {
      question: 'The file will hold what can spend everything in this wallet.',
      name: walletId.slice(0, TYPED),
      summary: { ...facts, file: path }
    })
  }
  const keys = isRevealed
    ? await readKeys(await session.account(), walletId, { isPrivate, isRaw })
    : undefined
  if (path !== undefined) {
    await writeOutputFile(path, `${textOf(keys)}\n`, session.isOn('force'))
    return { data: { ...facts, file: path }, view: { kind: 'record', fields: [['file', path]] } }
  }
  if (isPrivate && isRevealed) session.talk.warn('whoever sees this can spend everything in the wallet')
  return {
    data: { ...facts, keys: keys ?? { redacted: true, hint: '--reveal' } },
    view: await viewOf(session, keys)
  }
}

/** How much of the wallet's id has to be typed. */
const TYPED = 8

interface KeysView {
  readonly isPrivate: boolean
  readonly isRaw: boolean
}

const readKeys = (
  { walletKeys }: Account,
  walletId: string,
  { isPrivate, isRaw }: KeysView
): Promise<Json> => {
  if (isRaw) return isPrivate ? walletKeys.getRawPrivateKey(walletId) : walletKeys.getRawPublicKey(walletId)
  return isPrivate ? walletKeys.getDisplayPrivateKey(walletId) : walletKeys.getDisplayPublicKey(walletId)
}

const textOf = (keys: Json | undefined): string =>
  typeof keys === 'string' ? keys : JSON.stringify(keys, undefined, 2)

const viewOf = async (session: Session, keys: Json | undefined): Promise<CommandResult['view']> => {
  if (keys === undefined) return { kind: 'text', lines: ['(hidden; see it with --reveal)'] }
  const lines = textOf(keys).split('\n')
  if (!session.isOn('qr')) return { kind: 'text', lines }
  const code = typeof keys === 'string' ? keys : JSON.stringify(keys)
  return { kind: 'text', lines: [...(await qrLines(code, session.globals.ascii)), '', ...lines] }
}
