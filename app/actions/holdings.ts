import {
  type Account,
  type CurrencyWallet,
  compact,
  type Grade,
  isWalletError,
  type PluginId,
  WalletError,
  type WalletId,
  type WalletListing
} from '../../kernel/index.ts'
import { aboutWallet, trimmed } from './command-line.ts'
import type { DeclarationsOf } from './declaration.ts'
import {
  about,
  address,
  code,
  count,
  type FieldsOf,
  flag,
  id,
  list,
  type Nothing,
  nothing,
  number,
  object,
  optional,
  pluginId,
  shortText,
  signedAmount,
  text,
  time,
  untrusted,
  untrustedMessage
} from './schema.ts'
import { type ActionHost, accountOf, accountsOf, openWalletIn, walletOf } from './services.ts'
import {
  type AssetUnits,
  assetFields,
  balanceGradeField,
  displayOf,
  type EngineState,
  engineFields,
  gradeField,
  IN_TABLES,
  type Page,
  pageFields,
  pageOf,
  unitsOfAsset
} from './shared-fields.ts'
import { type WalletRef, walletId, walletRef } from './spend-review.ts'

/** An open account. */
interface OpenAccount {
  readonly accountId: string
  readonly walletCount: number
  readonly activeCount: number
  readonly isPaused: boolean
  readonly untrusted: { readonly username?: string }
}

/** What a wallet holds of an asset. The parts are absent if its engine reports only the sum. */
interface Balance extends AssetUnits {
  readonly nativeAmount: string
  readonly display: string
  readonly spendable?: string
  readonly incoming?: string
  readonly immature?: string
  readonly reserved?: string
  readonly frozen?: string
  readonly grade?: Exclude<Grade, 'proven'>
  readonly paymentsGrade?: Grade
  readonly untrusted: { readonly tokenName?: string }
}

/** A wallet with its balances, which are those of the chain once `engine.syncRatio` is 1. */
interface WalletOverview {
  readonly walletId: WalletId
  readonly accountId: string
  readonly pluginId?: PluginId
  readonly walletType: string
  readonly isArchived: boolean
  readonly isHidden: boolean
  readonly balances: readonly Balance[]
  readonly openPaymentCount: number
  /** Absent of a wallet that could not be opened; then `errorCode` says why. */
  readonly engine?: EngineState
  readonly errorCode?: string
  readonly untrusted: { readonly name?: string }
}

interface WalletDetails extends WalletOverview {
  readonly fiatCurrencyCode: string
  readonly sync: {
    readonly stage: string
    readonly ratio: number
    readonly errorCode?: string
    readonly untrusted: { readonly sentence: string }
  }
}

interface WalletQuery extends Page {
  readonly accountId?: string
  readonly withArchived?: boolean
}

interface WalletPage {
  readonly wallets: readonly WalletOverview[]
  readonly total: number
}

interface AddressQuery extends WalletRef, Page {}

interface SavedAddress {
  readonly publicAddress: string
  readonly isLocked: boolean
  readonly at: number
  readonly untrusted: { readonly name?: string; readonly notes?: string }
}

interface AddressPage {
  readonly addresses: readonly SavedAddress[]
  readonly total: number
}

interface ParsedLink {
  readonly publicAddress?: string
  readonly nativeAmount?: string
  readonly untrusted: { readonly label?: string; readonly message?: string; readonly currencyCode?: string }
}

/** Actions that read accounts, wallets and their state. */
export interface HoldingActions {
  readonly 'account.list': {
    readonly in: Nothing
    readonly out: { readonly accounts: readonly OpenAccount[] }
  }
  readonly 'wallet.list': { readonly in: WalletQuery; readonly out: WalletPage }
  readonly 'wallet.get': { readonly in: WalletRef; readonly out: WalletDetails }
  readonly 'wallet.addresses': { readonly in: AddressQuery; readonly out: AddressPage }
  readonly 'wallet.parse': {
    readonly in: WalletRef & { readonly uri: string }
    readonly out: ParsedLink
  }
}

const [MAX_BALANCES, MAX_WALLETS, USUAL_WALLETS] = [100, 200, 50]
const [MAX_ADDRESSES, USUAL_ADDRESSES] = [200, 50]

const balance = object<Balance>({
  ...assetFields,
  nativeAmount: signedAmount,
  display: about(shortText(210), 'The amount in the usual unit, as decimal text'),
  spendable: optional(about(signedAmount, 'Confirmed, or change of own payments')),
  incoming: optional(about(signedAmount, 'Unconfirmed; its sender can still take it back')),
  immature: optional(about(signedAmount, 'Earned by a block, and too young to be spent')),
  reserved: optional(about(signedAmount, 'Kept for open payments')),
  frozen: optional(about(signedAmount, 'In coins that are frozen')),
  grade: optional(balanceGradeField),
  paymentsGrade: optional(gradeField),
  untrusted: object<Balance['untrusted']>({ tokenName: optional(untrusted()) })
})

