import test from 'ava'
import { type NativeAmount, nativeAmount } from '../../../kernel/base/amount.ts'
import { scrub } from '../../../kernel/base/errors.ts'
import { Scheduler } from '../../../kernel/base/scheduler.ts'
import { Secret } from '../../../kernel/base/secret.ts'
import type { WalletSnapshot } from '../../../kernel/index.ts'
import { makeLog } from '../../../kernel/plugins/services.ts'
import { EngineCallbackHandler, type EngineListener } from '../../../kernel/wallet/engine/callbacks.ts'
import { checkEngineTransaction, checkStakingStatus } from '../../../kernel/wallet/engine/validate.ts'
import { EventQueue, TransactionThrottle } from '../../../kernel/wallet/events.ts'
import type { TxidChanges } from '../../../kernel/wallet/history/changes.ts'
import { searchMaxSpendable, upgradeMemos } from '../../../kernel/wallet/spend/draft.ts'
import { type SpendIntent, SpendJournal } from '../../../kernel/wallet/spend/journal.ts'
import { WalletState, type WalletStateOptions } from '../../../kernel/wallet/state.ts'
import { makeFakeClock } from '../../../testing/fake-clock.ts'
import { toyTransaction } from '../../helpers/toy-currency.ts'

const makeListener = () => {
  const received = {
    errors: [] as { code?: string; message: string; details?: { path?: string } }[],
    txids: [] as string[],
    balances: [] as string[],
    heights: [] as number[]
  }
  const listener: EngineListener = {
    addressChanged() {},
    balanceChanged: (_tokenId, balance) => void received.balances.push(balance),
    balanceDetailsChanged() {},
    heightChanged: height => void received.heights.push(height),
    progressChanged() {},
    statusChanged() {},
    connectionChanged() {},
    stakingChanged() {},
    tokensFound() {},
    unactivatedChanged() {},
    transactionsChanged: async batch => void received.txids.push(...batch.map(({ txid }) => txid)),
    failed: error => void received.errors.push(error as (typeof received.errors)[number])
  }
  return { received, listener }
}

test('a bogus transaction is refused by its field, and the good ones of its batch count [5.37] [5.36]', async t => {
  const { received, listener } = makeListener()
  const callbackHandler = new EngineCallbackHandler({ pluginId: 'coin' }, makeFakeClock(), listener)
  const bad: [string, object][] = [
    ['txid', { txid: 5 }],
    ['date', { date: '2020' }],
    ['date', { date: Number.NaN }],
    ['date', { date: 1e15 }],
    ['networkFee', { networkFee: 1 }],
    ['networkFee', { networkFee: '1.5' }],
    ['blockHeight', { blockHeight: '7' }],
    ['nativeAmount', { nativeAmount: 'NaN' }],
    ['nativeAmount', { nativeAmount: 5 }],
    ['ourReceiveAddresses', { ourReceiveAddresses: 'x' }],
    ['tokenId', { tokenId: undefined }],
    ['memos', { memos: [{ type: 'other', value: 'x' }] }]
  ]
  callbackHandler.callbacks.onTransactionsChanged([
    toyTransaction('a'),
    ...bad.map(([, changes]) => toyTransaction('b', changes)),
    toyTransaction('c')
  ])
  callbackHandler.callbacks.onTransactionsChanged('nonsense' as never)
  await callbackHandler.idle()
  t.deepEqual(received.txids, ['a', 'c'])
  t.deepEqual(
    received.errors.filter(({ code }) => code === 'BOGUS_TX').map(({ details }) => details?.path),
    bad.map(([field]) => field)
  )
  t.is(received.errors.find(({ code }) => code === 'BOGUS_TX')?.message, 'Plugin sent bogus tx')
  t.true(received.errors.some(({ code }) => code === 'BOGUS_DATA'))
})

