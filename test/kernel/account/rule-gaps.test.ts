import test from 'ava'
import { makeFakeWorld } from '../../../fake-server/fake-world.ts'
import type { NativeAmount, PolicyPlugin, RatePlugin } from '../../../kernel/index.ts'
import type { RuleContext } from '../../../kernel/types/policy.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { spendRules } from '../../../plugins/policy/spend-rules.ts'
import { openDevice, waitFor } from '../../helpers/device.ts'
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

const DAY = 24 * HOUR

test('a rule of a coin allows no payment of a token, whose fee alone it concerns', async t => {
  const device = await openRuledDevice(t, { rules: [DAILY] })
  const { wallet, account } = device
  await account.policies.add({ ...DAILY, id: 'bot', client: 'bot' }, { password: PASSWORD })
  await wallet.changeEnabledTokenIds(['gold'])
  for (const requestedBy of [undefined, 'bot']) {
    const draft = await wallet.makeSpend({ ...payment(900_000), tokenId: 'gold' })
    t.false((await account.policies.explain(draft, { requestedBy })).isAllowed)
    t.like(await refusalOf(wallet.spend(draft, { requestedBy })), { rule: 'no rule' })
  }
})

test('an outcome that is none keeps no stricter verdict away, whichever policy is first', async t => {
  const weekly = { ...DAILY, id: 'weekly', max: '1000', windowHours: 168 }
  const spoiler: PolicyPlugin = {
    ...{ kind: 'policy', id: 'spoiler' },
    apply: ({ hooks }) =>
      hooks.judgeRules.tapPromise('spoiler', async ({ judge, payment: judged }) => {
        const outcome = 'nothing' as 'allows'
        if (judged !== undefined) judge('daily', { outcome, title: 'a rule', reason: 'no reason' })
      })
  }
  for (const plugins of [
    [spoiler, spendRules],
    [spendRules, spoiler]
  ]) {
    const { wallet } = await openRuledDevice(t, { plugins, rules: [DAILY, weekly] })
    t.like(await refusalOf(pay(wallet, 101)), { rule: 'daily' })
  }
})

test('a policy has a store of texts, through which it reaches nothing else of the account', async t => {
  const stores: RuleContext['store'][] = []
  const keeper: PolicyPlugin = {
    ...{ kind: 'policy', id: 'keeper' },
    apply: ({ hooks }) => hooks.judgeRules.tapPromise('keeper', async ({ store }) => void stores.push(store))
  }
  const { wallet } = await openRuledDevice(t, { plugins: [keeper, spendRules], rules: [DAILY] })
  await refusalOf(pay(wallet, 101))
  const [store] = stores
  if (store === undefined) return t.fail('it was not called')
  t.deepEqual(Object.keys(store).sort(), ['entries', 'get', 'write'])
  const wrong = new Map<string, unknown>([['count', 5]])
  await t.throwsAsync(store.write(wrong as Map<string, string>), { code: 'BOGUS_DATA' })
  await store.write(new Map([['count', '5']]))
  t.is(store.get('count'), '5')
  t.deepEqual([...store.entries('')], [['count', '5']])
})

test('no further policy makes a rule allow what the first one says it does not concern', async t => {
  const opener: PolicyPlugin = {
    ...{ kind: 'policy', id: 'opener' },
    apply: ({ hooks }) =>
      hooks.judgeRules.tapPromise('opener', async ({ judge, payment: judged }) => {
        if (judged !== undefined) judge('daily', { outcome: 'allows', title: 'a rule', reason: 'open' })
      })
  }
  const elsewhere = { ...DAILY, asset: 'bitcoin' }
  for (const plugins of [
    [opener, spendRules],
    [spendRules, opener]
  ]) {
    const { wallet } = await openRuledDevice(t, { plugins, rules: [elsewhere] })
    t.like(await refusalOf(pay(wallet, 1)), { refusedBy: 'account' })
  }
})

test('a forgotten payment that is mined all the same leaves the budget with its window', async t => {
  const device = await openRuledDevice(t, { rules: [DAILY] })
  const { wallet, chain } = device
  chain.reception = 'keep'
  await t.throwsAsync(pay(wallet, 59), { code: 'BROADCAST_REFUSED' })
  chain.reception = 'accept'
  const txid = wallet.getSnapshot().openPayments[0]?.txid ?? ''
  await wallet.forgetTx(txid)
  await mine(device, txid)
  t.like(await refusalOf(pay(wallet, 50)), { rule: 'daily' })
  device.passed += 25 * HOUR
  await mine(device)
  await pay(wallet, 50)
  await device.restart()
  t.like(await refusalOf(pay(device.wallet, 60)), { rule: 'daily' })
})

