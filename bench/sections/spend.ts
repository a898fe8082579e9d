import { Transaction as SignedTransaction } from '@scure/btc-signer'
import { type FakeWorld, makeFakeWorld } from '../../fake-server/fake-world.ts'
import {
  type Account,
  type CurrencyWallet,
  compact,
  nativeAmount,
  type SpendInfo,
  type Transaction
} from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { makeRandomBelow, selectCoins } from '../../plugins/currency/utxo/spend/select-coins.ts'
import { openWorldDevice } from '../bench-device.ts'
import { type Cost, measure, medianCost } from '../measure.ts'
import { atMost, check, type Row, rowOf, type Section } from '../section.ts'
import { until } from '../wait.ts'

/** Making and signing a spend of 1, 10, 100, 500 and 1,000 inputs, and choosing among 10,000 coins, through the kernel; the chain takes the last of each. */
export const spend: Section = async () => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const device = await openWorldDevice(world)
  const account = await device.context.createAccount({})
  const stranger = await account.createCurrencyWallet('wallet:bitcoin')
  const { publicAddress } = await stranger.getReceiveAddress()
  // Warms up what the sizes share, so that the first is not charged for it.
  await spendOf({ world, account, publicAddress, inputs: 2 })
  const rows: Row[] = []
  for (const inputs of [1, 10, 100, 500, 1000])
    rows.push(...(await spendOf({ world, account, publicAddress, inputs })))
  await device.close()
  await world.close()
  rows.push(await choiceRow())
  return {
    rows,
    notes: [
      `Each wallet has ${SPARE} coins more than it spends, each on its own address. Signing derives the ` +
        'keys from the words again, and journals the intent before and the signed bytes after; the storage is ' +
        'in memory.'
    ]
  }
}

/** Choosing what pays, without a key or a network. */
const choiceRow = async (): Promise<Row> => {
  const coins = Array.from({ length: 10_000 }, (_, at) => ({
    ...{
      txid: String(at),
      vout: 0,
      value: BigInt(1000 + ((at * 7919) % 1_000_000)),
      record: { branch: { purpose: 84 } }
    },
    ...{ height: 7, isCoinbase: false, isPegOut: false, isOwnChange: false }
  })) as unknown as Parameters<typeof selectCoins>[0]
  const amount = 250_000_000n
  const costs: Cost[] = []
  for (let round = 0; round < 9; round++) {
    const { value, ...cost } = await measure(async () =>
      selectCoins(coins, {
        ...{ amount, outputs: [22], rate: 5000n, longTermRate: 10_000n },
        ...{ changePurpose: 84, changeType: 'p2wpkh', changeDust: 294n },
        random: makeRandomBelow(makeNodeIo().random)
      })
    )
    check((value?.coins.reduce((sum, coin) => sum + coin.value, 0n) ?? 0n) >= amount, 'what was chosen')
    costs.push(cost)
  }
  const cost = medianCost(costs)
  return rowOf('choice among 10,000 coins', cost, { goals: [atMost('50 ms of CPU', cost.cpuMs, 50)] })
}

const SPARE = 20
const COIN = 1_000_000

interface SpendWork {
  readonly world: FakeWorld
  readonly account: Account
  readonly publicAddress: string
  readonly inputs: number
}

const spendOf = async ({ world, account, publicAddress, inputs }: SpendWork): Promise<Row[]> => {
  const wallet = await account.createCurrencyWallet('wallet:bitcoin')
  await fill(world, wallet, inputs + SPARE)
  // So little of the last coin that its rest pays any fee.
  const amount = nativeAmount(String((inputs - 1) * COIN + COIN / 100))
  const request: SpendInfo = { tokenId: null, spendTargets: [{ publicAddress, nativeAmount: amount }] }
  const made: Cost[] = []
  const signed: Cost[] = []
  const both: Cost[] = []
  let last: Transaction | undefined
  for (let round = 0; round < (inputs > 100 ? 3 : inputs > 10 ? 7 : 11); round++) {
    // What is signed reserves its coins.
    if (last !== undefined) await wallet.discardTx(last.txid)
    const draft = await measure(() => wallet.makeSpend(request))
    const done = await measure(() => wallet.signTx(draft.value))
    made.push(draft)
    signed.push(done)
    both.push({ cpuMs: draft.cpuMs + done.cpuMs, wallMs: draft.wallMs + done.wallMs })
    last = done.value
  }
  if (last === undefined) throw new Error('Nothing was signed')
  const parsed = SignedTransaction.fromRaw(Buffer.from(last.signedTx, 'hex'))
  check(parsed.inputsLength === inputs, `${parsed.inputsLength} inputs instead of ${inputs}`)
  const before = BigInt(world.chain.balance(publicAddress).unconfirmed)
  await wallet.saveTx(await wallet.broadcastTx(last))
  const after = BigInt(world.chain.balance(publicAddress).unconfirmed)
  check(after - before === BigInt(amount), 'what the chain paid out')
  const name = inputs === 1 ? '1 input' : `${inputs} inputs`
  return [
    rowOf(`makeSpend, ${name}`, medianCost(made)),
    rowOf(
      `signTx, ${name}`,
      medianCost(signed),
      compact({
        goals: goalsOf(inputs, medianCost(signed).cpuMs)
      })
    ),
    rowOf(`both, ${name}`, medianCost(both))
  ]
}

/** 500 inputs are to take 1.5 s and 1,000 twice as long: signing is linear. */
const goalsOf = (inputs: number, cpuMs: number): Row['goals'] =>
  inputs < 500 ? undefined : [atMost(`${3 * inputs} ms of CPU`, cpuMs, 3 * inputs)]

const fill = async (world: FakeWorld, wallet: CurrencyWallet, count: number): Promise<void> => {
  const payments: { to: string; amount: string }[] = []
  for (let forceIndex = 0; forceIndex < count; forceIndex++) {
    const { publicAddress } = await wallet.getReceiveAddress({ forceIndex })
    payments.push({ to: publicAddress, amount: String(COIN) })
  }
  world.chain.fundMany(payments)
  world.chain.mine(1)
  await until([wallet], () => wallet.balanceDetailsOf(null).spendable === String(COIN * count))
}
