import test from 'ava'
import fc from 'fast-check'
import { isWalletError, type WalletError } from '../../../kernel/base/errors.ts'
import { makeAssetList } from '../../../plugins/swap/kit/assets.ts'
import { makeAsk } from '../../../plugins/swap/kit/client.ts'
import { isDecimal, nativeOf, quotient, rescale } from '../../../plugins/swap/kit/decimal.ts'
import { parseExactJson } from '../../../plugins/swap/kit/exact-json.ts'
import { keepList } from '../../../plugins/swap/kit/kept-list.ts'
import { Reply } from '../../../plugins/swap/kit/reply.ts'
import { settingOf } from '../../../plugins/swap/kit/wish.ts'
import { makeFakeClock } from '../../helpers/fake-clock.ts'
import { ASSETS } from '../../helpers/swap-desk.ts'

const textOf = (...question: Parameters<typeof nativeOf>): string => nativeOf(...question)

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

test('coins become native units without a float, and what is finer is rounded as the caller says', t => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 10n ** 40n }),
      fc.integer({ min: 0, max: 20 }),
      (amount, decimals) => {
        const digits = String(amount).padStart(decimals + 1, '0')
        const coins = `${digits.slice(0, digits.length - decimals)}.${digits.slice(digits.length - decimals)}0`
        return nativeOf(coins, `1${'0'.repeat(decimals)}`, 'down') === String(amount)
      }
    )
  )
  t.is(textOf('0.000000019', '100000000', 'down'), '1')
  t.is(textOf('0.000000011', '100000000', 'up'), '2')
  t.is(textOf('1e-8', '100000000', 'up'), '1')
  t.is(textOf('2.5E+3', '100', 'down'), '250000')
  t.is(textOf('0', '100000000', 'up'), '0')
  t.is(textOf('0.1', '100', 'down', '0.2'), '2')
  t.is(textOf('1e-3', '1', 'up', '1.5e5'), '150')
  t.is(textOf('0.11', '10', 'up', '1.1'), '2')
  for (const text of ['', '-1', 'NaN', '1e999', '0x10', ' 1', '1.', '.1', '1e', 'Infinity', '1'.repeat(61)]) {
    t.false(isDecimal(text), text)
    t.throws(() => nativeOf(text, '1', 'down'), { instanceOf: TypeError })
  }
  t.is(rescale(15n, 1, 0, 'down'), 1n)
  t.is(rescale(15n, 1, 0, 'up'), 2n)
  t.is(rescale(15n, 0, 3, 'up'), 15_000n)
  t.is(quotient(10n, 5n, 'up'), 2n)
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

test('dates are read as text, seconds and milliseconds; nonsense is none', t => {
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

test('an asset is found by chain and contract, letters of either case, and the first of a name counts', t => {
  const list = makeAssetList(
    { bitcoin: { network: 'BTC', coin: 'btc' }, ethereum: { network: 'eth', coin: 'eth' } },
    [
      { network: 'btc', coin: 'BTC' },
      { network: 'btc', coin: 'btc', contract: undefined },
      { network: 'ETH', coin: 'fake', contract: '0x01' },
      { network: 'ETH', coin: 'USDC', contract: '0xa0b86991C6218B36C1D19D4A2E9EB0CE3606EB48' }
    ]
  )
  t.deepEqual(list.find(ASSETS.btc), { network: 'btc', coin: 'BTC' })
  t.is(list.find(ASSETS.usdc)?.coin, 'USDC')
  t.is(list.find(ASSETS.ltc), undefined)
  t.is(list.find(ASSETS.eth), undefined)
  t.is(list.find({ ...ASSETS.btc, tokenId: 'a' }), undefined)
  t.is(list.find({ ...ASSETS.btc, pluginId: 'toString' }), undefined)
})

test('of a list that has odd items the others are read, and a list of odd items only is none', t => {
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

test('a server that wants a rest gets it for as long as it says, whatever becomes of the time of day', async t => {
  const clock = makeFakeClock()
  let shift = 0
  let asked = 0
  const io = {
    clock: { ...clock, now: () => clock.now() + shift },
    fetch: async () => {
      asked += 1
      return { status: asked === 1 ? 429 : 200, headers: { 'retry-after': '60' }, text: '{}' }
    }
  }
  const ask = makeAsk(io, { pluginId: 'shop', displayName: 'Shop' }, 'https://shop.example')
  await t.throwsAsync(ask({ path: 'list' }), { code: 'SERVER' })
  for (shift of [86_400_000, -86_400_000])
    await t.throwsAsync(ask({ path: 'list' }), { code: 'SERVER' }, String(shift))
  t.is(asked, 1)
  await clock.advance(60_000)
  t.true((await ask({ path: 'list' })).isOk)
})

test('a rest is an hour at most, and a key that a server does not take is one to be given', async t => {
  const clock = makeFakeClock()
  let status = 429
  const io = { clock, fetch: async () => ({ status, headers: { 'retry-after': '999999' }, text: '{}' }) }
  const ask = makeAsk(io, { pluginId: 'shop', displayName: 'Shop' }, 'https://shop.example')
  await t.throwsAsync(ask({ path: 'list' }), { code: 'SERVER' })
  status = 401
  await clock.advance(3_599_999)
  await t.throwsAsync(ask({ path: 'list' }), { code: 'SERVER' })
  await clock.advance(1)
  const error = await t.throwsAsync(ask({ path: 'list' }), { code: 'SWAP_PERMISSION' })
  t.deepEqual((error as WalletError).details, { pluginId: 'shop', reason: 'needsActivation' })
})

test('while a list is loaded anew nobody waits for it', async t => {
  const clock = makeFakeClock()
  let finish = (_value: number): void => {}
  const get = keepList(
    clock,
    () =>
      new Promise<number>(resolve => {
        finish = resolve
      })
  )
  const first = get()
  finish(1)
  t.is(await first, 1)
  await clock.advance(3_600_001)
  t.is(await get(), 1)
  finish(2)
  await clock.advance(0)
  t.is(await get(), 2)
})

test('a list is kept for an hour; where a later load fails, the old one goes on for a day', async t => {
  const clock = makeFakeClock()
  let count = 0
  let isBroken = false
  const get = keepList(clock, async () => {
    count += 1
    if (isBroken) throw new Error('broken')
    return count
  })
  t.deepEqual(await Promise.all([get(), get()]), [1, 1])
  await clock.advance(3_600_001)
  isBroken = true
  t.is(await get(), 1)
  await clock.advance(86_400_000)
  await t.throwsAsync(get(), { message: 'broken' })
  isBroken = false
  t.is(await get(), 4)
})

test("a user's setting goes before the application's, and text that fits into no header is no setting", t => {
  t.is(settingOf('apiKey', { apiKey: 'mine' }, { apiKey: 'theirs' }), 'mine')
  t.is(settingOf('apiKey', { apiKey: '' }, { apiKey: 'theirs' }), 'theirs')
  t.is(settingOf('apiKey', { apiKey: 'a\nb' }, {}), undefined)
  t.is(settingOf('apiKey', {}, { apiKey: 7 }), undefined)
  t.is(settingOf('toString', {}, {}), undefined)
})
