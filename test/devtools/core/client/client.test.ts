import test from 'ava'
import fc from 'fast-check'
import type { ActionError } from '../../../../app/actions/action-error.ts'
import type { ActionHandler } from '../../../../app/actions/actions.ts'
import { makeClient } from '../../../../devtools/core/client/client.ts'
import { makeDevtools } from '../../../../devtools/core/devtools.ts'
import type { AttachOptions } from '../../../../devtools/core/host/session.ts'
import type { View } from '../../../../devtools/core/model/slices.ts'
import { sliceNames } from '../../../../devtools/core/model/snapshot-fields.ts'
import { makeChannelPair } from '../../../../devtools/core/protocol/channel-pair.ts'
import type { ClientMessage, HostMessage, PanelChannel } from '../../../../devtools/core/protocol/protocol.ts'
import { account, engine, makeStage, pair, type Stage } from '../../../helpers/devtools-stage.ts'
import { makeRoughPanel, roughStep } from '../../../helpers/rough-panel.ts'

const LOOK: AttachOptions = { isReadOnly: true, hasWorld: false }

const attach = (stage: Stage, options: AttachOptions = LOOK) => {
  const { host, client } = makeChannelPair()
  const detach = stage.devtools.attach(host, options)
  return { client: makeClient(client), detach, host }
}

const plain = (view: View): unknown => Object.fromEntries(sliceNames.map(name => [name, [...view[name]]]))

test('a panel that connects late sees the earlier tables and events', async t => {
  const stage = makeStage()
  stage.emit('engineChanged', engine('w1', { blockHeight: 5 }))
  stage.emit('engineChanged', engine('w1', { blockHeight: 6 }))
  const { client } = attach(stage)
  t.is(client.status.getSnapshot().connection, 'connecting')
  await stage.settle()
  t.deepEqual(client.status.getSnapshot(), {
    connection: 'live',
    isReadOnly: true,
    hasWorld: false,
    missed: 0
  })
  t.deepEqual([...client.view.getSnapshot().engines], [['w1', engine('w1', { blockHeight: 6 })]])
  t.deepEqual(
    client.events.getSnapshot().map(({ seq, hook, subject, data }) => [seq, hook, subject, data.blockHeight]),
    [
      [1, 'engineChanged', 'w1', 5],
      [2, 'engineChanged', 'w1', 6]
    ]
  )
})

test('an account event holds the number of its wallets: their ids are only in its row', async t => {
  const stage = makeStage()
  const lists = { walletIds: ['w1', 'w2'], activeWalletIds: ['w1'], archivedWalletIds: ['w2'] }
  stage.emit('accountChanged', account('a', lists))
  const { client } = attach(stage)
  await stage.settle()
  t.deepEqual(client.events.getSnapshot()[0]?.data, {
    ...{ accountId: 'a', appId: '', isLoggedIn: true, isPaused: false },
    ...{ walletCount: 2, activeCount: 1, archivedCount: 1, hiddenCount: 0 }
  })
  t.deepEqual(client.view.getSnapshot().accounts.get('a'), account('a', lists))
})

test('a panel gets at most ten updates a second, and only changed tables are replaced', async t => {
  const stage = makeStage()
  const { client } = attach(stage)
  await stage.settle()
  const before = client.view.getSnapshot()
  let reported = 0
  client.view.subscribe(() => {
    reported += 1
  })
  for (let height = 0; height < 1000; height += 1) {
    stage.emit('engineChanged', engine('w1', { blockHeight: height }))
    await stage.clock.advance(1)
  }
  await stage.clock.advance(100)
  t.true(reported <= 11 && reported >= 9, `${reported} times`)
  const after = client.view.getSnapshot()
  t.is(after.engines.get('w1')?.blockHeight, 999)
  t.not(after.engines, before.engines)
  t.is(after.pairs, before.pairs)
  t.is(client.events.getSnapshot().length, 1000)
})

