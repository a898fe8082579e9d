import test from 'ava'
import { parseStoreReply } from '../../../kernel/sync/store-reply.ts'

const VECTOR = '0'.repeat(32)
const BOX = `{"encryptionType":0,"iv_hex":"${VECTOR}","data_base64":"AA=="}`

const parse = async (text: string, isUpload = false) => {
  const faults: { readonly code?: string }[] = []
  const clock = { monotonic: () => 0, turn: async () => {} }
  const report = (error: unknown): void => void faults.push(error as { code?: string })
  return { reply: await parseStoreReply(text, { isUpload, clock, report }), faults }
}

test('a box beyond twelve million bytes is left out, and the rest is taken', async t => {
  const large = BOX.replace('AA==', 'A'.repeat(12 * 1024 * 1024))
  for (const lead of ['', ' ']) {
    const { reply, faults } = await parse(`${lead}{"changes":{"a":${large},"b":${BOX}},"hash":"h"}`)
    t.deepEqual([...reply.changes.keys()], ['b'])
    t.like(faults[0], { code: 'BAD_REPLY', details: { path: 'a' } })
  }
})

test('a reply that nests deep, or holds millions of values, is refused before it is parsed', async t => {
  for (const text of [
    '['.repeat(8_000_000),
    '{"changes":{"a":'.concat('['.repeat(8_000_000)),
    `{"changes":${'{"a":'.repeat(1_000_000)}`,
    `{"changes":{},"x":[${'0,'.repeat(5_000_000)}0]}`,
    `{"changes":{}${',"x":0'.repeat(1_000_000)}}`
  ]) {
    const error = await t.throwsAsync(parse(text), { code: 'SYNC_FAILED' })
    t.regex(error?.message ?? '', /nests deeper|holds more than|is no reply/)
  }
})

for (const [name, start] of [
  ['the ordinary', '{"changes":{'],
  ['an unusual', '{ "changes":{']
] as const) {
  test(`a long reply in ${name} spelling is read with pauses`, async t => {
    let mutex = 0
    let now = 0
    const clock = {
      monotonic: () => {
        now += 5
        return now
      },
      turn: async () => {
        mutex += 1
      }
    }
    const text = `${start}${Array.from({ length: 60_000 }, (_, i) => `"f/${i}":${BOX}`).join()}}}`
    const { changes } = await parseStoreReply(text, { isUpload: false, clock, report() {} })
    t.is(changes.size, 60_000)
    t.true(mutex >= 4, `${mutex} pauses in ${text.length} characters`)
  })
}

test('a box of twelve million bytes is taken, in either spelling of a reply', async t => {
  const length = 12 * 1024 * 1024
  const large = BOX.replace('AA==', 'A'.repeat(length - BOX.length + 4))
  t.is(large.length, length)
  for (const lead of ['', ' ']) {
    const { reply, faults } = await parse(`${lead}{"changes":{"a":${large}},"hash":"h"}`)
    t.is(reply.changes.get('a'), large)
    t.deepEqual(faults, [])
  }
})

test('a reply that names more than 250,000 files is refused in every spelling, and one of 200,000 is read', async t => {
  const entries = Array.from({ length: 250_001 }, (_, n) => `"${n}":null`)
  for (const lead of ['', ' ']) {
    const error = await t.throwsAsync(parse(`{${lead}"changes":{${entries.join()}},"hash":"x"}`), {
      code: 'SYNC_FAILED'
    })
    t.regex(error?.message ?? '', /names more than 250000 files/)
    const { reply } = await parse(`{${lead}"changes":{${entries.slice(0, 200_000).join()}},"hash":"x"}`)
    t.is(reply.changes.size, 200_000)
  }
})
