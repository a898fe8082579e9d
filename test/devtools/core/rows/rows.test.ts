import test from 'ava'
import { amountIn, readAmount } from '../../../../app/format/amounts.ts'
import { quoteTimeLeft } from '../../../../app/format/quotes.ts'
import { emptyView } from '../../../../devtools/core/client/view.ts'
import { unitsOf } from '../../../../devtools/core/model/amounts.ts'
import type { JournalEvent } from '../../../../devtools/core/model/facts.ts'
import type { SliceName, Slices, View } from '../../../../devtools/core/model/slices.ts'
import { engineRows } from '../../../../devtools/core/rows/engine-rows.ts'
import { hookRows } from '../../../../devtools/core/rows/hook-rows.ts'
import { logRows } from '../../../../devtools/core/rows/log-rows.ts'
import { pluginRows } from '../../../../devtools/core/rows/plugin-rows.ts'
import { roundRows } from '../../../../devtools/core/rows/quote-rows.ts'
import { repoHistory, repoRows } from '../../../../devtools/core/rows/repo-rows.ts'
import { routeAt, routeGraph, routeList, routeTable } from '../../../../devtools/core/rows/route-rows.ts'
import type { QuoteSnapshot, RateSnapshot, RepoSnapshot, RouteSnapshot } from '../../../../kernel/index.ts'
import { account, engine, pair, quote, wallet } from '../../../helpers/devtools-stage.ts'

const NOW = 1_700_000_000

type Rows = { readonly [K in SliceName]?: readonly (readonly [string, Slices[K]])[] }

const viewOf = (rows: Rows): View => ({
  ...emptyView,
  ...(Object.fromEntries(
    Object.entries(rows).map(([name, list]) => [name, new Map(list as never)])
  ) as object)
})

const pairsOf = (pairs: readonly RateSnapshot[]): Rows => ({
  pairs: pairs.map(one => [`${one.fromCurrency} ${one.toCurrency} ${one.source}`, one])
})

const hop = (
  fromCurrency: string,
  toCurrency: string,
  changes: Partial<RouteSnapshot['hops'][number]> = {}
): RouteSnapshot['hops'][number] => ({
  fromCurrency,
  toCurrency,
  rate: 2,
  source: 'shop',
  at: NOW - 30,
  ageSeconds: 30,
  bias: 0,
  isInverted: false,
  cost: 1.5,
  ...changes
})

const route = (...hops: RouteSnapshot['hops']): RouteSnapshot => ({
  fromCurrency: hops[0]?.fromCurrency ?? '',
  toCurrency: hops.at(-1)?.toCurrency ?? '',
  rate: hops.reduce((rate, one) => rate * one.rate, 1),
  hops,
  cost: hops.reduce((cost, one) => cost + one.cost, 0),
  isStale: false
})

const event = (seq: number, hook: string, data: JournalEvent['data'], subject?: string): JournalEvent => ({
  seq,
  at: NOW * 1000 + seq,
  hook,
  ...(subject === undefined ? {} : { subject }),
  data
})

test('an engine row shows the state of the engine, its current work and the balance of the wallet', t => {
  const view = viewOf({
    accounts: [['a', account('a', { username: 'alice', walletIds: ['w2', 'w1'] })]],
    wallets: [
      ['w1', wallet('w1', { name: 'Nest', balances: { dai: '0', usdt: '7', '': '100' } })],
      ['w2', wallet('w2', { name: '' })]
    ],
    engines: [
      ['w1', engine('w1', { syncRatio: 0.5 })],
      ['w2', engine('w2', { state: 'failed', failure: 'no', errorCode: 'ENGINE_FAILED' })],
      ['w3', engine('w3', { isPaused: true })]
    ]
  })
  const rows = engineRows(view)
  t.deepEqual(
    rows.map(row => [row.walletId, row.title, row.isNamed, row.stage, row.username, row.accountId]),
    [
      ['w2', 'wallet:bitcoin', false, 'failed', 'alice', 'a'],
      ['w1', 'Nest', true, 'looking', 'alice', 'a'],
      ['w3', 'bitcoin', false, 'paused', undefined, undefined]
    ]
  )
  t.deepEqual(rows[1]?.balances, [
    { tokenId: null, nativeAmount: '100', text: '100 native', name: 'bitcoin' },
    { tokenId: 'usdt', nativeAmount: '7', text: '7 native', name: 'usdt' }
  ])
  t.is(rows[0]?.errorCode, 'ENGINE_FAILED')
})

