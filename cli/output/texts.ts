import { AsyncLocalStorage } from 'node:async_hooks'
import type { Json } from '../../kernel/index.ts'

/** The time zone of the client whose command an agent runs; without one, that of this process counts. */
export const clientTimeZone: AsyncLocalStorage<string> = new AsyncLocalStorage()

/** Checks a name such as `Asia/Tokyo`; a TZ of another form is none. */
export const isTimeZone = (name: string): boolean => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined
  } catch {
    return false
  }
}

/** Says where an account is kept that no login server knows. */
export const DEVICE_ONLY = 'on this device only'

/** Formats a date in the local time zone: `2026-01-05 10:00`. */
export const localTime = (date: Date): string => {
  const timeZone = clientTimeZone.getStore()
  // Swedish writes dates as ISO does.
  if (timeZone !== undefined) return date.toLocaleString('sv', { timeZone }).slice(0, -':00'.length)
  const two = (value: number): string => String(value).padStart(2, '0')
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`
}

/** Formats a long time in seconds: `7 days`, `90 minutes`. */
export const spanText = (seconds: number): string => {
  const [size, word] = SPANS.find(([unit]) => seconds >= unit && seconds % unit === 0) ?? [1, 'second']
  const count = seconds / size
  return `${count} ${word}${count === 1 ? '' : 's'}`
}

const SPANS: readonly (readonly [seconds: number, word: string])[] = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute']
]

/** Replaces a secret without `--reveal`, so that a script can distinguish hidden from absent (ecosystem 1.4). */
const REDACTED: { readonly redacted: true; readonly hint: string } = {
  redacted: true,
  hint: '--reveal'
}

/** A secret as JSON: itself with `--reveal`, a mark without the flag, null if there is none. */
export const secretJson = (session: { isOn(flag: string): boolean }, secret: string | undefined): Json => {
  if (secret === undefined) return null
  return session.isOn('reveal') ? secret : { ...REDACTED }
}

/** A secret as text, by the same rules. */
export const secretText = (session: { isOn(flag: string): boolean }, secret: string | undefined): string => {
  if (secret === undefined) return 'none'
  return session.isOn('reveal') ? secret : '(hidden; show it with --reveal)'
}

/** Renders a QR code with its quiet zone; two modules a character high, unless in plain ASCII. */
export const qrLines = async (text: string, isAscii: boolean, border = 4): Promise<readonly string[]> => {
  const { renderUnicode, renderUnicodeCompact } = await import('uqr')
  const code = isAscii
    ? renderUnicode(text, { border, whiteChar: '##', blackChar: '  ' })
    : renderUnicodeCompact(text, { border })
  return code.split('\n')
}

/** Returns the link that makes a device with the account offer to approve a request; QR codes carry it. */
export const lobbyLinkOf = (lobbyId: string): string => `edge://edge/${lobbyId}`

/** Parses the lobby id of a link of any scheme and host, or of a bare id. */
export const readLobbyId = (text: string): string =>
  text
    .trim()
    .replace(/[?#].*$/, '')
    .split('/')
    .at(-1) ?? ''
