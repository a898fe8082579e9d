import type { ExecutionContext, TestFn } from 'ava'
import type {
  CurrencyEngine,
  CurrencyPlugin,
  CurrencyTools,
  EngineTransaction,
  SpendInfo,
  WalletKeys
} from '../../kernel/plugin-api.ts'
import { isNativeAmount, isWalletError, nativeAmount } from '../../kernel/plugin-api.ts'

/** One wallet of the currency under test, started and synced. */
export interface ContractWallet {
  readonly engine: CurrencyEngine
  readonly privateKeys: WalletKeys
  /** What the engine told, newest last. */
  readonly reported: {
    readonly txs: ReadonlyMap<string, EngineTransaction>
    readonly balances: readonly string[]
    readonly heights: readonly number[]
    readonly ratios: readonly number[]
    readonly count: number
  }
}

/** A chain under the test's control, and wallets on it. Made anew for every check. */
export interface CurrencyFixture {
  readonly plugin: CurrencyPlugin
  readonly tools: CurrencyTools
  openWallet(keys?: WalletKeys): Promise<ContractWallet>
  /** Pays an address from outside and gives the txid. */
  fund(address: string, nativeAmount: string): Promise<string>
  mine(count: number): Promise<void>
  /** Replaces the last blocks; what was in them waits again. */
  reorg(depth: number): Promise<void>
  /** Makes the network forget a waiting transaction. */
  drop(txid: string): Promise<void>
  /** An address of this currency on another network. */
  readonly foreignAddress: string
  /** An amount well above dust. */
  readonly someAmount: string
  /** An amount the network calls dust, or undefined if the chain has none. */
  readonly dustAmount?: string
  close(): Promise<void>
}

/**
 * The checks that every currency plugin passes; call it once with a fixture for yours.
 *
 * @see specification §4 to §6
 */
export const testCurrencyPlugin = (
  test: TestFn<unknown>,
  name: string,
  makeFixture: () => Promise<CurrencyFixture>
): void => {
  const check = (title: string, run: (t: Assert, fixture: CurrencyFixture) => Promise<void>): void =>
    test(`${name}: ${title}`, async t => {
      const fixture = await makeFixture()
      t.teardown(() => fixture.close())
      await run(t, fixture)
    })
  checkTools(check)
  checkHistory(check)
  checkSpending(check)
  checkLifecycle(check)
}

type Assert = ExecutionContext<unknown>
type Check = (title: string, run: (t: Assert, fixture: CurrencyFixture) => Promise<void>) => void

const checkTools = (check: Check): void => {
  check('its description is complete and its denominations are powers of ten', async (t, { plugin }) => {
    t.is(plugin.kind, 'currency')
    t.is(plugin.id, plugin.info.pluginId)
    t.regex(plugin.info.walletType, /^wallet:/)
    t.true(plugin.info.denominations.length > 0)
    for (const { multiplier } of plugin.info.denominations) t.regex(multiplier, /^10*$/)
  })

  check(
    'new keys are fresh, their public form is stable, checked and without a secret',
    async (t, fixture) => {
      const { tools, plugin } = fixture
      const { walletType } = plugin.info
      const keys = await tools.createPrivateKey(walletType)
      t.notDeepEqual(await tools.createPrivateKey(walletType), keys)
      const publicKeys = await tools.derivePublicKey({ id: 'a', type: walletType, keys })
      t.deepEqual(await tools.derivePublicKey({ id: 'a', type: walletType, keys }), publicKeys)
      t.deepEqual(JSON.parse(JSON.stringify(publicKeys)), publicKeys)
      t.not(await tools.checkPublicKey?.(publicKeys), false)
      const text = JSON.stringify(publicKeys)
      for (const secret of Object.values(keys)) {
        if (typeof secret === 'string' && secret.length > 12) t.false(text.includes(secret))
      }
    }
  )

  check('payment links go there and back, and bad addresses have a code', async (t, fixture) => {
    const { tools } = fixture
    const { engine } = await fixture.openWallet()
    const { publicAddress } = await engine.getFreshAddress({ tokenId: null })
    const request = { publicAddress, nativeAmount: nativeAmount(fixture.someAmount), label: 'Café & co' }
    const parsed = await tools.parseUri(await tools.encodeUri(request))
    t.is(parsed.publicAddress, publicAddress)
    t.is(parsed.nativeAmount, request.nativeAmount)
    t.is(parsed.label, request.label)
    t.is((await tools.parseUri(publicAddress)).publicAddress, publicAddress)
    for (const bad of ['', 'nonsense', fixture.foreignAddress, `${publicAddress.slice(0, -1)}!`]) {
      t.true(isWalletError(await t.throwsAsync(tools.parseUri(bad)), 'ADDRESS_INVALID'), bad)
    }
  })
}