test('an engine row says how well a balance is known, and the payments that it came from', t => {
  const details = { spendable: '100', incoming: '0', immature: '0', reserved: '0' }
  const gradeOf = (more: object): string | undefined => {
    const balanceDetails = { '': { ...details, ...more } } as never
    const known = wallet('w1', { balances: { '': '100' }, balanceDetails })
    return engineRows(viewOf({ wallets: [['w1', known]], engines: [['w1', engine('w1')]] }))[0]?.balances[0]
      ?.grade
  }
  t.is(gradeOf({ grade: 'claimed', paymentsGrade: 'proven' }), 'claimed (payments proven)')
  t.is(gradeOf({ grade: 'agreed', paymentsGrade: 'agreed' }), 'agreed')
  t.is(gradeOf({}), undefined)
})

test('an engine row lists the parts of a balance that cannot be spent yet, and no part of 0', t => {
  const heldBackOf = (more: object): readonly string[] | undefined => {
    const details = { spendable: '0', incoming: '0', immature: '0', reserved: '0', ...more }
    const known = wallet('w1', {
      balances: { '': '500000000' },
      balanceDetails: { '': details } as never
    })
    const view = viewOf({ ...withUnits, wallets: [['w1', known]], engines: [['w1', engine('w1')]] })
    return engineRows(view)[0]?.balances[0]?.heldBack
  }
  t.deepEqual(heldBackOf({ immature: '300000000', spendable: '200000000' }), ['3 BTC immature'])
  t.deepEqual(heldBackOf({ incoming: '100000000', immature: '250000000', reserved: '50000000' }), [
    '1 BTC incoming',
    '2.5 BTC immature',
    '0.5 BTC reserved'
  ])
  t.is(heldBackOf({ spendable: '500000000' }), undefined)
})

test('an engine row stays the same object until its engine, wallet, account or currency changes', t => {
  const view = viewOf({
    wallets: [['w1', wallet('w1', { balances: { '': '50000000' } })]],
    engines: [['w1', engine('w1')]]
  })
  t.is(engineRows(view)[0], engineRows({ ...view, repos: new Map() })[0])
  const renamed = new Map(view.wallets).set('w1', wallet('w1', { name: 'Nest' }))
  t.is(engineRows({ ...view, wallets: renamed })[0]?.title, 'Nest')
  const owned = new Map([['a', account('a', { username: 'alice', walletIds: ['w1'] })]])
  t.is(engineRows({ ...view, accounts: owned })[0]?.username, 'alice')
  t.is(engineRows(view)[0]?.username, undefined)
  t.is(engineRows({ ...view, plugins: viewOf(withUnits).plugins })[0]?.balances[0]?.text, '0.5 BTC')
})

const providerRows = (...quotes: readonly QuoteSnapshot[]): View =>
  viewOf({ quotes: quotes.map(one => [`${one.roundId} ${one.pluginId}`, one]) })

