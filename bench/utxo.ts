import { HDKey } from '@scure/bip32'
import { nativeAmount } from '../kernel/plugin-api.ts'
import { childKeys } from '../plugins/currency/utxo/keys/child-keys.ts'
import { makeBenchChain } from './utxo-wallet.ts'

/** One measured line. */
export interface UtxoMeasure {
  readonly name: string
  readonly value: number
  readonly unit: 'ms' | 'per second' | 'ratio'
  /** What the project promises; undefined: only reported. */
  readonly goal?: string
}

/** Public child keys against @scure/bip32, in one run. */
export const measureChildKeys = (): readonly UtxoMeasure[] => {
  const node = HDKey.fromMasterSeed(new Uint8Array(32).fill(7)).derive("m/84'/0'/0'/0")
  const { publicKey, chainCode } = node
  if (publicKey === null || chainCode === null) throw new Error('no key')
  const publicNode = HDKey.fromExtendedKey(node.publicExtendedKey)
  childKeys({ publicKey, chainCode }, 0, 100)
  for (let i = 0; i < 100; i++) publicNode.deriveChild(i)
  // Interleaved, so that a busy machine disturbs both alike.
  let ours = 0
  let theirs = 0
  for (let round = 0; round < 10; round++) {
    ours += timeOf(() => childKeys({ publicKey, chainCode }, round * 100, 100))
    theirs += timeOf(() => {
      for (let i = 0; i < 100; i++) publicNode.deriveChild(round * 100 + i)
    })
  }
  return [
    { name: 'public child keys', value: 1_000_000 / ours, unit: 'per second' },
    { name: 'public child keys, @scure/bip32', value: 1_000_000 / theirs, unit: 'per second' },
    { name: 'public child keys, ratio', value: theirs / ours, unit: 'ratio', goal: '>= 2.5' }
  ]
}

/** Cold scan and warm start of a wallet with 200 used addresses. */
export const measureScan = async (): Promise<readonly UtxoMeasure[]> => {
  const world = await makeBenchChain()
  const first = await world.open()
  const payments: { to: string; amount: string }[] = []
  for (let forceIndex = 0; forceIndex < 200; forceIndex++) {
    const { publicAddress } = await first.engine.getFreshAddress({ tokenId: null, forceIndex })
    payments.push({ to: publicAddress, amount: '20000' })
  }
  for (let at = 0; at < 200; at += 2) {
    world.chain.fundMany(payments.slice(at, at + 2))
    if (at % 10 === 0) world.chain.mine()
  }
  world.chain.mine()
  await first.engine.killEngine()
  const cold: number[] = []
  const warm: number[] = []
  for (let round = 0; round < 3; round++) {
    const store = new Map<string, string>()
    for (const list of [cold, warm]) {
      const start = performance.now()
      const wallet = await world.open(first.keys, store)
      await wallet.engine.startEngine()
      await wallet.engine.syncNetwork({})
      list.push(performance.now() - start)
      if (wallet.balance() !== '4000000') throw new Error(`A scan found ${wallet.balance()}`)
      await wallet.engine.killEngine()
    }
  }
  await world.close()
  return [
    { name: 'cold scan of 200 used addresses', value: median(cold), unit: 'ms', goal: '< 1000' },
    { name: 'warm start of the same', value: median(warm), unit: 'ms', goal: '< 100' }
  ]
}

/** Making and signing a spend of 1, 10 and 100 inputs. */
export const measureSpend = async (): Promise<readonly UtxoMeasure[]> => {
  const world = await makeBenchChain()
  const stranger = await world.open()
  const { publicAddress } = await stranger.engine.getFreshAddress({ tokenId: null })
  const measures: UtxoMeasure[] = []
  for (const inputs of [1, 10, 100]) {
    const wallet = await world.open()
    const address = (await wallet.engine.getFreshAddress({ tokenId: null })).publicAddress
    world.chain.fundMany(Array.from({ length: inputs }, () => ({ to: address, amount: '20000' })))
    world.chain.mine()
    await wallet.engine.startEngine()
    await wallet.engine.syncNetwork({})
    const amount = nativeAmount(String(inputs * 16_000))
    const spend = { tokenId: null, spendTargets: [{ publicAddress, nativeAmount: amount }] }
    const start = performance.now()
    const draft = await wallet.engine.makeSpend(spend, {})
    const drafted = performance.now()
    const signed = await wallet.engine.signTx(draft, wallet.keys)
    const ended = performance.now()
    await wallet.engine.broadcastTx(signed, {})
    measures.push(
      { name: `spend of ${inputs} inputs, made`, value: drafted - start, unit: 'ms' },
      { name: `spend of ${inputs} inputs, signed`, value: ended - drafted, unit: 'ms' }
    )
  }
  await world.close()
  return measures
}

/** Everything this file measures. */
export const measureUtxo = async (): Promise<readonly UtxoMeasure[]> => [
  ...measureChildKeys(),
  ...(await measureScan()),
  ...(await measureSpend())
]

const timeOf = (work: () => void): number => {
  const start = performance.now()
  work()
  return performance.now() - start
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
