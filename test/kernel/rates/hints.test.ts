import test from 'ava'
import { type Disk, isWalletError, type RatePair } from '../../../kernel/index.ts'
import { memoryDisk } from '../../../plugins/storage/memory.ts'
import { makeFaultDisk } from '../../helpers/fault-disk.ts'
import { openRateHome, pairOf, type ToySource, toySource } from '../../helpers/rate-home.ts'
import { openToyHome, toyToken } from '../../helpers/toy-home.ts'

const FILE = 'rateHintCache.json'
const namesOf = (pairs: readonly RatePair[] | undefined): string[] =>
  (pairs ?? []).map(({ fromCurrency, toCurrency }) => `${fromCurrency} ${toCurrency}`)
const lastOf = ({ requested }: ToySource): string[] => namesOf(requested.at(-1))

test('without hints, the service requests BTC, BCH and ETH in 159 fiat currencies [9.21]', async t => {
  const source = toySource('one', [])
  const { rates } = await openRateHome(t, { plugins: [source] })
  await rates.refresh()
  const requested = lastOf(source)
  t.is(requested.length, 477)
  t.is(new Set(requested).size, 477)
  t.deepEqual(
    [requested[0], requested[158], requested[159], requested[476]],
    ['BTC iso:AED', 'BTC iso:ZMW', 'BCH iso:AED', 'ETH iso:ZMW']
  )
  t.true(requested.every(name => /^(BTC|BCH|ETH) iso:[A-Z]{3}$/.test(name)))
  t.deepEqual(rates.hints.list(), [], 'they are nobody’s wish')
})

test('fiat codes carry the prefix iso:, and a bare code is another currency [3.29]', async t => {
  const { rates } = await openRateHome(t, { plugins: [toySource('one', [['BTC', 'iso:USD', 2]])] })
  await rates.refresh()
  t.is(rates.convertCurrency('BTC', 'iso:USD'), 2)
  t.is(rates.convertCurrency('BTC', 'USD'), 0)
})

test('a conversion without a route, or of an unknown code, becomes a hint and is saved', async t => {
  const files = new Map<string, string>()
  const source = toySource('one', [
    ['BTC', 'iso:USD', 2],
    ['ETH', 'iso:EUR', 3]
  ])
  const { rates, kernel } = await openRateHome(t, { plugins: [source], disk: memoryDisk(files) })
  await rates.refresh()
  t.false(files.has(FILE), 'the default list is not written')
  t.is(rates.convertCurrency('BTC', 'iso:EUR'), 0)
  t.is(rates.convertCurrency('DOGE', 'iso:USD'), 0)
  t.is(rates.convertCurrency('DOGE', 'iso:USD'), 0)
  t.is(rates.findRoute('XYZ', 'XYZ'), undefined, 'no provider could help with it')
  t.deepEqual(namesOf(rates.hints.list()), ['BTC iso:EUR', 'DOGE iso:USD'])
  await rates.refresh()
  t.deepEqual(lastOf(source), ['BTC iso:EUR', 'DOGE iso:USD'])
  await kernel.close()
  t.deepEqual(JSON.parse(files.get(FILE) ?? ''), [pairOf('BTC', 'iso:EUR'), pairOf('DOGE', 'iso:USD')])

  const again = toySource('one', [])
  const next = await openRateHome(t, { plugins: [again], disk: memoryDisk(files) })
  await next.rates.refresh()
  t.deepEqual(
    lastOf(again),
    ['BTC iso:EUR', 'DOGE iso:USD'],
    'a start that knows of nothing asks for the file'
  )
  next.rates.want([pairOf('LTC', 'iso:USD')])
  await next.rates.refresh()
  t.deepEqual(lastOf(again), ['LTC iso:USD'], 'one that knows asks for that')
  t.deepEqual(namesOf(next.rates.hints.list()), ['BTC iso:EUR', 'DOGE iso:USD', 'LTC iso:USD'])
})

test('every balance of every open wallet is requested in the fiat of the wallet, until the logout', async t => {
  const source = toySource('one', [])
  const { account, kernel, clock, toy } = await openToyHome(t, {
    tokens: { aa: toyToken('AAA'), bb: toyToken('BBB') },
    device: { plugins: [source] }
  })
  const one = await account.createCurrencyWallet('wallet:toycoin', { fiatCurrencyCode: 'iso:EUR' })
  await account.createCurrencyWallet('wallet:toycoin', { fiatCurrencyCode: 'iso:EUR' })
  await account.createCurrencyWallet('wallet:toycoin', { fiatCurrencyCode: 'iso:JPY' })
  await clock.advance(1000)
  toy.requests[0]?.callbacks.onTokenBalanceChanged('aa', '5')
  await clock.advance(1000)
  const { rates } = kernel.context
  await rates.refresh()
  const code = one.currencyInfo.currencyCode
  t.deepEqual(lastOf(source).sort(), [`AAA iso:EUR`, `${code} iso:EUR`, `${code} iso:JPY`])
  await one.setFiatCurrencyCode('iso:CHF')
  await rates.refresh()
  t.deepEqual(lastOf(source).sort(), [`AAA iso:CHF`, `${code} iso:CHF`, `${code} iso:EUR`, `${code} iso:JPY`])
  const ending = account.logout()
  await clock.advance(1000)
  await ending
  rates.want([pairOf('LTC', 'iso:USD')])
  await rates.refresh()
  t.deepEqual(lastOf(source), ['LTC iso:USD'])
})