test('a full ring drops the oldest events, and the panel learns how many it missed', async t => {
  const stage = makeStage({ ringSize: 10 })
  const { client } = attach(stage)
  await stage.settle()
  for (let height = 0; height < 25; height += 1)
    stage.emit('engineChanged', engine('w1', { blockHeight: height }))
  await stage.clock.advance(100)
  t.deepEqual(
    client.events.getSnapshot().map(({ seq }) => seq),
    [16, 17, 18, 19, 20, 21, 22, 23, 24, 25]
  )
  t.is(client.status.getSnapshot().missed, 15)
})

test('a slow panel gets tables once a second, and the count of its dropped events', async t => {
  const stage = makeStage()
  let isSlow = true
  const { client } = attach(stage, { ...LOOK, isSlow: () => isSlow })
  await stage.settle()
  let reported = 0
  client.view.subscribe(() => {
    reported += 1
  })
  for (let height = 1; height <= 50; height += 1) {
    stage.emit('engineChanged', engine('w1', { blockHeight: height }))
    await stage.clock.advance(50)
  }
  await stage.clock.advance(1000)
  t.true(reported >= 2 && reported <= 4, `${reported} times in 3.5 seconds`)
  t.is(client.view.getSnapshot().engines.get('w1')?.blockHeight, 50)
  t.deepEqual(client.events.getSnapshot(), [])
  t.is(client.status.getSnapshot().missed, 50)
  isSlow = false
  stage.emit('engineChanged', engine('w1', { blockHeight: 51 }))
  await stage.clock.advance(100)
  t.is(client.events.getSnapshot().length, 1)
})

test('a panel notices a lost batch and requests the missing part', async t => {
  const stage = makeStage()
  const { host, client: end } = makeChannelPair()
  const requested: ClientMessage[] = []
  let isLossy = false
  stage.devtools.attach(
    { ...host, send: message => void (isLossy && message.type === 'batch' ? undefined : host.send(message)) },
    LOOK
  )
  const client = makeClient({
    ...end,
    send(message) {
      requested.push(message)
      end.send(message)
    }
  })
  await stage.settle()
  stage.emit('engineChanged', engine('w1', { blockHeight: 1 }))
  await stage.clock.advance(100)
  isLossy = true
  stage.emit('engineChanged', engine('w1', { blockHeight: 2 }))
  await stage.clock.advance(100)
  isLossy = false
  stage.emit('engineChanged', engine('w1', { blockHeight: 3 }))
  await stage.clock.advance(100)
  t.deepEqual(requested, [
    { type: 'subscribe', version: 1 },
    { type: 'subscribe', version: 1, sinceSeq: 1 }
  ])
  t.deepEqual(
    client.events.getSnapshot().map(({ seq }) => seq),
    [1, 2, 3]
  )
  t.is(client.view.getSnapshot().engines.get('w1')?.blockHeight, 3)
})

test('an action goes to the kernel and back, and a read-only host runs none, whatever the panel sends', async t => {
  const calls: unknown[] = []
  const runAction = (async (name: string, input: unknown) => {
    calls.push([name, input])
    return name === 'rates.route' ? { route: null, alternatives: [] } : { walletId: 'w9' }
  }) as ActionHandler
  const stage = makeStage()
  const { client } = attach(stage, { isReadOnly: false, hasWorld: true, runAction })
  await stage.settle()
  const input = { accountId: 'a', walletType: 'wallet:bitcoin', name: 'secret plan' }
  t.deepEqual(await client.runAction('wallet.create', input), { walletId: 'w9' })
  t.deepEqual(calls, [['wallet.create', input]])
  await stage.clock.advance(100)
  const [event] = client.events.getSnapshot()
  t.is(event?.hook, 'action')
  t.is(event?.subject, 'w9')
  t.deepEqual(event?.data, { action: 'wallet.create', outcome: 'done', durationMs: 0, subject: 'w9' })

  const { host, client: end } = makeChannelPair()
  const received: HostMessage[] = []
  end.onMessage(message => received.push(message))
  stage.devtools.attach(host, { isReadOnly: true, hasWorld: true, runAction })
  end.send({ type: 'call', id: 1, action: 'wallet.create', input })
  end.send({ type: 'call', id: 2, action: 'rates.route', input: { from: 'BTC', to: 'iso:USD' } })
  await stage.settle()
  t.is(calls.length, 2)
  t.deepEqual(
    received.map(message => [message.type, message.type === 'refused' ? message.error.code : '']),
    [
      ['hello', ''],
      ['refused', 'READ_ONLY'],
      ['result', '']
    ]
  )
  const looking = attach(stage)
  await stage.settle()
  await t.throwsAsync(looking.client.runAction('engine.pause', { walletId: 'w' }), {
    code: 'READ_ONLY'
  } as never)
})

