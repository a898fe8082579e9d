import test from 'ava'
import { copyData } from '../../../kernel/base/copy-data.ts'
import { checkedDisk } from '../../../kernel/base/disk-path.ts'
import { WalletError } from '../../../kernel/base/errors.ts'
import {
  type CurrencyEngine,
  type Disk,
  type EngineTransaction,
  nativeAmount
} from '../../../kernel/index.ts'
import { memoryDisk } from '../../../plugins/storage/memory.ts'
import { makeToy, toyTransaction } from '../../helpers/toy-currency.ts'
import { openToyHome, toyToken } from '../../helpers/toy-home.ts'

/** An object whose fields answer well the first time, and something else ever after; `reads` counts. */
const twoFaced = <T extends object>(good: T, evil: Partial<T>, reads = new Map<string, number>()): T => {
  const face = {} as T
  for (const name of Object.keys({ ...good, ...evil })) {
    Object.defineProperty(face, name, {
      enumerable: true,
      configurable: true,
      get() {
        const count = (reads.get(name) ?? 0) + 1
        reads.set(name, count)
        return (count === 1 || !(name in evil) ? good : evil)[name as keyof T]
      }
    })
  }
  return face
}

const refuse = (rule: string): Error => new TypeError(rule)
const limits = { maxLength: 1000, refuse }

test('a copy reads each property once, and holds nothing of the original', t => {
  const reads = new Map<string, number>()
  const inner = { list: [1, { deep: 'yes' }] }
  const given = twoFaced({ amount: '5', inner }, { amount: '999' }, reads)
  const copy = copyData(given, limits) as { amount: string; inner: typeof inner }
  t.deepEqual(copy, { amount: '5', inner: { list: [1, { deep: 'yes' }] } })
  inner.list.push(7)
  t.deepEqual(copy.inner.list, [1, { deep: 'yes' }])
  t.deepEqual([...reads.values()], [1, 1])
})

test('a copy is as JSON would have it, and refuses what is too long, too deep, forbidden or unreadable', t => {
  const date = new Date(0)
  const odd = { a: undefined, b: () => {}, c: Number.NaN, d: date, e: [undefined, Symbol('s')], f: null }
  t.deepEqual(copyData(odd, limits), JSON.parse(JSON.stringify(odd)))
  t.is(
    copyData(() => {}, limits),
    undefined
  )
  let deep: unknown = 1
  for (let depth = 0; depth < 100; depth++) deep = [deep]
  const ring: Record<string, unknown> = {}
  ring.ring = ring
  const endless = (): object => ({
    get next() {
      return endless()
    }
  })
  const { proxy: revoked, revoke } = Proxy.revocable({}, {})
  revoke()
  const refused: readonly (readonly [string, unknown, RegExp])[] = [
    ['deep', deep, /deeper than 64/],
    ['ring', ring, /deeper than 64/],
    ['endless', endless(), /deeper than 64/],
    ['long text', 'x'.repeat(1001), /too long/],
    ['many items', new Array(2000).fill(0), /too long/],
    ['a length that is none', new Proxy([], { get: () => 2 ** 32 }), /too long|cannot be read/],
    ['forbidden', JSON.parse('{"__proto__":{"x":1}}'), /forbidden/],
    ['bigint', { a: 1n }, /no JSON/],
    ['revoked', revoked, /cannot be read/],
    [
      'throwing',
      {
        get a() {
          throw undefined
        }
      },
      /cannot be read/
    ]
  ]
  for (const [name, value, message] of refused)
    t.throws(() => copyData(value, limits), { instanceOf: TypeError, message }, name)
})

test('a reported transaction is used as it was checked, and later changes of the plugin have no effect', async t => {
  const list = ['address']
  const tx = twoFaced(toyTransaction('tx1', { ourReceiveAddresses: list }), {
    nativeAmount: nativeAmount('999'),
    txid: 'tx2'
  })
  const { account, clock } = await openToyHome(t, {
    engine: (_good, { callbacks }) => ({
      async startEngine() {
        callbacks.onTransactionsChanged([tx])
        callbacks.onAddressesChecked(1)
      }
    })
  })
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await clock.advance(10_000)
  list.push('another')
  const [seen] = await wallet.getTransactions()
  t.like(seen, { txid: 'tx1', nativeAmount: '5', ourReceiveAddresses: ['address'] })
})

