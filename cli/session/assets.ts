import { type Asset, contractOf, shownAssetOf } from '../../app/format/amounts.ts'
import type { CurrencyConfig, CurrencyInfo, CurrencyWallet, Token, TokenId } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { findListing, openPaused } from './find-wallets.ts'
import type { Session } from './session.ts'

/** Returns the coin of a wallet's chain. */
export const coinOf = (wallet: CurrencyWallet): Asset => shownAssetOf(wallet.currencyInfo, {}, null)

/** Returns the assets of a wallet: the coin of its chain, then its enabled tokens. */
export const assetsOf = async (session: Session, wallet: CurrencyWallet): Promise<readonly Asset[]> => {
  const { enabledTokenIds } = wallet.getSnapshot()
  if (enabledTokenIds.length === 0) return [coinOf(wallet)]
  const account = await session.account()
  const config = account.currencyConfig(wallet.currencyInfo.pluginId)
  await config.builtinTokensReady()
  const { allTokens } = config.getSnapshot()
  return [
    coinOf(wallet),
    ...enabledTokenIds.map(tokenId => shownAssetOf(wallet.currencyInfo, allTokens, tokenId))
  ]
}

/** Returns the assets of a wallet; none if it is paused, since its balances are unknown. */
export const assetsUnlessPaused = async (
  session: Session,
  wallet: CurrencyWallet
): Promise<readonly Asset[]> => (wallet.getSnapshot().isPaused ? [] : assetsOf(session, wallet))

/** Returns the asset of `--token`, by default the coin. @throws CliError NOT_FOUND */
export const chosenAsset = async (session: Session, wallet: CurrencyWallet): Promise<Asset> => {
  const text = session.text('token')
  return text === undefined ? coinOf(wallet) : findAsset(session, wallet, text)
}

/** Finds an asset by a token's id or code. @throws CliError NOT_FOUND */
export const findAsset = async (session: Session, wallet: CurrencyWallet, text: string): Promise<Asset> => {
  const found = matchAsset(await assetsOf(session, wallet), text)
  if (found !== undefined) return found
  throw new CliError('NOT_FOUND', `There is no token "${text}" in ${wallet.name ?? wallet.id}`, {
    hint: 'Use the id or code of a token that is enabled in this wallet.'
  })
}

/** Finds the asset with an id, else the one with a code. */
export const matchAsset = (assets: readonly Asset[], text: string): Asset | undefined =>
  assets.find(({ tokenId }) => tokenId === text) ??
  assets.find(({ currencyCode }) => currencyCode.toLowerCase() === text.toLowerCase())

/** The target of `<wallet|plugin>`: a currency, and a wallet of it unless the currency itself was named. */
export interface TokenTarget {
  readonly config: CurrencyConfig
  readonly wallet: CurrencyWallet | undefined
}

/** Finds a currency by the id of its plugin, or a wallet. @throws CliError NOT_FOUND, USAGE */
export const findTokenTarget = async (session: Session, text: string): Promise<TokenTarget> => {
  const info = await findCurrency(session, text)
  if (info !== undefined) return { config: await configOf(session, info), wallet: undefined }
  const { walletId } = await findListing(session, text)
  return walletTokens(session, await openPaused(session, walletId))
}

/** Returns a wallet with the tokens of its currency. */
export const walletTokens = async (
  session: Session,
  wallet: CurrencyWallet
): Promise<TokenTarget & { readonly wallet: CurrencyWallet }> => ({
  config: await configOf(session, wallet.currencyInfo),
  wallet
})

/** Returns the tokens of a currency by its plugin id. @throws CliError NOT_FOUND with the known ids */
export const currencyConfig = async (session: Session, text: string): Promise<CurrencyConfig> => {
  return configOf(session, await knownCurrency(session, text))
}

/** Returns a currency by its plugin id. @throws CliError NOT_FOUND with the known ids */
export const knownCurrency = async (session: Session, text: string): Promise<CurrencyInfo> => {
  const info = await findCurrency(session, text)
  if (info !== undefined) return info
  const ids = (await session.currencies()).map(({ pluginId }) => pluginId)
  throw new CliError('NOT_FOUND', `There is no currency "${text}"`, { hint: `Use one of ${ids.join(', ')}.` })
}

/** Finds a token by its id, or by a code that only one token has. @throws CliError NOT_FOUND, USAGE */
export const tokenIdOf = (config: CurrencyConfig, text: string): TokenId => {
  const { allTokens } = config.getSnapshot()
  const { displayName, pluginId } = config.currencyInfo
  if (Object.hasOwn(allTokens, text)) return text
  const same = Object.entries(allTokens).filter(([tokenId, token]) => isMeant(tokenId, token, text))
  const [found, ...others] = same
  if (found !== undefined && others.length === 0) return found[0]
  if (found !== undefined) {
    throw new CliError('USAGE', `Several tokens of ${displayName} are called "${text}"`, {
      hint: `Use an id: ${same.map(([tokenId]) => tokenId).join(', ')}.`
    })
  }
  throw new CliError('NOT_FOUND', `${displayName} has no token "${text}"`, {
    hint: 'Use the code of a token, its id, or its contract address.',
    next: [{ command: `holdfast tokens list ${pluginId}`, why: 'see the tokens' }]
  })
}

const isMeant = (tokenId: TokenId, token: Token, text: string): boolean =>
  [tokenId, token.currencyCode, contractOf(token)].some(name => name?.toLowerCase() === text.toLowerCase())

const findCurrency = async (session: Session, text: string): Promise<CurrencyInfo | undefined> =>
  (await session.currencies()).find(({ pluginId }) => pluginId === text.toLowerCase())

const configOf = async (session: Session, { pluginId }: CurrencyInfo): Promise<CurrencyConfig> => {
  const config = (await session.account()).currencyConfig(pluginId)
  await config.builtinTokensReady()
  return config
}