test('an error of an action arrives as code and message, and a foreign error without its text', async t => {
  const failures: Error[] = [
    new Error('the password is swordfish'),
    Object.assign(new Error('x'), { code: 'NO_SUCH_CODE_5J8Q' })
  ]
  const runAction = (() => Promise.reject(failures.shift())) as unknown as ActionHandler
  const stage = makeStage()
  const { client } = attach(stage, { isReadOnly: false, hasWorld: false, runAction })
  await stage.settle()
  for (const _ of [1, 2]) {
    const error = await t.throwsAsync<ActionError>(client.runAction('engine.pause', { walletId: 'w' }))
    t.is(error?.code, 'UNKNOWN')
    t.notRegex(error?.message ?? '', /swordfish|5J8Q/)
  }
})

test('pending calls fail when the connection is lost, and a greeting makes the panel live again', async t => {
  const runAction = (() => new Promise(() => {})) as ActionHandler
  const stage = makeStage()
  const listeners: ((message: HostMessage) => void)[] = []
  const closers: (() => void)[] = []
  let link = makeChannelPair()
  const connect = (): void => {
    link = makeChannelPair()
    link.client.onMessage(message => {
      for (const listener of listeners) listener(message)
    })
    stage.devtools.attach(link.host, { isReadOnly: false, hasWorld: false, runAction })
  }
  const channel: PanelChannel<ClientMessage, HostMessage> = {
    send: message => link.client.send(message),
    onMessage: listener => void listeners.push(listener),
    onClose: listener => void closers.push(listener),
    close: () => link.client.close()
  }
  const client = makeClient(channel)
  connect()
  await stage.settle()
  const waiting = t.throwsAsync(client.runAction('engine.pause', { walletId: 'w' }), {
    code: 'DISCONNECTED',
    message: /not known if this was done/
  } as never)
  link.client.close()
  for (const closed of closers) closed()
  t.like(await waiting, { details: { outcome: 'unknown' } })
  t.is(client.status.getSnapshot().connection, 'lost')
  await t.throwsAsync(client.runAction('engine.pause', { walletId: 'w' }), {
    code: 'DISCONNECTED',
    message: /nothing was done/
  } as never)
  stage.emit('engineChanged', engine('w1', { blockHeight: 7 }))
  connect()
  await stage.settle()
  t.is(client.status.getSnapshot().connection, 'live')
  t.is(client.view.getSnapshot().engines.get('w1')?.blockHeight, 7)
  t.deepEqual(
    client.events.getSnapshot().map(({ hook }) => hook),
    ['engineChanged']
  )
})

test('after a restart of the kernel a panel drops what it knew of the old one', async t => {
  const listeners: ((message: HostMessage) => void)[] = []
  let send = (_message: ClientMessage): void => {}
  const client = makeClient({
    send: message => send(message),
    onMessage: listener => void listeners.push(listener),
    onClose() {},
    close() {}
  })
  const stages = [makeStage(), makeStage()]
  for (const [at, stage] of stages.entries()) {
    for (let count = 0; count < 3 - at; count += 1) stage.emit('engineChanged', engine(`w${at}`))
    const link = makeChannelPair()
    send = link.client.send
    link.client.onMessage(message => {
      for (const listener of listeners) listener(message)
    })
    stage.devtools.attach(link.host, LOOK)
    await stage.settle()
  }
  t.deepEqual([...client.view.getSnapshot().engines.keys()], ['w1'])
  t.is(client.events.getSnapshot().length, 2)
  t.is(client.status.getSnapshot().missed, 0)
})