const checkHistory = (check: Check): void => {
  check(
    'a receipt is told with all its facts, confirms, and survives reorgs of one to six blocks',
    async (t, fixture) => {
      const wallet = await fixture.openWallet()
      const { publicAddress } = await wallet.engine.getFreshAddress({ tokenId: null })
      const txid = await fixture.fund(publicAddress, fixture.someAmount)
      await until(() => wallet.reported.balances.at(-1) === fixture.someAmount)
      const tx = wallet.reported.txs.get(txid)
      t.is(tx?.blockHeight, 0)
      t.is(String(tx?.nativeAmount), fixture.someAmount)
      t.true((tx?.date ?? 0) > 1_000_000_000)
      t.deepEqual(tx?.ourReceiveAddresses, [publicAddress])
      for (const balance of wallet.reported.balances) t.regex(balance, /^\d+$/)
      t.is(wallet.reported.ratios.at(-1), 1)
      await fixture.mine(6)
      await until(() => (wallet.reported.txs.get(txid)?.blockHeight ?? 0) > 0)
      for (const depth of [1, 6]) {
        await fixture.reorg(depth)
        await fixture.mine(1)
        await until(() => (wallet.reported.txs.get(txid)?.blockHeight ?? 0) > 0)
        t.is(wallet.reported.balances.at(-1), fixture.someAmount)
      }
    }
  )

  check('a transaction that the network forgets has a negative height and no money', async (t, fixture) => {
    const wallet = await fixture.openWallet()
    const { publicAddress } = await wallet.engine.getFreshAddress({ tokenId: null })
    const txid = await fixture.fund(publicAddress, fixture.someAmount)
    await until(() => wallet.reported.balances.at(-1) === fixture.someAmount)
    await fixture.drop(txid)
    await until(() => (wallet.reported.txs.get(txid)?.blockHeight ?? 0) < 0)
    t.is(wallet.reported.balances.at(-1), '0')
  })

  check('a second device and a resync see the same history', async (t, fixture) => {
    const wallet = await fundedWallet(fixture)
    const facts = (reported: ContractWallet['reported']): readonly string[] =>
      [...reported.txs.values()]
        .map(tx => [tx.txid, tx.blockHeight, tx.nativeAmount, tx.networkFee].join(' '))
        .sort()
    const twin = await fixture.openWallet(wallet.privateKeys)
    t.deepEqual(facts(twin.reported), facts(wallet.reported))
    await twin.engine.resyncBlockchain()
    t.deepEqual(facts(twin.reported), facts(wallet.reported))
    t.is(twin.reported.balances.at(-1), wallet.reported.balances.at(-1))
  })
}

