import test from 'ava'
import fc from 'fast-check'
import { type DevtoolsClient, makeClient } from '../../../../devtools/core/client/client.ts'
import { makeChannelPair } from '../../../../devtools/core/protocol/channel-pair.ts'
import { RecordingError } from '../../../../devtools/core/recording/format.ts'
import { record } from '../../../../devtools/core/recording/record.ts'
import { openRecording, type RecordedClient } from '../../../../devtools/core/recording/timeline.ts'
import { engine, makeStage, pair, quote, type Stage } from '../../../helpers/devtools-stage.ts'

const LOOK = { isReadOnly: true, hasWorld: false }

const start = (stage: Stage) => {
  const lines: string[] = []
  const stop = record(stage.devtools, { now: () => stage.clock.now(), write: line => void lines.push(line) })
  return { lines, stop }
}

const emit = (stage: Stage, id: number, turn: number): void => {
  if (id % 3 === 0) stage.emit('engineChanged', engine(`w${id}`, { blockHeight: turn }))
  if (id % 3 === 1)
    stage.emit('ratesChanged', { pairs: [pair(`C${id}`, 'iso:USD', turn + 1)], providers: [] })
  if (id % 3 === 2) stage.emit('quoteChanged', quote(`r${id}`, `p${turn % 2}`))
}

test('a recording shows at each moment what a live panel showed then', async t => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(fc.nat(8), { maxLength: 5 }), { maxLength: 130 }), async turnLists => {
      const stage = makeStage({ maxPerSlice: { engines: 2, pairs: 2, quotes: 1 } })
      emit(stage, 0, 0)
      const { lines, stop } = start(stage)
      const { host, client: end } = makeChannelPair()
      stage.devtools.attach(host, LOOK)
      const client = makeClient(end)
      await stage.settle()
      const moments: { seq: number; view: unknown; events: unknown }[] = []
      const look = (): void => {
        const events = client.events.getSnapshot()
        moments.push({ seq: newestOf(client), view: client.view.getSnapshot(), events })
      }
      look()
      for (const [turn, ids] of turnLists.entries()) {
        for (const id of ids) emit(stage, id, turn)
        await stage.clock.advance(100)
        look()
      }
      emit(stage, 3, 1000)
      stop()
      await stage.clock.advance(100)
      look()
      const timeline = openRecording(lines)
      t.deepEqual(timeline.view.getSnapshot() as unknown, moments.at(-1)?.view)
      for (const { seq, view, events } of moments.toReversed()) {
        seekEvent(timeline, seq)
        t.deepEqual(timeline.view.getSnapshot() as unknown, view)
        t.deepEqual(timeline.events.getSnapshot() as unknown, events)
      }
    }),
    { numRuns: 25 }
  )
})

const newestOf = ({ events }: DevtoolsClient): number => events.getSnapshot().at(-1)?.seq ?? 0

/** Shows the last moment at which an event was the newest one. */
const seekEvent = (timeline: RecordedClient, seq: number): void => {
  timeline.seek(timeline.momentCount)
  while (newestOf(timeline) > seq) timeline.seek(timeline.moment.getSnapshot().index - 1)
}

const story = async (): Promise<string[]> => {
  const stage = makeStage()
  const { lines, stop } = start(stage)
  for (const turn of [1, 2, 3]) {
    emit(stage, 0, turn)
    await stage.clock.advance(100)
  }
  stop()
  emit(stage, 0, 4)
  await stage.clock.advance(100)
  return lines
}

test('a recording is of the past: nothing can be done in it, and it ends when it is stopped', async t => {
  const lines = await story()
  t.is(lines.length, 5)
  const timeline = openRecording([...lines, '', ''])
  t.is(timeline.status.getSnapshot().connection, 'past')
  t.is(timeline.header.at, Date.UTC(2026, 0, 1))
  t.deepEqual([timeline.momentCount, timeline.isCut], [4, false])
  t.deepEqual(timeline.moment.getSnapshot(), { index: 3, at: Date.UTC(2026, 0, 1) + 210 })
  timeline.seek(-5)
  t.is(timeline.view.getSnapshot().engines.size, 0)
  t.deepEqual(timeline.moment.getSnapshot(), { index: 0, at: Date.UTC(2026, 0, 1) })
  await t.throwsAsync(timeline.runAction('engine.pause', { walletId: 'w' }), { code: 'READ_ONLY' } as never)
})

test('a recording that ends within a line is shown up to there', async t => {
  const lines = await story()
  const timeline = openRecording([...lines.slice(0, 4), String(lines[4]).slice(0, 40)])
  t.true(timeline.isCut)
  t.is(newestOf(timeline), 2)
})

test('a foreign or damaged file is refused, and the error names the line', async t => {
  const lines = await story()
  const [header = '', snapshot = '', ...batches] = lines
  const refused: readonly (readonly [readonly string[], number])[] = [
    [[], 1],
    [['PK\u0003\u0004'], 1],
    [['{"format":"har","version":1,"kernelId":"x","at":1}', snapshot], 1],
    [[header.replace('"version":1', '"version":2'), snapshot], 1],
    [[header], 2],
    [[header, batches[0] ?? ''], 2],
    [[header, snapshot, batches[1] ?? ''], 3],
    [[header, snapshot, '{', batches[0] ?? ''], 3],
    [
      [header, snapshot, '{"at":1,"type":"batch","fromSeq":0,"seq":1,"patches":[{}],"events":[],"missed":0}'],
      3
    ],
    [[header, snapshot, String(batches[0]).replace('"at":', '"when":')], 3],
    [[header, snapshot, String(batches[0]).replace('"seq":1,"at"', '"seq":0,"at"')], 3],
    [[header, snapshot, String(batches[0]).replace('"seq":1,"patches"', '"seq":0,"patches"')], 3],
    [[header, snapshot, batches[0] ?? '', snapshot], 4],
    [[header, snapshot.replace('"pairs":[]', '"pairs":{}')], 2]
  ]
  for (const [file, line] of refused) {
    const error = t.throws(() => openRecording(file), { instanceOf: RecordingError }, file.join('\n'))
    t.is(error?.line, line, file.join('\n'))
  }
})

test('a recording shows nothing that a kernel could not have sent', async t => {
  const lines = await story()
  const added = lines.map(line =>
    line
      .replace('"walletId":"w0"', '"walletId":"w0","dataKey":"swordfish"')
      .replace('"hook":"engineChanged"', '"hook":"keysChanged"')
  )
  t.regex(added.join(''), /swordfish/)
  const timeline = openRecording(added)
  t.deepEqual(timeline.events.getSnapshot(), [])
  t.deepEqual([...timeline.view.getSnapshot().engines.values()], [engine('w0', { blockHeight: 3 })])
})

test('whatever the lines are, a recording is opened or refused with its own error', t => {
  const line = fc.oneof(
    fc.string(),
    fc.json(),
    fc.anything().map(value => JSON.stringify(value) ?? '')
  )
  fc.assert(
    fc.property(fc.array(line, { maxLength: 5 }), fc.boolean(), (rest, isForeign) => {
      const header = '{"format":"holdfast-devtools-recording","version":1,"kernelId":"k","at":1}'
      t.throws(() => openRecording(isForeign ? rest : [header, ...rest]), { instanceOf: RecordingError })
    })
  )
})
