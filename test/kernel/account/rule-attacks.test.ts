import test, { type ExecutionContext } from 'ava'
import { spendRules } from '../../../plugins/policy/spend-rules.ts'
import { waitFor } from '../../helpers/device.ts'
import { LedgerChain, makeLedgerCoin } from '../../helpers/ledger-coin.ts'
import {
  DAILY,
  editorOf,
  editorOfRules,
  HOUR,
  mine,
  openRuledDevice,
  PASSWORD,
  pay,
  payment,
  type RuledDevice,
  refusalOf
} from '../../helpers/ruled-device.ts'

const UNREADABLE = { rule: 'rules unreadable', refusedBy: 'account' }

for (const [what, text] of [
  ['is lost', null],
  ['is damaged', '{"rules'],
  ['has no rules', '{"rules": []}']
] as const) {
  test(`an account whose file of rules ${what} pays nothing, after no restart, until its password resets them`, async t => {
    const device = await openRuledDevice(t)
    const edit = await editorOfRules(device)
    await device.account.policies.add(DAILY)
    await device.restart(() => edit(repo => repo.write({ texts: new Map([['Policies.json', text]]) })))
    for (let process = 1; process <= 2; process += 1) {
      const { account, wallet } = device
      t.like(await refusalOf(pay(wallet, 1)), UNREADABLE)
      t.like(await refusalOf(pay(wallet, 1, 'shop', 'bot')), UNREADABLE)
      t.like(await refusalOf(account.walletKeys.getRawPrivateKey(wallet.id)), UNREADABLE)
      t.truthy((await account.policies.list()).fault)
      t.false((await account.policies.explain()).isAllowed)
      await t.throwsAsync(account.policies.add({ ...DAILY, max: '9' }, { password: PASSWORD }), {
        code: 'CORRUPT_FILE'
      })
      await device.restart()
    }
    const { account } = device
    await t.throwsAsync(account.policies.reset({}), { code: 'POLICY_PASSWORD' })
    await t.throwsAsync(account.policies.reset({ password: 'wrong' }), { code: 'PASSWORD' })
    t.like(await refusalOf(pay(device.wallet, 1)), UNREADABLE)
    await account.policies.reset({ password: PASSWORD })
    t.deepEqual(await account.policies.list(), { rules: [], pending: [] })
    await pay(device.wallet, 1)
    await device.restart()
    await pay(device.wallet, 1)
    await device.account.policies.add(DAILY)
    await t.throwsAsync(device.account.policies.reset({ password: PASSWORD }), { code: 'OPTION_INVALID' })
  })
}

test('a rule that the file holds in a form that cannot be read refuses every payment', async t => {
  const device = await openRuledDevice(t)
  const edit = await editorOfRules(device)
  for (const fields of [
    '{"kind":"rolling","asset":"ledger","max":100,"windowHours":24}',
    '{"kind":"rolling","asset":"ledger","max":"1e9","windowHours":24}',
    '{"kind":"rolling","asset":"ledger","max":"100"}',
    '{"kind":"constructor"}',
    '{"asset":7}',
    'null'
  ]) {
    const text = `{"rules":{"daily":${fields},"all":{"kind":"per-payment","asset":"ledger","max":"900"}}}`
    await device.restart(() => edit(repo => repo.write({ texts: new Map([['Policies.json', text]]) })))
    t.like(await refusalOf(pay(device.wallet, 1)), { rule: 'daily' }, fields)
  }
})

test('a damaged entry of a journal refuses every payment of the account, and nothing else is lost', async t => {
  const device = await openRuledDevice(t)
  const edit = await editorOf(device, device.wallet.id)
  const other = await device.account.createCurrencyWallet('wallet:ledger')
  await device.account.policies.add(DAILY)
  await pay(device.wallet, 59)
  for (const part of ['spend', 'sent', 'past']) {
    const key = `${part}/torn`
    await device.restart(() => edit(({ local }) => local.write(new Map([[key, '{"stage":"sen']]))))
    const second = await device.account.openWallet(other.id)
    await waitFor(() => second.engine.getSnapshot().syncRatio === 1)
    for (const wallet of [device.wallet, second]) t.like(await refusalOf(pay(wallet, 1)), UNREADABLE, key)
    await device.restart(() => edit(({ local }) => local.write(new Map([[key, null]]))))
    t.like(await refusalOf(pay(device.wallet, 50)), { rule: 'daily' })
  }
})