const checkSpending = (check: Check): void => {
  check('a spend costs what its draft said, and sending it again is harmless', async (t, fixture) => {
    const wallet = await fundedWallet(fixture)
    const before = BigInt(wallet.reported.balances.at(-1) ?? '0')
    const draft = await wallet.engine.makeSpend(await spendOf(fixture, String(before / 3n)), {})
    t.is(draft.signedTx, '')
    t.true(isNativeAmount(draft.networkFee) && isNativeAmount(draft.nativeAmount))
    const signed = await wallet.engine.signTx(JSON.parse(JSON.stringify(draft)), wallet.privateKeys)
    t.not(signed.signedTx, '')
    t.deepEqual(reviewedFactsOf(signed), reviewedFactsOf(draft))
    t.is((await wallet.engine.broadcastTx(signed, {})).txid, signed.txid)
    await wallet.engine.saveTx(signed)
    const left = String(before - before / 3n - BigInt(signed.networkFee))
    t.is(wallet.reported.balances.at(-1), left)
    await t.notThrowsAsync(wallet.engine.broadcastTx(signed, {}))
    await wallet.engine.saveTx(signed)
    await fixture.mine(1)
    await until(() => (wallet.reported.txs.get(signed.txid)?.blockHeight ?? 0) > 0)
    t.is(wallet.reported.balances.at(-1), left)
    t.is(wallet.reported.txs.get(signed.txid)?.nativeAmount, signed.nativeAmount)
  })

  check('the maximum leaves exactly zero and one unit more is too much', async (t, fixture) => {
    const wallet = await fundedWallet(fixture)
    const { engine } = wallet
    t.pass()
    if (engine.getMaxSpendable === undefined) return
    const max = await engine.getMaxSpendable(await spendOf(fixture, '1'), {})
    const spend = await spendOf(fixture, max)
    const more = await t.throwsAsync(engine.makeSpend(await spendOf(fixture, String(BigInt(max) + 1n)), {}))
    t.true(isWalletError(more, 'INSUFFICIENT_FUNDS'))
    const signed = await engine.signTx(await engine.makeSpend(spend, {}), wallet.privateKeys)
    await engine.broadcastTx(signed, {})
    await engine.saveTx(signed)
    t.is(wallet.reported.balances.at(-1), '0')
  })

  check('what is quoted with the sample address also pays a recipient who is known', async (t, fixture) => {
    const { engine } = await fundedWallet(fixture)
    const sample = await fixture.tools.sampleAddress?.()
    if (sample === undefined) {
      t.pass()
      return
    }
    t.is((await fixture.tools.parseUri(sample)).publicAddress, sample)
    const targetOf = (publicAddress: string, amount: string): SpendInfo => ({
      tokenId: null,
      spendTargets: [{ publicAddress, nativeAmount: nativeAmount(amount) }]
    })
    const max = await engine.getMaxSpendable?.(targetOf(sample, '0'), {})
    const quoted = await engine.makeSpend(targetOf(sample, max ?? fixture.someAmount), {})
    const [known] = (await spendOf(fixture, '1')).spendTargets
    const paid = await engine.makeSpend(targetOf(known?.publicAddress ?? '', max ?? fixture.someAmount), {})
    t.true(BigInt(paid.networkFee) <= BigInt(quoted.networkFee))
  })

  check('fee levels are ordered', async (t, fixture) => {
    const { engine } = await fundedWallet(fixture)
    const fees: bigint[] = []
    for (const networkFeeOption of ['low', 'standard', 'high'] as const) {
      const max = await engine.getMaxSpendable?.({ ...(await spendOf(fixture, '1')), networkFeeOption }, {})
      fees.push(-BigInt(max ?? '0'))
    }
    const [low = 0n, standard = 0n, high = 0n] = fees
    t.true(low <= standard && standard <= high)
  })

  check('what cannot be paid is refused with the code for its reason', async (t, fixture) => {
    const wallet = await fundedWallet(fixture)
    const codeOf = async (spend: SpendInfo): Promise<unknown> => {
      const error = await t.throwsAsync(wallet.engine.makeSpend(spend, {}))
      return isWalletError(error) ? error.code : error
    }
    t.is(await codeOf(await spendOf(fixture, '0')), 'NO_AMOUNT_SPECIFIED')
    t.is(await codeOf(await spendOf(fixture, '999999999999999999')), 'INSUFFICIENT_FUNDS')
    if (fixture.dustAmount !== undefined)
      t.is(await codeOf(await spendOf(fixture, fixture.dustAmount)), 'DUST_SPEND')
    const { publicAddress } = await wallet.engine.getFreshAddress({ tokenId: null })
    const toSelf = { tokenId: null, spendTargets: [{ publicAddress, nativeAmount: nativeAmount('10000') }] }
    t.is(await codeOf(toSelf), 'SPEND_TO_SELF')
    const abroad = { publicAddress: fixture.foreignAddress, nativeAmount: nativeAmount('10000') }
    t.is(await codeOf({ tokenId: null, spendTargets: [abroad] }), 'ADDRESS_INVALID')
    const half = String(BigInt(wallet.reported.balances.at(-1) ?? '0') + 1000n)
    await fixture.fund(publicAddress, fixture.someAmount)
    await until(() => BigInt(wallet.reported.balances.at(-1) ?? '0') > BigInt(half))
    const spend = await spendOf(fixture, half)
    t.is(await codeOf({ ...spend, noUnconfirmed: true }), 'PENDING_FUNDS')
    t.is(await codeOf(spend), 'PENDING_FUNDS')
    await t.notThrowsAsync(wallet.engine.makeSpend({ ...spend, noUnconfirmed: false }, {}))
  })
}

