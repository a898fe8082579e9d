import type { JsonObject } from '../../../kernel/index.ts'
import { readVectorFile, type Vector } from '../../vectors/vector.ts'
import type { ChainTransaction } from '../chain-transaction.ts'
import type { Device } from '../device.ts'
import { differences, seesTheSame } from '../differences.ts'
import type { Flow } from '../flow.ts'
import { loadKnownUser } from '../known-account.ts'

/** The users of test/vectors/world.json. */
export const vectorFlows: readonly Flow[] = [
  {
    row: 'users of the vectors',
    title: 'USER and MAKER read a user of today alike, and each what the other changes',
    lacking: ({ direction }) => (direction === '→' ? undefined : 'told of both directions at once'),
    async run(t, pair) {
      const { inputs, outputs } = vectorOf('world-1')
      const { username, loginKey_base58: loginKey } = inputs.credentials
      const account = loadKnownUser(pair, inputs.fakeUser, device =>
        device.loginWithKey({ username }, loginKey)
      )
      const [maker, user] = [await account.logIn(pair.openMaker), await account.logIn(pair.openUser)]
      const { id } = outputs.wallet
      const chain = inputs.engineTransactions.map(chainTransactionOf)
      for (const device of [maker, user]) await device.showTransactions(id, chain)
      await seesTheSame(t, maker, user)
      const { wallets, currencies, swaps, data } = await maker.picture()
      const { name, fiatCurrencyCode, enabledTokenIds, detectedTokenIds } = outputs.wallet
      t.like(wallets[id]?.open, { name, fiatCurrencyCode, enabledTokenIds, detectedTokenIds })
      t.deepEqual(wallets[id]?.open?.lockedAddresses, outputs.wallet.gapLimitAddresses)
      for (const { txid, date, metadata } of outputs.transactions) {
        const { amountFiat: _repeated, ...noted } = metadata
        t.like(wallets[id]?.open?.history['']?.[txid], { date, confirmations: 2, metadata: noted })
      }
      t.deepEqual(differences(currencies.labcoin?.customTokens, outputs.account.customTokens), [])
      t.deepEqual([data, swaps.labswap?.isEnabled], [{ shop: { cart: 'three pears' } }, false])

      const edits = [maker, user].map((device, index) => ({ device, text: `edit ${index}` }))
      for (const { device, text } of edits) {
        await account.logInAgain(device)
        await device.writeMetadata(id, { txid: 'tx-modern' }, { notes: text })
        await device.writeMetadata(id, { txid: 'tx-codes' }, { name: text })
        await device.changeWallet(id, { name: text, enabledTokenIds: ['aa11', 'bb22'] })
        await device.changeData('shop', { cart: text })
        await device.changeSwap('labswap', { isEnabled: true })
        await device.changeWalletStates({ [id]: { hidden: false } })
        await device.sync()
        for (const other of [maker, user]) await account.logInAgain(other)
        await seesTheSame(t, maker, user)
        t.is((await user.picture()).wallets[id]?.open?.name, text)
      }
    }
  },
  {
    row: 'users of the vectors',
    title: 'USER and MAKER read a user of long ago alike, and each what the other changes',
    lacking: ({ direction }) => (direction === '→' ? undefined : 'told of both directions at once'),
    async run(t, pair) {
      const { inputs, outputs } = vectorOf('world-2')
      const { username, password, loginKey_base58: loginKey } = inputs.credentials
      // The old server has no login for keys before a login by password has made one.
      const known = new Set<Device>()
      const account = loadKnownUser(pair, inputs.fakeUser, async device => {
        if (known.has(device)) return device.loginWithKey({ username }, loginKey)
        known.add(device)
        return device.loginWithPassword(username, password)
      })
      const maker = await account.logIn(pair.openMaker, await pair.world.folderOf([]))
      const user = await account.logIn(pair.openUser, await pair.world.folderOf([]))
      const id = inputs.plaintext.legacyWalletId
      // Version 2.48.1 counts the wallet of the old file twice when it gives the others a place.
      await maker.changeWalletStates(
        Object.fromEntries(
          outputs.account.allKeys.map((info: { id: string }, sortIndex: number) => [info.id, { sortIndex }])
        )
      )
      await maker.sync()
      await account.logInAgain(user)
      await seesTheSame(t, maker, user)
      const { wallets, currencies } = await maker.picture()
      t.like(wallets[id], { type: 'wallet:bitcoin', archived: true, keys: outputs.account.legacyWalletKeys })
      t.deepEqual(differences(currencies.labcoin?.customTokens, outputs.account.customTokens), [])
      for (const device of [maker, user]) {
        await account.logInAgain(device)
        const [created = ''] = await device.createWallets([{ type: 'wallet:labcoin', name: 'New' }])
        await device.changeWalletStates({ [created]: { sortIndex: 9 }, [id]: { hidden: true } })
        await device.changeCurrency('labcoin', { userSettings: { by: created } })
        await device.sync()
        for (const other of [maker, user]) await account.logInAgain(other)
        await seesTheSame(t, maker, user)
      }
    }
  }
]

const vectorOf = (id: string): Vector => {
  const vector = readVectorFile('world').vectors.find(known => known.id === id)
  if (vector === undefined) throw new Error(`There is no vector ${id}`)
  return vector
}

const chainTransactionOf = (transaction: JsonObject & ChainTransaction): ChainTransaction => ({
  txid: transaction.txid,
  date: transaction.date,
  blockHeight: Number(transaction.blockHeight),
  nativeAmount: transaction.nativeAmount,
  networkFee: transaction.networkFee
})
