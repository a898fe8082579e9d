import {
  type Account,
  type CurrencyWallet,
  compact,
  type EngineSnapshot,
  nativeAmount,
  type PluginId,
  type RepoSnapshot,
  type TokenId,
  type WalletId
} from '../../kernel/index.ts'
import { ActionError } from './action-error.ts'
import { aboutWallet, type CommandNames, type CommandWords } from './command-line.ts'
import type { DeclarationsOf } from './declaration.ts'
import {
  about,
  address,
  code,
  count,
  flag,
  id,
  list,
  type Nothing,
  nothing,
  object,
  optional,
  patterned,
  pluginId,
  positive,
  table,
  text,
  time,
  untrustedMessage
} from './schema.ts'
import { type ActionHost, accountOf, accountsOf, openWalletIn, ownerOf, walletOf } from './services.ts'
import { type EngineState, engineFields, IN_TABLES, type Page, pageFields, pageOf } from './shared-fields.ts'
import { tokenId, type WalletRef, walletId, walletRef } from './spend-review.ts'

interface NewWallet {
  readonly accountId: string
  readonly walletType: string
  readonly name?: string
  readonly fiatCurrencyCode?: string
  readonly keyOptions?: Readonly<Record<string, string>>
}

/** Where to receive, and what the payment link asks for. */
interface ReceiveRequest extends WalletRef {
  readonly tokenId?: TokenId
  readonly index?: number
  readonly nativeAmount?: string
  readonly label?: string
  readonly message?: string
}

/** An address to receive at, in its forms, and its payment link. */
export interface ReceiveAddress {
  readonly publicAddress: string
  readonly segwitAddress?: string
  readonly legacyAddress?: string
  readonly uri: string
}

interface RepoRef {
  readonly repoId: string
}

interface EngineRow extends EngineState {
  readonly walletId: WalletId
  readonly pluginId: PluginId
  readonly since: number
  readonly errorCode?: string
  readonly untrusted: { readonly status?: string; readonly failure?: string }
}

interface EnginePage {
  readonly engines: readonly EngineRow[]
  readonly total: number
}

interface RepoRow {
  readonly repoId: string
  readonly accountId: string
  readonly walletId?: WalletId
  readonly pendingCount: number
  readonly lastSync: number
  readonly isSyncing: boolean
  readonly errorCode?: string
  readonly keptCount?: number
  readonly isDeviceOnly?: boolean
}

interface RepoPage {
  readonly repos: readonly RepoRow[]
  readonly total: number
}

/** Actions about wallets, their engines and their files. */
export interface WalletActions {
  readonly 'wallet.create': { readonly in: NewWallet; readonly out: WalletRef }
  readonly 'wallet.receive': { readonly in: ReceiveRequest; readonly out: ReceiveAddress }
  readonly 'engine.pause': { readonly in: WalletRef; readonly out: Nothing }
  readonly 'engine.resume': { readonly in: WalletRef; readonly out: Nothing }
  readonly 'engine.resync': { readonly in: WalletRef; readonly out: Nothing }
  readonly 'engine.list': { readonly in: Page; readonly out: EnginePage }
  readonly 'repo.sync': { readonly in: RepoRef; readonly out: Nothing }
  readonly 'repo.list': { readonly in: Page; readonly out: RepoPage }
}

const [MAX_ROWS, USUAL_ROWS] = [500, 100]

