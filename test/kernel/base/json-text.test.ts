import test from 'ava'
import { compact } from '../../../kernel/base/compact.ts'
import { JsonScan, parseJson, parseJsonText, tryJsonText, tryParseJson } from '../../../kernel/base/json.ts'
import { parseExactJson, Reply } from '../../../kernel/base/reply.ts'
import { openJson, sealText } from '../../../kernel/crypto/box.ts'
import { resultsOf } from '../../../kernel/login/server.ts'
import { mergeJson } from '../../../kernel/sync/merge.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'

const deep = '['.repeat(4_000_000)
const closed = `${'['.repeat(2000)}${']'.repeat(2000)}`
const dense = `[${'0,'.repeat(1_000_000)}0]`
const io = makeNodeIo()

const readers: readonly (readonly [string, (text: string) => unknown])[] = [
  ['parseJsonText', text => parseJsonText(text)],
  ['parseJson', text => parseJson(text, 'a reply')],
  ['readOwnJson', tryParseJson],
  ['tryJsonText', text => tryJsonText(text)],
  ['a reply of the login server', text => resultsOf(`{"status_code":0,"results":${text}}`, 200)],
  ['a reply of a rate source', text => Reply.of(text, 'a source').value],
  ['a reply of an exchange', text => parseExactJson(text, 'an exchange')],
  ['the content of a box', text => openJson(io, new Uint8Array(32), sealText(io, new Uint8Array(32), text))],
  [
    'a merge of two files',
    text => mergeJson({ base: '{}', mine: `{"a":${text}}`, theirs: '{}', winner: 'mine' })
  ]
]

for (const [name, read] of readers) {
  test(`text with too deep nesting is refused before it is parsed: ${name}`, t => {
    const parse = JSON.parse
    let longest = 0
    JSON.parse = (text: string, ...rest) => {
      longest = Math.max(longest, text.length)
      return parse(text, ...rest)
    }
    try {
      for (const text of [deep, closed]) {
        let value: unknown
        try {
          value = read(text)
        } catch {
          // A refusal.
        }
        t.is(value, undefined)
      }
    } finally {
      JSON.parse = parse
    }
    t.true(longest < 1000, `${longest} characters were parsed`)
  })
}

test('text with more than a million values is refused, and one with fewer is read', t => {
  t.throws(() => parseJsonText(dense), { instanceOf: SyntaxError, message: 'holds more than 1000000 values' })
  t.is((parseJsonText(dense, { maxValues: 1_100_000 }) as number[]).length, 1_000_001)
})

test('a refusal quotes nothing of the text', t => {
  for (const text of ['secret', '{"secret":', '["secret"}', '']) {
    const error = t.throws(() => parseJsonText(text), { instanceOf: SyntaxError })
    t.is(error.message, 'is no JSON')
  }
})

test('brackets within strings do not count, however their quotation marks are escaped', t => {
  for (const inner of ['[[[', '\\"[[[', '\\\\', '\\\\\\"{{{', '\\\\\\\\', '\\u005b[', ',:,:']) {
    const text = `["${inner}",{"${inner}":0}]`
    t.deepEqual(parseJsonText(text, { maxDepth: 2, maxValues: 5 }), JSON.parse(text))
  }
})

/** What a value comes to, counted from the value and not from its text. */
const sizeOf = (value: unknown): { depth: number; values: number } => {
  if (typeof value !== 'object' || value === null) return { depth: 0, values: 1 }
  const sizes = Object.values(value).map(sizeOf)
  const names = Array.isArray(value) ? 0 : sizes.length
  return {
    depth: 1 + Math.max(0, ...sizes.map(({ depth }) => depth)),
    values: 1 + names + sizes.reduce((sum, { values }) => sum + values, 0)
  }
}

test('random JSON is accepted at its own depth and refused at one less, read whole or letter by letter', t => {
  const seed = Number(process.env.HOLDFAST_SEED ?? Date.now() % 1_000_000)
  t.log(`seed ${seed}`)
  let state = seed
  const draw = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
  const valueAt = (depth: number): unknown => {
    const kind = draw(depth > 6 ? 3 : 5)
    if (kind === 0) return draw(1000) / 8
    if (kind === 1) return [null, true, false][draw(3)]
    if (kind === 2) return Array.from({ length: draw(6) }, () => '"\\[]{},: \n\u2028é'[draw(12)]).join('')
    const items = Array.from({ length: draw(4) }, () => valueAt(depth + 1))
    return kind === 3 ? items : Object.fromEntries(items.map((item, i) => [`${'"\\['[draw(3)]}${i}`, item]))
  }
  for (let i = 0; i < 500; i += 1) {
    const value = valueAt(0)
    const text = JSON.stringify(value, undefined, draw(3))
    const { depth, values } = sizeOf(value)
    t.deepEqual(parseJsonText(text, { maxDepth: depth, maxValues: 2 * values }), value)
    const scan = new JsonScan(text, { maxDepth: depth, maxValues: 2 * values })
    while (scan.advance(1));
    if (depth > 0) t.throws(() => parseJsonText(text, { maxDepth: depth - 1 }))
    if (values > 1) t.throws(() => parseJsonText(text, { maxValues: values - 1 }))
  }
})

test('compact drops undefined fields and keeps every other value', t => {
  const fields = { name: 'x', empty: '', zero: 0, no: false, none: null, absent: undefined }
  const known = compact(fields)
  t.deepEqual(known, { name: 'x', empty: '', zero: 0, no: false, none: null })
  t.false(Object.hasOwn(known, 'absent'))
  t.true(Object.hasOwn(fields, 'absent'))
})