test('a balance must be digits only; anything else is an error and changes nothing [5.35]', t => {
  const { received, listener } = makeListener()
  const { callbacks } = new EngineCallbackHandler({ pluginId: 'coin' }, makeFakeClock(), listener)
  callbacks.onTokenBalanceChanged(null, '12')
  for (const balance of ['-1', '1.5', '', '1e3', ' 1', 5, null])
    callbacks.onTokenBalanceChanged(null, balance as never)
  callbacks.onTokenBalanceChanged(7 as never, '1')
  t.deepEqual(received.balances, ['12'])
  t.is(received.errors.filter(({ code }) => code === 'BOGUS_BALANCE').length, 8)
})

test('callbacks of a closed engine are ignored, and no callback ever throws into the engine', async t => {
  const { received, listener } = makeListener()
  const callbackHandler = new EngineCallbackHandler({ pluginId: 'coin' }, makeFakeClock(), {
    ...listener,
    heightChanged() {
      throw new Error('screen')
    }
  })
  t.notThrows(() => callbackHandler.callbacks.onBlockHeightChanged(5))
  t.is(received.errors.length, 1)
  callbackHandler.close()
  callbackHandler.callbacks.onTransactionsChanged([toyTransaction('late')])
  callbackHandler.callbacks.onTokenBalanceChanged(null, '1')
  await callbackHandler.idle()
  t.deepEqual([received.txids, received.balances], [[], []])
})

test('transaction events come at most once in 5000 ms, and none is lost [9.12]', async t => {
  const clock = makeFakeClock()
  const events: TxidChanges[] = []
  const throttle = new TransactionThrottle(new Scheduler(clock), 'w', changes => events.push(changes))
  throttle.add({ created: ['a'], changed: [] })
  t.is(events.length, 1)
  throttle.add({ created: ['b'], changed: ['a'] })
  throttle.add({ created: [], changed: ['b', 'c'] })
  await clock.advance(4999)
  t.is(events.length, 1)
  await clock.advance(1)
  t.deepEqual(events[1], { created: ['b'], changed: ['a', 'c'] })
  await clock.advance(10_000)
  t.is(events.length, 2)
  throttle.add({ created: ['d'], changed: [] })
  t.deepEqual(events[2], { created: ['d'], changed: [] })
})

test('events of one kind and wallet become one, in the order they were begun, within 500 ms', async t => {
  const clock = makeFakeClock()
  const received: string[] = []
  const queue = new EventQueue(clock, error => received.push(String(error)))
  for (let ratio = 0; ratio < 100; ratio++)
    queue.push('progress w', () => void received.push(`progress ${ratio}`))
  queue.push('balance w', () => {
    throw new Error('screen')
  })
  queue.push('height w', () => void received.push('height'))
  await clock.advance(500)
  t.deepEqual(received, ['progress 99', 'Error: screen', 'height'])
  queue.push('late', () => void received.push('late'))
  queue.close()
  await clock.advance(500)
  t.false(received.includes('late'))
})

test('in place of 500 ms ticks of 3 updates: each of 100 busy wallets gets its latest state within 500 ms [9.13]', async t => {
  const clock = makeFakeClock()
  const queue = new EventQueue(clock, () => {})
  const waiting = new Map<string, { since: number; latest: number }>()
  const late: string[] = []
  let reported = 0
  for (let at = 0; at < 2000; at += 1) {
    for (let wallet = at % 10; wallet < 100; wallet += 10) {
      const key = `balance ${wallet}`
      waiting.set(key, { since: waiting.get(key)?.since ?? at, latest: at })
      queue.push(key, () => {
        reported += 1
        const { since, latest } = waiting.get(key) ?? { since: -Infinity, latest: -1 }
        if (latest !== at || clock.monotonic() - since > 500) late.push(key)
        waiting.delete(key)
      })
    }
    await clock.advance(1)
  }
  await clock.advance(500)
  t.deepEqual(late, [])
  t.is(waiting.size, 0)
  t.true(reported >= 400 && reported < 20_000, `${reported} events of 20000 reports`)
})

test('a task that is scheduled during a delivery waits for the next one, also under the same key', async t => {
  const clock = makeFakeClock()
  const at: number[] = []
  const queue = new EventQueue(clock, () => {})
  const deliver = (): void => {
    at.push(clock.monotonic())
    if (at.length < 4) queue.push('echo', deliver)
  }
  queue.push('echo', deliver)
  await clock.advance(200)
  t.deepEqual(at, [20, 40, 60, 80])
  t.is(clock.timerCount, 0)
})

