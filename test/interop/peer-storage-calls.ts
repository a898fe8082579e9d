import { waitFor } from '../helpers/device.ts'
import { differences } from './differences.ts'
import { isLabType, LAB_COINS, LAB_SWAPS } from './lab-coins.ts'
import { accountOf, type CoreWallet, type PeerSession } from './peer-core.ts'
import type { CoreCurrencyConfig } from './peer-core-storage.ts'
import type { ActionCalls } from './peer-messages.ts'
import { plainOf } from './picture.ts'
import { changeCurrency, changeItems, historyOf, itemsOf } from './same-calls.ts'
import type { OpenPicture, PaymentPlan, StorageCalls, WalletPicture } from './storage-calls.ts'

/** What accounts of the published core keep. */
export const peerStorageCalls = (session: PeerSession): StorageCalls & ActionCalls => {
  const mine = () => accountOf(session)
  const walletOf = (walletId: string): Promise<CoreWallet> => mine().waitForCurrencyWallet(walletId)
  return {
    async createWallets(plans) {
      const results = await mine().createCurrencyWallets(
        plans.map(({ type: walletType, seed, ...plan }) => ({ ...plan, walletType, keyOptions: { seed } }))
      )
      return results.map(({ result, error }) => {
        if (result === undefined) throw error
        return result.id
      })
    },
    createKeys: (type, keys) => mine().createWallet(type, keys),
    splitWallet: (walletId, type) => mine().splitWalletInfo(walletId, type),
    changeWalletStates: changes => mine().changeWalletStates(changes),
    async changeWallet(walletId, { name, fiatCurrencyCode, enabledTokenIds }) {
      const wallet = await walletOf(walletId)
      if (name !== undefined) await wallet.renameWallet(name)
      if (fiatCurrencyCode !== undefined) await wallet.setFiatCurrencyCode(fiatCurrencyCode)
      if (enabledTokenIds === undefined) return
      await wallet.changeEnabledTokenIds(enabledTokenIds)
      // It saves them a little later.
      await waitFor(async () => isSameList(enabledTokenIds, (await savedTokens(wallet)).enabledTokenIds))
    },
    async changeCurrency(pluginId, edit) {
      await changeCurrency(configOf(session, pluginId), edit)
      if (edit.add === undefined && edit.change === undefined && edit.remove === undefined) return
      // It saves them a little later.
      await waitFor(async () => {
        const text = await mine()
          .disklet.getText('CustomTokens.json')
          .catch(() => '{}')
        const { customTokens } = configOf(session, pluginId)
        return differences(JSON.parse(text).customTokens?.[pluginId], customTokens).length === 0
      })
    },
    async changeSwap(pluginId, { isEnabled, userSettings }) {
      const config = mine().swapConfig[pluginId]
      if (isEnabled !== undefined) await config?.changeEnabled(isEnabled)
      if (userSettings !== undefined) await config?.changeUserSettings(userSettings)
    },
    changeData: (storeId, items) => changeItems(mine().dataStore, storeId, items),
    deleteData: storeId => mine().dataStore.deleteStore(storeId),
    async findTokens(walletId, tokenIds) {
      const wallet = await walletOf(walletId)
      session.currencies.findTokens(walletId, tokenIds)
      await waitFor(() => tokenIds.every(id => wallet.detectedTokenIds.includes(id)))
      await waitFor(async () =>
        isSameList(wallet.detectedTokenIds, (await savedTokens(wallet)).detectedTokenIds)
      )
    },
    async lockAddress(walletId, publicAddress) {
      await (await walletOf(walletId)).lockReceiveAddress({ publicAddress, metadata: {}, nativeAmount: '0' })
    },
    pay: async (walletId, plan) => pay(await walletOf(walletId), plan),
    async writeMetadata(walletId, { txid, tokenId = null }, metadata) {
      const wallet = await walletOf(walletId)
      // After a login it knows of none until it is asked for the list.
      await wallet.getTransactions({ tokenId })
      if (session.place.version === '1.14.0')
        await wallet.saveTxMetadata(txid, session.currencies.codeOf(walletId, tokenId), metadata)
      else await wallet.saveTxMetadata({ txid, tokenId, metadata })
    },
    async saveAction(walletId, txid, action) {
      await (await walletOf(walletId)).saveTxAction({ txid, tokenId: null, ...action })
    },
    async picture() {
      const { activeWalletIds, archivedWalletIds, hiddenWalletIds } = mine()
      return plainOf({
        activeWalletIds,
        archivedWalletIds,
        hiddenWalletIds,
        wallets: await walletPictures(session),
        currencies: Object.fromEntries(
          LAB_COINS.map(({ info: { pluginId } }) => {
            const { customTokens, userSettings = {} } = configOf(session, pluginId)
            return [pluginId, { customTokens, userSettings }]
          })
        ),
        swaps: Object.fromEntries(
          LAB_SWAPS.map(pluginId => {
            const { enabled: isEnabled = true, userSettings = {} } = mine().swapConfig[pluginId] ?? {}
            return [pluginId, { isEnabled, userSettings }]
          })
        ),
        data: await itemsOf(mine().dataStore)
      })
    }
  }
}

