import type { CurrencyWallet } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { type Asset, assetOf } from '../output/assets.ts'
import type { Session } from '../session.ts'

/** The coin of a wallet's chain. */
export const coinOf = (wallet: CurrencyWallet): Asset => assetOf(wallet.currencyInfo, {}, null)

/** What a wallet holds: the coin of its chain, then the tokens that are on in it. */
export const assetsOf = async (session: Session, wallet: CurrencyWallet): Promise<readonly Asset[]> => {
  const { enabledTokenIds } = wallet.getSnapshot()
  if (enabledTokenIds.length === 0) return [coinOf(wallet)]
  const account = await session.account()
  const config = account.currencyConfig(wallet.currencyInfo.pluginId)
  await config.tokensAsked()
  const { allTokens } = config.getSnapshot()
  return [coinOf(wallet), ...enabledTokenIds.map(tokenId => assetOf(wallet.currencyInfo, allTokens, tokenId))]
}

/** What a wallet holds, if it is looked up: nobody knows the balances of one whose chain is left alone. */
export const lookedUpAssets = async (session: Session, wallet: CurrencyWallet): Promise<readonly Asset[]> =>
  wallet.getSnapshot().isPaused ? [] : assetsOf(session, wallet)

/** The asset of `--token`, or else the coin of the wallet's chain. @throws CliError NOT_FOUND */
export const chosenAsset = async (session: Session, wallet: CurrencyWallet): Promise<Asset> => {
  const text = session.text('token')
  return text === undefined ? coinOf(wallet) : findAsset(session, wallet, text)
}

/** The asset that a person means by a token's id or code. @throws CliError NOT_FOUND */
export const findAsset = async (session: Session, wallet: CurrencyWallet, text: string): Promise<Asset> => {
  const found = matching(await assetsOf(session, wallet), text)
  if (found !== undefined) return found
  throw new CliError('NOT_FOUND', `There is no token "${text}" in ${wallet.name ?? wallet.id}`, {
    hint: 'Use the id of a token that is on in this wallet, or its code.'
  })
}

/** The asset with that id, or else the one with that code. */
export const matching = (assets: readonly Asset[], text: string): Asset | undefined =>
  assets.find(({ tokenId }) => tokenId === text) ??
  assets.find(({ currencyCode }) => currencyCode.toLowerCase() === text.toLowerCase())
