import test from 'ava'
import { makeFakeWorld } from '../../../fake-server/fake-world.ts'
import { type Kernel, nativeAmount, type Plugin, type RatePlugin } from '../../../kernel/index.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { spendRules } from '../../../plugins/policy/spend-rules.ts'
import { openDevice, waitFor } from '../../helpers/device.ts'
import { makeFaultDisk } from '../../helpers/fault-disk.ts'
import { LedgerChain, makeLedgerCoin } from '../../helpers/ledger-coin.ts'
import {
  DAILY,
  HOUR,
  mine,
  openRuledDevice,
  PASSWORD,
  pay,
  payment,
  refusalOf
} from '../../helpers/ruled-device.ts'

test('an account without rules pays as before, and one with rules refuses what none allows', async t => {
  const { account, wallet } = await openRuledDevice(t)
  await pay(wallet, 5000)
  t.like(await account.policies.explain(), { isGoverned: false, isAllowed: true, rules: [] })
  await account.policies.add({ id: 'bits', kind: 'per-payment', asset: 'bitcoin', max: '1' })
  t.like(await refusalOf(pay(wallet, 1)), { rule: 'no rule', refusedBy: 'account' })
})

test('a limit for each payment counts the fee', async t => {
  const rules = [{ id: 'small', kind: 'per-payment', asset: 'ledger', max: '10' }]
  const { wallet } = await openRuledDevice(t, { rules })
  await pay(wallet, 9)
  t.like(await refusalOf(pay(wallet, 10)), { rule: 'small' })
  t.deepEqual(wallet.unfinishedSpends(), [], 'nothing is left of it')
})

test('payments that are made at once from several wallets share one budget, and what does not fit is refused', async t => {
  const { account, wallet, chain } = await openRuledDevice(t, { rules: [DAILY] })
  const wallets = [wallet, await account.createCurrencyWallet('wallet:ledger')]
  const results = await Promise.allSettled(
    Array.from({ length: 8 }, (_, at) => pay(wallets[at % 2] ?? wallet, 29))
  )
  t.is(results.filter(({ status }) => status === 'fulfilled').length, 3)
  for (const result of results)
    if (result.status === 'rejected') t.like(result.reason, { details: { rule: 'daily' } })
  t.is(
    [...chain.txs.values()].reduce((total, { amount }) => total + amount, 0),
    90
  )
})

test('wallets that are not open count, and open as usual afterwards', async t => {
  const stage = await openRuledDevice(t, { rules: [DAILY] })
  const { account, kernel, wallet } = stage
  await pay(wallet, 59)
  const other = await account.createCurrencyWallet('wallet:ledger')
  const otherId = other.id
  await account.logout()
  const again = await kernel.context.loginWithPassword('alice', PASSWORD)
  const small = await again.openWallet(otherId)
  await waitFor(() => small.engine.getSnapshot().syncRatio === 1)
  t.like(await refusalOf(pay(small, 50)), { rule: 'daily' })
  const first = await again.openWallet(wallet.id)
  await waitFor(() => first.engine.getSnapshot().state === 'started')
  t.false(first.getSnapshot().isPaused)
})

test('a budget comes back a day after its payments were confirmed, and says when', async t => {
  const stage = await openRuledDevice(t, { rules: [DAILY] })
  const { wallet } = stage
  const { txid } = await pay(wallet, 79)
  await mine(stage, txid)
  const { allowedAt = '' } = await refusalOf(pay(wallet, 29))
  const waitMs = Date.parse(allowedAt) - stage.chain.blockTime
  t.true(waitMs >= 24 * HOUR && waitMs < 25 * HOUR)
  stage.passed += 23 * HOUR
  await mine(stage)
  t.like(await refusalOf(pay(wallet, 29)), { rule: 'daily' })
  stage.passed += 1.1 * HOUR
  await mine(stage)
  await t.notThrowsAsync(pay(wallet, 29))
})