test('a task that falls due with others can still be cancelled, replaced or closed by them', async t => {
  const clock = makeFakeClock()
  const ran: string[] = []
  const scheduler = new Scheduler(clock)
  const note = (name: string) => () => void ran.push(name)
  scheduler.schedule('first', 10, () => {
    ran.push('first')
    scheduler.cancel('cancelled')
    scheduler.schedule('replaced', 5, note('replacement'))
  })
  scheduler.schedule('cancelled', 10, note('cancelled'))
  scheduler.schedule('replaced', 10, note('replaced'))
  await clock.advance(10)
  t.deepEqual(ran, ['first'])
  await clock.advance(5)
  t.deepEqual(ran, ['first', 'replacement'])
  scheduler.schedule('closing', 10, () => scheduler.close())
  scheduler.schedule('closed', 10, note('closed'))
  await clock.advance(100)
  t.deepEqual(ran, ['first', 'replacement'])
  t.is(clock.timerCount, 0)
})

test('a wait longer than the longest timer is kept, without a wake-up meanwhile', async t => {
  const clock = makeFakeClock()
  const delays: number[] = []
  const counting = {
    ...clock,
    after(delayMs: number, task: () => void) {
      delays.push(delayMs)
      return clock.after(delayMs, task)
    }
  }
  let ran = 0
  new Scheduler(counting).schedule('late', 5e9, () => {
    ran += 1
  })
  await clock.advance(5e9 - 1)
  t.is(ran, 0)
  await clock.advance(1)
  t.is(ran, 1)
  t.is(delays.length, 3)
  t.true(delays.every(delay => delay < 2 ** 31))
})

test('thousands of balances are one event, the last of each asset, and none is lost between events', async t => {
  const clock = makeFakeClock()
  const reported: WalletSnapshot[] = []
  const facts = new WalletState({
    services: {
      hooks: { walletChanged: { call: (snapshot: WalletSnapshot) => void reported.push(snapshot) } }
    },
    events: new EventQueue(clock, () => {}),
    walletId: 'w',
    walletInfo: { type: 'wallet:toycoin', keys: new Secret({}) },
    info: { pluginId: 'toycoin' },
    report() {}
  } as unknown as WalletStateOptions)
  facts.open()
  const amount = (value: number) => nativeAmount(String(value))
  for (let token = 0; token < 20_000; token++) facts.batchBalance(`t${token}`, amount(token))
  facts.batchBalance('t1', amount(7))
  facts.batchBalance(null, amount(5))
  facts.batchBalance('__proto__', amount(3))
  t.is(facts.balanceOf('t1'), amount(7))
  t.is(facts.balanceOf('constructor'), amount(0))
  await clock.advance(1000)
  t.is(reported.length, 2)
  facts.batchBalance('t1', amount(7))
  facts.batch({ isPaused: true })
  facts.batchBalance(null, amount(6))
  await clock.advance(1000)
  t.is(reported.length, 3)
  const { balances, isPaused } = facts.snapshot.getSnapshot()
  t.true(isPaused)
  t.is(Object.keys(balances).length, 20_002)
  t.like(balances, { t1: '7', t19999: '19999', '': '6' })
  t.is(facts.balanceOf('__proto__'), amount(3))
  t.true(Object.isFrozen(balances))
  facts.batchBalance(null, amount(8))
  facts.batchBalance(null, amount(6))
  await clock.advance(1000)
  t.is(reported.length, 3)
})

