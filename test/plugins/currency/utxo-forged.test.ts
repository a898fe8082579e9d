import { sha256 } from '@noble/hashes/sha2.js'
import test, { type ExecutionContext } from 'ava'
import { scriptHashOf, scriptOf } from '../../../fake-server/chain/script.ts'
import { nativeAmount, type SpendInfo } from '../../../kernel/plugin-api.ts'
import { BAD, line, makeHostileWorld, only, type Twist } from './hostile-world.ts'
import { type TestWallet, type TestWorld, until } from './utxo-world.ts'

const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const COIN = 100_000_000n

/** An unsigned transaction of a coin that was never there: the bytes that a lying server makes up. */
const forge = (script: Uint8Array, amounts: readonly bigint[], nonce = 1): { txid: string; hex: string } => {
  const outputs = amounts.map((amount, at) => {
    const value = Buffer.alloc(8)
    value.writeBigUInt64LE(amount)
    // All but the first two pay somebody else.
    const payee = at < 2 ? script : Buffer.alloc(script.length, at)
    return Buffer.concat([value, Buffer.from([payee.length]), payee])
  })
  const bytes = Buffer.concat([
    Buffer.from('0200000001', 'hex'),
    Buffer.alloc(32).fill(Buffer.from(String(nonce).padStart(8, '0'))),
    Buffer.from(`0000000000fdffffff${outputs.length.toString(16).padStart(2, '0')}`, 'hex'),
    ...outputs,
    Buffer.alloc(4)
  ])
  const hash = sha256(sha256(bytes))
  return { txid: Buffer.from(hash).reverse().toString('hex'), hex: bytes.toString('hex') }
}

/** A wallet whose only server shows payments to its first address that nobody made, from now on. */
const forgedWallet = async (
  t: ExecutionContext,
  payments: readonly (readonly bigint[])[]
): Promise<{ world: TestWorld; alice: TestWallet; address: string }> => {
  let forged: readonly { txid: string; hex: string }[] = []
  let scripthash = ''
  const twist: Twist = (method, reply, params) => {
    const [requested] = params as readonly unknown[]
    if (requested === scripthash && method === 'blockchain.scripthash.subscribe' && reply.id !== undefined)
      return line({ id: reply.id, result: 'ab'.repeat(32) })
    if (requested === scripthash && method === 'blockchain.scripthash.get_history') {
      const real = reply.result as { tx_hash: string; height: number }[]
      return line({
        ...reply,
        result: [...real, ...forged.map(({ txid }) => ({ tx_hash: txid, height: 0 }))]
      })
    }
    const bytes = forged.find(({ txid }) => txid === requested)
    if (bytes === undefined || method !== 'blockchain.transaction.get') return line(reply)
    return line({ id: reply.id ?? 0, result: bytes.hex })
  }
  const world = makeHostileWorld(twist, { servers: [BAD] })
  t.teardown(() => world.close())
  const alice = await world.openWallet({ isStarted: false })
  const address = (await alice.engine.getFreshAddress({ tokenId: null })).publicAddress
  const script = scriptOf(world.chain.network, address)
  scripthash = scriptHashOf(script)
  forged = payments.map((amounts, at) => forge(script, amounts, at + 1))
  return { world, alice, address }
}

const spendOf = (amount: bigint, rest: Partial<SpendInfo> = {}): SpendInfo => ({
  tokenId: null,
  spendTargets: [{ publicAddress: PAYEE, nativeAmount: nativeAmount(String(amount)) }],
  ...rest
})

test('a forged payment is shown as incoming, and no draft uses it', async t => {
  const { world, alice, address } = await forgedWallet(t, [[20_000_000n * COIN]])
  world.chain.fund(address, '300000')
  world.chain.mine()
  await alice.engine.startEngine()
  await alice.engine.syncNetwork({})
  const incoming = String(20_000_000n * COIN)
  await until('both are told', () => alice.reported.details.at(-1)?.spendable === '300000')
  t.like(alice.reported.details.at(-1), { spendable: '300000', incoming, immature: '0', reserved: '0' })

  const inputsOf = async (spend: SpendInfo): Promise<number> =>
    (await alice.engine.makeSpend(spend, {})).spentCoins?.length ?? 0
  t.is(await inputsOf(spendOf(200_000n)), 1)
  const max = await alice.engine.getMaxSpendable?.(spendOf(0n), {})
  t.true(BigInt(max ?? 0) < 300_000n)
  t.is(await inputsOf(spendOf(BigInt(max ?? 0))), 1)
  for (const noUnconfirmed of [undefined, true]) {
    const swapRequest = spendOf(400_000n, noUnconfirmed === undefined ? {} : { noUnconfirmed })
    const error = await t.throwsAsync(alice.engine.makeSpend(swapRequest, {}), { code: 'PENDING_FUNDS' })
    t.like(error, { details: { currencyCode: 'BTC', incoming } })
  }
  t.true((await inputsOf(spendOf(400_000n, { noUnconfirmed: false }))) > 0, 'unless the payment says so')
})

