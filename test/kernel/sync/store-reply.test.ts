import test from 'ava'
import fc from 'fast-check'
import { parseStoreReply, type StoreReply } from '../../../kernel/sync/store-reply.ts'

const VECTOR = '0'.repeat(32)
const BOX = `{"encryptionType":0,"iv_hex":"${VECTOR}","data_base64":"AA=="}`

const replyWith = async (box: string): Promise<{ reply: StoreReply; faults: unknown[] }> => {
  const faults: unknown[] = []
  const reply = await parseStoreReply(`{"changes":{"a/b":${box}},"hash":"x"}`, {
    isUpload: false,
    clock: { monotonic: () => 0, turn: async () => {} },
    report: error => faults.push(error)
  })
  return { reply, faults }
}

test('a box is the same text whatever the order of its fields in a reply', async t => {
  const fields = ['"encryptionType":0', `"iv_hex":"${VECTOR}"`, '"data_base64":"AA=="']
  for (const order of [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0]
  ]) {
    const { reply, faults } = await replyWith(`{${order.map(i => fields[i]).join()}}`)
    t.deepEqual([...reply.changes], [['a/b', BOX]])
    t.deepEqual(faults, [])
  }
})

test('a malformed box is refused: a comma too many or too few, a field twice, a number for a text', async t => {
  const rest = `"data_base64":"AA==","iv_hex":"${VECTOR}"`
  for (const box of [`{"encryptionType":0,${rest},}`, `{"encryptionType":0${rest}}`])
    await t.throwsAsync(replyWith(box), { code: 'SYNC_FAILED' })
  for (const box of [
    `{"iv_hex":"${VECTOR}",${rest}}`,
    '{"iv_hex":0,"encryptionType":0,"data_base64":"AA=="}'
  ]) {
    const { reply, faults } = await replyWith(box)
    t.is(reply.changes.size, 0)
    t.is(faults.length, 1)
  }
})

const parse = async (text: string, isUpload = false) => {
  const faults: { readonly code?: string }[] = []
  const clock = { monotonic: () => 0, turn: async () => {} }
  const report = (error: unknown): void => void faults.push(error as { code?: string })
  return { reply: await parseStoreReply(text, { isUpload, clock, report }), faults }
}

test('a box that would break the request that sends it again is refused', async t => {
  const outside = `{"encryptionType":0,"iv_hex":"00","other":"${'0'.repeat(18)}","data_base64":"AA=="}`
  const { reply } = await replyWith(outside)
  t.deepEqual([...reply.changes], [['a/b', '{"encryptionType":0,"iv_hex":"00","data_base64":"AA=="}']])
  await t.throwsAsync(replyWith(BOX.replace('AA==', 'AA\\')), { code: 'SYNC_FAILED' })
  await t.throwsAsync(replyWith(BOX.replace(VECTOR, `0"${VECTOR.slice(2)}`)), { code: 'SYNC_FAILED' })
})

test('the reply to an upload must have a hash, and that to a read may omit it', async t => {
  for (const text of ['{"changes":{}}', '{"changes":{},"hash":null}', ' {"changes":{}}'])
    await t.throwsAsync(parse(text, true), { code: 'SYNC_FAILED' })
  t.deepEqual((await parse('{"changes":{}}')).reply, { changes: new Map() })
  t.is((await parse('{"changes":{},"hash":"h"}', true)).reply.hash, 'h')
})

test('a path is read as JSON, and one that leaves the repo is omitted', async t => {
  const { reply, faults } = await parse(
    `{"changes":{"\\u0061/b":${BOX},"../c":${BOX},"d/__proto__/e":${BOX},"f":null},"hash":"h"}`
  )
  t.deepEqual([...reply.changes.keys()], ['a/b', 'f'])
  t.deepEqual(
    faults.map(({ code }) => code),
    ['PATH_REFUSED', 'PATH_REFUSED']
  )
})

test('a reply in an unusual spelling is read like JSON.parse reads it, also in pieces', async t => {
  const pairs = Array.from(
    { length: 9000 },
    (_, i) => [`f/${i}`, i % 7 === 0 ? null : JSON.parse(BOX)] as const
  )
  const changes = Object.fromEntries(pairs)
  for (const text of [
    JSON.stringify({ changes, hash: 'ab' }, undefined, 1),
    JSON.stringify({ hash: 'ab', other: [{ x: '}],' }], changes }, undefined, '\t'),
    JSON.stringify({ changes, hash: 'ab', note: '\\' }).replaceAll('f/', 'f\\/'),
    `\n{ "ch\\u0061nges" :${JSON.stringify(changes)},"hash":"ab"} `
  ]) {
    const { reply, faults } = await parse(text)
    t.is(reply.hash, 'ab')
    t.deepEqual(
      [...reply.changes],
      pairs.map(([path, box]) => [path, box === null ? null : BOX])
    )
    t.deepEqual(faults, [])
  }
})