test('an engine cannot name an asset without end, nor change later what it said is staked', t => {
  t.throws(
    () => checkStakingStatus('toycoin', { stakedAmounts: [{ nativeAmount: '5', otherParams: ring }] }),
    {
      code: 'BOGUS_DATA'
    }
  )
  const params = { pool: { name: 'a' } }
  const status = checkStakingStatus('toycoin', {
    stakedAmounts: [{ nativeAmount: '5', otherParams: params }]
  })
  params.pool.name = 'b'
  t.deepEqual(status.stakedAmounts[0]?.otherParams, { pool: { name: 'a' } })
  for (const otherParams of [7, { text: 'x'.repeat(20_000) }, [], { n: 1n }])
    t.throws(() => checkStakingStatus('toycoin', { stakedAmounts: [{ nativeAmount: '5', otherParams }] }), {
      code: 'BOGUS_DATA'
    })
  const tx = toyTransaction('a', { tokenId: 'x'.repeat(201) })
  t.throws(() => checkEngineTransaction('toycoin', tx), { code: 'BOGUS_TX' })
  t.notThrows(() => checkEngineTransaction('toycoin', { ...tx, tokenId: 'x'.repeat(200) }))
  const { received, listener } = makeListener()
  const { callbacks } = new EngineCallbackHandler({ pluginId: 'toycoin' }, makeFakeClock(), listener)
  callbacks.onTokenBalanceChanged('x'.repeat(201), '5')
  callbacks.onTokenBalanceChanged('x'.repeat(200), '6')
  t.deepEqual(received.balances, ['6'])
  t.is(received.errors[0]?.code, 'BOGUS_BALANCE')
})

const ring: { self?: unknown } = {}
ring.self = ring

test('no checkpoint is kept that covers transactions which could not be saved', async t => {
  const { received, listener } = makeListener()
  const kept: string[] = []
  let isFull = false
  const callbackHandler = new EngineCallbackHandler({ pluginId: 'toycoin' }, makeFakeClock(), {
    ...listener,
    async transactionsChanged(batch, checkpoint) {
      if (isFull) throw new Error('full')
      await listener.transactionsChanged(batch)
      if (checkpoint !== undefined) kept.push(checkpoint)
    }
  })
  const { callbacks } = callbackHandler
  callbacks.onTransactionsChanged([toyTransaction('a')])
  callbacks.onSeenTxCheckpoint('one')
  await callbackHandler.idle()
  t.deepEqual([received.txids, kept], [['a'], ['one']])
  isFull = true
  callbacks.onTransactionsChanged([toyTransaction('b')])
  callbacks.onSeenTxCheckpoint('two')
  await callbackHandler.idle()
  isFull = false
  callbacks.onSeenTxCheckpoint('three')
  await callbackHandler.idle()
  t.deepEqual(kept, ['one'])
  t.is(received.errors.length, 1)
})

test('a checkpoint that follows a batch is saved together with the end of that batch', async t => {
  const taken: [count: number, checkpoint: string | undefined][] = []
  const callbackHandler = new EngineCallbackHandler({ pluginId: 'toycoin' }, makeFakeClock(), {
    ...makeListener().listener,
    transactionsChanged: async (batch, checkpoint) => void taken.push([batch.length, checkpoint])
  })
  const { callbacks } = callbackHandler
  const batch = Array.from({ length: 6000 }, (_, at) => toyTransaction(`t${at}`))
  callbacks.onTransactionsChanged(batch)
  callbacks.onSeenTxCheckpoint('one')
  callbacks.onTransactionsChanged(batch.slice(0, 1))
  callbacks.onSeenTxCheckpoint('two')
  callbacks.onSeenTxCheckpoint('three')
  await callbackHandler.idle()
  callbacks.onSeenTxCheckpoint('four')
  await callbackHandler.idle()
  t.deepEqual(taken, [
    [5000, undefined],
    [1000, 'one'],
    [1, 'three'],
    [0, 'four']
  ])
})

test('a large batch is not applied further once the engine is closed', async t => {
  const { received, listener } = makeListener()
  const callbackHandler = new EngineCallbackHandler({ pluginId: 'toycoin' }, makeFakeClock(), listener)
  callbackHandler.callbacks.onTransactionsChanged(
    Array.from({ length: 20_000 }, (_, at) => toyTransaction(`t${at}`))
  )
  await Promise.resolve()
  callbackHandler.close()
  await callbackHandler.idle()
  t.true(received.txids.length < 20_000)
})