const BTC = {
  currencyCode: 'BTC',
  displayName: 'Bitcoin',
  denominations: [{ name: 'BTC', multiplier: '100000000' }]
}
const USDX = {
  currencyCode: 'USDX',
  displayName: 'Dollar X',
  denominations: [{ name: 'USDX', multiplier: '1000000' }]
}
const withUnits: Rows = {
  plugins: [
    [
      'bitcoin',
      {
        ...{ pluginId: 'bitcoin', kind: 'currency', state: 'applied', needsKeysTo: [] },
        currency: { ...BTC, walletType: 'wallet:bitcoin' }
      }
    ]
  ],
  wallets: [
    [
      'w1',
      wallet('w1', {
        balances: { '': '50000000', usdx: '2500000', gone: '3' },
        tokens: [{ tokenId: 'usdx', ...USDX }]
      })
    ]
  ]
}

test('amounts are exact in the unit of their currency or token, and native where the unit is unknown', t => {
  const view = viewOf({ ...withUnits, engines: [['w1', engine('w1')]] })
  t.deepEqual(
    engineRows(view)[0]?.balances.map(({ name, text }) => [name, text]),
    [
      ['Bitcoin', '0.5 BTC'],
      ['Dollar X', '2.5 USDX'],
      ['gone', '3 native']
    ]
  )
  for (const [place, text] of [
    [{ walletId: 'w1' }, '123456789012345678901.00000001 BTC'],
    [{ walletId: 'left', pluginId: 'bitcoin' }, '123456789012345678901.00000001 BTC'],
    [{ walletId: 'w1', tokenId: 'usdx' }, '12345678901234567890100.000001 USDX'],
    [{ walletId: 'w1', tokenId: 'gone' }, '12345678901234567890100000001 native'],
    [{ walletId: 'left' }, '12345678901234567890100000001 native']
  ] as const)
    t.is(amountIn('12345678901234567890100000001', unitsOf(view, place)), text)
  t.is(amountIn('a word', BTC), 'a word')
})

test('the row of a round names the units of both sides and of the fee', t => {
  const view = viewOf({ ...withUnits, quotes: [['r p', quote('r', 'p')]] })
  const { units } = roundRows(view)[0] ?? {}
  t.deepEqual(
    [units?.from.currencyCode, units?.to.currencyCode, units?.fee.currencyCode],
    ['BTC', 'native', 'BTC']
  )
})

for (const [text, native] of [
  ['0.5', '50000000'],
  [' 0.5 btc ', '50000000'],
  ['7 native', '7'],
  ['00.1', '10000000'],
  ['1,5', 'The amount must be a plain decimal number'],
  ['1e3', 'The amount is in "e3", which is no unit of Bitcoin: use one of BTC, native'],
  ['0.000000001', 'The amount has more than 8 decimals'],
  ['0', 'The amount must be above zero'],
  ['-1', 'The amount must be a plain decimal number'],
  ['', 'The amount must be a plain decimal number'],
  ['9'.repeat(200), 'The amount must be a plain decimal number']
] as const) {
  test(`“${text.slice(0, 20)}” as an amount is ${native.slice(0, 60)}`, t => {
    const read = readAmount(text, BTC)
    t.is(read.native ?? read.error, native)
  })
}

for (const [state, marks] of [
  ['created', ['present', 'ahead', 'ahead', 'ahead']],
  ['started', ['passed', 'present', 'ahead', 'ahead']],
  ['stopped', ['passed', 'passed', 'present', 'skipped']],
  ['failed', ['passed', 'skipped', 'skipped', 'present']]
] as const) {
  test(`the lifecycle of an engine that is ${state} shows past, present and possible states`, t => {
    const [row] = engineRows(viewOf({ engines: [['w', engine('w', { state })]] }))
    t.deepEqual(
      row?.steps.map(({ mark }) => mark),
      [...marks]
    )
    t.deepEqual(
      row?.steps.map(({ name }) => name),
      ['created', 'started', 'stopped', 'failed']
    )
  })
}