test('a damaged entry is set aside by the password, and limits over a window count as used up until it has passed', async t => {
  const device = await openRuledDevice(t)
  const edit = await editorOf(device, device.wallet.id)
  for (const rule of [
    DAILY,
    { id: 'small', kind: 'per-payment', asset: 'ledger', max: '60' },
    { id: 'bot', kind: 'rolling', asset: 'ledger', max: '50', windowHours: 24, client: 'bot' }
  ])
    await device.account.policies.add(rule, { password: PASSWORD })
  await device.restart(() =>
    edit(({ local }) =>
      local.write(new Map(['spend/torn', 'sent/torn', 'past/torn'].map(key => [key, '{"stage":"sen'])))
    )
  )
  t.regex(
    (await refusalOf(pay(device.wallet, 1))).reason,
    /3 payments, .* cannot be read since 2\d{3}-.*set aside/
  )
  const found = await device.account.policies.damaged()
  t.deepEqual(
    found.map(({ entry }) => entry),
    ['spend/torn', 'sent/torn', 'past/torn']
  )

  const refuses = async (entries: typeof found, password: string | undefined, code: string) => {
    await t.throwsAsync(device.account.policies.setAside(entries, { password }), { code })
    t.is((await device.account.policies.damaged()).length, 3)
  }
  await refuses(found, undefined, 'POLICY_PASSWORD')
  await refuses(found, 'wrong', 'PASSWORD')
  await refuses([], PASSWORD, 'OPTION_INVALID')
  await refuses(
    [{ walletId: device.wallet.id, entry: 'sent/other', noticedAt: 0 }],
    PASSWORD,
    'OPTION_INVALID'
  )
  await refuses(
    found.map(each => ({ ...each, noticedAt: each.noticedAt - 48 * HOUR })),
    PASSWORD,
    'OPTION_INVALID'
  )

  // The time when it was noticed outlives the process, and what is set aside stays so.
  await device.restart()
  t.deepEqual(await device.account.policies.damaged(), found)
  await device.account.policies.setAside(found, { password: PASSWORD })
  for (let process = 1; process <= 2; process += 1) {
    t.deepEqual(await device.account.policies.damaged(), [])
    const refusal = await refusalOf(pay(device.wallet, 1))
    t.like(refusal, { rule: 'daily' })
    t.regex(refusal.reason, /a payment that cannot be read/)
    t.is(
      Date.parse(refusal.allowedAt ?? ''),
      Math.max(...found.map(({ noticedAt }) => noticedAt)) + 24 * HOUR
    )
    t.like(await refusalOf(pay(device.wallet, 1, 'shop', 'bot')), { refusedBy: 'account' })
    const [daily] = (await device.account.policies.explain()).rules
    t.like(daily, { used: '1 LDG', left: '0 LDG' })
    await device.restart()
  }
  device.passed += 24 * HOUR + 60_000
  await mine(device)
  await pay(device.wallet, 40)
  await pay(device.wallet, 20, 'shop', 'bot')
  t.like(await refusalOf(pay(device.wallet, 50)), { rule: 'daily' })
})

test('a limit of another currency does not count what a damaged entry may have paid', async t => {
  const device = await openRuledDevice(t, {
    plugins: [spendRules, makeLedgerCoin(new LedgerChain(Date.now), 'other')]
  })
  const edit = await editorOf(device, device.wallet.id)
  for (const asset of ['ledger', 'other'])
    await device.account.policies.add({ ...DAILY, id: asset, asset }, { password: PASSWORD })
  const other = await device.account.createCurrencyWallet('wallet:other')
  await device.restart(() => edit(({ local }) => local.write(new Map([['sent/torn', '{']]))))
  const { policies } = device.account
  await policies.setAside(await policies.damaged(), { password: PASSWORD })
  const second = await device.account.openWallet(other.id)
  await waitFor(() => second.engine.getSnapshot().syncRatio === 1)
  t.like(await refusalOf(pay(device.wallet, 1)), { rule: 'ledger' })
  await pay(second, 50)
})

test('while a wallet looks through its chain again, nothing is paid: what other devices paid is not known', async t => {
  const first = await openRuledDevice(t, { rules: [DAILY] })
  const { account, wallet } = first
  const other = await account.createCurrencyWallet('wallet:ledger')
  await account.sync()
  const second = await first.another()
  const { txid } = await pay(second.wallet, 59)
  await mine(first, txid)
  t.like(await refusalOf(pay(wallet, 50)), { rule: 'daily' })
  await wallet.resyncBlockchain()
  await waitFor(() => other.engine.getSnapshot().syncRatio === 1)
  for (const each of [wallet, other]) t.like(await refusalOf(pay(each, 1)), UNREADABLE)
  await first.kernel.close()
  await first.restart()
  await first.wallet.sync()
  await waitFor(async () => (await first.account.policies.explain()).isAllowed)
  t.like(await refusalOf(pay(first.wallet, 50)), { rule: 'daily' })
  await pay(first.wallet, 20)
})