test('a forgotten payment stays over when the one that has beaten it is long confirmed', async t => {
  const device = await openRuledDevice(t, { rules: [DAILY] })
  const { wallet } = device
  const first = await pay(wallet, 59)
  const second = await wallet.spend(await wallet.makeSpend({ ...payment(60), replaces: first.txid }))
  await wallet.forgetTx(first.txid)
  await mine(device, second.txid)
  for (let day = 0; day < 16; day += 1) {
    device.passed += DAY
    await mine(device)
  }
  await t.notThrowsAsync(pay(wallet, 80))
})

test('a refused payment that was forgotten stays over when its rival has left the journal', async t => {
  const device = await openRuledDevice(t, { rules: [DAILY] })
  const { wallet, chain } = device
  chain.reception = 'keep'
  await t.throwsAsync(pay(wallet, 59), { code: 'BROADCAST_REFUSED' })
  chain.reception = 'accept'
  const txid = wallet.getSnapshot().openPayments[0]?.txid ?? ''
  const spend = { ...payment(60), replaces: txid }
  const second = await wallet.spend(await wallet.makeSpend(spend))
  await wallet.forgetTx(txid)
  // No server shows it, so that no row says that it was beaten.
  chain.txs.delete(txid)
  await mine(device, second.txid)
  for (let day = 0; day < 16; day += 1) {
    device.passed += DAY
    await mine(device)
  }
  await t.notThrowsAsync(pay(wallet, 80))
})

test('a calendar that was weeks ahead for a while frees no budget of a program', async t => {
  const bot = { ...DAILY, id: 'bot', client: 'bot' }
  const device = await openRuledDevice(t)
  await device.account.policies.add(bot, { password: PASSWORD })
  const { txid } = await pay(device.wallet, 79, 'shop', 'bot')
  await mine(device, txid)
  t.like(await refusalOf(pay(device.wallet, 29, 'shop', 'bot')), { rule: 'bot' })
  device.skew = 15 * DAY
  await device.restart()
  await mine(device)
  device.skew = 0
  await device.restart()
  t.like(await refusalOf(pay(device.wallet, 29, 'shop', 'bot')), { rule: 'bot' })
})

test('the time of an account begins with no calendar that the newest block contradicts, on the first device and on another', async t => {
  const first = await openRuledDevice(t)
  first.skew = 400 * DAY
  await t.throwsAsync(first.account.policies.add(DAILY), {
    code: 'OPTION_INVALID',
    message:
      /cannot begin: the clock of this device says .*, but the newest block is from .*: set the clock right/
  })
  await pay(first.wallet, 9)
  first.skew = 0
  await first.account.policies.add(DAILY)
  // What was paid before the first rule counts as well.
  await pay(first.wallet, 79)
  await first.account.sync()

  const second = await first.another()
  second.skew = 400 * DAY
  const { reason, rule } = await refusalOf(pay(second.wallet, 1))
  t.is(rule, 'rules unreadable')
  t.regex(reason, /the clock of this device says/)
  second.skew = 0
  await pay(second.wallet, 1)

  // A day later everything is free again, on both.
  for (const { txid } of first.chain.txs.values()) await mine(first, txid)
  first.passed += DAY + HOUR
  for (const device of [first, second]) {
    await mine(device)
    await pay(device.wallet, 49)
  }
})

test('a loosening that waits does not come sooner by a device whose calendar is behind the newest block', async t => {
  const first = await openRuledDevice(t, { rules: [DAILY] })
  const slow = { id: 'slow', kind: 'loosening-delay', hours: 48 }
  await first.account.policies.add(slow, { password: PASSWORD })
  await first.account.sync()
  const second = await first.another()
  second.skew = -30 * DAY
  await second.account.policies.remove('daily', { password: PASSWORD })
  await second.account.sync()
  await first.account.sync()
  t.like(await refusalOf(pay(first.wallet, 500)), { rule: 'daily' })
  second.skew = 0
  await mine(second)
  t.like(await refusalOf(pay(second.wallet, 500)), { rule: 'daily' })
})