test('one timer serves every scheduled task, and a key has one task', async t => {
  const clock = makeFakeClock()
  const ran: string[] = []
  const scheduler = new Scheduler(clock)
  for (let wallet = 0; wallet < 200; wallet++)
    scheduler.schedule(`engine ${wallet}`, 10_000, () => ran.push('engine'))
  scheduler.schedule('soon', 100, () => void ran.push('first'))
  scheduler.schedule('soon', 50, () => void ran.push('second'))
  t.is(clock.timerCount, 1)
  await clock.advance(100)
  t.deepEqual(ran, ['second'])
  scheduler.cancel('engine 0')
  await clock.advance(10_000)
  t.is(ran.length, 200)
  scheduler.schedule('late', 1, () => void ran.push('late'))
  scheduler.close()
  await clock.advance(10)
  t.false(ran.includes('late'))
})

test('the search for the maximum halves until the range is one unit, with the known probes [9.32]', async t => {
  const probes: string[] = []
  const max = await searchMaxSpendable(nativeAmount('5000'), async amount => {
    probes.push(amount)
    return BigInt(amount) <= 4321n
  })
  t.is(max, '4321' as NativeAmount)
  t.is(probes.join(' '), '2500 3750 4375 4062 4218 4296 4335 4315 4325 4320 4322 4321')
  t.is(await searchMaxSpendable(nativeAmount('0'), async () => false), '0' as NativeAmount)
  t.is(await searchMaxSpendable(nativeAmount('10'), async () => true), '10' as NativeAmount)
})

test('a memo that is not of its own kind is refused with MEMO_INVALID [5.40]', t => {
  const spend = (type: string, value: string) => ({
    tokenId: null,
    spendTargets: [{ publicAddress: 'a' }],
    memos: [{ type: type as never, value }]
  })
  for (const [type, value] of [
    ['hex', 'xyz'],
    ['hex', 'abc'],
    ['number', '1.5'],
    ['number', '-1'],
    ['smoke', 'x']
  ] as const) {
    t.throws(() => upgradeMemos(spend(type, value)), { code: 'MEMO_INVALID' }, `${type} ${value}`)
  }
  t.throws(() => upgradeMemos(spend('text', 'long'), [{ type: 'text', maxLength: 3 }]), {
    code: 'MEMO_INVALID'
  })
  t.throws(() => upgradeMemos(spend('number', '256'), [{ type: 'number', maxValue: '255' }]), {
    code: 'MEMO_INVALID'
  })
  const most = upgradeMemos(spend('number', '255'), [{ type: 'number', maxValue: '255' }])
  t.deepEqual(most.memos, [{ type: 'number', value: '255' }])
  t.deepEqual(upgradeMemos(spend('hex', '0XaB')).memos, [{ type: 'hex', value: 'aB' }])
})

test('a memo may have the length that its currency takes, in bytes if it is hex, and not one more', t => {
  const options = [
    { type: 'text', maxLength: 4 },
    { type: 'hex', maxLength: 4 }
  ] as const
  const upgrade = (type: 'hex' | 'text', value: string) =>
    upgradeMemos({ tokenId: null, spendTargets: [], memos: [{ type, value }] }, options).memos
  t.deepEqual(upgrade('text', 'four'), [{ type: 'text', value: 'four' }])
  t.deepEqual(upgrade('hex', 'a1b2c3d4'), [{ type: 'hex', value: 'a1b2c3d4' }])
  t.deepEqual(upgrade('hex', '0xa1b2c3d4'), [{ type: 'hex', value: 'a1b2c3d4' }])
  t.deepEqual(upgrade('text', '0xa1'), [{ type: 'text', value: '0xa1' }], 'a text is what it says')
  t.throws(() => upgrade('text', 'four5'), { code: 'MEMO_INVALID', message: /longer than 4/ })
  t.throws(() => upgrade('hex', 'a1b2c3d4e5'), { code: 'MEMO_INVALID', message: /longer than 4/ })
})

