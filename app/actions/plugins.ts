import {
  type CurrencyConfig,
  type CurrencyWallet,
  compact,
  mainDenomination,
  type PluginId,
  type TokenId,
  type WalletId
} from '../../kernel/index.ts'
import { contractOf } from '../format/amounts.ts'
import type { DeclarationsOf } from './declaration.ts'
import {
  about,
  code,
  count,
  flag,
  id,
  list,
  type Nothing,
  nothing,
  object,
  optional,
  pluginId,
  shortText,
  ticker,
  untrusted
} from './schema.ts'
import { accountOf, walletOf } from './services.ts'
import { IN_TABLES, type Page, pageFields, pageOf } from './shared-fields.ts'
import { tokenId } from './spend-review.ts'

/** A type of wallet that can be created. */
interface WalletTypeRow {
  readonly walletType: string
  readonly pluginId: PluginId
  readonly currencyCode: string
  readonly decimals: number
  readonly canImportKeys: boolean
  readonly untrusted: { readonly displayName: string }
}

/** The tokens of a currency in an account, and in a wallet of it. */
interface TokenQuery extends Page {
  readonly accountId: string
  readonly pluginId: PluginId
  readonly walletId?: WalletId
}

/** A token that a currency knows. */
export interface TokenRow {
  readonly tokenId: TokenId
  readonly currencyCode: string
  readonly decimals: number
  readonly denominations: readonly { readonly name: string; readonly multiplier: string }[]
  readonly contractAddress?: string
  /** Added by the user, and not by the plugin. */
  readonly isCustom: boolean
  /** Enabled in every wallet of the currency. */
  readonly isAlways: boolean
  readonly isEnabled: boolean
  readonly isDetected: boolean
  readonly untrusted: { readonly displayName: string }
}

interface TokenPage {
  /** False until the plugin has listed its tokens. */
  readonly isComplete: boolean
  readonly tokens: readonly TokenRow[]
  readonly total: number
}

/** A provider of swaps, as an account has it. */
export interface SwapProviderRow {
  readonly pluginId: PluginId
  readonly isDex: boolean
  readonly isEnabled: boolean
  /** It lacks a setting, such as a key, and is not asked for quotes. */
  readonly needsActivation: boolean
  readonly untrusted: { readonly displayName: string; readonly supportEmail?: string }
}

/** Actions that read what the plugins offer. */
export interface PluginActions {
  readonly 'wallet.types': {
    readonly in: Nothing
    readonly out: { readonly types: readonly WalletTypeRow[] }
  }
  readonly 'token.list': { readonly in: TokenQuery; readonly out: TokenPage }
  readonly 'swap.providers': {
    readonly in: { readonly accountId: string }
    readonly out: { readonly providers: readonly SwapProviderRow[] }
  }
}

const [MAX_TOKENS, USUAL_TOKENS] = [500, 100]

const decimals = about(count(0, 100), 'The decimals of display amounts')
const accountId = about(id, 'The id of an open account')