test('a clock that is set forward or back frees no budget, also after a restart', async t => {
  const stage = await openRuledDevice(t, { rules: [DAILY] })
  const { account, kernel } = stage
  const { wallet } = stage
  const { txid } = await pay(wallet, 79)
  await mine(stage, txid)
  for (const skew of [48 * HOUR, -48 * HOUR, 30 * 24 * HOUR, 0]) {
    stage.skew = skew
    t.like(await refusalOf(pay(wallet, 29)), { rule: 'daily' }, `skew ${skew}`)
  }
  // Paid by a clock of two days ago, and still there when that clock is right again.
  stage.skew = -48 * HOUR
  const early = await pay(wallet, 9)
  stage.skew = 0
  await mine(stage, early.txid)
  t.like(await refusalOf(pay(wallet, 19)), { rule: 'daily' })
  await account.logout()
  stage.skew = 48 * HOUR
  const again = await kernel.context.loginWithPassword('alice', PASSWORD)
  const later = await again.openWallet(wallet.id)
  await waitFor(() => later.engine.getSnapshot().syncRatio === 1)
  t.like(await refusalOf(pay(later, 29)), { rule: 'daily' })
})

test('a refused, a kept and a forgotten payment keep their budget until the chain has decided', async t => {
  const stage = await openRuledDevice(t, { rules: [DAILY] })
  const { wallet, chain } = stage
  chain.reception = 'keep'
  await t.throwsAsync(pay(wallet, 59), { code: 'BROADCAST_REFUSED' })
  chain.reception = 'accept'
  t.like(await refusalOf(pay(wallet, 50)), { rule: 'daily' })
  const [open] = wallet.getSnapshot().openPayments
  await wallet.forgetTx(open?.txid ?? '')
  t.like(await refusalOf(pay(wallet, 50)), { rule: 'daily' }, 'its bytes can still be mined')
  stage.passed += 48 * HOUR
  await mine(stage)
  t.like(await refusalOf(pay(wallet, 50)), { rule: 'daily' }, 'time alone proves nothing')
})

test('a payment that a server mines a day late counts from its block on', async t => {
  const stage = await openRuledDevice(t, { rules: [DAILY] })
  const { wallet, chain } = stage
  chain.reception = 'keep'
  await t.throwsAsync(pay(wallet, 79), { code: 'BROADCAST_REFUSED' })
  const { txid = '' } = wallet.getSnapshot().openPayments[0] ?? {}
  chain.reception = 'accept'
  stage.passed += 20 * HOUR
  await mine(stage, txid)
  stage.passed += 10 * HOUR
  await mine(stage)
  t.like(await refusalOf(pay(wallet, 29)), { rule: 'daily' })
  stage.passed += 15 * HOUR
  await mine(stage)
  await pay(wallet, 29)
})

test('a replacement counts as the dearer of the two, and the loser is freed by the confirmed one', async t => {
  const stage = await openRuledDevice(t, { rules: [DAILY] })
  const { wallet } = stage
  const { txid } = await pay(wallet, 59)
  const replace = async (amount: number) => {
    const spendTargets = [{ publicAddress: 'shop', nativeAmount: nativeAmount(String(amount)) }]
    return wallet.spend(await wallet.makeSpend({ tokenId: null, spendTargets, replaces: txid }))
  }
  const second = await replace(69)
  t.like(await refusalOf(pay(wallet, 35)), { rule: 'daily' })
  await pay(wallet, 19)
  t.like(await refusalOf(replace(85)), { rule: 'daily' }, 'the increase counts')
  await mine(stage, second.txid)
  t.is((await stage.account.policies.explain()).rules[0]?.used, '0.9 LDG')
})

test('who shows a budget is notified of a payment that is only signed', async t => {
  const { account, wallet } = await openRuledDevice(t, { rules: [DAILY] })
  const draft = await wallet.makeSpend(payment(59))
  let notices = 0
  t.teardown(
    account.policies.onChange(() => {
      notices += 1
    })
  )
  await wallet.signTx(draft)
  t.true(notices > 0)
  t.is((await account.policies.explain()).rules[0]?.used, '0.6 LDG')
})

test('a program gets a budget of its own, by its name, while a person pays without one', async t => {
  const rule = { ...DAILY, id: 'bot', client: 'bot' }
  const { account, wallet } = await openRuledDevice(t)
  await t.throwsAsync(account.policies.add(rule), { code: 'POLICY_PASSWORD' })
  await account.policies.add(rule, { password: PASSWORD })
  await pay(wallet, 500)
  await pay(wallet, 49, 'shop', 'bot')
  t.like(await refusalOf(pay(wallet, 59, 'shop', 'bot')), { rule: 'bot' })
  const draft = await wallet.makeSpend({
    tokenId: null,
    spendTargets: [{ publicAddress: 'shop', nativeAmount: nativeAmount('9') }]
  })
  t.like(await account.policies.explain(draft, { requestedBy: 'bot' }), {
    isAllowed: true,
    isAllowedByName: true
  })
  t.like(await account.policies.explain(draft, { requestedBy: 'other' }), { isAllowedByName: false })
  t.like(await account.policies.explain(draft), { isGoverned: false, isAllowed: true })
})

