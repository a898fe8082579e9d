import type { ErrorEntry, NoDetails } from './entry.ts'

/** Details of the failures of boxes, files, keys, wallets, plugins and the kernel itself (specification §5, §8). */
export interface SystemErrorDetails {
  UNKNOWN_ENCRYPTION: NoDetails
  /** A wrong key, a wrong length or a changed box; `part` says which check failed, for the log only. */
  INVALID_CHECKSUM: NoDetails
  INVALID_PADDING: NoDetails
  /** Scrypt parameters outside the bounds that this device accepts. */
  SNRP_REFUSED: { rule: string }
  LOBBY_INTEGRITY: NoDetails
  KEY_INTEGRITY: { rule: string }
  LOST_CHILDREN: NoDetails
  WALLET_ID_UNKNOWN: { walletId: string }
  WALLET_ID_INVALID: { walletId: string }
  WALLET_NOT_FOUND: { walletId: string }
  WALLET_NOT_LOADED: NoDetails
  WALLET_MISSING: NoDetails
  WALLET_ALREADY_SPLIT: NoDetails
  SPLIT_SEGWIT: NoDetails
  TX_NOT_FOUND: { txid: string }
  IMPORT_UNSUPPORTED: NoDetails
  IMPORT_INVALID: { rule: string }
  NOT_SUPPORTED: { what: string }
  /** A number or word that a call does not take. `option` names it, `rule` says what was expected. */
  OPTION_INVALID: { option: string; rule: string }
  FIAT_CODE: NoDetails
  TOKEN_NOT_FOUND: { tokenId: string }
  ITEM_NOT_FOUND: { itemId: string }
  FOLDER_NAME: NoDetails
  /** `reason`: the sentence that the plugin threw when it was loaded. */
  PLUGIN_FOR_TYPE: { walletType: string; pluginId?: string; reason?: string }
  /** `reasons`: the sentence of each plugin, in the same order. */
  PLUGINS_MISSING: { pluginIds: readonly string[]; reasons?: readonly string[] }
  PLUGINS_LOCKED: NoDetails
  /** A plugin threw, never answered, or was never registered for this. The cause is kept apart. */
  PLUGIN_FAILED: { pluginId: string; hook: string; reason: string }
  /** Something that a plugin says of itself has the wrong shape. `found` describes it; the value itself is not quoted whole. */
  PLUGIN_INVALID: { pluginId: string; field: string; found: string; expected: string; hint?: string }
  BOGUS_TX: { pluginId: string; path: string }
  BOGUS_BALANCE: { pluginId: string }
  /** Any other result of a plugin that has the wrong shape. */
  BOGUS_DATA: { pluginId: string; what: string; path: string }
  /** The hints of rates could not be kept on this device. */
  RATE_HINTS_UNSAVED: NoDetails
  ENGINE_NO_KEY: NoDetails
  ENGINE_FAILED: { pluginId: string; walletId: string; reason: string }
  PATH_REFUSED: { rule: string }
  /** A file that cannot be read; it is kept under `keptAs`, and never taken for empty. */
  CORRUPT_FILE: { path: string; keptAs?: string; rule: string }
  STORAGE_FULL: { path: string }
  /** `mayBeSaved`: the disk has taken the change and did not confirm it. `txid`: of a payment whose note it was; nothing has been sent. */
  STORAGE_FAILED: { path: string; reason: string; mayBeSaved?: true; txid?: string }
  /** The storage did not answer in time. `txid`: of a payment whose note it was; nothing has been sent. */
  STORAGE_TIMEOUT: { path: string; what: 'read' | 'write' | 'later write' | 'close'; txid?: string }
  STORAGE_LOCKED: { holder: string }
  SYNC_FAILED: { reason: string }
  SYNC_OLD_STATE: { files: number }
  REPO_LIMIT: { count: number }
  QUOTA_EXCEEDED: { pluginId: string; limit: number; what: 'characters' | 'files' }
  KEPT_FILE_UNKNOWN: { keptId: string }
  /** The sync server's version of a file may have been made without its latest edits. */
  SYNC_CONFLICT: { path: string; rule: string }
  REPLY_TOO_LARGE: { source: string; limit: number }
  DEADLINE: { what: string; milliseconds: number }
  /**
   * A server of a chain showed a certificate that is not trusted; nothing was sent to it. `reason`: the name that OpenSSL has for it,
   * or `CHANGED`. `presented` and `pinned` are SHA-256 fingerprints.
   */
  CERTIFICATE_REFUSED: { server: string; reason: string; presented?: string; pinned?: string }
  CONTEXT_CLOSED: NoDetails
  LOGGED_OUT: NoDetails
}