test('adding a hint and clearing all hints are durable at once', async t => {
  const files = new Map<string, string>()
  const { rates } = await openRateHome(t, { disk: memoryDisk(files) })
  await rates.hints.add(pairOf('BTC', 'iso:USD'))
  await rates.hints.add(pairOf('BTC', 'iso:USD'))
  t.deepEqual(JSON.parse(files.get(FILE) ?? ''), [pairOf('BTC', 'iso:USD')])
  t.deepEqual(namesOf(rates.hints.list()), ['BTC iso:USD'])
  for (const bad of [
    pairOf('', 'iso:USD'),
    pairOf('A', 'A'),
    pairOf('A', 'x'.repeat(65)),
    pairOf('A\n', 'B'),
    {}
  ]) {
    await t.throwsAsync(rates.hints.add(bad as RatePair), { code: 'OPTION_INVALID' })
  }
  await rates.hints.clear()
  t.deepEqual(rates.hints.list(), [])
  t.is(files.get(FILE), '[]')
})

test('invalid entries of the file are skipped; the others count', async t => {
  const entries = [
    pairOf('BTC', 'iso:USD'),
    5,
    null,
    { fromCurrency: 'A' },
    pairOf('A', 'A'),
    pairOf('ETH', 'iso:EUR')
  ]
  const files = new Map([[FILE, JSON.stringify(entries)]])
  const { rates, reports } = await openRateHome(t, { disk: memoryDisk(files) })
  t.deepEqual(namesOf(rates.hints.list()), ['BTC iso:USD', 'ETH iso:EUR'])
  t.deepEqual(reports, [])
})

test('a file that is no list is kept aside and reported, then replaced', async t => {
  for (const text of ['', '{', '{}', '"x"', 'null']) {
    const files = new Map([[FILE, text]])
    const { rates, reports } = await openRateHome(t, { disk: memoryDisk(files) })
    t.is(isWalletError(reports[0]?.[1], 'CORRUPT_FILE'), true, text)
    const [kept] = [...files].filter(([path]) => path.startsWith('quarantine/'))
    t.is(kept?.[1], text)
    await rates.hints.add(pairOf('BTC', 'iso:USD'))
    t.is(files.get(FILE), '[{"fromCurrency":"BTC","toCurrency":"iso:USD"}]')
  }
})

test('a damaged file that cannot be put aside is not replaced', async t => {
  const files = new Map([[FILE, '{']])
  const inner = memoryDisk(files)
  const disk: Disk = {
    ...inner,
    setText: (path, text) =>
      path.startsWith('quarantine/') ? Promise.reject(new Error('full')) : inner.setText(path, text)
  }
  const { rates, reports } = await openRateHome(t, { disk })
  t.is(reports.length, 1)
  await t.throwsAsync(rates.hints.add(pairOf('BTC', 'iso:USD')), { code: 'RATE_HINTS_UNSAVED' })
  t.is(files.get(FILE), '{')
})

test("a hint that cannot be written: 'Failed to write rateHintCache', and rates go on [8.53]", async t => {
  const source = toySource('one', [['BTC', 'iso:USD', 2]])
  const disk = makeFaultDisk(new Map())
  const { rates, reports, clock, lines } = await openRateHome(t, { plugins: [source], disk })
  disk.strike({ at: 1, kind: 'full' })
  rates.want([pairOf('BTC', 'iso:USD')])
  await clock.advance(0)
  t.true(disk.hasFired)
  t.is(rates.convertCurrency('BTC', 'iso:USD'), 2)
  t.deepEqual(
    reports.map(([from, error]) => [from, (error as Error).message]),
    [['rates', 'Failed to write rateHintCache']]
  )
  t.true(lines.some(({ text }) => text.startsWith('Failed to write rateHintCache')))
  disk.strike({ at: 1, kind: 'full' })
  await t.throwsAsync(rates.hints.add(pairOf('ETH', 'iso:USD')), {
    code: 'RATE_HINTS_UNSAVED',
    message: 'Failed to write rateHintCache'
  })
})
