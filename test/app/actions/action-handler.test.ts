import test from 'ava'
import { makeActionHandler } from '../../../app/actions/actions.ts'
import { nativeAmount } from '../../../kernel/index.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { makeRich, openStage, PASSWORD } from '../../helpers/action-stage.ts'
import { waitFor } from '../../helpers/device.ts'
import { tokenChain } from '../../helpers/token-chain.ts'

const ELSEWHERE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'

test('an account is made, funded and pays by actions alone: the draft that was reviewed is on the chain, once', async t => {
  const stage = await openStage(t)
  const { runAction, world } = stage
  const { walletId } = await makeRich(stage)
  const { publicAddress, uri } = await runAction('wallet.receive', { walletId })
  t.is(uri, `bitcoin:${publicAddress}`)
  t.is(stage.wallet(walletId).name, 'Savings')

  const { draftId, review } = await runAction('spend.draft', {
    walletId,
    publicAddress: ELSEWHERE,
    nativeAmount: '1000000',
    fee: 'high'
  })
  t.deepEqual(review, {
    walletId,
    currencyCode: 'BTC',
    nativeAmount: '1000000',
    networkFee: review.networkFee,
    targets: [{ publicAddress: ELSEWHERE, nativeAmount: '1000000' }],
    total: String(1_000_000n + BigInt(review.networkFee)),
    remaining: String(4_000_000n - BigInt(review.networkFee))
  })
  t.true(BigInt(review.networkFee) > 0n)
  const [first, second] = await Promise.allSettled([
    runAction('spend.approve', { draftId }),
    runAction('spend.approve', { draftId })
  ])
  t.is(first.status, 'fulfilled')
  t.is(second.status === 'rejected' && second.reason.code, 'GONE')
  const txid = first.status === 'fulfilled' ? first.value.txid : ''
  const sent = await stage.wallet(walletId).getTransaction(txid)
  t.is(sent.nativeAmount, nativeAmount(String(-1000000n - BigInt(review.networkFee))))
  await t.throwsAsync(runAction('spend.approve', { draftId }), { code: 'GONE' })
  await t.throwsAsync(runAction('spend.discard', { draftId }), { code: 'GONE' })
  t.is((await stage.wallet(walletId).getTransactions()).filter(({ isSend }) => isSend).length, 1)
  world.chain.mine(1)
  await waitFor(async () => (await stage.wallet(walletId).getTransaction(txid)).blockHeight > 0)
})

test('a fee that is far above the usual one is in the review, and is paid only if the approval allows it', async t => {
  const stage = await openStage(t)
  const { runAction, world } = stage
  world.chain.setFees({ 1: 1000, 25: 1000 })
  const { walletId } = await makeRich(stage)
  const input = { walletId, publicAddress: ELSEWHERE, nativeAmount: '1000000' }
  const first = await runAction('spend.draft', input)
  t.is(BigInt(first.review.networkFee) / 200n, BigInt(first.review.usualNetworkFee ?? '0'))
  await t.throwsAsync(runAction('spend.approve', { draftId: first.draftId }), { code: 'FEE_UNUSUAL' })
  const { draftId, review } = await runAction('spend.draft', input)
  await t.throwsAsync(runAction('spend.approve', { draftId, maxNetworkFee: 'all' }), { code: 'BAD_MESSAGE' })
  const { txid } = await runAction('spend.approve', { draftId, maxNetworkFee: review.networkFee })
  t.is(String((await stage.wallet(walletId).getTransaction(txid)).networkFee), review.networkFee)
})

test('a payment link is paid like its address, and an address of another currency is refused', async t => {
  const stage = await openStage(t)
  const { runAction } = stage
  const { walletId } = await makeRich(stage)
  const draft = { walletId, nativeAmount: '1000' }
  const { review } = await runAction('spend.draft', {
    ...draft,
    publicAddress: `bitcoin:${ELSEWHERE}?amount=0.5`
  })
  t.deepEqual(review.targets, [{ publicAddress: ELSEWHERE, nativeAmount: '1000' }])
  await t.throwsAsync(runAction('spend.draft', { ...draft, publicAddress: 'nobody' }), {
    code: 'ADDRESS_INVALID'
  })
  await t.throwsAsync(
    runAction('spend.draft', { ...draft, publicAddress: ELSEWHERE, nativeAmount: '999999999999' }),
    {
      code: 'INSUFFICIENT_FUNDS'
    }
  )
})