test('a program pays only while a rule names it, also in an account without rules, and a person goes on paying', async t => {
  const { account, wallet } = await openRuledDevice(t)
  const { policies } = account
  const draft = await wallet.makeSpend(payment(9))
  t.like(await policies.explain(draft, { requestedBy: 'bot' }), { isAllowed: false, refusedBy: 'no rule' })
  t.like(await refusalOf(pay(wallet, 9, 'shop', 'bot')), { rule: 'no rule', refusedBy: 'account' })
  await policies.add({ ...DAILY, id: 'bot', client: 'bot' }, { password: PASSWORD })
  t.like(await policies.explain(draft, { requestedBy: 'bot' }), { isAllowedByName: true })
  await policies.remove('bot', { password: PASSWORD })
  const { reason } = await refusalOf(wallet.spend(draft, { requestedBy: 'bot' }))
  t.regex(reason, /program "bot"/, 'its rule is gone since it was explained')
  await policies.add(DAILY)
  t.like(await policies.explain(draft, { requestedBy: 'bot' }), { isAllowed: false, refusedBy: 'no rule' })
  t.like(await refusalOf(wallet.signTx(draft, { requestedBy: 'bot' })), { rule: 'no rule' })
  t.deepEqual(wallet.unfinishedSpends(), [])
  await t.notThrowsAsync(wallet.spend(draft))
})

test('an allow-list compares payees in the form of their currency', async t => {
  const rules = [{ id: 'shops', kind: 'allow-list', asset: 'ledger', payees: ['SHOP', 'nowhere'] }]
  const { wallet } = await openRuledDevice(t, { rules })
  await pay(wallet, 5, 'shop')
  await pay(wallet, 5, 'Shop')
  t.like(await refusalOf(pay(wallet, 5, 'thief')), { rule: 'shops' })
  t.like(await refusalOf(pay(wallet, 5, 'nowhere')), { rule: 'shops' })
})

test('a new payee waits from its first attempt on, also by a draft that was only explained, and can be refused again', async t => {
  const rules = [{ id: 'wait', kind: 'new-payee-delay', delayHours: 24, known: ['mum'] }]
  const stage = await openRuledDevice(t, { rules })
  const { account, wallet } = stage
  await pay(wallet, 5, 'mum')
  await account.policies.test({
    ...{ walletId: wallet.id, tokenId: null, nativeAmount: nativeAmount('5'), payee: 'shop' }
  })
  t.deepEqual(account.policies.seen(), [], 'a question notes nothing')
  const { allowedAt = '' } = await refusalOf(pay(wallet, 5, 'shop'))
  t.true(Date.parse(allowedAt) > stage.chain.now() + 23 * HOUR)
  t.like(account.policies.seen(), [{ ruleId: 'wait', what: 'ledger:shop' }])
  stage.passed += 25 * HOUR
  await mine(stage)
  await pay(wallet, 5, 'SHOP')
  await account.policies.forgetSeen({ ruleId: 'wait', what: 'ledger:shop' })
  t.like(await refusalOf(pay(wallet, 5, 'shop')), { rule: 'wait' })
})

test('a rule that no policy can read is not added', async t => {
  const stage = await openRuledDevice(t, { rules: [DAILY] })
  const { account, wallet } = stage
  for (const rule of [
    { id: 'odd', kind: 'telepathy' },
    { id: 'odd', kind: 'rolling', asset: 'ledger', max: 'much', windowHours: 24 },
    { id: 'odd', kind: 'rolling', asset: 'ledger', max: '5' },
    { id: 'odd', kind: 'rolling', asset: 'moon', max: '5', windowHours: 24 },
    { id: 'odd', kind: 'hours', from: '25:00', to: '26:00' },
    { id: 'not an id', kind: 'rolling' }
  ])
    await t.throwsAsync(account.policies.add(rule, { password: PASSWORD }), { code: 'OPTION_INVALID' })
  const other = await openRuledDevice(t, { plugins: [] })
  await t.throwsAsync(other.account.policies.add(DAILY), { code: 'OPTION_INVALID' })
  await pay(wallet, 5)
})