test('the memo of a target is taken from its parameters if it is text there, and from nothing else', t => {
  const options = [{ type: 'text' }] as const
  const memosOf = (otherParams: object) =>
    upgradeMemos({ tokenId: null, spendTargets: [{ otherParams } as never] }, options).memos
  t.deepEqual(memosOf({ uniqueIdentifier: 'note' }), [{ type: 'text', value: 'note' }])
  for (const uniqueIdentifier of [5, null, {}, undefined]) t.deepEqual(memosOf({ uniqueIdentifier }), [])
})

test('a damaged entry of the spend journal is reported and kept, and the others are listed', async t => {
  const entries = new Map<string, string>()
  const journal = new SpendJournal({
    get: key => entries.get(key),
    entries: prefix => [...entries].filter(([key]) => key.startsWith(prefix)),
    async write(changes) {
      for (const [key, text] of changes) text === null ? entries.delete(key) : entries.set(key, text)
    }
  })
  const intent = { correlationId: 'c', stage: 'sending', at: 2, tx: toyTransaction('a') } as never
  await journal.put(intent)
  entries.set('spend/broken', '{"stage":"sen')
  const errors: unknown[] = []
  t.deepEqual(
    journal.list(error => errors.push(error)),
    [intent]
  )
  t.is(errors.length, 1)
  t.true(entries.has('spend/broken'))
  t.is(journal.findByTxid('a')?.correlationId, 'c')
  await journal.remove('c')
  t.is(journal.findByTxid('a'), undefined)
})

test('the spend journal reads each entry once, and returns frozen entries', async t => {
  const entries = new Map<string, string>()
  let listings = 0
  const journal = new SpendJournal({
    get: key => entries.get(key),
    entries(prefix) {
      listings += 1
      return [...entries].filter(([key]) => key.startsWith(prefix))
    },
    async write(changes) {
      for (const [key, text] of changes) text === null ? entries.delete(key) : entries.set(key, text)
    }
  })
  for (const at of [1, 2, 3])
    await journal.put({
      correlationId: `c${at}`,
      stage: 'sending',
      at,
      tx: toyTransaction(`t${at}`)
    } as never)
  const [first] = journal.list()
  t.is(journal.list()[0], first)
  t.true(Object.isFrozen(first?.tx))
  const before = listings
  t.is(journal.find('c1'), first)
  t.is(journal.find('none'), undefined)
  t.is(listings, before)
  await journal.put({ ...(first as SpendIntent), refusal: 'no' })
  t.is(journal.find('c1')?.refusal, 'no')
  await journal.watch(journal.find('c1') as SpendIntent)
  t.is(journal.find('c1'), undefined)
  t.is(journal.findSent('c1')?.refusal, 'no')
})

test('a damaged entry of a sent payment is reported, also after the others were read', async t => {
  const journal = new SpendJournal({
    get: () => undefined,
    entries: prefix => (prefix === 'sent/' ? [['sent/broken', '{"stage":"bro']] : []),
    async write() {}
  })
  const errors: unknown[] = []
  t.deepEqual(journal.sent(), [])
  t.deepEqual(
    journal.sent(error => errors.push(error)),
    []
  )
  t.is(errors.length, 1)
})

test('log lines below the level are not emitted, and anything that could be a key is masked [9.27]', t => {
  const lines: string[] = []
  const logged = {
    call: ({ level, text }: { level: string; text: string }) => void lines.push(`${level} ${text}`)
  }
  const log = makeLog('plugin', { clock: makeFakeClock(), logged: logged as never, threshold: 'warn' })
  log.debug('no')
  log.info('no')
  log.warn('sync of efc1f3522f852b0ee907a554d3e5b115719f18b9 failed')
  log.error('x'.repeat(2000))
  t.deepEqual(lines, ['warn sync of […] failed', 'error […]'])
  t.is(scrub(`${'a '.repeat(245)}J8BiaGMHopHb6EGaOI2DvV0MFvqVDIFKNkIuAMon2No=`), `${'a '.repeat(245)}[…]`)
  t.is(scrub('key J8BiaGMHopHb6EGaOI2DvV0MFvqVDIFKNkIuAMon2No= end'), 'key […] end')
})