test('the maximum leaves nothing but the fee, and paying it is reviewed with that fee', async t => {
  const stage = await openStage(t)
  const { runAction } = stage
  const { walletId } = await makeRich(stage)
  const swapRequest = { walletId, publicAddress: ELSEWHERE, fee: 'low' } as const
  const { nativeAmount: most } = await runAction('spend.max', swapRequest)
  const { review } = await runAction('spend.draft', { ...swapRequest, nativeAmount: most })
  t.is(BigInt(review.nativeAmount) + BigInt(review.networkFee), 5_000_000n)
  const more = String(BigInt(most) + 1n)
  await t.throwsAsync(runAction('spend.draft', { ...swapRequest, nativeAmount: more }), {
    code: 'INSUFFICIENT_FUNDS'
  })
  await t.throwsAsync(runAction('spend.max', { ...swapRequest, publicAddress: 'nobody' }), {
    code: 'ADDRESS_INVALID'
  })
})

test('a token is paid, and reviewed with the fee that its chain takes in its coin', async t => {
  const stage = await openStage(t, [tokenChain])
  const { runAction } = stage
  const { accountId } = await runAction('account.create', {})
  const { walletId } = await runAction('wallet.create', { accountId, walletType: 'wallet:tokenchain' })
  await waitFor(() => stage.wallet(walletId).getSnapshot().enabledTokenIds.length === 1)
  const swapRequest = { walletId, tokenId: 'usdx', publicAddress: 'shop' }
  t.deepEqual(await runAction('spend.max', swapRequest), { nativeAmount: '2500000' })
  const { draftId, review } = await runAction('spend.draft', { ...swapRequest, nativeAmount: '1500000' })
  t.like(review, { tokenId: 'usdx', currencyCode: 'USDX', nativeAmount: '1500000', networkFee: '1' })
  const { txid } = await runAction('spend.approve', { draftId })
  t.like(await stage.wallet(walletId).getTransaction(txid, 'usdx'), {
    tokenId: 'usdx',
    nativeAmount: '-1500000'
  })
})

test('an address that another currency spells the same is reviewed as it is paid, and as it was given', async t => {
  const stage = await openStage(t)
  const { runAction } = stage
  const { accountId } = await makeRich(stage)
  const { walletId } = await runAction('wallet.create', { accountId, walletType: 'wallet:litecoin' })
  await runAction('world.fund', { walletId, nativeAmount: '5000000' })
  await runAction('world.mine', { pluginId: 'litecoin', count: 1 })
  await waitFor(() => stage.wallet(walletId).balanceDetailsOf(null).spendable === '5000000')
  // One script hash, with version 196 and with version 58.
  const [old, usual] = ['2Mt4ztnz9eRc2nEuhbgPcCkqjK4mRhx2NHT', 'QMRm1orPfXf7vRfkDnRdHTHATTDFZ1iXXY']
  const reviewOf = async (publicAddress: string) =>
    (await runAction('spend.draft', { walletId, publicAddress, nativeAmount: '1000000' })).review
  const { targets, legacyAddresses } = await reviewOf(old)
  t.deepEqual([targets[0]?.publicAddress, legacyAddresses], [usual, [old]])
  t.false(Object.hasOwn(await reviewOf(usual), 'legacyAddresses'))
})

test('a draft signs nothing after it was discarded, after ten minutes, or after a logout', async t => {
  const stage = await openStage(t)
  const { runAction, clock } = stage
  const { accountId, walletId } = await makeRich(stage)
  const makeDraft = async (): Promise<string> => {
    const swapRequest = { walletId, publicAddress: ELSEWHERE, nativeAmount: '1000' }
    return (await runAction('spend.draft', swapRequest)).draftId
  }
  const discarded = await makeDraft()
  t.deepEqual(await runAction('spend.discard', { draftId: discarded }), {})
  const old = await makeDraft()
  await clock.advance(9 * 60_000)
  const young = await makeDraft()
  await clock.advance(2 * 60_000)
  for (const draftId of [discarded, old]) {
    await t.throwsAsync(runAction('spend.approve', { draftId }), { code: 'GONE', message: /draft/ })
  }
  t.is((await stage.wallet(walletId).getTransactions()).length, 1)
  const { txid } = await runAction('spend.approve', { draftId: young })
  t.is((await stage.wallet(walletId).getTransaction(txid)).txid, txid)
  const left = await makeDraft()
  await runAction('account.logout', { accountId })
  await t.throwsAsync(runAction('spend.approve', { draftId: left }), { code: 'GONE' })
  t.is(clock.timerCount, 0)
})

