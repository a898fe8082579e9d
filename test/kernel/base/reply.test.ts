import test from 'ava'
import fc from 'fast-check'
import { isWalletError } from '../../../kernel/base/errors.ts'
import { parseExactJson, Reply } from '../../../kernel/base/reply.ts'

/** Numbers as their text, as JSON writes them. */
const withTexts = (value: unknown): unknown => {
  if (typeof value === 'number') return JSON.stringify(value)
  if (Array.isArray(value)) return value.map(withTexts)
  if (typeof value !== 'object' || value === null) return value
  const copy = Object.create(null)
  for (const [name, item] of Object.entries(value)) {
    Object.defineProperty(copy, name, { value: withTexts(item), enumerable: true })
  }
  return copy
}

test('exact JSON is what JSON.parse reads, with every number as its own text', t => {
  fc.assert(
    fc.property(fc.json(), text => {
      t.is(JSON.stringify(parseExactJson(text, 'test')), JSON.stringify(withTexts(JSON.parse(text))))
    })
  )
  t.deepEqual(parseExactJson('{"a":0.1234567890123456789,"b":[1E-8,-0],"c":"1.0 \\\\\\" 2","d":null}', 'x'), {
    a: '0.1234567890123456789',
    b: ['1E-8', '-0'],
    c: '1.0 \\" 2',
    d: null
  })
})

test('text that is no JSON is no exact JSON either', t => {
  const bad = [
    '',
    '01',
    '.5',
    '1.',
    '+1',
    'NaN',
    '1 2',
    '{"a":1 2}',
    '["1" 2]',
    '"1',
    '[1',
    "{'a':1}",
    '1e',
    '--1'
  ]
  for (const text of bad) {
    t.throws(() => JSON.parse(text), undefined, text)
    const error = t.throws(() => parseExactJson(text, 'reply of Shop'), undefined, text)
    t.true(isWalletError(error, 'BAD_REPLY'))
    t.is(error?.message, 'Invalid reply of Shop: is no JSON')
  }
  fc.assert(
    fc.property(fc.string(), text => {
      const isJson = (read: () => unknown): boolean => {
        try {
          read()
          return true
        } catch {
          return false
        }
      }
      return isJson(() => JSON.parse(text)) === isJson(() => parseExactJson(text, 'x'))
    })
  )
})

test('a text that is opened, goes on in escapes and never ends is refused as fast as any other', t => {
  // With a pattern that fails at each quote and starts over at the next, this would take days.
  for (const end of ['', '\\', '\\\n']) {
    const text = `"${'\\"'.repeat(3_900_000)}${end}`
    t.throws(() => parseExactJson(text, 'x'), { code: 'BAD_REPLY' })
  }
  const long = `${'a'.repeat(3_900_000)}\\"1`
  t.deepEqual(parseExactJson(`["${long}",2]`, 'x'), [`${'a'.repeat(3_900_000)}"1`, '2'])
})

test('a reply is read field by field; what is wrong is named, and what it says is not', t => {
  const reply = new Reply(
    parseExactJson('{"a":{"b":[{"c":"secret"}]},"n":-1,"x":null,"e":""}', 'x'),
    'reply of Shop'
  )
  const ruleOf = (read: () => unknown): string => t.throws(read)?.message ?? ''
  t.is(
    ruleOf(() => reply.field('a').field('b').list(5)[0]?.field('c').decimal()),
    'Invalid reply of Shop: a.b[0].c is no amount'
  )
  t.is(
    ruleOf(() => reply.field('a').field('b').list(0)),
    'Invalid reply of Shop: a.b has more than 0 items'
  )
  t.is(
    ruleOf(() => reply.field('n').decimal()),
    'Invalid reply of Shop: n is no amount'
  )
  t.is(
    ruleOf(() => reply.field('toString').text()),
    'Invalid reply of Shop: toString is no short text'
  )
  t.is(
    ruleOf(() => reply.field('x').list(1)),
    'Invalid reply of Shop: x is no list'
  )
  t.false(reply.field('x').isThere)
  t.is(reply.field('e').optionalText(), undefined)
  t.is(reply.field('none').optionalNative('1', 'up'), undefined)
})

test('dates are read from text, seconds and milliseconds; nonsense gives no date', t => {
  const dateOf = (json: string): string | undefined =>
    new Reply(parseExactJson(json, 'x'), 'x').optionalDate()?.toISOString()
  t.is(dateOf('"2026-01-02T03:04:05.000Z"'), '2026-01-02T03:04:05.000Z')
  t.is(dateOf('1767323045'), '2026-01-02T03:04:05.000Z')
  t.is(dateOf('"1767323045000"'), '2026-01-02T03:04:05.000Z')
  t.is(dateOf('null'), undefined)
  // A time without a zone is not that of the place where the device is.
  for (const text of [
    '2026-01-02T03:04:05',
    '2026-01-02 03:04:05',
    '2026-01-02T05:04:05+0200',
    '2026-01-01T23:04:05.000000-04:00'
  ])
    t.is(dateOf(`"${text}"`), '2026-01-02T03:04:05.000Z', text)
  for (const text of ['soon', '5', '0', '1e12', 'January 2, 2027', '2026-01-02', '2026-13-02T03:04:05Z'])
    t.throws(() => dateOf(`"${text}"`), { code: 'BAD_REPLY' }, text)
})

test('a list with invalid items is read without them, and a list of only invalid items is invalid', t => {
  const namesIn = (json: string): readonly string[] =>
    new Reply(parseExactJson(json, 'x'), 'list').readable(4, item => item.field('name').text())
  t.deepEqual(namesIn('[{"name":"a"},{"name":null},7,{"name":"b"}]'), ['a', 'b'])
  for (const json of ['[]', '[{"name":null}]', '{}', '[1,2,3,4,5]'])
    t.throws(() => namesIn(json), { code: 'BAD_REPLY' }, json)
  t.throws(
    () =>
      new Reply(parseExactJson('[1]', 'x'), 'list').readable(4, () => {
        throw new TypeError('a fault')
      }),
    { message: 'a fault' }
  )
})

test('figures are read from numbers and texts, and anything else is NaN', t => {
  const reply = Reply.of('{"a":1.5,"b":"2e3","c":"0x10","d":null,"e":{}}', 'reply of Shop').object()
  const figures = reply.entries().map(([name, value]) => [name, value.number()])
  t.deepEqual(figures, [
    ['a', 1.5],
    ['b', 2000],
    ['c', Number.NaN],
    ['d', Number.NaN],
    ['e', Number.NaN]
  ])
  t.throws(() => reply.entries(4), { message: 'Invalid reply of Shop: has more than 4 fields' })
  t.throws(() => reply.field('a').object(), { message: 'Invalid reply of Shop: a is no object' })
  t.throws(() => reply.field('a').fail('is odd'), {
    message: 'Invalid reply of Shop: a is odd',
    code: 'BAD_REPLY'
  })
  t.throws(() => Reply.of('[1', 'reply of Shop'), { message: 'Invalid reply of Shop: is no JSON' })
})
