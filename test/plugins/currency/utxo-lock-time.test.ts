import test from 'ava'
import { type EngineTransaction, nativeAmount } from '../../../kernel/plugin-api.ts'
import { parseRawTx } from '../../../plugins/currency/utxo/chain/transaction.ts'
import { bitcoinRow } from '../../../plugins/currency/utxo/params/bitcoin.ts'
import type { CoinRow, LinkRules, NetworkRow } from '../../../plugins/currency/utxo/params/coin.ts'
import { bitcoin, utxoPlugin } from '../../../plugins/currency/utxo/plugin.ts'
import { makeTestWorld, until } from './utxo-world.ts'

const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'

const [, ...others] = bitcoinRow.networks
const regtest = bitcoinRow.networks.find(({ name }) => name === 'regtest') as NetworkRow
const { isWorthless: _, ...linking } = regtest.linking as LinkRules
/** Bitcoin whose regtest counts as a network where work has a price. */
const dear: CoinRow = {
  ...bitcoinRow,
  networks: [{ ...regtest, linking }, ...others.filter(({ name }) => name !== 'regtest')]
}

const lockTimeOf = ({ signedTx }: EngineTransaction): number =>
  Buffer.from(signedTx, 'hex').readUInt32LE(signedTx.length / 2 - 4)

const drafted = async (
  plugin: Parameters<typeof makeTestWorld>[0] & object
): Promise<{
  drafts: EngineTransaction[]
  sign: (draft: EngineTransaction) => Promise<EngineTransaction>
  height: () => number
}> => {
  const world = makeTestWorld(plugin)
  const wallet = await world.openWallet()
  world.chain.mine(120)
  world.chain.fund((await wallet.engine.getFreshAddress({ tokenId: null })).publicAddress, '100000000')
  world.chain.mine(1)
  await until('the coin', () => wallet.balance() === '100000000')
  const draft = (): Promise<EngineTransaction> =>
    wallet.engine.makeSpend(
      { tokenId: null, spendTargets: [{ publicAddress: PAYEE, nativeAmount: nativeAmount('1000000') }] },
      {}
    )
  const drafts: EngineTransaction[] = []
  for (let at = 0; at < 100; at += 1) drafts.push(await draft())
  const { privateKeys } = wallet
  return { drafts, sign: tx => wallet.engine.signTx(tx, privateKeys, {}), height: () => world.chain.height }
}

const draftIn = ({ otherParams }: EngineTransaction): { lockTime: number } =>
  otherParams?.draft as unknown as { lockTime: number }
const lockTimeIn = (tx: EngineTransaction): number => draftIn(tx).lockTime

test('a payment cannot be mined in place of the newest block whose work was checked, and now and then of some before', async t => {
  const { drafts, sign, height } = await drafted({ plugin: utxoPlugin(dear) })
  const times = drafts.map(lockTimeIn)
  t.true(
    times.every(time => time <= height() && time >= height() - 99),
    String(times)
  )
  const exact = times.filter(time => time === height()).length
  t.true(exact >= 60 && exact < 100, `${exact} of 100 have the height itself`)
  const [draft] = drafts
  if (draft === undefined) return t.fail()
  const signed = await sign(draft)
  t.is(lockTimeOf(signed), lockTimeIn(draft))
  t.is(parseRawTx(Buffer.from(signed.signedTx, 'hex')).txid, signed.txid)
  const later = structuredClone(draft) as EngineTransaction
  draftIn(later).lockTime = height() + 1
  await t.throwsAsync(() => sign(later), { message: /not to be mined at once/ })
})

test('where heights are only what a server says, a payment can be mined at once', async t => {
  const { drafts, sign } = await drafted({ plugin: bitcoin })
  t.deepEqual([...new Set(drafts.map(lockTimeIn))], [0])
  const [draft] = drafts
  if (draft !== undefined) t.is(lockTimeOf(await sign(draft)), 0)
})