test('the quotes of a round stand by rank, then the awaited ones, then the failed ones; the newest round is first', t => {
  const view = providerRows(
    quote('r1', 'late', { state: 'timed out' }),
    quote('r1', 'waits'),
    quote('r1', 'second', { state: 'resolved', rank: 2 }),
    quote('r1', 'best', { state: 'resolved', rank: 1, rankReason: 'a better rate' }),
    quote('r2', 'x')
  )
  const quoteList = roundRows(view)
  t.deepEqual(
    quoteList.map(({ roundId, isOver }) => [roundId, isOver]),
    [
      ['r2', false],
      ['r1', false]
    ]
  )
  t.deepEqual([quoteList[1]?.request.fromCurrencyCode, quoteList[1]?.request.toCurrencyCode], ['BTC', 'LTC'])
  t.deepEqual(
    quoteList[1]?.quotes.map(({ pluginId }) => pluginId),
    ['best', 'second', 'waits', 'late']
  )
})

const below = (pluginId: string, limit?: string): QuoteSnapshot =>
  quote('r', pluginId, {
    state: 'failed',
    errorCode: 'SWAP_BELOW_LIMIT',
    ...(limit === undefined ? {} : { limit })
  })

for (const [title, quotes, chosen] of [
  ['the smallest minimum', [below('a', '900'), below('b', '1000'), below('c')], 'a'],
  [
    'a lack of funds before a minimum',
    [below('a', '1'), quote('r', 'b', { state: 'failed', errorCode: 'INSUFFICIENT_FUNDS' })],
    'b'
  ],
  ['the first of equals', [below('a', '5'), below('b', '5')], 'a'],
  ['nothing while one is awaited', [below('a', '5'), quote('r', 'b')], undefined],
  ['nothing when there is a quote', [below('a', '5'), quote('r', 'b', { state: 'resolved' })], undefined]
] as const) {
  test(`when providers fail, the round shows the error that the application gets: ${title}`, t => {
    t.is(roundRows(providerRows(...quotes))[0]?.chosen?.pluginId, chosen)
  })
}

test('a quote counts down to its end, and one that has ended does not', t => {
  t.is(quoteTimeLeft(quote('r', 'a', { expiresAt: 5000 }), 3000), 2000)
  t.is(quoteTimeLeft(quote('r', 'a', { expiresAt: 5000 }), 9000), 0)
  t.is(quoteTimeLeft(quote('r', 'a', { expiresAt: 5000, fate: 'approved' }), 3000), undefined)
  t.is(quoteTimeLeft(quote('r', 'a'), 3000), undefined)
})

test('a route is a table of hops whose terms add up to their cost', t => {
  const [one, two] = routeTable(
    route(
      hop('BTC', 'ETH', { bias: 0.25, cost: 9, at: NOW - 30 }),
      hop('ETH', 'iso:USD', { isInverted: true, cost: 1.6, at: NOW - 1000 })
    ),
    NOW
  )
  t.is(one?.cost, 0.5 + 0.25 + 1)
  t.is(two?.cost, 1000 / 1030 + 1.1)
  t.deepEqual([one?.step, one?.ageCost, one?.hopCost, one?.isStale], [1, 0.5, 1, false])
  t.deepEqual([two?.step, two?.hopCost, two?.ageNow, two?.isStale], [2, 1.1, 1000, true])
  const view = viewOf({
    routes: [
      ['a', route(hop('A', 'B'))],
      ['b', route(hop('B', 'C'))]
    ]
  })
  t.deepEqual(
    routeList(view).map(({ fromCurrency }) => fromCurrency),
    ['B', 'A']
  )
})

test('the chosen route is as old, and as dear, as what stands beside it, however long ago it was found', t => {
  const later = NOW + 90
  const found = route(hop('BTC', 'ETH', { at: NOW, cost: 1 }), hop('ETH', 'iso:USD', { at: NOW, cost: 1 }))
  const view = viewOf(pairsOf([pair('BTC', 'ETH', 30, { source: 'bank', at: NOW })]))
  const at = routeAt(view.pairs, found, later)
  t.deepEqual(
    at.hops.map(({ ageSeconds, cost }) => [ageSeconds, cost]),
    [
      [90, 1.75],
      [90, 1.75]
    ]
  )
  t.is(at.cost, 3.5)
  const [chosen, , rival] = routeGraph(view, { route: at, now: later }).edges
  t.deepEqual([chosen?.isChosen, rival?.isChosen, rival?.source], [true, false, 'bank'])
  t.is(chosen?.cost, rival?.cost)
})

