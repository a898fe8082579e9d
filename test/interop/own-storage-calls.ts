import type { CurrencyWallet } from '../../kernel/index.ts'
import { nativeAmount } from '../../kernel/index.ts'
import { waitFor } from '../helpers/device.ts'
import { isLabType, LAB_COINS, LAB_SWAPS } from './lab-coins.ts'
import { type OwnSession, ownAccountOf } from './own-session.ts'
import { plainOf } from './picture.ts'
import { changeCurrency, changeItems, historyOf, itemsOf } from './same-calls.ts'
import type { OpenPicture, PaymentPlan, StorageCalls, WalletPicture } from './storage-calls.ts'

/** What accounts of Holdfast keep. */
export const ownStorageCalls = (session: OwnSession): StorageCalls => {
  const mine = () => ownAccountOf(session)
  const walletOf = (walletId: string): Promise<CurrencyWallet> => mine().openWallet(walletId)
  return {
    async createWallets(plans) {
      const results = await mine().createCurrencyWallets(
        plans.map(({ seed, ...plan }) => ({
          ...plan,
          ...(seed === undefined ? {} : { keyOptions: { seed } })
        }))
      )
      return results.map(result => {
        if (!result.ok) throw result.error
        return result.wallet.id
      })
    },
    createKeys: (type, keys) => mine().createWallet(type, keys),
    splitWallet: (walletId, type) => mine().splitWallet(walletId, type),
    changeWalletStates: changes => mine().changeWalletStates(changes),
    async changeWallet(walletId, { name, fiatCurrencyCode, enabledTokenIds }) {
      const wallet = await walletOf(walletId)
      if (name !== undefined) await wallet.rename(name)
      if (fiatCurrencyCode !== undefined) await wallet.setFiatCurrencyCode(fiatCurrencyCode)
      if (enabledTokenIds !== undefined) await wallet.changeEnabledTokenIds(enabledTokenIds)
    },
    changeCurrency: (pluginId, edit) => changeCurrency(mine().currencyConfig(pluginId), edit),
    async changeSwap(pluginId, { isEnabled, userSettings }) {
      const config = mine().swapConfig(pluginId)
      if (isEnabled !== undefined) await config.changeEnabled(isEnabled)
      if (userSettings !== undefined) await config.changeUserSettings(userSettings)
    },
    changeData: (storeId, items) => changeItems(mine().dataStore, storeId, items),
    deleteData: storeId => mine().dataStore.deleteStore(storeId),
    async findTokens(walletId, tokenIds) {
      const wallet = await walletOf(walletId)
      session.lab.findTokens(walletId, tokenIds)
      await waitFor(() => tokenIds.every(id => wallet.getSnapshot().detectedTokenIds.includes(id)))
      // Resolves once everything about the tokens is saved.
      await wallet.changeEnabledTokenIds(wallet.getSnapshot().enabledTokenIds)
    },
    lockAddress: async (walletId, address) => (await walletOf(walletId)).lockReceiveAddress(address),
    pay: async (walletId, plan) => pay(await walletOf(walletId), plan),
    writeMetadata: async (walletId, { txid, tokenId = null }, change) =>
      (await walletOf(walletId)).saveTxMetadata(txid, change, tokenId),
    async picture() {
      const { activeWalletIds, archivedWalletIds, hiddenWalletIds } = mine().getSnapshot()
      return plainOf({
        activeWalletIds,
        archivedWalletIds,
        hiddenWalletIds,
        wallets: await walletPictures(session),
        currencies: Object.fromEntries(
          LAB_COINS.map(({ info: { pluginId } }) => {
            const { customTokens, userSettings } = mine().currencyConfig(pluginId).getSnapshot()
            return [pluginId, { customTokens, userSettings }]
          })
        ),
        swaps: Object.fromEntries(
          LAB_SWAPS.map(pluginId => {
            const { isEnabled, userSettings } = mine().swapConfig(pluginId).getSnapshot()
            return [pluginId, { isEnabled, userSettings }]
          })
        ),
        data: await itemsOf(mine().dataStore)
      })
    }
  }
}

const pay = async (wallet: CurrencyWallet, plan: PaymentPlan) => {
  const { payTo, nativeAmount: amount, memo, swapData, tokenId, ...rest } = plan
  const draft = await wallet.makeSpend({
    ...rest,
    tokenId: tokenId ?? null,
    spendTargets: [{ publicAddress: payTo, nativeAmount: nativeAmount(amount) }],
    ...(memo === undefined ? {} : { memos: [{ type: 'text', value: memo }] }),
    ...(rest.customNetworkFee === undefined ? {} : { networkFeeOption: 'custom' })
  })
  const sent = await wallet.spend(swapData === undefined ? draft : { ...draft, swapData })
  const { txid, date, nativeAmount: sentAmount, networkFee } = sent
  return {
    txid,
    date,
    nativeAmount: sentAmount,
    networkFee,
    blockHeight: 0,
    ...(tokenId === undefined ? {} : { tokenId })
  }
}

const walletPictures = async (session: OwnSession): Promise<Record<string, WalletPicture>> => {
  const account = ownAccountOf(session)
  const { activeWalletIds } = account.getSnapshot()
  const pictures: Record<string, WalletPicture> = {}
  for (const listing of account.listWallets()) {
    const { walletId, type, archived, deleted, hidden, sortIndex, migratedFromWalletId } = listing
    const isOpen = activeWalletIds.includes(walletId) && isLabType(type)
    pictures[walletId] = {
      ...{ type, archived, deleted, hidden, sortIndex },
      ...(migratedFromWalletId === undefined ? {} : { migratedFromWalletId }),
      keys: await account.walletKeys.getRawPrivateKey(walletId),
      ...(isOpen ? { open: await openPicture(session, await account.openWallet(walletId)) } : {})
    }
  }
  return pictures
}

const openPicture = async (session: OwnSession, wallet: CurrencyWallet): Promise<OpenPicture> => {
  const account = ownAccountOf(session)
  const { walletKeys } = account
  const { name, fiatCurrencyCode, enabledTokenIds, detectedTokenIds } = wallet.getSnapshot()
  return {
    ...{ name, fiatCurrencyCode, enabledTokenIds, detectedTokenIds },
    publicKeys: await walletKeys.getRawPublicKey(wallet.id),
    displayKeys: [
      await walletKeys.getDisplayPrivateKey(wallet.id),
      await walletKeys.getDisplayPublicKey(wallet.id)
    ],
    splittableTypes: await account.listSplittableWalletTypes(wallet.id),
    lockedAddresses: session.lab.lockedAddresses(wallet.id),
    history: await historyOf(wallet, enabledTokenIds)
  }
}