test('a delay of loosening needs the password, as nobody else could end it', async t => {
  const { account } = await openRuledDevice(t, { rules: [DAILY] })
  const year = { id: 'slow', kind: 'loosening-delay', hours: 8760 }
  await t.throwsAsync(account.policies.add(year), { code: 'POLICY_PASSWORD' })
  t.is(await account.policies.add(year, { password: PASSWORD }), undefined)
})

test('who knows no password of an account with rules cannot give it another one, nor recovery, nor take it away', async t => {
  const { account, kernel } = await openRuledDevice(t, { rules: [DAILY] })
  const NEW = 'Another horse 22'
  const recoveryKey = await account.credentials.changeRecovery(['Pet?'], ['Rex'], { current: PASSWORD })
  await account.credentials.changePIN({ pin: '2468' })
  await account.logout()
  const thief = await kernel.context.loginWithPIN({ username: 'alice' }, '2468')
  const { credentials, policies } = thief
  const needs = { code: 'POLICY_PASSWORD' }
  await t.throwsAsync(credentials.changePassword(NEW), needs)
  await t.throwsAsync(credentials.changePassword(NEW, { current: 'wrong' }), { code: 'PASSWORD' })
  await t.throwsAsync(credentials.changeRecovery(['Pet?'], ['Max']), needs)
  await t.throwsAsync(credentials.deletePassword(), { code: 'OPTION_INVALID' })
  t.true(await credentials.checkPassword(PASSWORD))
  const recovered = await kernel.context.loginWithRecovery2(recoveryKey, 'alice', ['Rex'])
  await recovered.credentials.changePassword(NEW)
  await t.throwsAsync(credentials.changePassword(PASSWORD), needs)
  await credentials.changePassword(PASSWORD, { current: NEW })
  await policies.remove('daily', { password: PASSWORD })
  await credentials.changePassword(NEW)
  await credentials.deletePassword()
})

test('what a token is worth for a rule is no choice of who can add tokens', async t => {
  const rates: RatePlugin = {
    ...{ kind: 'rates', id: 'one', displayName: 'One' },
    apply: ({ hooks }) =>
      hooks.fetchRates.tapPromise('one', async context => {
        for (const fromCurrency of ['LDG', 'GLD']) context.offer({ fromCurrency, toCurrency: 'iso:EUR' }, 1)
      })
  }
  const { account, wallet } = await openRuledDevice(t, { plugins: [spendRules, rates] })
  await account.policies.add({
    id: 'euros',
    kind: 'rolling',
    maxFiat: '10',
    fiat: 'iso:EUR',
    windowHours: 24
  })
  const config = account.currencyConfig('ledger')
  const token = { currencyCode: 'GLD', displayName: 'Gold', networkLocation: { contractAddress: 'gold' } }
  const tiny = [{ name: 'GLD', multiplier: '1000000000000' }]
  const own = {
    ...token,
    currencyCode: 'LDG',
    networkLocation: { contractAddress: 'mine' },
    denominations: tiny
  }
  const ownId = await config.addCustomToken(own)
  await wallet.changeEnabledTokenIds(['gold', ownId])
  const payToken = async (tokenId: string, amount: number) =>
    wallet.spend(await wallet.makeSpend({ ...payment(amount), tokenId }))
  t.like(await refusalOf(payToken('gold', 900_000)), { rule: 'euros' })
  await config.addCustomToken({ ...token, denominations: tiny })
  t.like(await refusalOf(payToken('gold', 900_000)), { rule: 'euros' })
  t.regex((await refusalOf(payToken(ownId, 1))).reason, /its worth is not known/)
  await payToken('gold', 100)
})

test('a rule whose id its file could not keep is refused, and never said to be in effect', async t => {
  const { account, wallet } = await openRuledDevice(t)
  for (const id of ['__proto__', 'constructor', 'prototype'])
    await t.throwsAsync(account.policies.add({ ...DAILY, id }), { code: 'OPTION_INVALID' }, id)
  for (const id of ['toString', 'hasOwnProperty', 'valueOf', '-']) {
    await account.policies.add({ ...DAILY, id }, { password: PASSWORD })
    t.like(await refusalOf(pay(wallet, 500)), { rule: id })
    await account.policies.remove(id, { password: PASSWORD })
  }
})