test('a hop of a route has the newest rate of its source, turned round where the route goes against it', t => {
  const found = route(
    hop('BTC', 'ETH', { rate: 20, at: NOW - 60 }),
    hop('ETH', 'iso:USD', { rate: 2000, isInverted: true, at: NOW - 60 })
  )
  const newer = viewOf(
    pairsOf([pair('BTC', 'ETH', 25, { at: NOW }), pair('iso:USD', 'ETH', 0.001, { at: NOW })])
  )
  const at = routeAt(newer.pairs, found, NOW)
  t.deepEqual(
    at.hops.map(one => [one.rate, one.ageSeconds]),
    [
      [25, 0],
      [1000, 0]
    ]
  )
  t.is(at.rate, 25_000)
  const older = viewOf(pairsOf([pair('BTC', 'ETH', 25, { at: NOW - 100 })]))
  t.is(routeAt(older.pairs, found, NOW).hops[0]?.rate, 20)
})

test('the graph shows the chosen route, its alternatives and its neighbours, with one edge a pair', t => {
  const view = viewOf({
    ...pairsOf([
      pair('BTC', 'iso:USD', 50_000, { at: NOW - 10 }),
      pair('ETH', 'BTC', 0.05, { source: 'bank', at: NOW - 5 }),
      pair('ETH', 'BTC', 0.06, { source: 'shop', at: NOW - 400 }),
      pair('ETH', 'iso:USD', 2500),
      pair('ETH', 'iso:USD', 2501, { source: 'bank' }),
      pair('XMR', 'LTC', 2)
    ]),
    rateProviders: [
      ['bank', { pluginId: 'bank', displayName: 'Bank', bias: 0.5, state: 'answered', pairCount: 2 }]
    ]
  })
  const chosen = route(
    hop('BTC', 'ETH', { isInverted: true, rate: 20, source: 'bank', bias: 0.5, at: NOW - 30 })
  )
  const graph = routeGraph(view, {
    route: chosen,
    alternatives: [route(hop('BTC', 'iso:USD', { at: NOW - 10 }))],
    now: NOW
  })
  t.deepEqual(graph.nodes, [
    { code: 'BTC', isFiat: false, isOnRoute: true },
    { code: 'ETH', isFiat: false, isOnRoute: true },
    { code: 'iso:USD', isFiat: true, isOnRoute: false }
  ])
  const facts = graph.edges.map(edge => [
    edge.id,
    edge.isChosen,
    edge.isAlternative,
    edge.isStale,
    edge.cost,
    edge.otherSources
  ])
  t.deepEqual(facts, [
    ['BTC iso:USD shop', false, true, false, 1.25, 0],
    ['ETH BTC bank', true, false, false, 2.1, 0],
    ['ETH BTC shop', false, false, true, 400 / 430 + 1, 0],
    ['ETH iso:USD shop', false, false, false, 1, 1]
  ])
  t.is(graph.edges[1]?.rate, 1 / 20)
  t.deepEqual([graph.hiddenNodes, graph.hiddenEdges], [2, 2])
})

