import test from 'ava'
import { Secret } from '../../../kernel/base/secret.ts'
import { RepoBoxes } from '../../../kernel/sync/repo-boxes.ts'
import { boxText } from '../../../kernel/sync/repo-record.ts'
import { makeFakeClock } from '../../../testing/fake-clock.ts'
import { boxOf, dataKey } from '../../helpers/repo-device.ts'
import { makeRepoIo } from '../../helpers/repo-io.ts'

const ORIGIN = { lineage: new Map([['00'.repeat(6), 1]]), stamps: new Map() }

/** Boxes that count how often others get a turn. */
const makeBoxes = (): { boxes: RepoBoxes; pauses: () => number } => {
  let pauses = 0
  const clock = {
    ...makeFakeClock(),
    turn: async () => {
      pauses += 1
    }
  }
  const boxes = new RepoBoxes(makeRepoIo({ clock }), new Secret(dataKey.slice()))
  const last = { pauses: 0 }
  return {
    boxes,
    pauses: () => {
      const since = pauses - last.pauses
      last.pauses = pauses
      return since
    }
  }
}

test('many large texts are sealed and opened with a few pauses, and a few small ones without', async t => {
  const { boxes, pauses } = makeBoxes()
  const texts = Array.from({ length: 40 }, (_, n) => `{"n":${n},"x":"${'x'.repeat(10_000)}"}`)
  const sealed = await boxes.sealMany(texts.map(text => ({ text, provenance: ORIGIN })))
  const counts = [pauses()]
  t.deepEqual(await boxes.openMany(sealed), texts)
  counts.push(pauses())
  t.deepEqual(
    (await boxes.openVersions(sealed)).map(version => version?.text),
    texts
  )
  counts.push(pauses())
  for (const count of counts) t.true(count >= 2 && count <= 10, counts.join())
  await boxes.openMany(sealed.slice(0, 3))
  t.is(pauses(), 0)
})

test('of many boxes those that are none, or not there, have no text, and the others theirs', async t => {
  const { boxes } = makeBoxes()
  const list = [boxText(boxOf('1')), undefined, 'no box', boxText(boxOf('2'))]
  t.deepEqual(await boxes.openMany(list), ['1', undefined, undefined, '2'])
  t.deepEqual(
    (await boxes.openVersions(list)).map(version => version?.text),
    ['1', undefined, undefined, '2']
  )
  for (const box of ['no box', boxText({ ...boxOf('1'), iv_hex: '00'.repeat(16) })]) {
    t.false(boxes.canOpen(box))
    t.throws(() => boxes.read('f', box), { code: 'CORRUPT_FILE' })
  }
  t.true(boxes.canOpen(boxText(boxOf('1'))))
})