test('loosening needs the password, tightening does not, and a delay makes a loosening wait and can be cancelled', async t => {
  const stage = await openRuledDevice(t, { rules: [DAILY] })
  const { account, wallet } = stage
  const { policies } = account
  await t.throwsAsync(policies.remove('daily'), { code: 'POLICY_PASSWORD' })
  await t.throwsAsync(policies.remove('daily', { password: 'wrong' }), { code: 'PASSWORD' })
  await t.throwsAsync(policies.add({ ...DAILY, max: '200' }), { code: 'POLICY_PASSWORD' })
  await t.throwsAsync(policies.add({ ...DAILY, windowHours: 1 }), { code: 'POLICY_PASSWORD' })
  t.is(await policies.add({ ...DAILY, max: '50' }), undefined)
  t.is(await policies.add({ id: 'small', kind: 'per-payment', asset: 'ledger', max: '20' }), undefined)
  await policies.add({ id: 'slow', kind: 'loosening-delay', hours: 48 }, { password: PASSWORD })
  const at = (await policies.add({ ...DAILY, max: '500' }, { password: PASSWORD })) ?? 0
  t.true(at > stage.chain.now() + 47 * HOUR)
  await policies.remove('small', { password: PASSWORD })
  await policies.remove('slow', { password: PASSWORD })
  const { pending } = await policies.list()
  t.is(pending.length, 3)
  await policies.cancel(pending.find(({ ruleId }) => ruleId === 'small')?.id ?? '')
  t.like(await refusalOf(pay(wallet, 60)), { refusedBy: 'account' })
  stage.passed += 49 * HOUR
  await mine(stage)
  t.deepEqual(
    (await policies.list()).rules.map(({ id, max }) => [id, max]),
    [
      ['daily', '500'],
      ['small', '20']
    ]
  )
})

test('other uses of keys need a rule or the password, and the password alone is not enough where loosening waits', async t => {
  const { account, wallet } = await openRuledDevice(t, { rules: [DAILY] })
  const { policies } = account
  t.like(await refusalOf(account.getLoginKey()), { rule: 'no rule' })
  t.like(await refusalOf(account.walletKeys.getRawPrivateKey(wallet.id)), { rule: 'no rule' })
  t.like(await refusalOf(wallet.signMessage('it is me')), { rule: 'no rule' })
  await t.throwsAsync(policies.allowOnce('show', 'wrong'), { code: 'PASSWORD' })
  await policies.allowOnce('show', PASSWORD)
  await account.walletKeys.getRawPrivateKey(wallet.id)
  t.like(await refusalOf(account.walletKeys.getRawPrivateKey(wallet.id)), { rule: 'no rule' })
  await policies.add({ id: 'sign', kind: 'uses', uses: ['message'] }, { password: PASSWORD })
  await wallet.signMessage('it is me')
  await policies.add({ id: 'slow', kind: 'loosening-delay', hours: 48 }, { password: PASSWORD })
  await t.throwsAsync(policies.allowOnce('show', PASSWORD), { code: 'SIGN_REFUSED' })
})

test('the password allows one sweep, however long servers are asked for its coins, and no second one', async t => {
  const stage = await openRuledDevice(t, { rules: [DAILY] })
  const { account, wallet, chain } = stage
  const { policies } = account
  const sweep = () => wallet.sweepPrivateKeys({ tokenId: null, spendTargets: [], privateKeys: ['key'] })
  t.like(await refusalOf(sweep()), { rule: 'no rule' })
  let beside: Promise<unknown> = Promise.resolve()
  chain.whileSwept = async () => {
    chain.whileSwept = async () => {}
    beside = refusalOf(sweep())
    await beside
    stage.passed += 120_000
  }
  await policies.allowOnce('sweep', PASSWORD)
  t.is((await sweep()).signedTx, 'swept')
  t.like(await beside, { rule: 'no rule' })
  t.like(await refusalOf(sweep()), { rule: 'no rule' })
  chain.whileSwept = async () => {
    throw new Error('no server')
  }
  await policies.allowOnce('sweep', PASSWORD)
  await t.throwsAsync(sweep(), { message: /no server/ })
  chain.whileSwept = async () => {}
  t.like(await refusalOf(sweep()), { rule: 'no rule' }, 'what it was given for is over')
  await policies.allowOnce('sweep', PASSWORD)
  stage.passed += 120_000
  t.like(await refusalOf(sweep()), { rule: 'no rule' })
})

