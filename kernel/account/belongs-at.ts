import { isRecord, tryJsonText } from '../base/json.ts'

/** What a file of a repo says of itself, and how that is checked. */
interface FileKind {
  readonly path: RegExp
  /** Returns true for a value that a file of this kind can hold. */
  isShape(value: unknown): boolean
  /** The text whose hash names the file, and how the path carries it. Left out where nothing in the file names it. */
  readonly identity?: { readonly field: readonly string[]; nameIn(path: string): string | undefined }
  /** Returns true for a path that some clients number, and whose number they give to something else later. */
  isNumbered?(path: string): boolean
}

/**
 * Returns true if the text that a server has for a path of an account's or a wallet's repo belongs there (protocol §3.4, §3.5).
 *
 * A file that names what it is about must go on naming that, or what its path is the hash of; others must keep the shape of
 * their kind. Where the present text has another shape already, and for paths of other apps, everything belongs.
 *
 * @param hashOf - the repo's file-name hash
 */
export const belongsAt = (
  hashOf: (text: string) => string,
  path: string,
  { theirs, present }: { readonly theirs: string; readonly present: string }
): boolean => {
  const kind = KINDS.find(({ path: pattern }) => pattern.test(path))
  if (kind === undefined) return true
  const own = tryJsonText(present)
  if (!kind.isShape(own)) return true
  const value = tryJsonText(theirs)
  if (!kind.isShape(value)) return false
  if (kind.identity === undefined || kind.isNumbered?.(path) === true) return true
  const { field, nameIn } = kind.identity
  const [identity, ownIdentity] = [textAt(value, field), textAt(own, field)]
  if (identity === undefined || identity === ownIdentity) return true
  return hashOf(identity) === nameIn(path)
}

/** The last part of a path without its ending. */
const fileName = (path: string): string => path.slice(path.lastIndexOf('/') + 1).replace(/\.json$/, '')

const hasText = (value: unknown, ...field: readonly string[]): boolean => textAt(value, field) !== undefined

const textAt = (value: unknown, field: readonly string[]): string | undefined => {
  let found = value
  for (const name of field) found = isRecord(found) && Object.hasOwn(found, name) ? found[name] : undefined
  return typeof found === 'string' ? found : undefined
}

const hasField = (value: unknown, ...names: readonly string[]): boolean =>
  isRecord(value) && names.some(name => Object.hasOwn(value, name))

const KINDS: readonly FileKind[] = [
  {
    path: /^transaction\//,
    isShape: value => hasText(value, 'txid'),
    identity: { field: ['txid'], nameIn: path => /-([1-9A-HJ-NP-Za-km-z]+)\.json$/.exec(path)?.[1] }
  },
  {
    path: /^Transactions\//,
    isShape: value => hasText(value, 'state', 'malleableTxId'),
    identity: { field: ['state', 'malleableTxId'], nameIn: () => undefined }
  },
  {
    path: /^Addresses\//,
    isShape: value => hasText(value, 'address'),
    identity: { field: ['address'], nameIn: fileName },
    isNumbered: path => /^\d{1,9}$/.test(fileName(path))
  },
  {
    path: /^Keys\//,
    isShape: value => hasText(value, 'id') && !hasField(value, 'data', 'walletName'),
    identity: { field: ['id'], nameIn: fileName }
  },
  {
    path: /^Plugins\/[^/]+\/Name\.json$/,
    isShape: value => hasText(value, 'name') && !hasField(value, 'data'),
    identity: { field: ['name'], nameIn: path => path.split('/')[1] }
  },
  {
    path: /^Plugins\/[^/]+\/[^/]+$/,
    isShape: value => hasText(value, 'key') && hasText(value, 'data'),
    identity: { field: ['key'], nameIn: fileName }
  },
  {
    path: /^Wallets\//,
    isShape: value => hasText(value, 'MK'),
    identity: { field: ['MK'], nameIn: () => undefined }
  },
  { path: /^WalletName\.json$/, isShape: value => hasField(value, 'walletName') },
  { path: /^Currency\.json$/, isShape: value => hasField(value, 'fiat', 'num') },
  { path: /^Tokens\.json$/, isShape: value => hasField(value, 'enabledTokenIds') },
  { path: /^EnabledTokens\.json$/, isShape: value => Array.isArray(value) },
  { path: /^PluginSettings\.json$/, isShape: value => hasField(value, 'userSettings', 'swapSettings') },
  { path: /^CustomTokens\.json$/, isShape: value => isRecord(value) && isRecord(value.customTokens) }
]