test('a payment of a token counts after the token was disabled, also one of another device, and its fee as one of the coin', async t => {
  const first = await openRuledDevice(t)
  await first.wallet.changeEnabledTokenIds(['gold'])
  for (const rule of [
    { id: 'tokens', kind: 'rolling', asset: 'ledger/gold', max: '100', windowHours: 24 },
    { id: 'coins', kind: 'rolling', asset: 'ledger', max: '3', windowHours: 24 }
  ])
    await first.account.policies.add(rule, { password: PASSWORD })
  await first.account.sync()
  const second = await first.another()
  const payGold = async ({ wallet }: RuledDevice, amount: number) =>
    wallet.spend(await wallet.makeSpend({ ...payment(amount), tokenId: 'gold' }))
  await payGold(first, 20)
  const { txid } = await payGold(second, 40)
  await mine(first, txid)
  await first.wallet.changeEnabledTokenIds([])
  const used = async () =>
    (await first.account.policies.explain()).rules.map(({ ruleId, used: sum }) => [ruleId, sum])
  t.deepEqual(await used(), [
    ['tokens', '0.6 GLD'],
    ['coins', '0.02 LDG']
  ])
  await first.wallet.changeEnabledTokenIds(['gold'])
  t.like(await refusalOf(payGold(first, 50)), { rule: 'tokens' })
  await payGold(first, 30)
  t.like(await refusalOf(payGold(first, 1)), { rule: 'coins' }, 'three fees are paid')
})

const twoDevices = async (t: ExecutionContext): Promise<readonly [RuledDevice, RuledDevice]> => {
  const first = await openRuledDevice(t, { rules: [DAILY] })
  return [first, await first.another()]
}

test('a payment of a device whose clock is wrong counts on the other device by its block', async t => {
  const [first, second] = await twoDevices(t)
  for (const skew of [72 * HOUR, -72 * HOUR]) {
    second.skew = skew
    await second.restart()
    const { txid } = await pay(second.wallet, 39)
    await mine(second, txid)
    await first.wallet.sync()
  }
  t.like(await refusalOf(pay(first.wallet, 29)), { rule: 'daily' })
  first.passed += 23 * HOUR
  await mine(first)
  t.like(await refusalOf(pay(first.wallet, 29)), { rule: 'daily' })
  first.passed += 1.5 * HOUR
  await mine(first)
  await pay(first.wallet, 29)
})

test('a loosening that waits does not come sooner on a device whose clock is set forward', async t => {
  const [first, second] = await twoDevices(t)
  await first.account.policies.add({ id: 'slow', kind: 'loosening-delay', hours: 48 }, { password: PASSWORD })
  const { policies } = first.account
  await policies.add({ ...DAILY, max: '900' }, { password: PASSWORD })
  await first.account.sync()
  await second.account.sync()
  t.is((await second.account.policies.list()).pending.length, 1)
  second.skew = 72 * HOUR
  t.like(await refusalOf(pay(second.wallet, 500)), { rule: 'daily' })
  await second.restart()
  t.like(await refusalOf(pay(second.wallet, 500)), { rule: 'daily' })
  second.skew = 0
  second.passed += 49 * HOUR
  await mine(second)
  await pay(second.wallet, 500)
})

test('a budget opens no wallet that has nothing to count, until somebody uses it', async t => {
  const device = await openRuledDevice(t)
  const others = await Promise.all([0, 1, 2].map(() => device.account.createCurrencyWallet('wallet:ledger')))
  const openCount = (): number =>
    device.account.listRepos().filter(({ type }) => type === 'wallet:ledger').length
  await device.account.policies.add(DAILY)
  await pay(device.wallet, 9)
  await device.restart()
  await pay(device.wallet, 9)
  t.is(openCount(), 4, 'they were in use until then')
  await device.restart()
  await pay(device.wallet, 9)
  t.is(openCount(), 1)
  const [used] = others
  const wallet = await device.account.openWallet(used?.id ?? '')
  await waitFor(() => wallet.engine.getSnapshot().syncRatio === 1)
  await pay(wallet, 39)
  await device.restart()
  t.like(await refusalOf(pay(device.wallet, 39)), { rule: 'daily' })
  t.is(openCount(), 2)
})