/** OpenSSL's name of error 18. */
const SELF_SIGNED = 'DEPTH_ZERO_SELF_SIGNED_CERT'

type Timeout = SystemErrorDetails['STORAGE_TIMEOUT']['what']

const timeoutMessageOf = (what: Timeout): string => {
  if (what === 'read') return 'The disk has not answered for a minute'
  if (what === 'later write') return 'Nothing is saved: the disk has not answered an earlier write'
  if (what === 'close')
    return 'The disk has not finished an earlier write; the data stays locked until this process ends'
  return 'The disk has not answered for a minute; the change may or may not be saved'
}

const timeoutHintOf = ({ what, txid }: SystemErrorDetails['STORAGE_TIMEOUT']): string => {
  if (what === 'read') return 'Nothing was changed. Check the disk, and try again.'
  const start = 'Saved data is unharmed. Check the disk'
  if (what === 'close') return `${start}, and end the process.`
  if (what === 'later write') return `${start}, and open the wallet again.`
  return unclearHintOf(txid)
}

const unclearHintOf = (txid: string | undefined): string => {
  const payment =
    txid === undefined
      ? ''
      : ` Nothing has been sent yet; if the payment ${txid} was saved after all, the wallet sends it then, so check before you pay again.`
  return `Saved data is unharmed. Check the disk, open the wallet again, and check the result before you repeat the change.${payment}`
}

