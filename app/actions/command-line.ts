import type { PluginId, TokenId, Txid, WalletId } from '../../kernel/index.ts'
import { safeText, shellWord } from '../format/safe-text.ts'
import type {
  ApprovedDraft,
  DraftRequest,
  QuotesRequest,
  ReplaceRequest,
  SpendDraftInput,
  SpendRequest,
  SweepRequest
} from './spend-review.ts'

/** The name or id of a wallet on a command line. */
export interface WalletArgument {
  /** Its name if only it is meant by that, else its id. */
  readonly word: string
  /** The account to name, if there are several. */
  readonly account?: string
}

/** Looks up the names that commands use for the ids in actions; `commandNamesOf` takes them from a view. */
export interface CommandNames {
  /** The username of an account, or its id. */
  userOf(accountId: string): string
  /** The account to name in a command about it, if there are several. */
  accountFlagOf(accountId: string): string | undefined
  walletOf(walletId: WalletId): WalletArgument
  /** An amount of a wallet as commands take it; `tokenId` left out: of its coin. */
  amountOf(native: string, walletId: WalletId, tokenId?: TokenId): string
  /** The owner of a repo; undefined for an unknown repo. */
  repoOf(repoId: string): { readonly accountId: string; readonly walletId?: WalletId } | undefined
  /** The payment that a draft was made of, the one that it replaces, or the quote that it approves. */
  draftOf(draftId: string): SpendDraftInput | undefined
  /** The provider of a quote, and the request that the quote answers. */
  quoteOf(quoteId: string): { readonly pluginId: PluginId; readonly requested: QuotesRequest } | undefined
  /** One of the quotes of a round. */
  quoteIdOf(roundId: string): string
}

/**
 * Writes a command to be pasted into a shell (architecture decision 24). Passwords and PINs are never in it: the command
 * asks for them (pure).
 */
export const shellLine = ({ words, flags }: CommandWords): string => {
  const typed = Object.entries(flags ?? {}).flatMap(([name, value]) => flagWords(name, value))
  return ['holdfast', ...words.map(safeText), ...typed].map(shellWord).join(' ')
}

/** A command that does the same as an action. */
export interface CommandWords {
  readonly words: readonly string[]
  /** By name; a flag that is undefined or false is left out. */
  readonly flags?: Readonly<Record<string, string | readonly string[] | boolean | undefined>>
}

const flagWords = (
  name: string,
  value: string | readonly string[] | boolean | undefined
): readonly string[] => {
  if (value === undefined || value === false) return []
  if (value === true) return [`--${name}`]
  if (typeof value !== 'string') return value.flatMap(each => flagWords(name, each))
  // A value that begins with a dash would be taken for a flag.
  return value.startsWith('-') ? [`--${name}=${safeText(value)}`] : [`--${name}`, safeText(value)]
}

/** Commands trim what is typed here, and take a dash at the start for a flag. */
export const trimmed = (text: string): string => (text.startsWith('-') ? ` ${text}` : text)

export const aboutWallet =
  (...words: readonly string[]) =>
  ({ walletId }: { readonly walletId: WalletId }, names: CommandNames): CommandWords => {
    const { word, account } = names.walletOf(walletId)
    return { words: [...words, word], flags: { account } }
  }

export const aboutPayment =
  (command: string) =>
  (
    { walletId, txid }: { readonly walletId: WalletId; readonly txid: Txid },
    names: CommandNames
  ): CommandWords => {
    const { word, account } = names.walletOf(walletId)
    return { words: ['tx', command, word, txid], flags: { account } }
  }

export const send = (request: SpendRequest & Partial<DraftRequest>, names: CommandNames): CommandWords => {
  const { walletId, tokenId, publicAddress, nativeAmount, others = [], replaces } = request
  const { memos = [], notes, withUnconfirmed, coins } = request
  const { word, account } = names.walletOf(walletId)
  const amountOf = (native: string): string => names.amountOf(native, walletId, tokenId)
  const amounts =
    nativeAmount === undefined
      ? 'max'
      : [nativeAmount, ...others.map(other => other.nativeAmount)].map(amountOf)
  const to = [publicAddress, ...others.map(other => other.publicAddress)]
  if (replaces !== undefined)
    return {
      words: ['tx', 'replace', word, replaces],
      flags: { to, amount: amounts, ...feeFlags(request), account }
    }
  return {
    words: ['send', word],
    flags: {
      ...{ token: tokenId, to, amount: amounts, coin: coins, ...feeFlags(request) },
      memo: memos.map(({ type, value }) => `${type}:${value}`),
      ...notes,
      ...{ unconfirmed: withUnconfirmed === true, 'no-unconfirmed': withUnconfirmed === false, account }
    }
  }
}

