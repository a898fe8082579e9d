import test from 'ava'
import fc from 'fast-check'
import { makeClient } from '../../../../devtools/core/client/client.ts'
import { redactRow } from '../../../../devtools/core/model/redact.ts'
import type { View } from '../../../../devtools/core/model/slices.ts'
import { sliceNames } from '../../../../devtools/core/model/snapshot-fields.ts'
import { makeChannelPair } from '../../../../devtools/core/protocol/channel-pair.ts'
import type { ClientMessage, HostMessage, PanelChannel } from '../../../../devtools/core/protocol/protocol.ts'
import { recordClient } from '../../../../devtools/core/recording/record.ts'
import { openRecording } from '../../../../devtools/core/recording/timeline.ts'
import { engine, makeStage } from '../../../helpers/devtools-stage.ts'
import { makeRoughPanel, roughStep } from '../../../helpers/rough-panel.ts'

const plain = (view: View): unknown => Object.fromEntries(sliceNames.map(name => [name, [...view[name]]]))

test('what a panel records shows at its end what the panel showed, whatever its connection went through', async t => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(roughStep, { maxLength: 30 }),
      fc.array(roughStep, { maxLength: 60 }),
      async (before, during) => {
        const stage = makeStage({ ringSize: 8, maxPerSlice: { pairs: 3, quotes: 2, engines: 4 } })
        const panel = await makeRoughPanel(stage)
        for (const [turn, step] of before.entries()) await panel.take(step, turn)
        const { client } = panel
        const missedBefore = client.status.getSnapshot().missed
        const recording = recordClient(client, { now: () => stage.clock.now() })
        for (const [turn, step] of during.entries()) await panel.take(step, turn)
        await panel.calm()
        recording.stop()
        const timeline = openRecording(recording.lines(false))
        t.deepEqual(plain(timeline.view.getSnapshot()), plain(client.view.getSnapshot()))
        t.deepEqual(timeline.events.getSnapshot() as unknown, client.events.getSnapshot())
        t.is(timeline.status.getSnapshot().missed, client.status.getSnapshot().missed - missedBefore)
        timeline.seek(0)
        const again = openRecording(recording.lines(false).slice(0, 2))
        t.deepEqual(plain(timeline.view.getSnapshot()), plain(again.view.getSnapshot()))
      }
    ),
    { numRuns: 100 }
  )
})

const makeLive = async () => {
  const stage = makeStage()
  const { host, client: end } = makeChannelPair()
  stage.devtools.attach(host, { isReadOnly: false, hasWorld: true })
  const client = makeClient(end)
  await stage.settle()
  return { stage, client, now: () => stage.clock.now() }
}

const TXID = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'