const checkLifecycle = (check: Check): void => {
  check('an engine says when it wants to look again, and says nothing once killed', async (t, fixture) => {
    const { engine, reported } = await fixture.openWallet()
    const { publicAddress } = await engine.getFreshAddress({ tokenId: null })
    t.true((await engine.syncNetwork({})) > 0)
    await engine.startEngine()
    await engine.killEngine()
    const { count } = reported
    const witness = await fixture.openWallet()
    await fixture.fund(publicAddress, fixture.someAmount)
    const other = await witness.engine.getFreshAddress({ tokenId: null })
    const txid = await fixture.fund(other.publicAddress, fixture.someAmount)
    await fixture.mine(1)
    await until(() => (witness.reported.txs.get(txid)?.blockHeight ?? 0) > 0)
    t.is(reported.count, count)
    await engine.killEngine()
  })

  check('two wallets know nothing of each other', async (t, fixture) => {
    const alice = await fundedWallet(fixture)
    const bob = await fixture.openWallet()
    t.is(bob.reported.txs.size, 0)
    t.is(bob.reported.balances.at(-1), '0')
    const { publicAddress } = await alice.engine.getFreshAddress({ tokenId: null })
    t.false(await bob.engine.isAddressUsed(publicAddress))
    t.not((await bob.engine.getFreshAddress({ tokenId: null })).publicAddress, publicAddress)
  })

  check('an address that was given away is not offered again', async (t, fixture) => {
    const { engine } = await fixture.openWallet()
    const { publicAddress } = await engine.getFreshAddress({ tokenId: null })
    t.false(await engine.isAddressUsed(publicAddress))
    await engine.addGapLimitAddresses([publicAddress])
    t.true(await engine.isAddressUsed(publicAddress))
    t.not((await engine.getFreshAddress({ tokenId: null })).publicAddress, publicAddress)
  })
}

/** What a person and a policy have seen of a payment: signing leaves it as it is. */
const reviewedFactsOf = (tx: EngineTransaction): Partial<EngineTransaction> => {
  const { txid: _txid, signedTx: _signedTx, date: _date, otherParams: _params, ...facts } = tx
  return JSON.parse(JSON.stringify(facts)) as Partial<EngineTransaction>
}

const fundedWallet = async (fixture: CurrencyFixture): Promise<ContractWallet> => {
  const wallet = await fixture.openWallet()
  const { publicAddress } = await wallet.engine.getFreshAddress({ tokenId: null })
  const txid = await fixture.fund(publicAddress, fixture.someAmount)
  await fixture.mine(1)
  await until(() => (wallet.reported.txs.get(txid)?.blockHeight ?? 0) > 0)
  return wallet
}

const spendOf = async (fixture: CurrencyFixture, amount: string): Promise<SpendInfo> => {
  const stranger = await fixture.openWallet()
  const { publicAddress } = await stranger.engine.getFreshAddress({ tokenId: null })
  return { tokenId: null, spendTargets: [{ publicAddress, nativeAmount: nativeAmount(amount) }] }
}

const until = async (holds: () => boolean): Promise<void> => {
  const end = Date.now() + 10_000
  while (!holds()) {
    if (Date.now() > end) throw new Error('The engine did not tell what it should')
    await new Promise(resolve => setTimeout(resolve, 2))
  }
}
