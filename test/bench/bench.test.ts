import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { makeCountedIo } from '../../bench/counted-io.ts'
import { type Cost, median } from '../../bench/measure.ts'
import { checkPeer } from '../../bench/peer-package.ts'
import { shortNumber, textOfSection } from '../../bench/print.ts'
import { race } from '../../bench/race.ts'
import { atLeast, atMost, check } from '../../bench/section.ts'
import type { ChannelHandlers } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'

const burn = (ms: number): void => {
  const { user, system } = process.cpuUsage()
  while (true) {
    const now = process.cpuUsage()
    if (now.user + now.system - user - system >= ms * 1000) return
  }
}

test('a race runs every contender in every round, in turning order, and times only the work', async t => {
  const order: string[] = []
  const checked: unknown[] = []
  const slow = {
    name: 'slow',
    before: () => burn(20),
    run: () => {
      order.push('slow')
      burn(12)
      return 'slow result'
    },
    after: (value: unknown) => void checked.push(value)
  }
  const quick = {
    name: 'quick',
    run: async () => {
      order.push('quick')
      burn(8)
    },
    batch: 2
  }
  const result = await race([slow, quick], { rounds: 3, warmUp: 0 })
  t.deepEqual(order, ['slow', 'quick', 'quick', 'slow', 'slow', 'quick'])
  t.deepEqual(checked, ['slow result', 'slow result', 'slow result'])
  const { cpuMs } = result.cost('slow')
  t.true(cpuMs >= 12 && cpuMs < 19, `the work takes 12 ms, not ${cpuMs}`)
  const { cpuMs: each } = result.cost('quick')
  t.true(each >= 4 && each < 7, `two units take 8 ms, one not ${each}`)
  const ratio = result.ratio('slow', 'quick')
  t.true(ratio > 2 && ratio < 4, `12 against 4 is not ${ratio}`)
  const excess = result.excess('quick', 'slow').cpuMs
  t.true(excess > 5 && excess < 12, `12 less 4 is not ${excess}`)
  t.throws(() => result.cost('nobody'), { message: /nobody/ })
})

test('short work is repeated until a sample is long enough, and its cost is that of one run', async t => {
  let runs = 0
  const each: { runs: number; wallMs: number }[] = []
  const short = {
    name: 'short',
    sampleMs: 100,
    before: () => {
      runs = 0
    },
    run: () => void runs++,
    after: (_: unknown, { wallMs }: Cost) => void each.push({ runs, wallMs })
  }
  const result = await race([short], { rounds: 3, warmUp: 0 })
  t.true(runs > 100, `${runs} runs`)
  t.deepEqual(new Set(each.map(sample => sample.runs)), new Set([runs]))
  t.deepEqual(
    result.samples('short').map(({ wallMs }) => wallMs),
    each.map(({ wallMs }) => wallMs / runs)
  )
})

test('a missed goal is printed as missed, and a wrong result fails the section', t => {
  const text = textOfSection('Title', {
    rows: [
      {
        name: 'one',
        cpuMs: 0.0123,
        wallMs: 1234.5,
        goals: [atMost('at most 1 ms', 2, 1), atLeast('3×', 3, 3)]
      },
      { name: 'another', facts: { 'round trips': 1 } }
    ],
    notes: ['A note.']
  })
  t.regex(
    text,
    /one +12\.3 µs +1235 ms\n +MISSED {2}goal: at most 1 ms; measured: 2\n +met +goal: 3×; measured: 3/
  )
  t.regex(text, /another +– +–\n +round trips: 1\n\* A note\.$/)
  t.false(atMost('', Number.NaN, 1).isMet)
  t.false(atLeast('', Number.NaN, 1).isMet)
  t.throws(() => check(false, 'the sum'), { message: 'Wrong result: the sum' })
  t.is(median([3, 1, 2]), 2)
  t.is(median([4, 1, 2, 3]), 2.5)
  t.is(shortNumber(-0.00012349), '-0.000123')
})

test('a round trip is counted for each send that follows a received message', async t => {
  let handlers: ChannelHandlers | undefined
  const sent: string[] = []
  const { io, traffic, reset } = makeCountedIo({
    ...makeNodeIo(),
    async connect(_address, given) {
      handlers = given
      return { send: text => void sent.push(text), close: () => {} }
    }
  })
  const notified: string[] = []
  const channel = await io.connect?.(
    { host: 'localhost', port: 1, isTls: false },
    { onText: text => void notified.push(text), onClose: () => {} }
  )
  channel?.send('a')
  channel?.send('é')
  t.deepEqual({ ...traffic }, { roundTrips: 1, sent: 3, received: 0 })
  handlers?.onText('reply')
  handlers?.onText('reply')
  channel?.send('b')
  t.deepEqual({ ...traffic }, { roundTrips: 2, sent: 4, received: 10 })
  t.deepEqual(
    [sent, notified],
    [
      ['a', 'é', 'b'],
      ['reply', 'reply']
    ]
  )
  reset()
  t.deepEqual({ ...traffic }, { roundTrips: 0, sent: 0, received: 0 })
})

test('the peer must be the published version that is named', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'))
  t.teardown(() => rm(folder, { recursive: true }))
  t.like(await checkPeer(folder), { reason: `${folder} holds no edge-core-js@1.14.0` })
  const home = join(folder, 'node_modules/edge-core-js')
  await mkdir(home, { recursive: true })
  const write = (version: string): Promise<void> =>
    writeFile(join(home, 'package.json'), JSON.stringify({ name: 'edge-core-js', version }))
  await write('2.0.0')
  t.regex(JSON.stringify(await checkPeer(folder)), /holds edge-core-js@2\.0\.0/)
  await write('1.14.0')
  t.is((await checkPeer(folder)).folder, folder)
})