test('hours of the day hold in their zone, past midnight too, and say when they begin', async t => {
  const stage = await openRuledDevice(t)
  const { account, wallet, chain } = stage
  const hour = new Date(chain.now()).getUTCHours()
  const text = (at: number): string => `${String((at + 24) % 24).padStart(2, '0')}:00`
  await account.policies.add({ id: 'later', kind: 'hours', from: text(hour + 2), to: text(hour + 4) })
  const { allowedAt = '', rule } = await refusalOf(pay(wallet, 5))
  t.is(rule, 'later')
  t.is(new Date(allowedAt).getUTCHours(), (hour + 2) % 24)
  stage.passed = Date.parse(allowedAt) + 60_000 - chain.now()
  await mine(stage)
  await pay(wallet, 5)
})

test('a limit in fiat takes the highest fresh rate, keeps what it used, and refuses without one', async t => {
  const prices = { low: 1, high: 2, isKnown: true }
  const source = (id: 'high' | 'low'): RatePlugin => ({
    kind: 'rates',
    id,
    displayName: id,
    apply: ({ hooks }) =>
      hooks.fetchRates.tapPromise(id, async context => {
        if (prices.isKnown) context.offer({ fromCurrency: 'LDG', toCurrency: 'iso:EUR' }, prices[id])
      })
  })
  const rule = { id: 'euros', kind: 'rolling', maxFiat: '10', fiat: 'iso:EUR', windowHours: 24 }
  const stage = await openRuledDevice(t, { plugins: [spendRules, source('low'), source('high')] })
  const { account, wallet } = stage
  await account.policies.add(rule)
  await pay(wallet, 399)
  t.is((await account.policies.explain()).rules[0]?.used, '8 EUR')
  t.like(await refusalOf(pay(wallet, 119)), { rule: 'euros' })
  prices.high = 0.001
  prices.low = 0.001
  stage.passed += 10 * 60_000
  t.is((await account.policies.explain()).rules[0]?.used, '8 EUR', 'what it was worth then')
  prices.isKnown = false
  stage.passed += 30 * 24 * HOUR
  const { reason } = await refusalOf(pay(wallet, 1))
  t.regex(reason, /no fresh rate/)
})

test('a program without the plugin that reads a rule pays nothing from an account that has it', async t => {
  const files = new Map<string, string>()
  const world = makeFakeWorld({ io: makeNodeIo() })
  const chain = new LedgerChain(() => world.clock.now())
  const open = (plugins: readonly Plugin[]): Promise<Kernel> =>
    openDevice(world, {
      storage: {
        kind: 'storage',
        id: 'kept',
        apply: ({ hooks }) => hooks.openDisk.tapPromise('kept', async () => makeFaultDisk(files))
      },
      plugins: [makeLedgerCoin(chain), ...plugins],
      logLevel: 'silent'
    })
  const first = await open([spendRules])
  const made = await first.context.createAccount({ username: 'alice', password: PASSWORD })
  const { id } = await made.createCurrencyWallet('wallet:ledger')
  await made.policies.add(DAILY)
  await first.close()
  const second = await open([])
  const account = await second.context.loginWithPassword('alice', PASSWORD)
  t.like(await refusalOf(pay(await account.openWallet(id), 5)), { rule: 'daily' })
  t.like(await account.policies.explain(), { refusedBy: 'daily' })
  await second.close()
  await world.close()
})

test('an older state of the rules is not restored past the password', async t => {
  const { account } = await openRuledDevice(t, { rules: [{ ...DAILY, max: '500' }] })
  await account.policies.add({ ...DAILY, max: '50' })
  for (const kept of await account.keptFiles.list())
    if (kept.path === 'Policies.json')
      await t.throwsAsync(account.keptFiles.restore(kept.id), { code: 'OPTION_INVALID' })
  t.is((await account.policies.list()).rules[0]?.max, '50')
})