test('after a pause, hours of the day hold by the calendar as well, before a block has come', async t => {
  const device = await openRuledDevice(t)
  const hour = (at: number): string => `${String(new Date(at).getUTCHours()).padStart(2, '0')}:00`
  const now = device.chain.now()
  await device.account.policies.add({
    id: 'office',
    kind: 'hours',
    from: hour(now - HOUR),
    to: hour(now + 3 * HOUR)
  })
  await pay(device.wallet, 1)
  device.passed += 8 * HOUR
  await device.restart()
  const { rule, allowedAt = '' } = await refusalOf(pay(device.wallet, 1))
  t.is(rule, 'office')
  t.true(Date.parse(allowedAt) > device.chain.now())
  device.passed += 16 * HOUR
  await device.restart()
  await mine(device)
  await pay(device.wallet, 1)
})

test('what is said of signed bytes when they are sent hides no payment behind another one', async t => {
  const { account, wallet } = await openRuledDevice(t, { rules: [DAILY] })
  const used = async () => (await account.policies.explain()).rules[0]?.used
  const { txid } = await pay(wallet, 39)
  const signed = await wallet.signTx(await wallet.makeSpend(payment(29)))
  await wallet.broadcastTx({
    ...signed,
    replaces: txid,
    spentCoins: ['none'],
    nativeAmount: '-1' as NativeAmount
  })
  t.is(await used(), '0.7 LDG')
  await wallet.saveTx({ ...signed, replaces: txid, nativeAmount: '-1' as NativeAmount })
  t.is(await used(), '0.7 LDG')
  await wallet.broadcastTx({ ...signed, txid: 'of another device', replaces: txid, spentCoins: ['its own'] })
  t.is(await used(), '1 LDG')
  await wallet.broadcastTx({ ...signed, txid: 'another one', replaces: 'nothing', spentCoins: ['mine'] })
  await wallet.broadcastTx({
    ...signed,
    txid: 'and one more',
    replaces: 'nothing',
    spentCoins: ['mine, too']
  })
  t.is(await used(), '1.6 LDG')
})

test('the payment of a program that was forgotten and is sent again is still counted for the program', async t => {
  const device = await openRuledDevice(t)
  await device.account.policies.add({ ...DAILY, id: 'bot', client: 'bot' }, { password: PASSWORD })
  const sent = await pay(device.wallet, 79, 'shop', 'bot')
  await device.wallet.forgetTx(sent.txid)
  t.like(await refusalOf(pay(device.wallet, 29, 'shop', 'bot')), { rule: 'bot' })
  await device.wallet.broadcastTx(sent)
  t.like(await refusalOf(pay(device.wallet, 29, 'shop', 'bot')), { rule: 'bot' })
  await device.wallet.saveTx(sent)
  t.like(await refusalOf(pay(device.wallet, 29, 'shop', 'bot')), { rule: 'bot' })
})

test('an account takes a hundred rules, so that nobody makes its file too long to sync or each payment slow', async t => {
  const { account, wallet } = await openRuledDevice(t)
  const { policies } = account
  const payees = Array.from({ length: 900 }, (_, at) => `shop${String(at).padStart(96, '0')}`)
  const lists = Array.from({ length: 3 }, (_, at) => ({
    id: `list${at}`,
    kind: 'allow-list',
    asset: 'ledger',
    payees
  }))
  for (const list of lists) await policies.add(list)
  await t.throwsAsync(policies.add({ ...lists[0], kind: 'allow-list', id: 'more' }), {
    code: 'OPTION_INVALID'
  })
  for (const { id } of lists) await policies.remove(id, { password: PASSWORD })
  for (let count = 0; count < 100; count += 1) await policies.add({ ...DAILY, id: `daily${count}` })
  await t.throwsAsync(policies.add({ ...DAILY, id: 'daily100' }), { code: 'OPTION_INVALID' })
  await policies.add({ ...DAILY, id: 'daily7', max: '50' })
  t.like(await refusalOf(pay(wallet, 60)), { rule: 'daily7' })
})

test('a rule begins on a chain that has its first block only: that one was made long before anyone used it', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const kernel = await openDevice(world, { plugins: [spendRules] })
  t.teardown(() => kernel.close())
  const account = await kernel.context.createAccount({ username: 'alice', password: PASSWORD })
  const wallet = await account.createCurrencyWallet('wallet:bitcoin')
  await waitFor(() => wallet.engine.getSnapshot().syncRatio === 1)
  await t.notThrowsAsync(account.policies.add({ ...DAILY, asset: 'bitcoin' }, { password: PASSWORD }))
})