test('more drafts than fit push the oldest out', async t => {
  const stage = await openStage(t)
  const { runAction } = stage
  const { walletId } = await makeRich(stage)
  const ids: string[] = []
  for (let index = 0; index < 51; index += 1) {
    const swapRequest = { walletId, publicAddress: ELSEWHERE, nativeAmount: String(1000 + index) }
    ids.push((await runAction('spend.draft', swapRequest)).draftId)
  }
  t.is(new Set(ids).size, 51)
  await t.throwsAsync(runAction('spend.approve', { draftId: ids[0] ?? '' }), { code: 'GONE' })
  t.deepEqual(await runAction('spend.discard', { draftId: ids[1] ?? '' }), {})
})

test('actions pause, resume and resync engines, and sync repos, by their ids', async t => {
  const stage = await openStage(t)
  const { runAction, kernel } = stage
  const { accountId, walletId } = await makeRich(stage)
  const wallet = stage.wallet(walletId)
  t.deepEqual(await runAction('engine.pause', { walletId }), {})
  t.true(wallet.engine.getSnapshot().isPaused)
  t.deepEqual(await runAction('engine.resume', { walletId }), {})
  t.false(wallet.engine.getSnapshot().isPaused)
  await waitFor(() => wallet.engine.getSnapshot().syncRatio === 1)
  const ratios: number[] = []
  wallet.engine.subscribe(() => ratios.push(wallet.engine.getSnapshot().syncRatio))
  t.deepEqual(await runAction('engine.resync', { walletId }), {})
  await waitFor(() => wallet.engine.getSnapshot().syncRatio === 1)
  t.true(ratios.some(ratio => ratio < 1))

  const [account] = kernel.context.accounts
  const repos = account?.listRepos() ?? []
  t.is(repos.length, 2)
  // Otherwise it may be uploaded before anyone looks.
  stage.world.setOnline(false)
  await wallet.rename('Rainy days')
  t.true((account?.listRepos() ?? []).some(({ pendingCount }) => pendingCount > 0))
  stage.world.setOnline(true)
  for (const { repoId } of repos) t.deepEqual(await runAction('repo.sync', { repoId }), {})
  t.deepEqual(
    account?.listRepos().map(({ pendingCount }) => pendingCount),
    [0, 0]
  )
  await t.throwsAsync(runAction('repo.sync', { repoId: 'none' }), { code: 'GONE' })
  await runAction('account.logout', { accountId })
  await t.throwsAsync(runAction('repo.sync', { repoId: repos[0]?.repoId ?? '' }), { code: 'GONE' })
})

test('an account comes back by password or PIN with its wallets open, and a wrong secret is in no error', async t => {
  const stage = await openStage(t)
  const { runAction, kernel } = stage
  const { accountId, walletId } = await makeRich(stage)
  const leave = () => runAction('account.logout', { accountId })
  t.deepEqual(await leave(), {})
  t.deepEqual(kernel.context.accounts, [])
  await t.throwsAsync(leave(), { code: 'LOGGED_OUT' })
  await t.throwsAsync(runAction('wallet.receive', { walletId }), { code: 'WALLET_NOT_FOUND' })
  const secrets = [{ password: 'hunter2-of-mine' }, { pin: '98765432' }]
  for (const wrong of secrets) {
    const error = await t.throwsAsync(runAction('account.login', { username: 'alice', ...wrong }), {
      code: 'PASSWORD'
    })
    t.notRegex(`${error?.message}${error?.stack}${JSON.stringify(error)}`, /hunter2|98765432/)
  }
  await t.throwsAsync(runAction('account.login', { username: 'alice' }), { code: 'BAD_MESSAGE' })
  await t.throwsAsync(runAction('account.login', { username: 'alice', password: PASSWORD, pin: '1234' }), {
    code: 'BAD_MESSAGE'
  })
  for (const right of [{ password: PASSWORD }, { pin: '1234' }]) {
    t.deepEqual(await runAction('account.login', { username: 'alice', ...right }), { accountId })
    await waitFor(() => {
      try {
        return stage.wallet(walletId).balanceOf(null) === '5000000'
      } catch {
        return false
      }
    })
    await leave()
  }
})