test('a reply that is no JSON is refused, wherever the fault is', async t => {
  for (const text of [
    '',
    '[]',
    '{}',
    'null',
    '{"changes":{}',
    '{"changes":{}}}',
    '{"changes":{} "hash":"ab"}',
    '{"changes":{]}',
    '[{"changes":{}}]',
    '{"changes":[]}',
    '{"changes":{"a":null,},"b":0}',
    '{"changes":{} ,}',
    '{"changes" {}}',
    '{"changes":{}}[]',
    'x{"changes":{}}',
    '{"changes":{"a":null "b":null},"x":0}',
    '{ "changes":{"a":null,,"b":null}}',
    '{"changes":{}:{}}',
    '{ "changes": 7 }',
    `{"changes":{"a"x${BOX}}}`,
    '{"changes":{"a":null"b":null}}',
    `{"changes":{"a":${BOX}"b":null}}`,
    '{"changes",{}}',
    '{"x","changes":{}}',
    '{"changes":{}:"hash","ab"}',
    '{"changes":{},"other":""f":0"}',
    `{"changes":{},"other":"${'x'.repeat(1024 * 1024)}"}`
  ])
    await t.throwsAsync(parse(text), { code: 'SYNC_FAILED' }, text)
})

test('a reply with changed letters is read as JSON.parse reads it, or refused where that fails', async t => {
  const whole = `{"changes":{"a/b":${BOX},"c":null,"d e":${BOX}},"hash":"ab"}`
  const expected = (text: string): unknown => {
    const value = JSON.parse(text) as { changes?: unknown; hash?: unknown } | null
    const { changes, hash } = value ?? {}
    if (typeof changes !== 'object' || changes === null || Array.isArray(changes)) return undefined
    return { paths: Object.keys(changes), hash }
  }
  const asEdits = fc.array(
    fc.record({
      at: fc.nat(whole.length),
      length: fc.constantFrom(0, 1, 1, 2),
      by: fc.constantFrom('', ',', ':', '"', '{', '}', '[', ']', ' ', '\\', '0', 'x', 'null', '"f":0')
    }),
    { minLength: 1, maxLength: 2 }
  )
  await fc.assert(
    fc.asyncProperty(asEdits, async edits => {
      const text = edits.reduce(
        (all, { at, length, by }) => all.slice(0, at) + by + all.slice(at + length),
        whole
      )
      const read = await parse(text).catch(() => undefined)
      if (read === undefined) return
      const { reply, faults } = read
      // What is not taken is told; nothing is taken that is not there.
      const { paths, hash } = expected(text) as { paths: string[]; hash: unknown }
      t.is(reply.hash, (hash ?? undefined) as string | undefined, text)
      t.is(reply.changes.size + faults.length, paths.length, text)
      for (const path of reply.changes.keys()) t.true(paths.includes(path), text)
    }),
    { numRuns: 2000 }
  )
})

test('a reply in the ordinary spelling is read with a pause at every 64 files, whatever the order of fields in a box', async t => {
  const fields = [`"iv_hex":"${VECTOR}"`, '"data_base64":"AA=="', '"encryptionType":0']
  const other = `{${fields.join()}}`
  for (const box of [BOX, other]) {
    let now = 0
    let pauses = 0
    const clock = {
      monotonic: () => {
        now += 1000
        return now
      },
      turn: async () => {
        pauses += 1
      }
    }
    const entries = Array.from({ length: 640 }, (_, n) => `"f${n}":${n % 3 === 0 ? 'null' : box}`)
    const text = `{"changes":{${entries.join()}},"hash":"h"}`
    const reply = await parseStoreReply(text, { isUpload: true, clock, report: error => t.fail(`${error}`) })
    t.is(reply.changes.size, 640)
    t.is(reply.changes.get('f1'), BOX)
    t.true(pauses >= 9 && pauses <= 11, `${pauses} pauses`)
  }
})

test('a reply without a file is read in every spelling, and one with a comma too many in none', async t => {
  for (const text of [
    '{"changes":{},"hash":"aa"}',
    '{ "changes" : { } , "hash" : "aa" }',
    '{"hash":"aa","changes":{\n}}'
  ]) {
    const { reply } = await parse(text)
    t.deepEqual([reply.changes.size, reply.hash], [0, 'aa'], text)
  }
  const box = BOX.replace('AA==', 'A'.repeat(1_200_000))
  for (const [rest, isRead] of [
    ['', true],
    [',"c/d":null', true],
    [',', false],
    [', ', false]
  ] as const) {
    const read = parse(`{ "changes" : {"a/b":${box}${rest}} , "hash" : "aa" }`)
    if (isRead) t.true((await read).reply.changes.has('a/b'))
    else await t.throwsAsync(read, { code: 'SYNC_FAILED' })
  }
})

test('entries are separated by commas, and nothing else', async t => {
  t.is((await parse('{"changes":{"a":null,"b":null},"hash":"x"}')).reply.changes.size, 2)
  for (const sign of [' ', ';', ':', '.', '']) {
    for (const entry of ['null', BOX])
      await t.throwsAsync(parse(`{"changes":{"a":${entry}${sign}"b":${entry}},"hash":"x"}`), {
        code: 'SYNC_FAILED'
      })
  }
})

test('the hash may stand before the changes or behind them, and null is none', async t => {
  for (const space of ['', ' ']) {
    for (const [text, hash] of [
      [`{${space}"hash":"ab","changes":{"a":null}}`, 'ab'],
      [`{${space}"changes":{"a":null},"hash":"ab"}`, 'ab'],
      [`{${space}"changes":{"a":null},"hash":null}`, undefined],
      [`{${space}"changes":{"a":null}}`, undefined]
    ] as const) {
      t.deepEqual(
        (await parse(text)).reply,
        { changes: new Map([['a', null]]), ...(hash !== undefined && { hash }) },
        text
      )
    }
  }
})