/** Creates wallets, shows where they receive, and drives their engines and the sync of their files. */
export const walletActions: DeclarationsOf<WalletActions> = {
  'wallet.create': {
    title: 'Create a wallet',
    summary: 'Creates a wallet of a currency in an open account.',
    effect: 'changes',
    input: object<NewWallet>({
      accountId: about(id, 'The id of an open account'),
      walletType: about(
        patterned('^wallet:[A-Za-z0-9_-]{1,100}$', 'the type of a wallet, such as wallet:bitcoin'),
        'The type of a wallet, such as wallet:bitcoin'
      ),
      name: optional(about(text(200), 'Its name')),
      fiatCurrencyCode: optional(about(text(20), 'The currency of its values, such as iso:EUR')),
      keyOptions: optional(
        about(table(text(200), { max: 20, pattern: '^[A-Za-z0-9_-]{1,50}$' }), 'How its keys are made')
      )
    }),
    output: walletRef,
    async run(services, { accountId, walletType, ...options }) {
      const account = accountOf(services, accountId)
      const wallet = await account.createCurrencyWallet(walletType, options)
      return { walletId: wallet.id }
    },
    commandLine: ({ accountId, walletType, name, fiatCurrencyCode, keyOptions = {} }, names) => ({
      words: ['wallets', 'create', walletType],
      flags: {
        name,
        fiat: fiatCurrencyCode,
        'key-option': Object.entries(keyOptions).map(([option, value]) => `${option}=${value}`),
        account: names.accountFlagOf(accountId)
      }
    }),
    faces: { cli: 'wallets create', panel: 'account-bar', mcp: 'tool' }
  },
  'wallet.receive': {
    title: 'Show where a wallet receives',
    summary: 'Gives an address of a wallet to receive at, and the payment link of it.',
    // An engine may count an address as given out.
    effect: 'changes',
    isAboutAddresses: true,
    input: object<ReceiveRequest>({
      walletId,
      tokenId: optional(tokenId),
      index: optional(about(count(0, 1_000_000), 'The place of another address than the next one')),
      nativeAmount: optional(about(positive, 'The amount that the link asks for, in native units')),
      label: optional(about(text(200), 'The name of the payee in the link')),
      message: optional(about(text(1000), 'A message to the payer in the link'))
    }),
    output: object<ReceiveAddress>({
      publicAddress: address,
      segwitAddress: optional(address),
      legacyAddress: optional(address),
      uri: address
    }),
    async run(
      services,
      { walletId: walletToShow, tokenId: token, index, nativeAmount: requested, ...texts }
    ) {
      const { wallet } = await walletOf(services, walletToShow)
      const { publicAddress, segwitAddress, legacyAddress } = await wallet.getReceiveAddress({
        tokenId: token ?? null,
        ...compact({ forceIndex: index })
      })
      const uri = await wallet.encodeUri({
        publicAddress,
        ...texts,
        ...compact({ nativeAmount: requested === undefined ? undefined : nativeAmount(requested) })
      })
      return { publicAddress, ...compact({ segwitAddress, legacyAddress }), uri }
    },
    commandLine: (
      { walletId: shown, tokenId: token, index, nativeAmount: requested, label, message },
      names
    ) => {
      const { words, flags } = aboutWallet('address', 'show')({ walletId: shown }, names)
      const wanted = {
        ...{ token, label, message, index: index === undefined ? undefined : String(index) },
        amount: requested === undefined ? undefined : names.amountOf(requested, shown, token)
      }
      return { words, flags: { uri: true, ...wanted, ...flags } }
    },
    faces: { cli: 'address show', panel: 'wallet-details', mcp: 'tool' }
  },
  'engine.pause': {
    title: 'Pause a wallet',
    summary: 'Stops the engine of a wallet, until it is resumed.',
    effect: 'changes',
    input: walletRef,
    output: nothing,
    run: (services, input) => changePaused(services, input, true),
    commandLine: aboutWallet('wallets', 'pause'),
    faces: { cli: 'wallets pause', panel: 'wallet-details', mcp: 'tool' }
  },
  'engine.resume': {
    title: 'Resume a wallet',
    summary: 'Starts the engine of a paused wallet again.',
    effect: 'changes',
    input: walletRef,
    output: nothing,
    run: (services, input) => changePaused(services, input, false),
    commandLine: aboutWallet('wallets', 'resume'),
    faces: { cli: 'wallets resume', panel: 'wallet-details', mcp: 'tool' }
  },
  'engine.resync': {
    title: 'Read the chain again',
    summary: 'Drops what the engine of a wallet knows of its chain, and reads it again from the start.',
    effect: 'changes',
    input: walletRef,
    output: nothing,
    async run(services, { walletId: walletToSync }) {
      const { wallet } = await walletOf(services, walletToSync)
      await wallet.resyncBlockchain()
      return {}
    },
    commandLine: aboutWallet('wallets', 'resync'),
    faces: {
      cli: 'wallets resync',
      panel: 'wallet-details',
      mcp: { none: 'until it is done, an account with rules pays nothing' }
    }
  },
  'engine.list': {
    title: 'List engines',
    summary: 'Lists the engines of the open wallets: how far each has read its chain, and why it fails.',
    effect: 'reads',
    input: object<Page>(pageFields(MAX_ROWS, USUAL_ROWS)),
    output: object<EnginePage>({
      engines: list(
        object<EngineRow>({
          walletId,
          pluginId,
          ...engineFields,
          since: about(time, 'When its state changed last, in milliseconds since 1970'),
          errorCode: optional(code(100)),
          untrusted: object<EngineRow['untrusted']>({
            status: optional(untrustedMessage),
            failure: optional(untrustedMessage)
          })
        }),
        MAX_ROWS
      ),
      total: count(0, 1_000_000)
    }),
    async run(services, page) {
      const engines = openWalletsOf(services).map(wallet => engineRowOf(wallet.engine.getSnapshot()))
      return { engines: pageOf(engines, page, USUAL_ROWS), total: engines.length }
    },
    commandLine: () => ({ words: ['sync', 'status'] }),
    faces: {
      cli: {
        command: 'sync status',
        own: 'it opens the wallets that are named, and waits until they have begun'
      },
      panel: IN_TABLES,
      mcp: 'tool'
    }
  },
  'repo.list': {
    title: 'List repos',
    summary: 'Lists the synced repos of the open accounts: their pending changes and their last sync.',
    effect: 'reads',
    input: object<Page>(pageFields(MAX_ROWS, USUAL_ROWS)),
    output: object<RepoPage>({
      repos: list(
        object<RepoRow>({
          repoId: id,
          accountId: id,
          walletId: optional(walletId),
          pendingCount: about(count(0, 1_000_000_000), 'Files that no server has yet'),
          lastSync: about(time, 'Milliseconds since 1970; 0 before the first sync'),
          isSyncing: flag,
          errorCode: optional(code(100)),
          keptCount: optional(
            about(count(0, 1_000_000_000), 'Texts kept after a server deleted or replaced them')
          ),
          isDeviceOnly: optional(about(flag, 'Its account is on this device only, so that it is not synced'))
        }),
        MAX_ROWS
      ),
      total: count(0, 1_000_000)
    }),
    async run(services, page) {
      const repos = accountsOf(services).flatMap(account => account.listRepos().map(repoRowOf))
      return { repos: pageOf(repos, page, USUAL_ROWS), total: repos.length }
    },
    commandLine: () => ({ words: ['sync', 'repos'] }),
    faces: {
      cli: { command: 'sync repos', own: 'it shows the traffic and the revisions of each repo, for support' },
      panel: IN_TABLES,
      mcp: 'tool'
    }
  },
  'repo.sync': {
    title: 'Sync files',
    summary:
      'Exchanges the files of a wallet, or of an account with all its wallets, with the sync servers now.',
    effect: 'changes',
    input: object<RepoRef>({ repoId: about(id, 'The id of a repo') }),
    output: nothing,
    async run(services, { repoId }) {
      await syncRepo(services, repoId)
      return {}
    },
    commandLine: (input, names) => syncWords(input, names),
    faces: {
      cli: { command: 'sync', own: 'it waits for the chains of the wallets, and for uploads' },
      panel: 'repo-details',
      mcp: 'tool'
    }
  }
}

