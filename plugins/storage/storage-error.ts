import { isWalletError, WalletError } from '../../kernel/plugin-api.ts'

/**
 * Turns a failure of a store into an error of the catalogue; a catalogue error stays as it is.
 *
 * The text of the cause is not repeated: it may name folders of this machine.
 */
export const storageErrorOf = (path: string, error: unknown): WalletError => {
  if (isWalletError(error)) return error
  const code = codeOf(error)
  if ((code !== undefined && FULL.has(code)) || (error instanceof Error && isFull(error)))
    return new WalletError('STORAGE_FULL', { path }, error)
  return new WalletError('STORAGE_FAILED', { path, reason: code ?? 'the store threw' }, error)
}

/** The failure of a write that the medium may have taken all the same. One for want of room was not taken. */
export const unconfirmed = (error: WalletError): WalletError =>
  isWalletError(error, 'STORAGE_FAILED')
    ? new WalletError('STORAGE_FAILED', { ...error.details, mayBeSaved: true }, error.cause)
    : error

/**
 * The failure to open a database by its address, of which only the host is said. It has no cause: what a client says may repeat
 * the address with its password.
 */
export const openingErrorOf = (url: string, error: unknown): WalletError => {
  const failure = storageErrorOf('', error)
  if (isWalletError(failure, 'STORAGE_LOCKED')) return failure
  const reason = isWalletError(failure, 'STORAGE_FAILED') ? failure.details.reason : failure.code
  // None at all where a password has letters that belong to an address.
  const server = /^[a-z]+:\/\/(?:[^/?#@]*@)?([A-Za-z0-9.\-[\]:]+)(?:[/?#][^@]*)?$/.exec(url)?.[1] ?? ''
  const words = reason === 'the store threw' ? '' : ` (${reason})`
  return new WalletError('STORAGE_FAILED', {
    path: '',
    reason: `the database${server === '' ? '' : ` at ${server}`} cannot be opened${words}`
  })
}

/** An answer of Redis begins with its code. */
const isFull = ({ name, message }: Error): boolean => FULL.has(name) || message.startsWith('OOM ')

/** Codes of systems and of SQLite, names of browsers; Firefox has one of its own. */
const FULL: ReadonlySet<string> = new Set([
  'ENOSPC',
  'EDQUOT',
  'SQLITE_FULL',
  'QuotaExceededError',
  'NS_ERROR_DOM_QUOTA_REACHED'
])

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
