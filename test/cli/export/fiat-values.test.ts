import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import {
  type CurrencyPlugin,
  type DatedPair,
  type HistoricRateContext,
  nativeAmount,
  type Plugin,
  type RatePlugin
} from '../../../kernel/index.ts'
import { makeHome, type Ran } from '../../helpers/command-line.ts'
import { failed, succeeded } from '../../helpers/envelopes.ts'
import { runInProcess } from '../../helpers/in-process.ts'
import { startInProcess } from '../../helpers/running-command.ts'
import { makeToy, toyTransaction } from '../../helpers/toy-currency.ts'

const input = JSON.stringify({ password: 'correct horse battery', pin: '2468' })
const { home, remove } = makeHome()
test.after.always(remove)

const START = 1_700_000_000
/** How many payments the toy has had: two batches of 200, and some. */
const COUNT = 450
const ODD = 'odd'.repeat(30)

/** A toy with a long history, and one payment of a token whose code is too long for any rate. */
const toy: CurrencyPlugin = makeToy({
  tokens: {
    odd: { currencyCode: ODD, displayName: 'Odd', denominations: [{ name: 'ODD', multiplier: '1' }] }
  },
  engine: (_good, { callbacks }) => ({
    async startEngine() {
      callbacks.onNewTokens?.(['odd'])
      callbacks.onTransactionsChanged([
        ...Array.from({ length: COUNT }, (_, at) =>
          toyTransaction(`tx${at}`, { date: START + at * 60, nativeAmount: nativeAmount('250') })
        ),
        toyTransaction('odd', { tokenId: 'odd', date: START })
      ])
    }
  })
}).plugin

/** Knows what a toy was worth in the money of tests at every time, and keeps what it was asked. */
const historian = (
  answer: (tapContext: HistoricRateContext, pair: DatedPair) => void = (tapContext, pair) =>
    tapContext.offer(pair, 0.1)
): RatePlugin & { readonly contexts: HistoricRateContext[] } => {
  const contexts: HistoricRateContext[] = []
  return {
    kind: 'rates',
    id: 'historian',
    displayName: 'Historian',
    contexts,
    apply({ hooks }) {
      hooks.fetchHistoricRates.tapPromise('historian', async tapContext => {
        contexts.push(tapContext)
        for (const pair of tapContext.wanted) if (pair.fromCurrency === 'TOY') answer(tapContext, pair)
      })
    }
  }
}

const run = (args: readonly string[], plugins: readonly Plugin[] = []): Promise<Ran> =>
  runInProcess([...args, '--secrets-stdin'], { home, input, plugins: [toy, ...plugins] })
const done = async (...args: readonly string[]): Promise<Ran> => {
  const ran = await run(args)
  if (ran.code !== 0) throw new Error(`${args.join(' ')}: ${ran.stdout}${ran.stderr}`)
  return ran
}

const VALUES = 'direction,fiat,fiat_value,rate_source,rate_time'
/** What it warned of, without the log of what else went on. */
const warningsOf = ({ stderr }: Ran): readonly string[] => stderr.match(/(?<=^warning: ).*$/gm) ?? []
const linesOf = ({ stdout }: Ran): readonly string[] => stdout.split('\r\n').slice(1, -1)

test.before(async () => {
  await runInProcess(['account', 'create', 'alice', '--secrets-stdin'], { home, input })
  await done('wallets', 'create', 'bitcoin', '--name', 'Savings', '--fiat', 'iso:EUR')
  await done('fake', 'chain', 'fund', 'Savings', '0.1 BTC', '--confirm')
  await done('wallets', 'create', 'toycoin', '--name', 'Toys')
  await done('sync')
})