const overviewFields: FieldsOf<WalletOverview> = {
  walletId,
  accountId: id,
  pluginId: optional(pluginId),
  walletType: code(100),
  isArchived: flag,
  isHidden: flag,
  balances: list(balance, MAX_BALANCES),
  openPaymentCount: about(count(0, 1_000_000), 'Payments that may still be mined'),
  engine: optional(object<EngineState>(engineFields)),
  errorCode: optional(code(100)),
  untrusted: object<WalletOverview['untrusted']>({ name: optional(untrusted()) })
}

/** Reads accounts, wallets and where they receive. */
export const holdingActions: DeclarationsOf<HoldingActions> = {
  'account.list': {
    title: 'List the open accounts',
    summary: 'Lists the accounts that are logged in, with the number of their wallets.',
    effect: 'reads',
    input: nothing,
    output: object<HoldingActions['account.list']['out']>({
      accounts: list(
        object<OpenAccount>({
          accountId: id,
          walletCount: count(0, 1_000_000),
          activeCount: about(count(0, 1_000_000), 'Wallets that are not archived'),
          isPaused: flag,
          untrusted: object<OpenAccount['untrusted']>({ username: optional(untrusted()) })
        }),
        100
      )
    }),
    run: async services => ({ accounts: accountsOf(services).map(openAccountOf) }),
    commandLine: () => ({ words: ['account', 'list'] }),
    faces: {
      cli: { command: 'account list', own: 'it lists the accounts that the device knows, open or not' },
      panel: IN_TABLES,
      mcp: 'tool'
    }
  },
  'wallet.list': {
    title: 'List wallets',
    summary: 'Lists the wallets of the open accounts with their balances, in the order of the account.',
    effect: 'reads',
    input: object<WalletQuery>({
      accountId: optional(about(id, 'Only the wallets of this account')),
      withArchived: optional(about(flag, 'Also archived and hidden wallets')),
      ...pageFields(MAX_WALLETS, USUAL_WALLETS)
    }),
    output: object<WalletPage>({
      wallets: list(object<WalletOverview>(overviewFields), MAX_WALLETS),
      total: about(count(0, 1_000_000), 'The number of all that match')
    }),
    async run(services, query) {
      const found = listingsOf(services, query)
      const wallets = await Promise.all(
        pageOf(found, query, USUAL_WALLETS).map(each => overviewOf(services, each))
      )
      return { wallets, total: found.length }
    },
    commandLine: ({ accountId, withArchived }, names) => ({
      words: ['wallets', 'list'],
      flags: {
        all: withArchived,
        account: accountId === undefined ? undefined : names.accountFlagOf(accountId)
      }
    }),
    faces: {
      cli: { command: 'wallets list', own: 'it lists deleted wallets and those without a plugin, too' },
      panel: IN_TABLES,
      mcp: 'tool'
    }
  },
  'wallet.get': {
    title: 'Show a wallet',
    summary: 'Shows one wallet: its balances, and how far it is synced.',
    effect: 'reads',
    input: walletRef,
    output: object<WalletDetails>({
      ...overviewFields,
      fiatCurrencyCode: code(20),
      sync: object<WalletDetails['sync']>({
        stage: code(50),
        ratio: number,
        errorCode: optional(code(100)),
        untrusted: object<WalletDetails['sync']['untrusted']>({ sentence: untrustedMessage })
      })
    }),
    async run(services, { walletId: shown }) {
      const { account, wallet } = await walletOf(services, shown)
      const listing = account.listWallets().find(each => each.walletId === shown)
      if (listing === undefined) throw new WalletError('WALLET_NOT_FOUND', { walletId: shown })
      const { stage, ratio, errorCode, sentence } = wallet.syncStatus
      return {
        ...(await overviewOf(services, { account, listing })),
        fiatCurrencyCode: wallet.getSnapshot().fiatCurrencyCode,
        sync: { stage, ratio, ...compact({ errorCode }), untrusted: { sentence } }
      }
    },
    commandLine: aboutWallet('wallets', 'show'),
    faces: {
      cli: {
        command: 'wallets show',
        own: 'it shows what a program is not given, such as addresses and unfinished payments'
      },
      panel: IN_TABLES,
      mcp: 'tool'
    }
  },
  'wallet.addresses': {
    title: 'List saved addresses',
    summary: 'Lists the addresses of a wallet that were saved or locked, newest first.',
    effect: 'reads',
    isAboutAddresses: true,
    input: object<AddressQuery>({ walletId, ...pageFields(MAX_ADDRESSES, USUAL_ADDRESSES) }),
    output: object<AddressPage>({
      addresses: list(
        object<SavedAddress>({
          publicAddress: address,
          isLocked: about(flag, 'True if it is in use and not offered again'),
          at: time,
          untrusted: object<SavedAddress['untrusted']>({
            name: optional(untrusted()),
            notes: optional(untrusted())
          })
        }),
        MAX_ADDRESSES
      ),
      total: count(0, 1_000_000)
    }),
    async run(services, { walletId: shown, ...page }) {
      const { wallet } = await walletOf(services, shown)
      const saved = (await wallet.savedAddresses()).toSorted((a, b) => b.creationDate - a.creationDate)
      const addresses = pageOf(saved, page, USUAL_ADDRESSES).map(
        ({ address: publicAddress, recycleable, creationDate, metadata: { name, notes } }): SavedAddress => ({
          publicAddress,
          isLocked: !recycleable,
          at: creationDate * 1000,
          untrusted: compact({ name, notes })
        })
      )
      return { addresses, total: saved.length }
    },
    commandLine: () => undefined,
    faces: {
      cli: { none: 'no command lists the saved addresses; tx export --format bip329 writes them' },
      panel: { none: 'the panel shows one address at a time' },
      mcp: 'tool'
    }
  },
  'wallet.parse': {
    title: 'Read a payment link',
    summary: 'Reads an address or a payment link for a wallet.',
    effect: 'reads',
    input: object<HoldingActions['wallet.parse']['in']>({
      walletId,
      uri: about(text(1000), 'An address or a payment link')
    }),
    output: object<ParsedLink>({
      publicAddress: optional(address),
      nativeAmount: optional(signedAmount),
      untrusted: object<ParsedLink['untrusted']>({
        label: optional(untrusted()),
        message: optional(untrusted()),
        currencyCode: optional(untrusted())
      })
    }),
    async run(services, { walletId: reading, uri }) {
      const { wallet } = await walletOf(services, reading)
      const { publicAddress, nativeAmount, label, message, currencyCode } = await wallet.parseUri(uri)
      return {
        ...compact({ publicAddress, nativeAmount }),
        untrusted: compact({ label, message, currencyCode })
      }
    },
    commandLine: ({ walletId: reading, uri }, names) => {
      const { words, flags = {} } = aboutWallet('uri', 'parse')({ walletId: reading }, names)
      return { words: [...words, trimmed(uri)], flags }
    },
    faces: {
      cli: 'uri parse',
      panel: { none: 'the send form takes a link as its payee' },
      mcp: 'tool'
    }
  }
}