/** The wallets that are open; none is opened. */
const openWalletsOf = (services: ActionHost): readonly CurrencyWallet[] =>
  accountsOf(services).flatMap(account =>
    account.getSnapshot().walletIds.flatMap(open => openWalletOf(account, open) ?? [])
  )

const openWalletOf = (account: Account, open: WalletId): CurrencyWallet | undefined => {
  try {
    return account.wallet(open)
  } catch {
    return undefined
  }
}

const engineRowOf = (engine: EngineSnapshot): EngineRow => {
  const { walletId: reading, pluginId: currency, state, isPaused, syncRatio, blockHeight, since } = engine
  const { errorCode, status, failure } = engine
  return {
    ...{ walletId: reading, pluginId: currency, state, isPaused, syncRatio, blockHeight },
    since: since * 1000,
    ...compact({ errorCode }),
    untrusted: compact({ status, failure })
  }
}

const repoRowOf = (repo: RepoSnapshot): RepoRow => {
  const { repoId, accountId, walletId: owner, pendingCount, lastSync, isSyncing } = repo
  const { errorCode, keptCount, isDeviceOnly } = repo
  return {
    ...{ repoId, accountId, pendingCount, lastSync: lastSync * 1000, isSyncing },
    ...compact({ walletId: owner, errorCode, keptCount, isDeviceOnly })
  }
}

const changePaused = async (
  services: ActionHost,
  { walletId: changed }: WalletRef,
  isPaused: boolean
): Promise<Nothing> => {
  const { pausedWallets } = services
  const account = ownerOf(services, changed)
  // First, since a disk can refuse it: what failed has changed nothing.
  pausedWallets?.change(changed, isPaused)
  // Where it is remembered, a wallet need not be opened for it.
  if (pausedWallets === undefined || openWalletOf(account, changed) !== undefined)
    await (await openWalletIn(services, account, changed)).changePaused(isPaused)
  return {}
}

/** A wallet is synced alone; the files of an account go with all that belongs to it. */
const syncRepo = async (services: ActionHost, repoId: string): Promise<void> => {
  for (const account of accountsOf(services)) {
    const repo = account.listRepos().find(each => each.repoId === repoId)
    if (repo === undefined) continue
    const isWallet = account.listWallets().some(one => one.isWallet && one.walletId === repo.ownerId)
    if (!isWallet) return account.sync()
    return (await openWalletIn(services, account, repo.ownerId)).sync()
  }
  throw new ActionError({ code: 'GONE', message: 'This repo is not open', details: { what: 'repo' } })
}

/** One exchange more does no harm, so for a repo that nobody knows everything is synced. */
const syncWords = ({ repoId }: RepoRef, names: CommandNames): CommandWords => {
  const repo = names.repoOf(repoId)
  if (repo === undefined) return { words: ['sync'] }
  const { accountId, walletId: owner } = repo
  if (owner === undefined)
    return { words: ['sync', ACCOUNT], flags: { account: names.accountFlagOf(accountId) } }
  const { word, account } = names.walletOf(owner)
  return { words: ['sync', word === ACCOUNT ? owner : word], flags: { account } }
}

/** The name that `sync` has for the account's own files. */
const ACCOUNT = 'account'