interface TokenLists {
  readonly enabledTokenIds: readonly string[]
  readonly detectedTokenIds: readonly string[]
}

const savedTokens = async ({ disklet }: CoreWallet): Promise<TokenLists> => {
  const none = '{ "enabledTokenIds": [], "detectedTokenIds": [] }'
  return JSON.parse(await disklet.getText('Tokens.json').catch(() => none))
}

const isSameList = (one: readonly string[], other: readonly string[]): boolean =>
  [...one].sort().join() === [...other].sort().join()

const configOf = (session: PeerSession, pluginId: string): CoreCurrencyConfig => {
  const config = accountOf(session).currencyConfig[pluginId]
  if (config === undefined) throw new Error(`There is no currency ${pluginId}`)
  return config
}

const pay = async (wallet: CoreWallet, plan: PaymentPlan) => {
  const { payTo, nativeAmount: amount, memo, tokenId, ...rest } = plan
  const draft = await wallet.makeSpend({
    ...rest,
    tokenId: tokenId ?? null,
    spendTargets: [{ publicAddress: payTo, nativeAmount: amount }],
    ...(memo === undefined ? {} : { memos: [{ type: 'text', value: memo }] }),
    ...(rest.customNetworkFee === undefined ? {} : { networkFeeOption: 'custom' })
  })
  const sent = await wallet.broadcastTx(await wallet.signTx(draft))
  await wallet.saveTx(sent)
  const { txid, date, nativeAmount, networkFee } = sent
  return {
    txid,
    date,
    nativeAmount,
    networkFee,
    blockHeight: 0,
    ...(tokenId === undefined ? {} : { tokenId })
  }
}

const walletPictures = async (session: PeerSession): Promise<Record<string, WalletPicture>> => {
  const account = accountOf(session)
  const pictures: Record<string, WalletPicture> = {}
  for (const info of account.allKeys) {
    const { id, type, migratedFromWalletId } = info
    // It shows undefined where a file of states leaves one out, also in files of its own.
    const { archived = false, deleted = false, hidden = false, sortIndex = account.allKeys.length } = info
    const isOpen = account.activeWalletIds.includes(id) && isLabType(type)
    pictures[id] = {
      ...{ type, archived, deleted, hidden, sortIndex },
      ...(migratedFromWalletId === undefined ? {} : { migratedFromWalletId }),
      keys: await account.getRawPrivateKey(id),
      ...(isOpen ? { open: await openPicture(session, await account.waitForCurrencyWallet(id)) } : {})
    }
  }
  return pictures
}

const openPicture = async (session: PeerSession, wallet: CoreWallet): Promise<OpenPicture> => {
  const account = accountOf(session)
  await waitFor(() => wallet.fiatCurrencyCode !== '')
  const { id, name, fiatCurrencyCode, enabledTokenIds, detectedTokenIds } = wallet
  return {
    ...{ name, fiatCurrencyCode, enabledTokenIds, detectedTokenIds },
    publicKeys: await account.getRawPublicKey(id),
    displayKeys: [await account.getDisplayPrivateKey(id), await account.getDisplayPublicKey(id)],
    splittableTypes: await account.listSplittableWalletTypes(id),
    lockedAddresses: session.currencies.lockedAddresses(id),
    history: await historyOf(wallet, enabledTokenIds)
  }
}