const openAccountOf = (account: Account): OpenAccount => {
  const { accountId, username, walletIds, activeWalletIds, isPaused } = account.getSnapshot()
  return {
    accountId,
    walletCount: walletIds.length,
    activeCount: activeWalletIds.length,
    isPaused,
    untrusted: compact({ username })
  }
}

interface OwnedListing {
  readonly account: Account
  readonly listing: WalletListing
}

const listingsOf = (
  services: ActionHost,
  { accountId, withArchived = false }: WalletQuery
): readonly OwnedListing[] => {
  const accounts = accountId === undefined ? accountsOf(services) : [accountOf(services, accountId)]
  return accounts.flatMap(account =>
    account
      .listWallets()
      .filter(
        ({ isWallet, deleted, archived, hidden }) =>
          isWallet && !deleted && (withArchived || !(archived || hidden))
      )
      .map(listing => ({ account, listing }))
  )
}

/** Shows a wallet, which is opened if it is not. One that cannot be opened is shown with the code of the failure. */
const overviewOf = async (
  services: ActionHost,
  { account, listing }: OwnedListing
): Promise<WalletOverview> => {
  const { walletId: shown, type, archived, hidden, currencyInfo } = listing
  const common = {
    walletId: shown,
    accountId: account.id,
    ...compact({ pluginId: currencyInfo?.pluginId }),
    walletType: type,
    isArchived: archived,
    isHidden: hidden
  }
  try {
    const wallet = await openWalletIn(services, account, shown)
    const { state, isPaused, syncRatio, blockHeight, errorCode } = wallet.engine.getSnapshot()
    return {
      ...common,
      balances: balancesOf(wallet),
      openPaymentCount: wallet.getSnapshot().openPayments.length,
      engine: { state, isPaused, syncRatio, blockHeight },
      ...compact({ errorCode }),
      untrusted: compact({ name: wallet.name ?? undefined })
    }
  } catch (error) {
    const errorCode = isWalletError(error) ? error.code : 'UNKNOWN'
    return { ...common, balances: [], openPaymentCount: 0, errorCode, untrusted: {} }
  }
}

/** The coin first, then the tokens that are enabled. */
const balancesOf = (wallet: CurrencyWallet): readonly Balance[] => {
  const { enabledTokenIds, balanceDetails } = wallet.getSnapshot()
  return [null, ...enabledTokenIds].map(asset => {
    const [native, { displayName, ...units }] = [wallet.balanceOf(asset), unitsOfAsset(wallet, asset)]
    return {
      ...units,
      nativeAmount: native,
      display: displayOf(native, units),
      ...balanceDetails?.[asset ?? ''],
      untrusted: compact({ tokenName: asset === null ? undefined : displayName })
    }
  })
}