for (const [title, payments] of [
  ['one transaction above the maximum supply', [[21_000_000n * COIN, 1n]]],
  ['a payment with other outputs above the maximum supply', [[1n, 1n, 21_000_000n * COIN]]],
  ['transactions that together exceed the maximum supply', [[15_000_000n * COIN], [15_000_000n * COIN]]]
] as const) {
  test(`a server that reports ${title} is refused, and the balance does not change`, async t => {
    const { alice } = await forgedWallet(t, payments)
    await alice.engine.startEngine()
    await t.throwsAsync(alice.engine.syncNetwork({}), { code: 'NETWORK' })
    t.true(
      alice.reported.statuses.some(text => /more coins than there can be/.test(text)),
      alice.reported.statuses.join()
    )
    t.deepEqual(
      alice.reported.balances.filter(balance => BigInt(balance) > 21_000_000n * COIN),
      []
    )
  })
}

const hex64 = 'ab'.repeat(32)
const proofWith =
  (change: object): Parameters<typeof only>[1] =>
  proof => ({ ...(proof as object), ...change })
const lies: readonly (readonly [string, RegExp, (script: Uint8Array) => Twist])[] = [
  [
    'a proof with another branch',
    /proof of [0-9a-f]{64} is wrong/,
    () => only('blockchain.transaction.get_merkle', proofWith({ merkle: [hex64] }))
  ],
  [
    'a proof without a branch',
    /proof of [0-9a-f]{64} is wrong/,
    () => only('blockchain.transaction.get_merkle', proofWith({ merkle: [] }))
  ],
  [
    'a proof of another position',
    /proof of [0-9a-f]{64} is wrong/,
    () => only('blockchain.transaction.get_merkle', proofWith({ pos: 0 }))
  ],
  [
    'the bytes of a larger payment to us',
    /other bytes/,
    script => only('blockchain.transaction.get', () => forge(script, [90_000_000n]).hex)
  ],
  [
    'the same payment with another lock time',
    /other bytes/,
    () => only('blockchain.transaction.get', hex => String(hex).replace(/.{8}$/, '01000000'))
  ],
  [
    'half of the bytes',
    /other bytes/,
    () => only('blockchain.transaction.get', hex => String(hex).slice(0, 60))
  ]
]

for (const [title, blame, lieOf] of lies) {
  test(`a server that sends ${title} is refused, and its reply is not used`, async t => {
    let twist: Twist = (_method, reply) => line(reply)
    const world = makeHostileWorld((...reply) => twist(...reply), { servers: [BAD] })
    t.teardown(() => world.close())
    const alice = await world.openWallet({ isStarted: false })
    const { publicAddress } = await alice.engine.getFreshAddress({ tokenId: null })
    twist = lieOf(scriptOf(world.chain.network, publicAddress))
    world.chain.fund(publicAddress, '70000')
    world.chain.mine()
    await alice.engine.startEngine()
    await t.throwsAsync(alice.engine.syncNetwork({}), { code: 'NETWORK' })
    t.regex(alice.reported.statuses.join('\n'), blame)
    t.is(alice.reported.txs.size, 0)
    t.true(alice.reported.balances.every(balance => balance === '0'))
  })
}

test('of very many forged payments a wallet accepts two thousand, and a confirmed one besides', async t => {
  const payments = Array.from({ length: 2100 }, (_, at) => [BigInt(1000 + at)])
  const { world, alice, address } = await forgedWallet(t, payments)
  world.chain.fund(address, '300000')
  world.chain.mine()
  await alice.engine.startEngine()
  await alice.engine.syncNetwork({})
  await until('the confirmed one is told', () => alice.reported.details.at(-1)?.spendable === '300000')
  const taken = payments.slice(0, 2000).reduce((sum, [amount = 0n]) => sum + amount, 0n)
  t.is(alice.reported.details.at(-1)?.incoming, nativeAmount(String(taken)))
})