test.serial(
  'tx export --fiat writes the value of a payment with the source and time of its rate',
  async t => {
    // A bitcoin is 65,000 dollars in the fake world.
    const csv = await done('tx', 'export', 'Savings', '--fiat', 'iso:usd', '--columns', `${VALUES},date`)
    const [line = ''] = linesOf(csv)
    const [, time] = /^in,USD,6500,edgeRates,(.+),\1$/.exec(line) ?? []
    t.regex(time ?? line, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    t.deepEqual(warningsOf(csv), [])
    const json = await done('tx', 'export', 'Savings', '--fiat', 'iso:USD', '--format', 'json')
    const { fiat } = JSON.parse(json.stdout).transactions[0]
    t.deepEqual(fiat, { code: 'iso:USD', value: '6500', source: 'edgeRates', rateAt: fiat.rateAt })
    t.is(fiat.rateAt.replace('.000Z', 'Z'), time)
  }
)

test.serial('a noted fiat value takes precedence over the rate, but only in its own currency', async t => {
  const { transactions } = (await done('tx', 'list', 'Savings', '--json')).json.data
  await done('tx', 'label', 'Savings', transactions[0].txid, '--fiat', '5999.99')
  const exported = async (...args: readonly string[]): Promise<readonly string[]> =>
    linesOf(await done('tx', 'export', 'Savings', '--columns', VALUES, ...args))
  t.deepEqual(await exported('--fiat', 'iso:EUR'), ['in,EUR,5999.99,noted,'])
  t.regex((await exported('--fiat', 'iso:USD')).join(), /^in,USD,6500,edgeRates,/)
  const json = await done('tx', 'export', 'Savings', '--fiat', 'iso:EUR', '--format', 'ndjson')
  t.deepEqual(JSON.parse(json.stdout).fiat, {
    code: 'iso:EUR',
    value: '5999.99',
    source: 'noted',
    rateAt: null
  })
})

test.serial(
  'rates of a long history are fetched a hundred at a time, and every row has the rate of its time',
  async t => {
    const source = historian()
    const args = [
      'tx',
      'export',
      'Toys',
      '--fiat',
      'iso:XTS',
      '--columns',
      'fiat_value,rate_source,date,rate_time'
    ]
    const ran = await run([...args, '--token', 'TOY'], [source])
    const lines = linesOf(ran)
    t.is(lines.length, COUNT)
    for (const line of lines) t.regex(line, /^0\.25,historian,(.+),\1$/)
    t.deepEqual(warningsOf(ran), [])
    t.deepEqual(
      source.contexts.map(({ wanted }) => wanted.length),
      [100, 100, 100, 100, 50]
    )
  }
)

test.serial('unknown values stay empty, with one warning that counts them', async t => {
  const path = join(home, 'history.ndjson')
  const args = ['tx', 'export', '--fiat', 'iso:XTS', '--format', 'ndjson', '-o', path, '--json']
  const { data, warnings } = succeeded(t, await run(args, [historian(() => {})]), 'tx.export/1')
  // The toys, the odd token and the bitcoin.
  t.is(data.rows, COUNT + 2)
  t.deepEqual(warnings, [`no value in XTS is known for ${COUNT + 2} rows`])
  const csv = await run(['tx', 'export', 'Toys', '--fiat', 'iso:XTS', '--columns', VALUES], [historian()])
  t.is(csv.code, 0)
  t.deepEqual(warningsOf(csv), ['no value in XTS is known for 1 row'])
  t.deepEqual(
    linesOf(csv).filter(line => !line.includes('historian')),
    ['in,,,,']
  )
})

test.serial('without --fiat, and offline, no provider is asked', async t => {
  const source = historian()
  const plain = await run(['tx', 'export', 'Toys'], [source])
  t.is(
    plain.stdout.split('\r\n')[0],
    'date,wallet,wallet_id,asset,token_id,direction,amount,native_amount,network_fee,native_network_fee,fee_asset,fiat,fiat_value,status,name,category,notes,address,memo,txid,block_height,swap_provider,swap_order,swap_payout_asset,swap_payout_native,device'
  )
  const json = await run(['tx', 'export', 'Toys', '--token', 'odd', '--format', 'ndjson'], [source])
  t.deepEqual(JSON.parse(json.stdout).fiat, { code: 'iso:USD', value: null })
  t.deepEqual([...warningsOf(plain), ...warningsOf(json)], [])
  const offline = ['tx', 'export', 'Toys', '--fiat', 'iso:XTS', '--token', 'TOY', '--offline']
  const priced = await run(offline, [source])
  t.regex(priced.stdout, /^date,.*,fiat,fiat_value,rate_source,rate_time,status,/)
  t.deepEqual(warningsOf(priced), [`no value in XTS is known for ${COUNT} rows; offline, no source is asked`])
  t.is(source.contexts.length, 0)
})

test.serial('Ctrl-C ends the wait for rates, and leaves no file behind', async t => {
  const before = readdirSync(home)
  const parts = (): readonly string[] => readdirSync(home).filter(name => name.endsWith('.part'))
  let [isRequested, atClose] = [(): void => {}, ['nobody told it']]
  const requested = new Promise<void>(resolve => {
    isRequested = resolve
  })
  const hanging: RatePlugin = {
    kind: 'rates',
    id: 'hanging',
    displayName: 'Hanging',
    apply: ({ hooks }) =>
      hooks.fetchHistoricRates.tapPromise('hanging', async ({ signal }) => {
        signal.addEventListener('abort', () => {
          atClose = [...parts()]
        })
        isRequested()
        await new Promise<void>(() => {})
      })
  }
  const path = join(home, 'never.csv')
  const command = startInProcess(
    ['tx', 'export', 'Toys', '--fiat', 'iso:XTS', '-o', path, '--secrets-stdin'],
    {
      home,
      input,
      plugins: [toy, hanging]
    }
  )
  await requested
  t.is(parts().length, 1)
  t.is((await command.stop()).code, 130)
  t.deepEqual(readdirSync(home), before)
  t.deepEqual(atClose, [], 'it was gone before the kernel closed, which ends every wait')
})

test.serial('labels have no values, and a currency has its form', async t => {
  for (const wrong of [
    ['--fiat', 'iso:EUR', '--format', 'bip329'],
    ['--fiat', 'EUR'],
    ['--fiat', 'iso:EURO']
  ])
    failed(t, await run(['tx', 'export', 'Savings', '-o', join(home, 'x'), ...wrong, '--json']), 'USAGE', 2)
})
