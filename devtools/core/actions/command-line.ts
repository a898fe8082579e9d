import { compact, type PluginId, type TokenId, type Txid, type WalletId } from '../../../kernel/index.ts'
import type {
  Action,
  ActionName,
  Actions,
  ApprovedDraft,
  ReplaceRequest,
  SpendRequest
} from '../model/actions.ts'
import { amountIn, readAmount, unitsOf } from '../model/amounts.ts'
import type { View } from '../model/slices.ts'
import { safeText, shellWord, UNSAFE_CHARACTERS } from '../text/shell-text.ts'

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
  quoteOf(
    quoteId: string
  ): { readonly pluginId: PluginId; readonly requested: Actions['swap.ask']['in'] } | undefined
  /** One of the quotes of a round. */
  quoteIdOf(roundId: string): string
}

/** The input that a draft was made from. */
export type SpendDraftInput = Actions['spend.draft' | 'spend.replace' | 'swap.review']['in']

/**
 * The command that does the same as an action, to be pasted into a shell (architecture decision 24). Passwords and PINs
 * are not in it: the command asks for them. What leads to a review is the command that shows the same review and asks before
 * it signs; only what signs nothing at the end, as giving a draft up, is a dry run.
 */
export const commandLineOf = (action: Action, names: CommandNames): string | undefined => {
  const command = (commands[action.name] as CommandOf<ActionName>)(action.input as never, names)
  if (command === undefined) return undefined
  const { words, flags } = command
  const typed = Object.entries(flags ?? {}).flatMap(([name, value]) => flagWords(name, value))
  return ['holdfast', ...words.map(safeText), ...typed].map(shellWord).join(' ')
}

interface CommandWords {
  readonly words: readonly string[]
  /** By name; a flag that is undefined or false is left out. */
  readonly flags?: Readonly<Record<string, string | readonly string[] | boolean | undefined>>
}

type CommandOf<K extends ActionName> = (
  input: Actions[K]['in'],
  names: CommandNames
) => CommandWords | undefined

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
const trimmed = (text: string): string => (text.startsWith('-') ? ` ${text}` : text)

const aboutWallet =
  (...words: readonly string[]) =>
  ({ walletId }: { readonly walletId: WalletId }, names: CommandNames): CommandWords => {
    const { word, account } = names.walletOf(walletId)
    return { words: [...words, word], flags: { account } }
  }

const aboutPayment =
  (command: string) =>
  (
    { walletId, txid }: { readonly walletId: WalletId; readonly txid: Txid },
    names: CommandNames
  ): CommandWords => {
    const { word, account } = names.walletOf(walletId)
    return { words: ['tx', command, word, txid], flags: { account } }
  }

const send = (
  request: SpendRequest & { readonly nativeAmount?: string },
  names: CommandNames
): CommandWords => {
  const { walletId, tokenId, publicAddress, nativeAmount, fee } = request
  const { word, account } = names.walletOf(walletId)
  const amount = nativeAmount === undefined ? 'max' : names.amountOf(nativeAmount, walletId, tokenId)
  return { words: ['send', word], flags: { token: tokenId, to: publicAddress, amount, fee, account } }
}

const replace = ({ walletId, txid, fee }: ReplaceRequest, names: CommandNames): CommandWords => {
  const { word, account } = names.walletOf(walletId)
  return { words: ['tx', 'replace', word, txid], flags: { fee, account } }
}

const dry = ({ words, flags }: CommandWords): CommandWords => ({
  words,
  flags: { ...flags, 'dry-run': true }
})

/** The flags that ask for quotes. */
const swapFlags = (
  { fromWalletId, toWalletId, nativeAmount, quoteFor }: Actions['swap.ask']['in'],
  names: CommandNames
): Required<CommandWords>['flags'] => {
  const [from, to] = [names.walletOf(fromWalletId), names.walletOf(toWalletId)]
  return {
    from: from.word,
    to: to.word,
    amount:
      quoteFor === 'max'
        ? 'max'
        : names.amountOf(nativeAmount, quoteFor === 'to' ? toWalletId : fromWalletId),
    for: quoteFor === 'to' ? 'to' : undefined,
    account: from.account
  }
}