/** Reads wallet types, tokens and providers of swaps. */
export const pluginActions: DeclarationsOf<PluginActions> = {
  'wallet.types': {
    title: 'List wallet types',
    summary: 'Lists the types of wallets that can be created.',
    effect: 'reads',
    input: nothing,
    output: object<PluginActions['wallet.types']['out']>({
      types: list(
        object<WalletTypeRow>({
          walletType: code(100),
          pluginId,
          currencyCode: ticker,
          decimals,
          canImportKeys: about(flag, 'True if a wallet can be made of words or a key'),
          untrusted: object<WalletTypeRow['untrusted']>({ displayName: untrusted() })
        }),
        200
      )
    }),
    run: async ({ context }) => ({
      types: context.currencies.map(({ displayName, canImportKeys, walletType, ...info }) => ({
        ...{ walletType, pluginId: info.pluginId, currencyCode: info.currencyCode },
        ...{ decimals: decimalsOf(info), canImportKeys: canImportKeys !== false },
        untrusted: { displayName }
      }))
    }),
    commandLine: () => ({ words: ['wallets', 'types'] }),
    faces: {
      cli: { command: 'wallets types', own: 'it reads the plugins alone, without a login' },
      panel: IN_TABLES,
      mcp: 'tool'
    }
  },
  'token.list': {
    title: 'List tokens',
    summary: 'Lists the tokens of a currency in an account, and which of them a wallet has on.',
    effect: 'reads',
    input: object<TokenQuery>({
      accountId,
      pluginId: about(pluginId, 'The currency'),
      walletId: optional(about(id, 'A wallet of it: which tokens it has on, and has seen')),
      ...pageFields(MAX_TOKENS, USUAL_TOKENS)
    }),
    output: object<TokenPage>({
      isComplete: about(flag, 'False until the plugin has listed its tokens'),
      tokens: list(
        object<TokenRow>({
          tokenId,
          currencyCode: ticker,
          decimals,
          denominations: list(
            object<TokenRow['denominations'][number]>({ name: ticker, multiplier: code(110) }),
            20
          ),
          contractAddress: optional(shortText(200)),
          isCustom: about(flag, 'True if the user added it'),
          isAlways: about(flag, 'True if it is enabled in every wallet of the currency'),
          isEnabled: flag,
          isDetected: about(flag, 'True if the wallet has seen it on its chain'),
          untrusted: object<TokenRow['untrusted']>({ displayName: untrusted() })
        }),
        MAX_TOKENS
      ),
      total: count(0, 1_000_000)
    }),
    async run(services, query) {
      const config = accountOf(services, query.accountId).currencyConfig(query.pluginId)
      const owned = query.walletId === undefined ? undefined : await walletOf(services, query.walletId)
      const rows = tokenRows(config, owned?.wallet)
      return {
        isComplete: config.getSnapshot().areBuiltinTokensKnown,
        tokens: pageOf(rows, query, USUAL_TOKENS),
        total: rows.length
      }
    },
    commandLine: ({ walletId: of, accountId: owner, pluginId: currency }, names) => ({
      words: ['tokens', 'list', of === undefined ? currency : names.walletOf(of).word],
      flags: { account: names.accountFlagOf(owner) }
    }),
    faces: { cli: 'tokens list', panel: IN_TABLES, mcp: 'tool' }
  },
  'swap.providers': {
    title: 'List swap providers',
    summary: 'Lists the providers of swaps, and whether an account has them on.',
    effect: 'reads',
    input: object<PluginActions['swap.providers']['in']>({ accountId }),
    output: object<PluginActions['swap.providers']['out']>({
      providers: list(
        object<SwapProviderRow>({
          pluginId,
          isDex: flag,
          isEnabled: flag,
          needsActivation: about(flag, 'True if it lacks a setting and is not asked for quotes'),
          untrusted: object<SwapProviderRow['untrusted']>({
            displayName: untrusted(),
            supportEmail: optional(untrusted())
          })
        }),
        200
      )
    }),
    async run(services, { accountId: of }) {
      const account = accountOf(services, of)
      return {
        providers: services.context.swapInfos.map(
          ({ pluginId: provider, displayName, isDex, supportEmail }) => {
            const { isEnabled, needsActivation } = account.swapConfig(provider).getSnapshot()
            return {
              ...{ pluginId: provider, isDex, isEnabled, needsActivation },
              untrusted: { displayName, ...compact({ supportEmail }) }
            }
          }
        )
      }
    },
    commandLine: ({ accountId: of }, names) => ({
      words: ['swap', 'providers'],
      flags: { account: names.accountFlagOf(of) }
    }),
    faces: { cli: 'swap providers', panel: IN_TABLES, mcp: 'tool' }
  }
}

const tokenRows = (config: CurrencyConfig, wallet: CurrencyWallet | undefined): readonly TokenRow[] => {
  const { allTokens, customTokens, alwaysEnabledTokenIds } = config.getSnapshot()
  const always = new Set(alwaysEnabledTokenIds)
  const enabled = new Set(wallet?.getSnapshot().enabledTokenIds ?? always)
  const detected = new Set(wallet?.getSnapshot().detectedTokenIds)
  return Object.entries(allTokens)
    .map(([token, info]) => ({
      ...{ tokenId: token, currencyCode: info.currencyCode, decimals: decimalsOf(info) },
      denominations: info.denominations.map(({ name, multiplier }) => ({ name, multiplier })),
      ...compact({ contractAddress: contractOf(info) }),
      isCustom: Object.hasOwn(customTokens, token),
      isAlways: always.has(token),
      isEnabled: enabled.has(token),
      isDetected: detected.has(token),
      untrusted: { displayName: info.displayName }
    }))
    .sort((a, b) => a.currencyCode.localeCompare(b.currencyCode))
}

/** The decimals of shown amounts: 0 for a unit that is no power of ten. */
const decimalsOf = (units: Parameters<typeof mainDenomination>[0]): number =>
  mainDenomination(units).multiplier.length - 1