test('addresses can be left out of a recording that has them, and what is hidden already stays as it is', async t => {
  const { stage, client, now } = await makeLive()
  const recording = recordClient(client, { now })
  t.false(recording.progress.getSnapshot().hasAddresses)
  stage.emit('transactionsChanged', {
    ...{ walletId: 'w1', created: [TXID], changed: [], createdCount: 1, changedCount: 0 }
  })
  await stage.clock.advance(100)
  recording.stop()
  t.true(recording.progress.getSnapshot().hasAddresses)
  t.true(recording.lines(false).join('\n').includes(TXID))
  const hidden = recording.lines(true).join('\n')
  t.false(hidden.includes(TXID))
  t.regex(hidden, /hidden \(64 letters, [0-9a-f]{8}\)/)
  const [event] = openRecording(recording.lines(true)).events.getSnapshot()
  t.regex(JSON.stringify(event?.data.created), /^\["hidden \(64/)
})

test('the holder of a recording without addresses cannot find the mark of a known address', async t => {
  const { stage, client, now } = await makeLive()
  stage.emit('spendChanged', { correlationId: 'c', walletId: 'w1', stage: 'saved', txid: TXID })
  await stage.clock.advance(100)
  const hiding = recordClient(client, { now })
  const reported = new Set(hiding.lines(true).flatMap(line => line.match(/[^"]+/g) ?? []))
  const spend = { correlationId: 'c', walletId: 'w1', stage: 'saved' as const, txid: TXID }
  t.true([...reported].some(text => /^hidden \(64/.test(text)))
  for (const salt of ['', ...reported]) {
    const { txid = '' } = redactRow('spends', spend, { hideAddresses: true, salt })
    t.false(reported.has(txid), `${salt} is the salt`)
  }
})

test('a recording of devtools that hide addresses keeps its marks unchanged', async t => {
  const stage = makeStage({ hideAddresses: true })
  const { host, client: end } = makeChannelPair()
  stage.devtools.attach(host, { isReadOnly: true, hasWorld: false })
  const client = makeClient(end)
  stage.emit('transactionsChanged', {
    ...{ walletId: 'w1', created: [TXID], changed: [], createdCount: 1, changedCount: 0 }
  })
  await stage.settle()
  const recording = recordClient(client, { now: () => stage.clock.now() })
  t.false(recording.progress.getSnapshot().hasAddresses)
  t.true(recording.lines(false).join('\n').includes('hidden (64 letters'))
  t.deepEqual(recording.lines(true), recording.lines(false))
})

test('a recording reports its length and size, and ends before it grows too large', async t => {
  const { stage, client, now } = await makeLive()
  const recording = recordClient(client, { now, maxBytes: 2000 })
  const first = recording.progress.getSnapshot()
  t.is(first.bytes, recording.lines(false).join('\n').length + 1)
  for (let blockHeight = 1; blockHeight < 20; blockHeight += 1) {
    stage.emit('engineChanged', engine('wallet', { blockHeight }))
    await stage.clock.advance(100)
  }
  const last = recording.progress.getSnapshot()
  t.is(last.end, 'full')
  t.true(last.bytes <= 2000)
  t.is(last.bytes, recording.lines(false).join('\n').length + 1)
  const timeline = openRecording(recording.lines(false))
  t.is(timeline.events.getSnapshot().length, last.eventCount)
  t.is(timeline.moment.getSnapshot().at, last.at)
  t.true(last.at > first.startedAt)
  recording.stop()
  t.is(recording.progress.getSnapshot().end, 'full')
})

test('tables that are too large for a recording make none', async t => {
  const { client, now } = await makeLive()
  const recording = recordClient(client, { now, maxBytes: 20 })
  t.is(recording.progress.getSnapshot().end, 'full')
  t.deepEqual(recording.lines(false), [])
})

test('a recording that is stopped at once is a snapshot, and records nothing more', async t => {
  const { stage, client, now } = await makeLive()
  stage.emit('engineChanged', engine('w1'))
  await stage.clock.advance(100)
  const recording = recordClient(client, { now })
  recording.stop()
  stage.emit('engineChanged', engine('w1', { blockHeight: 7 }))
  await stage.clock.advance(100)
  const timeline = openRecording(recording.lines(false))
  t.is(timeline.momentCount, 1)
  t.is(timeline.view.getSnapshot().engines.get('w1')?.blockHeight, 100)
  t.is(recording.progress.getSnapshot().end, 'stopped')
})

test('a recording ends when another kernel answers, and begins when the first one does', async t => {
  const listeners: ((message: HostMessage) => void)[] = []
  let send = (_message: ClientMessage): void => {}
  const channel: PanelChannel<ClientMessage, HostMessage> = {
    send: message => send(message),
    onMessage: listener => void listeners.push(listener),
    onClose() {},
    close() {}
  }
  const client = makeClient(channel)
  let time = 5
  const recording = recordClient(client, { now: () => time })
  t.deepEqual(recording.lines(false), [])
  const connect = async (blockHeight: number): Promise<void> => {
    const stage = makeStage()
    stage.emit('engineChanged', engine('w1', { blockHeight }))
    const { host, client: end } = makeChannelPair()
    send = message => end.send(message)
    end.onMessage(message => {
      for (const listener of listeners) listener(message)
    })
    stage.devtools.attach(host, { isReadOnly: true, hasWorld: false })
    await stage.settle()
  }
  await connect(1)
  time = 9
  await connect(2)
  t.is(recording.progress.getSnapshot().end, 'kernel restarted')
  const timeline = openRecording(recording.lines(false))
  t.is(timeline.view.getSnapshot().engines.get('w1')?.blockHeight, 1)
  t.is(timeline.moment.getSnapshot().at, 5)
})