test('rates are requested and routed, with biases and alternatives', async t => {
  const { runAction } = await openStage(t)
  t.deepEqual(await runAction('rates.route', { from: 'BTC', to: 'iso:USD' }), {
    route: null,
    alternatives: []
  })
  t.deepEqual(await runAction('rates.refresh', {}), {})
  const { route, alternatives } = await runAction('rates.route', {
    from: ' btc',
    to: 'iso:usd',
    biases: { coinbase: 0.5 },
    alternatives: 2
  })
  t.deepEqual([route?.fromCurrency, route?.toCurrency], ['BTC', 'iso:USD'])
  t.is(route?.hops[0]?.source, 'coinbase')
  t.is(route?.hops[0]?.bias, 0.5)
  t.false(Object.hasOwn(route ?? {}, 'alternatives'))
  t.true(alternatives.length <= 2)
  t.deepEqual(JSON.parse(JSON.stringify({ route, alternatives })), { route, alternatives })
})

test('a route query without a result is added to the hints, unless the panel is read-only', async t => {
  const { runAction, kernel } = await openStage(t)
  const { hints } = kernel.context.rates
  const looking = makeActionHandler({ context: kernel.context, io: makeNodeIo(), isReadOnly: true })
  t.deepEqual(await looking('rates.route', { from: 'DOGE', to: 'iso:EUR' }), {
    route: null,
    alternatives: []
  })
  t.deepEqual(hints.list(), [])
  await runAction('rates.route', { from: 'DOGE', to: 'iso:EUR' })
  t.deepEqual(hints.list(), [{ fromCurrency: 'DOGE', toCurrency: 'iso:EUR' }])
})

test('actions mine the fake world and cut its network; without a fake world they are refused', async t => {
  const { runAction, world, kernel } = await openStage(t)
  t.deepEqual(await runAction('world.mine', { pluginId: 'litecoin', count: 3 }), {
    height: world.chains.litecoin.height
  })
  await t.throwsAsync(runAction('world.mine', { pluginId: 'monero', count: 1 }), { code: 'OPTION_INVALID' })
  t.deepEqual(await runAction('world.network', { isOnline: false }), { isOnline: false })
  t.false(world.network.current.isOnline)
  t.deepEqual(await runAction('world.network', { isOnline: true }), { isOnline: true })
  t.true(world.network.current.isOnline)
  const homeless = makeActionHandler({ context: kernel.context, io: makeNodeIo() })
  await t.throwsAsync(homeless('world.network', { isOnline: false }), { code: 'NO_WORLD' })
  await t.throwsAsync(homeless('world.mine', { pluginId: 'bitcoin', count: 1 }), { code: 'NO_WORLD' })
  await t.throwsAsync(homeless('world.fund', { walletId: 'any', nativeAmount: '1' }), { code: 'NO_WORLD' })
  t.true(world.network.current.isOnline)
})

test('one payment has several payees, a fee of its own, memos and notes, and one that takes its place keeps the notes', async t => {
  const stage = await openStage(t)
  const { runAction } = stage
  const { walletId } = await makeRich(stage)
  const { draftId, review } = await runAction('spend.draft', {
    ...{ walletId, publicAddress: ELSEWHERE, nativeAmount: '1000000', customFee: { satPerByte: '5' } },
    others: [{ publicAddress: ELSEWHERE, nativeAmount: '2000' }],
    memos: [{ type: 'hex', value: 'cafe' }],
    notes: { name: 'Landlady', category: 'expense:Rent' }
  })
  t.is(review.nativeAmount, '1002000')
  t.deepEqual(
    review.targets.map(({ nativeAmount: paid }) => paid),
    ['1000000', '2000']
  )
  t.deepEqual(review.untrusted?.memos, ['hex:cafe'])
  const { txid } = await runAction('spend.approve', { draftId })
  const { metadata, networkFeeOption } = await stage.wallet(walletId).getTransaction(txid)
  t.like(metadata, { name: 'Landlady', category: 'expense:Rent' })
  t.is(networkFeeOption, 'custom')
  const other = await runAction('spend.draft', {
    ...{ walletId, publicAddress: ELSEWHERE, nativeAmount: '500000', replaces: txid },
    customFee: { satPerByte: '50' }
  })
  t.is(other.review.replaces, txid)
  const sent = await runAction('spend.approve', { draftId: other.draftId })
  t.like((await stage.wallet(walletId).getTransaction(sent.txid)).metadata, { name: 'Landlady' })
})