test('the host refuses any malformed message of a panel and keeps running', async t => {
  const stage = makeStage()
  const runAction = (async () => ({})) as ActionHandler
  const call = fc.record(
    {
      type: fc.constantFrom('call', 'subscribe', 'x'),
      id: fc.anything(),
      action: fc.anything(),
      input: fc.anything()
    },
    { requiredKeys: [] }
  )
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.anything(), call), async message => {
      const { host, client } = makeChannelPair()
      const received: HostMessage[] = []
      client.onMessage(reported => received.push(reported))
      stage.devtools.attach(host, { isReadOnly: false, hasWorld: false, runAction })
      client.send(message as ClientMessage)
      await Promise.resolve().then(() => {})
      await new Promise(resolve => setImmediate(resolve))
      t.is(received[0]?.type, 'hello')
      const answer = received[1]
      t.is(received.length, 2)
      t.true(answer?.type === 'refused' || answer?.type === 'snapshot' || answer?.type === 'result')
      if (answer?.type === 'refused') t.is(answer.error.code, 'BAD_MESSAGE')
      client.close()
    }),
    { numRuns: 300 }
  )
})

test('after any drops, reconnects and slowness a panel shows what a fresh one shows, and counts each event once', async t => {
  await fc.assert(
    fc.asyncProperty(fc.array(roughStep, { maxLength: 60 }), async steps => {
      const stage = makeStage({ ringSize: 8, maxPerSlice: { pairs: 3, quotes: 2, engines: 4 } })
      const panel = await makeRoughPanel(stage)
      for (const [turn, step] of steps.entries()) await panel.take(step, turn)
      await panel.calm()
      const { client } = panel
      const fresh = attach(stage)
      await stage.settle()
      t.deepEqual(plain(client.view.getSnapshot()), plain(fresh.client.view.getSnapshot()))
      const seqs = client.events.getSnapshot().map(({ seq }) => seq)
      t.deepEqual(
        seqs,
        [...new Set(seqs)].sort((one, other) => one - other)
      )
      const reported = steps.filter(({ kind }) => kind === 'tell').length
      t.is(seqs.length + client.status.getSnapshot().missed, reported + 1)
    }),
    { numRuns: 150 }
  )
})

test('taps are recorded only while a panel is attached, and never those of the devtools themselves', async t => {
  const stage = makeStage()
  const ran = { hook: 'fetchRates', pluginId: 'p', durationMs: 3, outcome: 'done' as const }
  stage.emit('tapRan', ran)
  const { client, detach } = attach(stage)
  await stage.settle()
  t.deepEqual(client.events.getSnapshot(), [])
  stage.emit('tapRan', { ...ran, correlationId: 'c' })
  stage.emit('tapRan', { ...ran, pluginId: 'devtools' })
  await stage.clock.advance(100)
  t.deepEqual(
    client.events
      .getSnapshot()
      .map(({ subject, correlationId, data }) => [subject, correlationId, data.durationMs]),
    [['p', 'c', 3]]
  )
  detach()
  await stage.settle()
  t.is(client.status.getSnapshot().connection, 'lost')
  stage.emit('tapRan', ran)
  t.is(stage.clock.timerCount, 0)
  const quiet = makeDevtools({ clock: stage.clock, hooks: false })
  const tapped: string[] = []
  const hooks = new Proxy({}, { get: (_, name) => ({ tap: () => tapped.push(String(name)) }) })
  quiet.plugin.apply({ hooks } as never)
  t.false(tapped.includes('tapRan'))
  t.true(tapped.includes('engineChanged'))
})

test('without a panel an event is stored as it is, and none of its fields is read', async t => {
  const stage = makeStage()
  let reads = 0
  const line = {
    source: 'p',
    level: 'info' as const,
    at: '',
    get text() {
      reads += 1
      return 'hello'
    }
  }
  for (let count = 0; count < 5; count += 1) stage.emit('logged', line)
  await stage.clock.advance(1000)
  t.is(reads, 0)
  t.is(stage.clock.timerCount, 0)
  const { client } = attach(stage)
  await stage.settle()
  t.is(reads, 5)
  t.is(client.events.getSnapshot()[4]?.data.text, 'hello')
})