test('the graph of a big market keeps the route and its closest neighbours, and shows how much is hidden', t => {
  const pairs: RateSnapshot[] = []
  for (let at = 0; at < 20_000; at += 1) {
    for (const source of ['a', 'b', 'c', 'd', 'e'])
      pairs.push(pair(`C${at}`, at % 2 === 0 ? 'iso:USD' : `C${(at * 7) % 20_000}`, 1, { source }))
  }
  const view = viewOf(pairsOf(pairs))
  t.is(view.pairs.size, 100_000)
  const chosen = route(hop('C1', 'C7', { source: 'a' }), hop('C7', 'C49', { source: 'a' }))
  const graph = routeGraph(view, { route: chosen, now: NOW })
  t.is(graph.nodes.length, 60)
  t.deepEqual(
    graph.nodes.slice(0, 3).map(({ code }) => code),
    ['C1', 'C7', 'C49']
  )
  t.is(graph.edges.filter(({ isChosen }) => isChosen).length, 2)
  t.true(graph.hiddenNodes > 19_000)
  t.is(graph.hiddenEdges + graph.edges.length, 100_000)
  const whole = routeGraph(view, { now: NOW, limit: 5 })
  t.is(whole.nodes.length, 5)
  t.is(whole.nodes[0]?.code, 'iso:USD')
})

test('an empty view gives empty rows everywhere', t => {
  t.deepEqual(engineRows(emptyView), [])
  t.deepEqual(roundRows(emptyView), [])
  t.deepEqual(routeList(emptyView), [])
  t.deepEqual(repoRows(emptyView, NOW), [])
  t.deepEqual(pluginRows(emptyView), [])
  t.deepEqual(hookRows([]), [])
  t.deepEqual(logRows([]), [])
  t.deepEqual(routeGraph(emptyView, { now: NOW }), { nodes: [], edges: [], hiddenNodes: 0, hiddenEdges: 0 })
})

const repo = (changes: Partial<RepoSnapshot>): RepoSnapshot => ({
  ...{ repoId: 'r', accountId: 'a', isOpen: true },
  pendingCount: 0,
  lastSync: NOW - 60,
  isSyncing: false,
  ...changes
})

for (const [state, changes] of [
  ['synced', {}],
  ['new', { lastSync: 0 }],
  ['pending', { pendingCount: 2 }],
  ['failed', { pendingCount: 2, errorCode: 'NETWORK' }],
  ['syncing', { isSyncing: true, errorCode: 'NETWORK' }]
] as const) {
  test(`a repo is shown as ${state}`, t => {
    const [row] = repoRows(viewOf({ repos: [['r', repo(changes)]] }), NOW)
    t.is(row?.state, state)
    t.is(row?.secondsAgo, state === 'new' ? undefined : 60)
  })
}

test('a repo has the name of its wallet or account, and an error comes with advice', t => {
  const view = viewOf({
    accounts: [
      ['a', account('a', { username: 'alice' })],
      ['b', account('b')]
    ],
    wallets: [
      ['w', wallet('w', { name: 'Nest' })],
      ['n', wallet('n', { name: '' })]
    ],
    repos: [
      ['1', repo({})],
      ['2', repo({ accountId: 'b', errorCode: 'STORAGE_FULL' })],
      ['3', repo({ walletId: 'w', errorCode: 'SYNC_FAILED' })],
      ['4', repo({ walletId: 'n', errorCode: 'ODD' })],
      ['5', repo({ walletId: 'left' })]
    ]
  })
  t.deepEqual(
    repoRows(view, NOW).map(({ title, kind, help = '' }) => [title, kind, help.split('.')[0]]),
    [
      ['alice', 'account', ''],
      ['Light account', 'account', 'Free some space on this device, then sync now'],
      ['Nest', 'wallet', 'No sync server could be reached, or none gave a valid reply'],
      ['wallet:bitcoin', 'wallet', 'The kernel tries again, each time after a longer wait'],
      ['left', 'wallet', '']
    ]
  )
})