const takeQuote = (quoteId: string, names: CommandNames): CommandWords => {
  const known = names.quoteOf(quoteId)
  if (known === undefined) return { words: ['swap', 'approve', quoteId] }
  return { words: ['swap', 'run'], flags: { ...swapFlags(known.requested, names), prefer: known.pluginId } }
}

/** Undefined for a draft that nobody knows, as after a reload: it cannot be approved either. */
const approve = (
  { draftId, maxNetworkFee, again = [] }: ApprovedDraft,
  names: CommandNames
): CommandWords | undefined => {
  const draft = names.draftOf(draftId)
  if (draft === undefined) return undefined
  const { words, flags } = draftWords(draft, names)
  const most = maxNetworkFee === undefined ? undefined : `${maxNetworkFee} native`
  return { words, flags: { ...flags, 'max-fee': most, again: again.length > 0 } }
}

const draftWords = (draft: SpendDraftInput, names: CommandNames): CommandWords => {
  if ('quoteId' in draft) return takeQuote(draft.quoteId, names)
  return 'txid' in draft ? replace(draft, names) : send(draft, names)
}

const giveUp = (input: { readonly draftId: string }, names: CommandNames): CommandWords | undefined => {
  const words = approve(input, names)
  return words && dry(words)
}

/** One exchange more does no harm, so for a repo that nobody knows everything is synced. */
const sync = ({ repoId }: { readonly repoId: string }, names: CommandNames): CommandWords => {
  const repo = names.repoOf(repoId)
  if (repo === undefined) return { words: ['sync'] }
  const { accountId, walletId } = repo
  if (walletId === undefined)
    return { words: ['sync', ACCOUNT], flags: { account: names.accountFlagOf(accountId) } }
  const { word, account } = names.walletOf(walletId)
  return { words: ['sync', word === ACCOUNT ? walletId : word], flags: { account } }
}

/** The name that `sync` has for the account's own files. */
const ACCOUNT = 'account'

const commands: { readonly [K in ActionName]: CommandOf<K> } = {
  'account.create': ({ username }) =>
    username === undefined
      ? { words: ['account', 'create'], flags: { light: true } }
      : { words: ['account', 'create', trimmed(username)] },
  'account.login': ({ username, loginId, pin }) => ({
    words: ['login', trimmed(username ?? loginId ?? '')],
    flags: { with: pin === undefined ? 'password' : 'pin' }
  }),
  'account.logout': ({ accountId }, names) => ({ words: ['logout', trimmed(names.userOf(accountId))] }),
  'wallet.create': ({ accountId, walletType, name }, names) => ({
    words: ['wallets', 'create', walletType],
    flags: { name, account: names.accountFlagOf(accountId) }
  }),
  'wallet.receive': (input, names) => {
    const { words, flags } = aboutWallet('address', 'show')(input, names)
    return { words, flags: { uri: true, ...flags } }
  },
  'engine.pause': aboutWallet('wallets', 'pause'),
  'engine.resume': aboutWallet('wallets', 'resume'),
  'engine.resync': aboutWallet('wallets', 'resync'),
  'repo.sync': sync,
  'spend.draft': send,
  'spend.max': (input, names) => dry(send(input, names)),
  'spend.approve': approve,
  'spend.discard': giveUp,
  'spend.resend': aboutPayment('resend'),
  'spend.replace': replace,
  'spend.forget': aboutPayment('forget'),
  'swap.ask': (input, names) => ({ words: ['swap', 'quote'], flags: swapFlags(input, names) }),
  'swap.close': ({ roundId }, names) => ({ words: ['swap', 'close', names.quoteIdOf(roundId)] }),
  'swap.review': ({ quoteId }, names) => takeQuote(quoteId, names),
  'swap.approve': approve,
  'swap.discard': giveUp,
  'swap.enable': ({ accountId, pluginId, isEnabled }, names) => ({
    words: ['swap', isEnabled ? 'enable' : 'disable', pluginId],
    flags: { account: names.accountFlagOf(accountId) }
  }),
  'rates.route': ({ from, to, biases = {}, alternatives = 0 }) => ({
    words: ['rates', 'route', trimmed(from), trimmed(to)],
    flags: {
      explain: alternatives > 0,
      bias: Object.entries(biases).map(([pluginId, bias]) => `${pluginId}=${biasText(bias)}`)
    }
  }),
  'rates.refresh': () => ({ words: ['rates', 'refresh'] }),
  'world.fund': ({ walletId, nativeAmount }, names) => {
    const { word, account } = names.walletOf(walletId)
    const words = ['fake', 'chain', 'fund', word, names.amountOf(nativeAmount, walletId)]
    return { words, flags: { account } }
  },
  'world.mine': ({ pluginId, count }) => ({
    words: ['fake', 'chain', 'mine', String(count)],
    flags: { currency: pluginId }
  }),
  'world.network': ({ isOnline }) => ({ words: ['fake', 'net', isOnline ? 'online' : 'offline'] })
}