/** The flags of a fee. */
const feeFlags = ({
  fee,
  customFee = {}
}: Pick<SpendRequest, 'customFee' | 'fee'>): Required<CommandWords>['flags'] => ({
  fee: Object.keys(customFee).length === 0 ? fee : undefined,
  'custom-fee': Object.entries(customFee).map(([name, value]) => `${name}=${value}`)
})

export const replace = ({ walletId, txid, ...fee }: ReplaceRequest, names: CommandNames): CommandWords => {
  const { word, account } = names.walletOf(walletId)
  return { words: ['tx', 'replace', word, txid], flags: { ...feeFlags(fee), account } }
}

/** The command that hastens a payment by a second one. */
export const bump = ({ walletId, txid, ...fee }: ReplaceRequest, names: CommandNames): CommandWords => {
  const { words, flags } = aboutPayment('bump')({ walletId, txid }, names)
  return { words, flags: { ...feeFlags(fee), ...flags } }
}

/** The command that sweeps keys, which it asks for. */
export const sweep = (
  { walletId, withUnconfirmed, maxNetworkFee, ...fee }: Omit<SweepRequest, 'privateKeys'>,
  names: CommandNames
): CommandWords => {
  const { word, account } = names.walletOf(walletId)
  const most = maxNetworkFee === undefined ? undefined : `${maxNetworkFee} native`
  const flags = { ...feeFlags(fee), 'max-fee': most, unconfirmed: withUnconfirmed, account }
  return { words: ['sweep', word], flags }
}

export const dry = ({ words, flags }: CommandWords): CommandWords => ({
  words,
  flags: { ...flags, 'dry-run': true }
})

/** The flags that ask for quotes. */
export const swapFlags = (
  { fromWalletId, toWalletId, fromTokenId, toTokenId, nativeAmount, quoteFor, ...options }: QuotesRequest,
  names: CommandNames
): Required<CommandWords>['flags'] => {
  const [from, to] = [names.walletOf(fromWalletId), names.walletOf(toWalletId)]
  const amount =
    quoteFor === 'to'
      ? names.amountOf(nativeAmount, toWalletId, toTokenId)
      : names.amountOf(nativeAmount, fromWalletId, fromTokenId)
  return {
    from: fromTokenId === undefined ? from.word : `${from.word}:${fromTokenId}`,
    to: toTokenId === undefined ? to.word : `${to.word}:${toTokenId}`,
    amount: quoteFor === 'max' ? 'max' : amount,
    for: quoteFor === 'to' ? 'to' : undefined,
    prefer: options.preferPluginId,
    'prefer-type': options.preferType,
    disable: options.disabled,
    timeout: options.waitMs === undefined ? undefined : `${options.waitMs}ms`,
    promo: Object.entries(options.promoCodes ?? {}).map(([provider, code]) => `${provider}=${code}`),
    account: from.account
  }
}

export const takeQuote = (quoteId: string, names: CommandNames): CommandWords => {
  const known = names.quoteOf(quoteId)
  if (known === undefined) return { words: ['swap', 'approve', quoteId] }
  return { words: ['swap', 'run'], flags: { ...swapFlags(known.requested, names), prefer: known.pluginId } }
}

/** Undefined for a draft that nobody knows, as after a reload: it cannot be approved either. */
export const approve = (
  { draftId, maxNetworkFee, again = [] }: ApprovedDraft,
  names: CommandNames
): CommandWords | undefined => {
  const draft = names.draftOf(draftId)
  if (draft === undefined) return undefined
  if ('proposalId' in draft) return { words: ['proposals', 'approve', draft.proposalId] }
  const { words, flags } = draftWords(draft, names)
  const most = maxNetworkFee === undefined ? undefined : `${maxNetworkFee} native`
  return { words, flags: { ...flags, 'max-fee': most, again: again.length > 0 } }
}

const draftWords = (
  draft: Exclude<SpendDraftInput, { readonly proposalId: string }>,
  names: CommandNames
): CommandWords => {
  if ('quoteId' in draft) return takeQuote(draft.quoteId, names)
  if ('bumped' in draft) return bump(draft.bumped, names)
  if ('swept' in draft) return sweep(draft.swept, names)
  return 'txid' in draft ? replace(draft, names) : send(draft, names)
}

export const giveUp = (
  input: { readonly draftId: string },
  names: CommandNames
): CommandWords | undefined => {
  const draft = names.draftOf(input.draftId)
  // A proposal goes on waiting.
  if (draft === undefined || 'proposalId' in draft) return undefined
  return dry(draftWords(draft, names))
}