test('the history of a repo lists the files that its syncs moved and the failed syncs, newest first and bounded', t => {
  const reported = (seq: number, isSyncing: boolean, errorCode?: string): JournalEvent =>
    event(seq, 'repoChanged', { isSyncing, ...(errorCode === undefined ? {} : { errorCode }) }, 'r')
  const files = { sent: ['a.json'], sentCount: 30, received: [], receivedCount: 0 }
  const events = [
    reported(1, true),
    event(2, 'filesExchanged', files, 'r'),
    event(3, 'filesExchanged', files, 'other'),
    reported(4, false),
    reported(5, true),
    reported(6, false, 'SYNC_FAILED'),
    // A write while it fails tells the failure once more.
    reported(7, false, 'SYNC_FAILED'),
    reported(8, true, 'SYNC_FAILED'),
    reported(9, false)
  ]
  t.deepEqual(repoHistory(events, 'r'), [
    {
      seq: 6,
      at: NOW * 1000 + 6,
      errorCode: 'SYNC_FAILED',
      sent: [],
      sentCount: 0,
      received: [],
      receivedCount: 0
    },
    { seq: 2, at: NOW * 1000 + 2, ...files }
  ])
  const many = Array.from({ length: 80 }, (_, seq) => event(seq, 'filesExchanged', files, 'r'))
  t.deepEqual([repoHistory(many, 'r').length, repoHistory(many, 'r')[0]?.seq], [50, 79])
})

const EVENTS: readonly JournalEvent[] = [
  event(1, 'engineChanged', { walletId: 'w' }, 'w'),
  {
    ...event(2, 'tapRan', { hook: 'fetchRates', pluginId: 'p', durationMs: 40, outcome: 'failed' }, 'p'),
    correlationId: 'c'
  },
  event(3, 'pluginFault', { pluginId: 'p', hook: 'fetchRates', errorName: 'E', message: 'gone' }, 'p'),
  event(4, 'action', { action: 'engine.pause', outcome: 'done', durationMs: 2, subject: 'w' }, 'w'),
  event(5, 'logged', { source: 'sync', level: 'warn', text: 'Slow Server', at: '' }, 'sync'),
  event(
    6,
    'pluginFault',
    { pluginId: 'p', hook: 'ready', errorName: 'E', errorCode: 'DEADLINE', message: 'late' },
    'p'
  )
]

test('the timeline separates taps, hooks and actions, with the start of each', t => {
  const rows = hookRows(EVENTS)
  t.deepEqual(rows[1], {
    seq: 2,
    at: NOW * 1000 + 2 - 40,
    kind: 'tap',
    hook: 'fetchRates',
    pluginId: 'p',
    correlationId: 'c',
    durationMs: 40,
    outcome: 'failed'
  })
  t.deepEqual(rows[3], {
    seq: 4,
    at: NOW * 1000 + 4 - 2,
    kind: 'action',
    hook: 'engine.pause',
    subject: 'w',
    durationMs: 2,
    outcome: 'done'
  })
  t.deepEqual(
    rows.map(({ kind }) => kind),
    ['notified', 'tap', 'notified', 'action', 'notified', 'notified']
  )
})

const PAID: readonly JournalEvent[] = [
  {
    ...event(7, 'spendChanged', { correlationId: 'pay-1', stage: 'saved', txid: 'f00d' }, 'x'),
    correlationId: 'pay-1'
  },
  event(8, 'quoteChanged', { roundId: 'r', request: { fromWalletId: 'payer', amounts: ['1'] } }, 'r')
]

for (const [title, filter, seqs] of [
  ['a kind', { kind: 'tap' }, [2]],
  ['a plugin', { pluginId: 'p' }, [2]],
  ['a correlation id', { correlationId: 'c' }, [2]],
  ['an outcome', { outcome: 'done' }, [4]],
  ['part of a name in any case', { text: 'ENGINE' }, [1, 4]],
  ['several at once', { text: 'w', kind: 'notified' }, [1]],
  ['part of the id of an action', { text: 'pay-' }, [7]],
  ['a transaction', { text: 'f00d' }, [7]],
  ['a wallet within a request', { text: 'payer' }, [8]],
  ['nothing', {}, [1, 2, 3, 4, 5, 6, 7, 8]]
] as const) {
  test(`the timeline is filtered by ${title}`, t => {
    t.deepEqual(
      hookRows([...EVENTS, ...PAID], filter).map(({ seq }) => seq),
      [...seqs]
    )
  })
}

