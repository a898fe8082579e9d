import { nativeAmount } from '../../../kernel/index.ts'
import { waitFor } from '../../helpers/device.ts'
import { likeList } from '../../helpers/like-list.ts'
import type { ChainTransaction } from '../chain-transaction.ts'
import type { Device } from '../device.ts'
import { type Flow, logInAgain, makeAccount, openKnown, type Pair } from '../flow.ts'

const WALLET = { name: 'Sparbuch für später', fiatCurrencyCode: 'iso:EUR', format: 'bip84' }
// The first address of the test phrase of BIP-84, on regtest.
const ELSEWHERE = 'bcrt1qcr8te4kr609gcawutmrza0j4xv80jy8zeqchgx'
/** A note whose text needs more than ASCII. */
export const NOTE = { name: 'Bicycle shop', category: 'Expense:Sport', notes: 'Räder, 2 × 28″ 🚲' }

/** Wallets, their keys, and what users write on them. */
export const walletFlows: readonly Flow[] = [
  {
    row: 'wallet and its keys',
    title: 'USER finds a wallet of MAKER with its name, fiat code and keys',
    async run(t, pair) {
      const made = await makeAccount(pair)
      const id = await made.device.createWallet(WALLET)
      await made.device.sync()
      const user = await openKnown(pair, made)
      const { name, fiatCurrencyCode } = WALLET
      t.deepEqual(await user.wallets(), [{ id, type: 'wallet:bitcoin', name, fiatCurrencyCode }])
      const keys = await made.device.rawPrivateKey(id)
      t.like(keys, { format: 'bip84' })
      t.deepEqual(await user.rawPrivateKey(id), keys)
    }
  },
  {
    row: 'transaction note',
    title: 'USER reads what MAKER wrote on a transaction, and MAKER what USER writes later',
    async run(t, pair) {
      const made = await makeAccount(pair)
      const { device } = made
      const id = await device.createWallet(WALLET)
      const transaction = await deposit(pair, device, id)
      await device.writeNote(id, transaction.txid, NOTE)
      await device.sync()
      const user = await openKnown(pair, made)
      await user.showTransactions(id, [transaction])
      t.deepEqual(await user.noteOf(id, transaction.txid), NOTE)

      await user.writeNote(id, transaction.txid, { notes: 'seen' })
      await user.renameWallet(id, 'Renamed')
      await user.sync()
      await device.sync()
      await waitFor(async () => (await device.wallets())[0]?.name === 'Renamed')
      // The published core reads the file of a transaction once.
      await logInAgain(made)
      await device.showTransactions(id, [transaction])
      t.deepEqual(await device.noteOf(id, transaction.txid), { ...NOTE, notes: 'seen' })
    }
  },
  {
    row: 'note on a payment',
    title: 'USER reads what MAKER wrote on a payment that it sent',
    lacking: ({ direction }) =>
      direction === '←' ? 'the published core has no chain here, so it sends nothing' : undefined,
    async run(t, pair) {
      const credentials = pair.newCredentials()
      const device = await pair.world.openHoldfast()
      await device.createAccount(credentials)
      const id = await device.createWallet(WALLET)
      await deposit(pair, device, id)
      const wallet = await device.session.account?.openWallet(id)
      if (wallet === undefined) return t.fail('there is no wallet')
      const spendTargets = [{ publicAddress: ELSEWHERE, nativeAmount: nativeAmount('20000') }]
      const { txid } = await wallet.spend(await wallet.makeSpend({ tokenId: null, spendTargets }))
      await wallet.saveTxMetadata(txid, NOTE)
      await device.sync()
      const user = await openKnown(pair, credentials)
      const { date, nativeAmount: amount, networkFee } = await wallet.getTransaction(txid)
      await user.showTransactions(id, [{ txid, date, nativeAmount: amount, networkFee }])
      t.deepEqual(await user.noteOf(id, txid), NOTE)
    }
  },
  {
    row: 'later wallet',
    title: 'USER sees a wallet that MAKER added after both had logged in',
    async run(t, pair) {
      const made = await makeAccount(pair)
      const user = await openKnown(pair, made)
      const id = await made.device.createWallet(WALLET)
      await made.device.sync()
      // The published core asks for new wallets every 30 s or at an online login.
      await user.logout()
      await user.loginWithPIN({ username: made.name }, made.pin)
      likeList(t, await user.wallets(), [{ id, name: WALLET.name }])
      t.deepEqual(await user.rawPrivateKey(id), await made.device.rawPrivateKey(id))
    }
  }
]

/** Pays a wallet of a device on the chain, and waits until the device knows it. */
export const deposit = async (
  { world }: Pair,
  device: Device,
  walletId: string
): Promise<ChainTransaction> => {
  const { chain } = world.fake
  const amount = '100000'
  const txid = chain.fund(await device.receiveAddress(walletId), amount)
  chain.mine(1)
  const transaction = { txid, date: chain.view.tip.header.time, nativeAmount: amount, networkFee: '0' }
  await device.showTransactions(walletId, [transaction])
  return transaction
}
