import { readFileSync } from 'node:fs'
import test from 'ava'
import { shownAssetOf } from '../../../app/format/amounts.ts'
import { csvColumns, csvFormat, escapeFormula, isoTimeIn } from '../../../cli/export/csv.ts'
import { type ExportFormat, jsonFormat, labelFormat, ndjsonFormat } from '../../../cli/export/formats.ts'
import { type NativeAmount, nativeAmount, type SwapData } from '../../../kernel/index.ts'
import { valueAtRate } from '../../../kernel/rates/service.ts'
import { bitcoin } from '../../../plugins/currency/utxo/plugin.ts'
import { payment, receipt, rowOf } from '../../helpers/export-rows.ts'

const textOf = (format: ExportFormat, batches = [[rowOf(payment)], [rowOf(receipt)]]): string =>
  [format.begin(), ...batches.map(rows => format.rows(rows)), format.end()].join('')

const plainCsv = { columns: csvColumns, timeZone: 'UTC', hasMark: false }

test('the CSV has every column, exact amounts, and words that no spreadsheet runs', t => {
  t.is(
    textOf(csvFormat(plainCsv)),
    [
      'date,wallet,wallet_id,asset,token_id,direction,amount,native_amount,network_fee,native_network_fee,fee_asset,fiat,fiat_value,rate_source,rate_time,status,name,category,notes,address,memo,txid,block_height,swap_provider,swap_order,swap_payout_asset,swap_payout_native,device',
      `2026-01-05T10:00:00Z,'+Savings,wallet-1,BTC,,out,-0.01251128,-1251128,0.00001128,1128,BTC,USD,812.4,noted,,confirmed,"Joe’s ""Shop"", Ltd",expense:Food,"'=HYPERLINK(""http://x"")\nsecond line",bc1qtheirs,for 4,${payment.txid},812345,Swapper,'-order,ETH,20000000000000000,Holdfast`,
      "2026-01-05T08:00:00Z,'+Savings,wallet-1,BTC,,in,0.00000001,1,,,,,,,,unconfirmed,,,,bc1qours bc1qmine,,aa,,,,,,",
      ''
    ].join('\r\n')
  )
})

test('columns can be chosen, Excel gets its mark, and dates the offset of their zone', t => {
  const columns = ['date', 'amount'].flatMap(name => csvColumns.filter(column => column.name === name))
  const text = textOf(csvFormat({ columns, timeZone: 'Europe/Berlin', hasMark: true }))
  t.is(
    text,
    '\ufeffdate,amount\r\n2026-01-05T11:00:00+01:00,-0.01251128\r\n2026-01-05T09:00:00+01:00,0.00000001\r\n'
  )
  t.is(isoTimeIn(new Date('2026-07-01T23:30:00Z'), 'Asia/Kolkata'), '2026-07-02T05:00:00+05:30')
  t.is(isoTimeIn(new Date('2026-07-01T00:00:00Z'), 'Europe/London'), '2026-07-01T01:00:00+01:00')
  t.is(isoTimeIn(new Date('2026-01-01T00:00:00Z'), 'Europe/London'), '2026-01-01T00:00:00+00:00')
  t.throws(() => isoTimeIn(new Date(), 'Mars/Olympus'), { instanceOf: RangeError })
})

test('only what could begin a formula gets an apostrophe', t => {
  for (const text of ['=1+1', '+1', '-1', '@SUM(A1)', '\t1', '\r1', '\n1', '＝1', '＋1', '－1', '＠x'])
    t.is(escapeFormula(text), `'${text}`)
  for (const text of ['', 'a=1', ' =1', "'=1", '1-1', '日本', '(1)']) t.is(escapeFormula(text), text)
})