test('a notified row names the state that was reached', t => {
  t.deepEqual(
    hookRows(PAID).map(({ outcome }) => outcome),
    ['saved', undefined]
  )
})

test('the log holds lines, plugin failures and actions, filtered by level, source and text', t => {
  const seqs = (filter: Parameters<typeof logRows>[1]) => logRows(EVENTS, filter).map(({ seq }) => seq)
  t.deepEqual(seqs({}), [3, 4, 5, 6])
  t.deepEqual(seqs({ level: 'error' }), [3, 6])
  t.deepEqual(seqs({ source: 'sync' }), [5])
  t.deepEqual(seqs({ text: 'slow' }), [5])
  t.is(logRows(EVENTS)[0]?.text, 'fetchRates: gone')
})

test('the log has a line for what succeeded, and for what did not', t => {
  const done = [
    event(1, 'action', { action: 'engine.pause', outcome: 'done', durationMs: 12.4 }),
    event(2, 'action', { action: 'repo.sync', outcome: 'failed', durationMs: 3, errorCode: 'NETWORK' }),
    event(3, 'spendChanged', { walletId: 'w', stage: 'broadcast', txid: 'abc' }),
    event(4, 'loginChanged', { attemptId: 'l', method: 'pin', stage: 'ready' }),
    event(5, 'loginChanged', { attemptId: 'l', method: 'pin', stage: 'deriving' }),
    event(6, 'filesExchanged', { repoId: 'r', sentCount: 2, receivedCount: 1 }),
    event(7, 'transactionsChanged', { walletId: 'w', createdCount: 1, changedCount: 0 }),
    event(8, 'engineChanged', { walletId: 'w' })
  ]
  t.deepEqual(
    logRows(done).map(({ level, source, text }) => `${level} ${source}: ${text}`),
    [
      'info panel: engine.pause is done after 12 ms',
      'warn panel: repo.sync failed after 3 ms: NETWORK',
      'info spend: payment abc: broadcast',
      'info login: login by pin is ready',
      'info sync: files sent: 2, received: 1',
      'info wallet: transactions new: 1, changed: 0'
    ]
  )
})

test('a plugin row has its permissions, its failures and its state as a rate provider', t => {
  const view = viewOf({
    plugins: [
      ['p', { pluginId: 'p', kind: 'rates', state: 'applied', needsKeysTo: [] }],
      ['m', { pluginId: 'm', kind: undefined, state: 'missing', needsKeysTo: [] }],
      ['c', { pluginId: 'c', kind: 'currency', state: 'applied', needsKeysTo: ['sync', 'spend'] }],
      [
        'k',
        {
          ...{ pluginId: 'k', kind: 'currency', state: 'applied', needsKeysTo: [] },
          currency: { ...BTC, walletType: 'wallet:k', isSignedByKernel: true }
        }
      ]
    ],
    rateProviders: [
      ['p', { pluginId: 'p', displayName: 'P', bias: 0, state: 'failed', pairCount: 0, message: 'late' }]
    ]
  })
  const [p, m, c, k] = pluginRows(view, EVENTS)
  t.is(p?.faultCount, 2)
  t.deepEqual(p?.lastFault, {
    seq: 6,
    at: NOW * 1000 + 6,
    hook: 'ready',
    message: 'late',
    errorCode: 'DEADLINE'
  })
  t.deepEqual(p?.rates, { state: 'failed', pairCount: 0, message: 'late' })
  t.true(p?.permissions.includes('sees no wallet and no key'))
  t.deepEqual([m?.permissions, m?.faultCount], [[], 0])
  t.is(c?.permissions.at(-1), 'gets private keys to sync, spend, too')
  t.true(c?.permissions.includes('gets private keys to sign'))
  t.false(k?.permissions.some(text => text.includes('private keys')))
})