/** Six decimals, as many as the command takes; still above -1. */
const biasText = (bias: number): string => String(Number(Math.max(bias, -0.999999).toFixed(6)))

/** The inputs of the panel's own actions, which no table has. */
export interface ActionMemory {
  /** The input of each draft. */
  readonly drafts: ReadonlyMap<string, SpendDraftInput>
  /** The request of each round of quotes. */
  readonly rounds: ReadonlyMap<string, Actions['swap.ask']['in']>
}

/** Returns the words that commands use for the subjects of actions: a name if it is unique, else the id (pure). */
export const commandNamesOf = (view: View, memory: ActionMemory): CommandNames => {
  const accounts = [...view.accounts.values()].filter(({ isLoggedIn }) => isLoggedIn)
  const quotes = [...view.quotes.values()]
  const userOf = (accountId: string): string => view.accounts.get(accountId)?.username ?? accountId
  const accountFlagOf = (accountId: string): string | undefined =>
    accounts.length > 1 ? userOf(accountId) : undefined
  return {
    userOf,
    accountFlagOf,
    walletOf(walletId) {
      const owner = accounts.find(({ walletIds }) => walletIds.includes(walletId))
      const account = owner && accountFlagOf(owner.accountId)
      const wallet = view.wallets.get(walletId)
      const name = wallet?.name ?? ''
      return {
        word: isPlain(view, name) ? name : walletId,
        ...compact({ account })
      }
    },
    amountOf(native, walletId, tokenId) {
      const units = unitsOf(view, { walletId, tokenId })
      const text = amountIn(native, units)
      // What a plugin calls a unit may be no word that a command knows.
      return readAmount(text, units).native === native ? text : `${native} native`
    },
    repoOf: repoId => view.repos.get(repoId),
    draftOf: draftId => memory.drafts.get(draftId),
    quoteOf(quoteId) {
      const quote = quotes.find(one => one.quoteId === quoteId)
      const requested = quote && memory.rounds.get(quote.roundId)
      return requested && quote && { pluginId: quote.pluginId, requested }
    },
    quoteIdOf: roundId =>
      quotes.find(one => one.roundId === roundId && one.quoteId !== undefined)?.quoteId ?? `${roundId}-1`
  }
}

/** Returns true if a command finds exactly one wallet by this name. */
const isPlain = (view: View, name: string): boolean => {
  if (name.trim() === '' || name.startsWith('-') || name.search(UNSAFE_CHARACTERS) >= 0 || ADDRESS.test(name))
    return false
  const wallets = [...view.wallets.values()]
  const same = wallets.filter(one => one.name?.toLowerCase() === name.toLowerCase())
  // The beginning of an id counts before a name.
  return same.length === 1 && !wallets.some(({ walletId }) => walletId.startsWith(name))
}

/** Matches text that looks like an address: the commands of the fake chain take both. */
const ADDRESS = /^[A-Za-z0-9]{26,90}$/