test('no cell begins a formula for a program that separates at semicolons, tabs or bars, whatever is noted', t => {
  const seed = Number(process.env.HOLDFAST_SEED ?? Date.now() % 1_000_000)
  t.log(`seed ${seed}`)
  let state = seed
  const draw = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
  const letters = [
    '=',
    '+',
    '-',
    '@',
    '＝',
    ';',
    ';',
    '\t',
    '|',
    '\n',
    '\r',
    '"',
    "'",
    ' ',
    'a',
    '1',
    ',',
    '\u00a0'
  ]
  const columns = csvColumns.filter(({ name }) => ['date', 'notes', 'name', 'memo'].includes(name))
  for (let i = 0; i < 2000; i += 1) {
    const text = (): string => Array.from({ length: draw(9) }, () => letters[draw(letters.length)]).join('')
    const tx = {
      ...payment,
      metadata: { name: text(), notes: text() },
      memos: [{ type: 'text' as const, value: text() }]
    }
    const line = csvFormat({ ...plainCsv, columns }).rows([rowOf(tx)])
    for (const separator of [';', '\t', '|']) {
      const cells = line.split(/[\r\n]/).flatMap(row => row.split(separator))
      for (const cell of cells)
        t.notRegex(cell.replace(/^[\s"]+/, ''), /^[=+\-@＝＋－＠]/, JSON.stringify(line))
    }
  }
  const notes = 'paid;=HYPERLINK("http://x");- 5'
  const [cell] = csvFormat({ ...plainCsv, columns: csvColumns.filter(({ name }) => name === 'notes') })
    .rows([rowOf({ ...payment, metadata: { notes } })])
    .split('\r\n')
  t.is(cell, `"paid;'=HYPERLINK(""http://x"");'- 5"`)
})

test('a fiat value is written in the requested currency, without an exponent', t => {
  const columns = csvColumns.filter(({ name }) => name.startsWith('fiat'))
  const format = csvFormat({ ...plainCsv, columns })
  t.is(format.rows([rowOf(payment, 'iso:EUR')]), 'EUR,0.0000001\r\n')
  t.is(format.rows([rowOf(payment, 'iso:CHF')]), ',\r\n', 'what was not noted then is not made up')
})

test('a value at the rate of its time is exact, without a sign, and as the kernel works values out', t => {
  const rate = {
    fromCurrency: 'BTC',
    toCurrency: 'iso:CHF',
    rate: 61_234.567_89,
    source: '=past',
    at: 1_767_600_000
  }
  const columns = csvColumns.filter(({ name }) => /^fiat|^rate/.test(name))
  const format = csvFormat({ ...plainCsv, columns, timeZone: 'Europe/Berlin' })
  const priced = { ...rowOf(payment, 'iso:CHF'), rate }
  t.is(
    format.rows([priced, { ...rowOf(payment), rate }, { ...rowOf(payment, 'iso:CHF'), rate: null }]),
    "CHF,766.1228245507992,'=past,2026-01-05T09:00:00+01:00\r\nUSD,812.4,noted,\r\n,,,\r\n"
  )
  for (const tiny of [rate.rate, 1e-12, 6.5e21, 3]) {
    const [, value] = format.rows([{ ...priced, rate: { ...rate, rate: tiny } }]).split(',')
    t.is(value, valueAtRate('1251128', '100000000', tiny))
  }
  const { fiat } = JSON.parse(ndjsonFormat().rows([priced]))
  t.deepEqual(fiat, {
    code: 'iso:CHF',
    value: '766.1228245507992',
    source: '=past',
    rateAt: '2026-01-05T08:00:00.000Z'
  })
  const unknown = JSON.parse(ndjsonFormat().rows([{ ...priced, rate: null }]))
  t.deepEqual(unknown.fiat, { code: 'iso:CHF', value: null, source: null, rateAt: null })
})

test('a line break of any kind stays inside its cell', t => {
  const columns = csvColumns.filter(({ name }) => name === 'notes')
  const format = csvFormat({ ...plainCsv, columns })
  for (const notes of ['a\nb', 'a\rb', 'a\r\nb', 'a,b', 'a"b'])
    t.is(format.rows([rowOf({ ...payment, metadata: { notes } })]), `"${notes.replace('"', '""')}"\r\n`)
})

test('JSON and NDJSON carry the same, in one object or one a line', t => {
  const lines = textOf(ndjsonFormat()).split('\n')
  t.is(lines.pop(), '')
  const json = JSON.parse(textOf(jsonFormat()))
  t.deepEqual(
    json.transactions,
    lines.map(line => JSON.parse(line))
  )
  t.is(json.schema, 'tx.export/1')
  t.deepEqual(JSON.parse(textOf(jsonFormat(), [])), { schema: 'tx.export/1', transactions: [] })
  t.like(json.transactions[0], {
    walletName: '+Savings',
    date: '2026-01-05T10:00:00.250Z',
    direction: 'out',
    amount: { native: '-1251128', display: '-0.01251128', code: 'BTC', decimals: 8 },
    networkFee: { native: '1128', display: '0.00001128', code: 'BTC', decimals: 8 },
    state: 'confirmed',
    fiat: { code: 'iso:USD', value: '812.4' },
    swap: { ...payment.swapData },
    device: 'Holdfast'
  })
  t.deepEqual(json.transactions[0].memos, [{ type: 'text', value: 'for 4' }])
  t.deepEqual(json.transactions[0].metadata.fiat, { 'iso:USD': '812.4', 'iso:EUR': '0.0000001' })
  t.like(json.transactions[1], {
    state: 'unconfirmed',
    confirmations: 3,
    fiat: { code: 'iso:USD', value: null }
  })
})

test('labels are one JSON object a line, of what is noted alone', t => {
  const named = { ...receipt, metadata: { name: 'Rent' } }
  t.is(
    textOf(labelFormat(), [[rowOf(receipt), rowOf(named)]]),
    '{"type":"tx","ref":"aa","label":"Rent","holdfast":{"walletId":"wallet-1"}}\n'
  )
  const saved = { seq: 0, recycleable: true, creationDate: 0 }
  const records = [
    { ...saved, address: 'bc1qours', metadata: { name: 'Joe' } },
    { ...saved, address: 'bc1qmine', metadata: {} }
  ]
  t.is(
    labelFormat().addresses?.('wallet-1', records),
    '{"type":"addr","ref":"bc1qours","label":"Joe","holdfast":{"walletId":"wallet-1"}}\n'
  )
})

test('a token is written in its own units, and an unknown one in native units', t => {
  const tokens = {
    a0b8: {
      currencyCode: 'USDC',
      displayName: 'USD Coin',
      denominations: [{ name: 'USDC', multiplier: '1000000' }]
    }
  }
  const columns = csvColumns.filter(({ name }) => ['asset', 'token_id', 'amount'].includes(name))
  const format = csvFormat({ ...plainCsv, columns })
  const rowFor = (tokenId: string) => ({
    ...rowOf(receipt),
    asset: shownAssetOf(bitcoin.info, tokens, tokenId)
  })
  t.is(format.rows([rowFor('a0b8'), rowFor('gone')]), 'USDC,a0b8,0.000001\r\ngone,gone,1\r\n')
  t.is(
    shownAssetOf(bitcoin.info, tokens, 'toString').currencyCode,
    'toString',
    'an inherited name is no token'
  )
})

test('the coin’s part in the transaction of a token is what its balance lost: the fee', t => {
  const columns = csvColumns.filter(({ name }) => /amount|fee|direction/.test(name))
  const fee = { ...receipt, nativeAmount: nativeAmount('0'), networkFee: nativeAmount('1128') }
  const text = csvFormat({ ...plainCsv, columns }).rows([rowOf(fee)])
  t.is(text, 'out,-0.00001128,-1128,0.00001128,1128,BTC\r\n')
  for (const format of [jsonFormat(), ndjsonFormat()]) {
    const { direction, amount, networkFee } = JSON.parse(format.rows([rowOf(fee)]))
    const units = { code: 'BTC', decimals: 8 }
    t.is(direction, 'out')
    t.deepEqual(amount, { native: '-1128', display: '-0.00001128', ...units })
    t.deepEqual(networkFee, { native: '1128', display: '0.00001128', ...units })
  }
})

test('an amount text from a swap provider cannot be a formula either', t => {
  const columns = csvColumns.filter(({ name }) => name === 'swap_payout_native')
  const payoutNativeAmount = '=1+1' as NativeAmount
  const swap = { ...payment, swapData: { ...(payment.swapData as SwapData), payoutNativeAmount } }
  t.is(csvFormat({ ...plainCsv, columns }).rows([rowOf(swap)]), "'=1+1\r\n")
})

test('the page on exports explains every column', t => {
  const page = readFileSync('docs/exports.md', 'utf8')
  for (const { name } of csvColumns) t.true(page.includes(`\`${name}\``), name)
})