test('a draft keeps what the engine returned, and later changes of the engine have no effect', async t => {
  let kept: EngineTransaction | undefined
  const { account, clock } = await openToyHome(t, {
    engine: (good: CurrencyEngine) => ({
      async makeSpend(spend, keys) {
        const draft = await good.makeSpend(spend, keys)
        Object.assign(spend.spendTargets[0] ?? {}, { publicAddress: 'thief' })
        kept = { ...draft, otherParams: { fee: '1' } }
        return twoFaced(kept, { nativeAmount: nativeAmount('-999') })
      },
      getFreshAddress: async () => twoFaced({ publicAddress: 'mine' }, { publicAddress: 'thief' })
    }),
    tools: {
      parseUri: async () => twoFaced({ publicAddress: 'shop' }, { publicAddress: 'thief' }),
      createPrivateKey: async () => twoFaced({ toyKey: '00' }, { toyKey: '11' })
    }
  })
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await clock.advance(1000)
  const spendTargets = [{ publicAddress: 'shop', nativeAmount: nativeAmount('5') }]
  const draft = await wallet.makeSpend({ tokenId: null, spendTargets })
  Object.assign(kept?.otherParams ?? {}, { fee: '999' })
  t.like(draft, { nativeAmount: '-5', otherParams: { fee: '1' } })
  t.is(draft.spendTargets?.[0]?.publicAddress, 'shop')
  t.deepEqual(await wallet.getReceiveAddress(), { publicAddress: 'mine' })
  t.deepEqual(await wallet.parseUri('any'), { publicAddress: 'shop' })
  t.is((await account.walletKeys.getRawPrivateKey(wallet.id)).toyKey, '00')
})

test('an answer that throws when it is awaited again reaches the caller as an error, or as what was checked', async t => {
  const awaited = <T extends object>(good: T): T => {
    let count = 0
    return Object.defineProperty({ ...good }, 'then', {
      enumerable: false,
      get() {
        count += 1
        if (count > 1) throw undefined
        return undefined
      }
    })
  }
  const { account, clock } = await openToyHome(t, {
    engine: good => ({ makeSpend: async (spend, keys) => awaited(await good.makeSpend(spend, keys)) }),
    tools: { parseUri: async uri => awaited({ publicAddress: uri }) }
  })
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await clock.advance(1000)
  const spendTargets = [{ publicAddress: 'shop', nativeAmount: nativeAmount('5') }]
  for (const call of [
    () => wallet.makeSpend({ tokenId: null, spendTargets }),
    () => wallet.parseUri('shop')
  ]) {
    const outcome = await call().then(
      () => 'answered',
      (thrown: unknown) => (thrown instanceof Error ? 'error' : `raw ${String(thrown)}`)
    )
    t.is(outcome, 'answered')
  }
})

test('tokens that a plugin brings are copied before they are checked', async t => {
  const denominations = [{ name: 'AA', multiplier: '100' }]
  const token = twoFaced({ ...toyToken('AA'), denominations }, { currencyCode: 'USDT' })
  const { account } = await openToyHome(t, { tokens: { aa: token } })
  denominations[0] = { name: 'AA', multiplier: '1' }
  const config = account.currencyConfig('toycoin')
  while (!config.getSnapshot().areBuiltinTokensKnown) await new Promise(resolve => setImmediate(resolve))
  t.like(config.getSnapshot().allTokens.aa, { currencyCode: 'AA', denominations: [{ name: 'AA' }] })
  t.true(Object.isFrozen(config.getSnapshot().allTokens.aa?.networkLocation))
})

test('the info of a currency cannot change once it is applied', async t => {
  const { plugin } = makeToy({ id: 'changing' })
  const info = { ...plugin.info, denominations: [{ name: 'TOY', multiplier: '100' }] }
  const { account } = await openToyHome(t, { device: { plugins: [{ ...plugin, info }] } })
  const wallet = await account.createCurrencyWallet('wallet:changing')
  Object.assign(info, { displayName: 'Bitcoin', currencyCode: 'BTC' })
  info.denominations[0] = { name: 'TOY', multiplier: '1' }
  t.like(wallet.currencyInfo, { displayName: 'Toy Coin', currencyCode: 'TOY' })
  t.is(wallet.currencyInfo.denominations[0]?.multiplier, '100')
})

test('a disk that answers with anything but texts and paths fails as a disk, not as a TypeError', async t => {
  const bad = (answer: unknown): Disk =>
    checkedDisk({ ...memoryDisk(), getText: async () => answer as never, list: async () => answer as never })
  for (const answer of [7, {}, null, [7], Symbol('s')]) {
    await t.throwsAsync(bad(answer).getText('a'), { code: 'STORAGE_FAILED' })
    await t.throwsAsync(bad(answer).list(''), { code: 'STORAGE_FAILED' })
  }
  const rude = checkedDisk({
    ...memoryDisk(),
    setText() {
      throw undefined
    }
  })
  await t.throwsAsync(rude.setText('a', 'b'), { instanceOf: Error })
  t.throws(() => checkedDisk({} as Disk), { message: 'The storage gave no disk' })
  t.true(new WalletError('STORAGE_FAILED', { path: 'a', reason: 'b' }).message.includes('b'))
})