/** Messages, exit codes and advice for {@link SystemErrorDetails}. */
export const systemErrors: { readonly [C in keyof SystemErrorDetails]: ErrorEntry<SystemErrorDetails[C]> } = {
  UNKNOWN_ENCRYPTION: { name: 'Error', exitCode: 50, message: () => 'Unknown encryption type' },
  INVALID_CHECKSUM: { name: 'Error', exitCode: 50, message: () => 'Invalid checksum' },
  INVALID_PADDING: { name: 'Error', exitCode: 50, message: () => 'Invalid PKCS7 padding' },
  SNRP_REFUSED: {
    name: 'Error',
    exitCode: 50,
    message: ({ rule }) => `These scrypt parameters are refused: ${rule}`
  },
  LOBBY_INTEGRITY: { name: 'Error', exitCode: 52, message: () => 'Lobby ECDH integrity error' },
  KEY_INTEGRITY: { name: 'Error', exitCode: 51, message: ({ rule }) => `Key integrity violation: ${rule}` },
  LOST_CHILDREN: { name: 'Error', exitCode: 51, message: () => 'The server has lost children!' },
  WALLET_ID_UNKNOWN: {
    name: 'Error',
    exitCode: 6,
    message: () => 'Wallet id does not exist in this account',
    next: () => ({ command: 'holdfast wallets list', why: 'see the wallets of this account' })
  },
  WALLET_ID_INVALID: {
    name: 'Error',
    exitCode: 6,
    message: ({ walletId }) => `Invalid wallet id ${walletId}`,
    next: () => ({ command: 'holdfast wallets list', why: 'see the wallets of this account' })
  },
  WALLET_NOT_FOUND: {
    name: 'Error',
    exitCode: 6,
    message: ({ walletId }) => `Invalid wallet: ${walletId} not found`,
    next: () => ({ command: 'holdfast wallets list', why: 'see the wallets of this account' })
  },
  WALLET_NOT_LOADED: {
    name: 'Error',
    exitCode: 61,
    message: () => 'Wallet has not yet loaded',
    retryable: true
  },
  WALLET_MISSING: { name: 'Error', exitCode: 6, message: () => 'Missing Wallet' },
  WALLET_ALREADY_SPLIT: { name: 'Error', exitCode: 24, message: () => 'This wallet has already been split' },
  SPLIT_SEGWIT: {
    name: 'Error',
    exitCode: 7,
    message: () => 'Cannot split segwit-format Bitcoin wallets to Bitcoin Cash'
  },
  TX_NOT_FOUND: {
    name: 'Error',
    exitCode: 6,
    message: ({ txid }) => `There is no transaction ${txid} in this wallet`,
    next: () => ({ command: 'holdfast tx list', why: 'see the transactions' })
  },
  IMPORT_UNSUPPORTED: {
    name: 'Error',
    exitCode: 7,
    message: () => 'This wallet does not support importing keys'
  },
  IMPORT_INVALID: {
    name: 'Error',
    exitCode: 2,
    message: ({ rule }) => `This cannot be imported: ${rule}`,
    hint: () => 'Compare each word and their order with your note. No wallet was created.'
  },
  NOT_SUPPORTED: {
    name: 'Error',
    exitCode: 7,
    message: ({ what }) => `This wallet does not support ${what}`
  },
  OPTION_INVALID: { name: 'Error', exitCode: 2, message: ({ option, rule }) => `The ${option} ${rule}` },
  FIAT_CODE: { name: 'Error', exitCode: 2, message: () => 'Fiat currency codes must start with "iso:"' },
  TOKEN_NOT_FOUND: {
    name: 'Error',
    exitCode: 6,
    message: ({ tokenId }) => `There is no token with id ${tokenId}`
  },
  ITEM_NOT_FOUND: { name: 'Error', exitCode: 6, message: ({ itemId }) => `No item named "${itemId}"` },
  FOLDER_NAME: { name: 'Error', exitCode: 50, message: () => "folder name doesn't match" },
  PLUGIN_FOR_TYPE: {
    name: 'Error',
    exitCode: 4,
    message: ({ walletType }) => `Cannot find a currency plugin for wallet type ${walletType}`,
    hint: ({ pluginId, reason }) =>
      reason === undefined ? undefined : `The plugin ${pluginId} failed to load: ${reason}`
  },
  PLUGINS_MISSING: {
    name: 'Error',
    exitCode: 4,
    message: ({ pluginIds }) =>
      `The following plugins are missing or failed to load: ${pluginIds.join(', ')}`,
    hint: ({ pluginIds, reasons }) =>
      reasons === undefined ? undefined : pluginIds.map((id, at) => `${id}: ${reasons[at] ?? ''}`).join('; ')
  },
  PLUGINS_LOCKED: {
    name: 'Error',
    exitCode: 4,
    message: () => 'The plugin list has already been locked'
  },
  PLUGIN_FAILED: {
    name: 'Error',
    exitCode: 60,
    message: ({ pluginId, hook, reason }) => `The plugin ${pluginId} failed in ${hook}: ${reason}`
  },
  PLUGIN_INVALID: {
    name: 'Error',
    exitCode: 60,
    message: ({ pluginId, field, found, expected }) =>
      `The plugin ${pluginId} cannot be used: ${field} is ${found}, and must be ${expected}`,
    hint: ({ hint }) => hint
  },
  BOGUS_TX: { name: 'Error', exitCode: 60, message: () => 'Plugin sent bogus tx' },
  BOGUS_BALANCE: { name: 'Error', exitCode: 60, message: () => 'Plugin sent bogus balance' },
  BOGUS_DATA: { name: 'Error', exitCode: 60, message: ({ what }) => `Plugin sent bogus ${what}` },
  RATE_HINTS_UNSAVED: {
    name: 'Error',
    exitCode: 50,
    message: () => 'Failed to write rateHintCache',
    retryable: true
  },
  ENGINE_NO_KEY: { name: 'Error', exitCode: 61, message: () => 'The engine failed to return a key' },
  ENGINE_FAILED: {
    name: 'Error',
    exitCode: 61,
    message: ({ reason }) => `The wallet could not start: ${reason}`,
    retryable: true
  },
  PATH_REFUSED: { name: 'Error', exitCode: 50, message: ({ rule }) => `A path ${rule}` },
  CORRUPT_FILE: {
    name: 'Error',
    exitCode: 50,
    message: ({ path, rule }) => `The file ${path} is damaged: ${rule}`,
    hint: ({ keptAs }) => (keptAs === undefined ? 'The file stays as it was.' : `It is kept as ${keptAs}.`)
  },
  STORAGE_FULL: {
    name: 'Error',
    exitCode: 50,
    message: () => 'The disk is full',
    hint: () => 'Free some space and try again. Saved data is unharmed.',
    retryable: true
  },
  STORAGE_FAILED: {
    name: 'Error',
    exitCode: 50,
    message: ({ reason, mayBeSaved }) =>
      `The disk failed: ${reason}${mayBeSaved === true ? '; the change may or may not be saved' : ''}`,
    hint: ({ mayBeSaved, txid }) => (mayBeSaved === true ? unclearHintOf(txid) : undefined)
  },
  STORAGE_TIMEOUT: {
    name: 'Error',
    exitCode: 50,
    message: ({ what }) => timeoutMessageOf(what),
    hint: timeoutHintOf
  },
  STORAGE_LOCKED: {
    name: 'Error',
    exitCode: 8,
    message: ({ holder }) => `The data folder is in use by ${holder}`,
    hint: () => 'Wait until it ends, or stop it, and try again.',
    retryable: true
  },
  SYNC_FAILED: {
    name: 'NetworkError',
    exitCode: 20,
    message: ({ reason }) => `The sync servers failed: ${reason}`,
    hint: () => 'Changes are saved on this device; the next sync uploads them.',
    retryable: true
  },
  SYNC_OLD_STATE: {
    name: 'Error',
    exitCode: 21,
    message: ({ files }) =>
      `A sync server had an older state${files === 0 ? '' : ` of ${files} ${files === 1 ? 'file' : 'files'}`}; this device keeps its newer files`,
    hint: () =>
      'The next sync uploads them again. If this error returns, the server loses data or lies: keep a device that has everything.'
  },
  REPO_LIMIT: {
    name: 'Error',
    exitCode: 21,
    message: ({ count }) => `A sync server has ${count} files that do not open; they were not downloaded`,
    hint: () => 'This limit keeps them from filling the disk. All other files were synced.'
  },
  QUOTA_EXCEEDED: {
    name: 'Error',
    exitCode: 50,
    message: ({ pluginId, limit, what }) =>
      `The plugin ${pluginId} may store at most ${limit} ${what} on this device`,
    hint: () => 'The plugin goes on with the data that it has stored. Report this to its author.'
  },
  KEPT_FILE_UNKNOWN: {
    name: 'Error',
    exitCode: 6,
    message: ({ keptId }) => `There is no kept file ${keptId}`,
    hint: () => 'Deleted and replaced files are kept for 30 days: holdfast data recover lists them.'
  },
  SYNC_CONFLICT: {
    name: 'Error',
    exitCode: 21,
    message: ({ path, rule }) => `The file ${path} was changed in two places: ${rule}`,
    hint: () =>
      'Check its content, and change it again if an edit is missing; holdfast data recover lists the kept files.'
  },
  REPLY_TOO_LARGE: {
    name: 'Error',
    exitCode: 21,
    message: ({ source, limit }) => `The reply of ${source} is larger than ${limit} bytes`
  },
  CERTIFICATE_REFUSED: {
    name: 'NetworkError',
    exitCode: 20,
    message: ({ server, reason, presented, pinned }) => {
      if (pinned !== undefined)
        return `The certificate of ${server} has changed: SHA-256 ${presented ?? 'unknown'}, pinned is ${pinned}. If the operator confirms the new one: holdfast profile trust --forget ${server}`
      if (reason === SELF_SIGNED && presented !== undefined)
        return `The certificate of ${server} is self-signed and not pinned: SHA-256 ${presented}. If the operator confirms it: holdfast profile trust`
      return `The certificate of ${server} is refused: ${reason}`
    },
    hint: () =>
      'holdfast profile trust shows the certificates of a profile and pins them; holdfast profile trust --forget <server> forgets one.'
  },
  DEADLINE: {
    name: 'Error',
    exitCode: 8,
    message: ({ what, milliseconds }) => `${what} took longer than ${milliseconds / 1000} seconds`,
    retryable: true
  },
  CONTEXT_CLOSED: { name: 'Error', exitCode: 3, message: () => 'The context has been closed' },
  LOGGED_OUT: { name: 'Error', exitCode: 3, message: () => 'The account is logged out' }
}
