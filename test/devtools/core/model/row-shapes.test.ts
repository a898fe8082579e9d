import test from 'ava'
import { RecordingError } from '../../../../devtools/core/recording/format.ts'
import { record } from '../../../../devtools/core/recording/record.ts'
import { openRecording, type RecordedClient } from '../../../../devtools/core/recording/timeline.ts'
import { engineRows } from '../../../../devtools/core/rows/engine-rows.ts'
import { hookRows } from '../../../../devtools/core/rows/hook-rows.ts'
import { logRows } from '../../../../devtools/core/rows/log-rows.ts'
import { pluginRows } from '../../../../devtools/core/rows/plugin-rows.ts'
import { roundRows } from '../../../../devtools/core/rows/quote-rows.ts'
import { repoRows } from '../../../../devtools/core/rows/repo-rows.ts'
import { routeGraph, routeList, routeTable } from '../../../../devtools/core/rows/route-rows.ts'
import { account, engine, makeStage, pair, quote, wallet } from '../../../helpers/devtools-stage.ts'

const units = {
  currencyCode: 'BTC',
  displayName: 'Bitcoin',
  denominations: [{ name: 'BTC', multiplier: '1' }]
}
const parts = { spendable: '1', incoming: '2', immature: '1', reserved: '1' }
const hop = {
  fromCurrency: 'BTC',
  toCurrency: 'iso:USD',
  rate: 2,
  source: 'shop',
  at: 1,
  ageSeconds: 1,
  bias: 0
}

/** A recording with a row in most tables: its header, and the line of its tables. */
const recorded = async (): Promise<readonly [header: string, tables: string]> => {
  const stage = makeStage()
  const customFeeTemplate = [{ key: 'satPerByte', displayName: 'Fee rate', unit: 'sat/vB' }]
  const currency = { ...units, walletType: 'wallet:bitcoin', customFeeTemplate }
  stage.emit('pluginChanged', {
    ...{ pluginId: 'bitcoin', kind: 'currency', state: 'applied', needsKeysTo: ['sync'], currency }
  })
  stage.emit('accountChanged', account('a', { username: 'alice', walletIds: ['w1'] }))
  stage.emit(
    'walletChanged',
    wallet('w1', {
      balances: { '': '5', usdx: '7' },
      balanceDetails: { '': parts as never },
      tokens: [{ tokenId: 'usdx', ...units }]
    })
  )
  stage.emit('engineChanged', engine('w1', { status: 'looking' }))
  stage.emit('repoChanged', {
    repoId: 'r',
    accountId: 'a',
    isOpen: true,
    pendingCount: 0,
    lastSync: 0,
    isSyncing: false
  })
  stage.emit('quoteChanged', quote('r1', 'shop', { state: 'failed', errorCode: 'NETWORK', message: 'no' }))
  const provider = { pluginId: 'shop', displayName: 'Shop', bias: 0, state: 'idle' as const, pairCount: 1 }
  stage.emit('ratesChanged', { pairs: [pair('BTC', 'iso:USD', 2)], providers: [provider] })
  const hops = [{ ...hop, isInverted: false, cost: 1 }]
  stage.emit('routeFound', {
    fromCurrency: 'BTC',
    toCurrency: 'iso:USD',
    rate: 2,
    cost: 1,
    isStale: false,
    hops
  })
  stage.emit('logged', { source: 'shop', level: 'info', text: 'hello', at: '' })
  stage.emit('pluginFault', { pluginId: 'shop', hook: 'ready', errorName: 'Error', message: 'no' })
  const lines: string[] = []
  const stop = record(stage.devtools, { now: () => 1, write: line => void lines.push(line) })
  await stage.settle()
  stop()
  const [header = '', tables = ''] = lines
  return [header, tables]
}

/** Everything that a panel derives. */
const drawAll = (client: RecordedClient): void => {
  const view = client.view.getSnapshot()
  const reported = client.events.getSnapshot()
  const [route] = routeList(view)
  engineRows(view)
  repoRows(view, 1)
  roundRows(view)
  routeGraph(view, { now: 1, ...(route === undefined ? {} : { route }) })
  if (route !== undefined) routeTable(route, 1)
  hookRows(reported, { text: 'a' })
  logRows(reported, { text: 'a' })
  pluginRows(view, reported)
}

type Node = Record<string, unknown>

/** The place of every value within another one. */
const pathsIn = (value: unknown, path: readonly string[] = []): readonly (readonly string[])[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([name, part]) => [[...path, name], ...pathsIn(part, [...path, name])])

const withValue = (tables: string, path: readonly string[], value: unknown): string => {
  const message = JSON.parse(tables) as Node
  const place = path.slice(0, -1).reduce((node, name) => node[name] as Node, message)
  place[path.at(-1) ?? ''] = value
  return JSON.stringify(message)
}

test('a recording with something else in place of any value is refused or can be drawn', async t => {
  const [header, tables] = await recorded()
  drawAll(openRecording([header, tables]))
  const paths = pathsIn(JSON.parse(tables))
  t.true(paths.length > 200)
  let [refused, drawn] = [0, 0]
  for (const path of paths) {
    for (const value of [undefined, null, 5, 'x', true, [], {}, [1], { a: 1 }]) {
      try {
        drawAll(openRecording([header, withValue(tables, path, value)]))
        drawn += 1
      } catch (error) {
        if (!(error instanceof RecordingError))
          t.fail(`${path.join('.')} as ${JSON.stringify(value)}: ${error}`)
        refused += 1
      }
    }
  }
  t.true(refused > 500 && drawn > 500, `${refused} refused, ${drawn} drawn`)
})

test('a recording whose parts of a balance are not those of a kernel is refused', async t => {
  const [header, tables] = await recorded()
  const [[, row] = []] = (JSON.parse(tables) as { slices: { wallets: [string, Node][] } }).slices.wallets
  t.deepEqual(row?.balanceDetails, { '': parts })
  const path = ['slices', 'wallets', '0', '1', 'balanceDetails', '']
  for (const value of [{}, { ...parts, incoming: 5 }, { spendable: '1' }])
    t.throws(
      () => openRecording([header, withValue(tables, path, value)]),
      { instanceOf: RecordingError },
      JSON.stringify(value)
    )
})