test('a row that left and came back within a batch stands at the end of its table, as it does in the kernel', async t => {
  const stage = makeStage({ maxPerSlice: { pairs: 3 } })
  const emitPairs = (...codes: readonly string[]): void =>
    stage.emit('ratesChanged', { pairs: codes.map(code => pair(code, 'iso:USD', 1)), providers: [] })
  const { client } = attach(stage)
  await stage.settle()
  emitPairs('A', 'B', 'C')
  await stage.clock.advance(100)
  emitPairs('D', 'A')
  await stage.clock.advance(100)
  t.deepEqual(
    [...client.view.getSnapshot().pairs.values()].map(({ fromCurrency }) => fromCurrency),
    ['C', 'D', 'A']
  )
})

test('a panel may have fifty pending calls, of at most a thousand values and ten thousand letters a text', async t => {
  const stage = makeStage()
  let begun = 0
  const runAction = (() => {
    begun += 1
    return new Promise(() => {})
  }) as ActionHandler
  const { host, client } = makeChannelPair()
  const refused: (readonly [number, string])[] = []
  client.onMessage(message => {
    if (message.type === 'refused') refused.push([message.id, message.error.code])
  })
  stage.devtools.attach(host, { isReadOnly: false, hasWorld: false, runAction })
  const call = (id: number, input: object): void =>
    client.send({ type: 'call', id, action: 'engine.pause', input } as ClientMessage)
  const ring: { self?: unknown } = {}
  ring.self = ring
  const tooMuch = [{ text: 'x'.repeat(10_001) }, { list: Array.from({ length: 1000 }, () => 0) }, ring]
  for (const [at, input] of tooMuch.entries()) call(at + 1, input)
  await stage.settle()
  t.deepEqual(refused, [
    [1, 'BAD_MESSAGE'],
    [2, 'BAD_MESSAGE'],
    [3, 'BAD_MESSAGE']
  ])
  t.is(begun, 0)
  for (let id = 4; id <= 54; id += 1) call(id, { walletId: 'w' })
  await stage.settle()
  t.is(begun, 50)
  t.deepEqual(refused.at(-1), [54, 'BAD_MESSAGE'])
})

test('the host disconnects a panel that it can no longer update, so that the panel does not show stale data as live', async t => {
  const stage = makeStage()
  const { host, client: end } = makeChannelPair()
  let isBroken = false
  const send = (message: HostMessage): void => {
    if (isBroken) throw new RangeError('Invalid string length')
    host.send(message)
  }
  stage.devtools.attach({ ...host, send }, LOOK)
  const client = makeClient(end)
  await stage.settle()
  t.is(client.status.getSnapshot().connection, 'live')
  isBroken = true
  stage.emit('engineChanged', engine('w1'))
  await stage.clock.advance(100)
  t.is(client.status.getSnapshot().connection, 'lost')
  t.is(stage.clock.timerCount, 0)
})

test('panel and host of two protocol versions refuse each other with a message', async t => {
  const stage = makeStage()
  const { host, client: end } = makeChannelPair()
  const received: HostMessage[] = []
  end.onMessage(message => received.push(message))
  stage.devtools.attach(host, LOOK)
  end.send({ type: 'subscribe', version: 2 })
  await stage.settle()
  t.deepEqual(
    received.map(({ type }) => type),
    ['hello', 'refused']
  )
  let listen = (_message: HostMessage): void => {}
  const sent: ClientMessage[] = []
  const client = makeClient({
    send: message => void sent.push(message),
    onMessage(listener) {
      listen = listener
    },
    onClose() {},
    close() {}
  })
  listen({ type: 'hello', version: 2, kernelId: 'k', isReadOnly: true, hasWorld: false })
  t.deepEqual(sent, [])
  t.is(client.status.getSnapshot().connection, 'lost')
  t.regex(client.status.getSnapshot().message ?? '', /version 2/)
})
