import test from 'ava'
import { renderToString } from 'react-dom/server'
import type { DevtoolsClient } from '../../../../devtools/core/client/client.ts'
import { Panel } from '../../../../devtools/react/frame/panel.tsx'
import { type PanelName, panelNames, panelTitles } from '../../../../devtools/react/state/location.ts'
import type { OpenPaymentSnapshot } from '../../../../kernel/index.ts'
import { makeSampleClient, SAMPLE_NOW, sampleEvents, sampleView } from '../sample-client.ts'

const draw = (
  client: DevtoolsClient,
  panel: PanelName,
  rest: { id?: string; filter?: string } = {}
): string =>
  renderToString(
    <Panel client={client} isLinked={false} now={() => SAMPLE_NOW} start={{ panel, filter: '', ...rest }} />
  )
    // React marks where texts meet.
    .replaceAll('<!-- -->', '')

const full = makeSampleClient({ view: sampleView, events: sampleEvents(300) })
const empty = makeSampleClient({})
const readOnly = makeSampleClient({
  view: sampleView,
  events: sampleEvents(300),
  status: { isReadOnly: true }
})

const SAVINGS = 'Uh3GzFh8uEo7Qe1TzVYVQJVvKHcPD3dF3mXkA2mXr0E='
/** The words of the head's buttons that change nothing. */
const headButtons = ['Open…', 'System', '?']
const tagsOf = (markup: string, name: string): readonly string[] =>
  markup.match(new RegExp(`<${name}[ >]`, 'g')) ?? []
/** The words of all buttons, save those of the head and of rows. */
const buttonsOf = (markup: string): readonly string[] =>
  [...markup.matchAll(/<button [^>]*class="button[^"]*"[^>]*>(.*?)<\/button>/g)].map(
    ([, words = '']) => words
  )

for (const panel of panelNames) {
  test(`the tab of ${panelTitles[panel]} is selected and labels the panel below it`, t => {
    const markup = draw(full, panel)
    t.regex(markup, new RegExp(`id="tab-${panel}"[^>]*role="tab"[^>]*aria-selected="true"`))
    t.is(markup.split('aria-selected="true"').length, 2)
    t.regex(markup, new RegExp(`role="tabpanel" aria-labelledby="tab-${panel}"`))
  })

  // The rows of rules are requested when the panel is in a page.
  if (panel !== 'rules')
    test(`the tables of ${panelTitles[panel]} have headers for columns and rows`, t => {
      const markup = draw(full, panel)
      t.true(tagsOf(markup, 'table').length > 0)
      t.true(markup.includes('scope="col"'))
      t.true(markup.includes('scope="row"'))
    })

  test(`without data, ${panelTitles[panel]} says what to do and shows no table`, t => {
    const markup = draw(empty, panel)
    t.true(markup.includes('class="empty"'))
    t.deepEqual(tagsOf(markup, 'table'), [])
  })
}

const readingButtons: Readonly<Record<PanelName, readonly string[]>> = {
  engines: [],
  quotes: [],
  rates: ['Find the route', 'Copy', 'Market around it'],
  rules: [],
  sync: [],
  hooks: ['Pause view'],
  plugins: [],
  logs: ['Pause view']
}

for (const panel of panelNames) {
  test(`a read-only panel shows ${panelTitles[panel]} without controls that change it`, t => {
    const markup = draw(readOnly, panel)
    t.true(markup.includes('read-only'))
    t.deepEqual(
      buttonsOf(markup).filter(words => !headButtons.includes(words)),
      readingButtons[panel]
    )
  })
}

test('a read-only panel has no actions beside a wallet, a quote, a repo or a plugin either', t => {
  const places = [
    ['engines', SAVINGS],
    ['quotes', 'round-2 thornbridge'],
    ['sync', SAVINGS],
    ['plugins', 'thornbridge']
  ] as const
  for (const [panel, id] of places) {
    const words = buttonsOf(draw(readOnly, panel, { id })).filter(word => !headButtons.includes(word))
    t.deepEqual(words, panel === 'engines' ? ['Close', 'Show transactions'] : ['Close'], panel)
  }
})

test('a failed engine is marked as failed, with the reason', t => {
  const markup = draw(full, 'engines')
  t.true(markup.includes('No server of its list answers within 10 seconds'))
  t.regex(markup, /class="state bad"><svg[\s\S]*?<span>failed<\/span>/)
})

test('the details of a wallet show its lifecycle, its balance and its actions', t => {
  const markup = draw(full, 'engines', { id: SAVINGS })
  t.regex(markup, /<li aria-current="step">.*?started/)
  t.true(markup.includes('<span title="184\u202f250\u202f000 native">1.8425 BTC</span>'))
  t.true(markup.includes('<span>Amount</span>') && markup.includes('<span>BTC</span>'))
  t.deepEqual(buttonsOf(markup).slice(-11), [
    'Close',
    'Pause',
    'Resync',
    'Show transactions',
    'Show an address',
    'Fund',
    'Copy',
    'Max',
    'Review…',
    'Sign',
    'Verify'
  ])
  t.true(markup.includes('holdfast fake chain fund Savings &#x27;0.01 BTC&#x27;'))
  t.false(markup.includes('Pay in'))
})

test('the details of a wallet list its open payments with their states and actions', t => {
  const wallets = new Map(sampleView.wallets)
  const savings = wallets.get(SAVINGS)
  if (savings === undefined) throw new Error('The sample has a wallet')
  const payments = [...Array(7).keys()].map(
    (at): OpenPaymentSnapshot => ({
      ...{
        txid: `${at}`.repeat(64),
        tokenId: null,
        currencyCode: 'BTC',
        nativeAmount: '-1',
        networkFee: '1'
      },
      ...{ targets: [{ publicAddress: 'bcrt1qshop', nativeAmount: '5000000' }], at: SAMPLE_NOW - 180_000 },
      ...(at === 0 ? { state: 'replaced', replacedBy: 'cafe' } : { state: 'notInMempool' })
    })
  )
  const view = { ...sampleView, wallets: wallets.set(SAVINGS, { ...savings, openPayments: payments }) }
  const markup = draw(makeSampleClient({ view }), 'engines', { id: SAVINGS })
  t.true(markup.includes('<h3>Open payments</h3>'))
  t.regex(markup, /0\.05 BTC<\/span> to <span class="mono">bcrt1qshop/)
  t.regex(markup, /class="state soft"><svg[\s\S]*?<span>replaced by cafe<\/span>/)
  t.regex(markup, /class="state warn"><svg[\s\S]*?<span>in no mempool; the wallet sends it again<\/span>/)
  t.true(markup.includes('3 min ago') && markup.includes(`title="${'0'.repeat(64)}"`))
  const words = buttonsOf(markup)
  t.is(words.filter(word => word === 'Send again…').length, 5)
  t.true(words.includes('Show 2 more'))
  const looking = makeSampleClient({ view, status: { isReadOnly: true } })
  t.deepEqual(
    buttonsOf(draw(looking, 'engines', { id: SAVINGS })).filter(word => !headButtons.includes(word)),
    ['Close', 'Show 2 more', 'Show transactions']
  )
})

test('a wallet with tokens shows each in its unit, and can pay in them', t => {
  const markup = draw(full, 'engines', { id: 'bQ8e0W1ZlV5mXr3sT9uYc7dKfA2hJ6oPnE4iGxLkMzU=' })
  t.true(markup.includes('12 FTK'))
  t.true(markup.includes('<dt>Dollar X</dt><dd><span title="77\u202f000\u202f000 native">77 USDX</span>'))
  t.true(markup.includes('<option value="badf00d5">Dollar X · 77 USDX</option>'))
})

test('quotes are listed by rank, then the pending ones, then the failed ones, and count down', t => {
  const markup = draw(full, 'quotes')
  const order = ['Thornbridge', 'Swiftly', 'Mooring', 'Harbour Exchange', 'Slowpoke'].map(name =>
    markup.indexOf(`>${name}<`)
  )
  t.false(order.includes(-1))
  t.deepEqual(
    order,
    [...order].sort((one, other) => one - other)
  )
  t.true(markup.includes('1:36'))
  t.true(markup.includes('gives 0.8 % more'))
  t.true(markup.includes('≈ 1.1884231 LTC') && markup.includes('0.0000226 BTC'))
})

test('a quote counts down only while it can be approved, in the list and beside it', t => {
  const [id, given] =
    [...sampleView.quotes].find(([, { expiresAt }]) => expiresAt !== undefined && expiresAt > SAMPLE_NOW) ??
    []
  if (id === undefined || given === undefined) throw new Error('The sample has a quote that counts down')
  const drawn = (changes: Partial<typeof given>): string => {
    const quotes = new Map([[id, { ...given, ...changes }]])
    return draw(makeSampleClient({ view: { ...sampleView, quotes } }), 'quotes', { id })
  }
  const countdowns = (markup: string): number => markup.match(/\d:\d\d(?=<)/g)?.length ?? 0
  t.is(countdowns(drawn({})), 2)
  for (const fate of ['approved', 'closed', 'expired'] as const) t.is(countdowns(drawn({ fate })), 0, fate)
})

test('a row that says it is synced says up to which block, at any width', t => {
  const markup = draw(full, 'engines')
  t.true(markup.includes('871\u202f204'))
  t.regex(markup, /<th scope="col" class="number">Height<\/th>/)
  const heightOf = (changes: object): string | undefined => {
    const engine = { ...sampleView.engines.get(SAVINGS), blockHeight: 0, ...changes } as never
    const drawn = draw(
      makeSampleClient({ view: { ...sampleView, engines: new Map([[SAVINGS, engine]]) } }),
      'engines'
    )
    return /100\u202f%.*?<td class="number"[^>]*>(.*?)<\/td>|\d+\u202f%.*?<td class="number"[^>]*>(.*?)<\/td>/
      .exec(drawn)
      ?.slice(1)
      .find(Boolean)
  }
  t.is(heightOf({}), '0')
  t.is(heightOf({ syncRatio: 0.5 }), '–')
})

test('the lifecycle of an engine is drawn with past, present and possible states, and listed as text', t => {
  const lifeOf = (id: string): Readonly<Record<string, string | undefined>> => {
    const markup = draw(full, 'engines', { id })
    const places = [...markup.matchAll(/class="life-place ([a-z ]+)".*?<text>(.*?)<\/text>/g)]
    return Object.fromEntries(places.map(([, mark, name]) => [name, mark]))
  }
  const ahead = { started: 'ahead', paused: 'ahead', stopped: 'ahead', failed: 'ahead' }
  t.deepEqual(lifeOf(SAVINGS), { ...ahead, created: 'passed', started: 'present' })
  t.deepEqual(lifeOf('Zp1kX9wQ3rT5yU7iO0aS2dF4gH6jK8lMvBnCxEzAqWs='), {
    ...{ ...ahead, created: 'passed' },
    failed: 'present bad'
  })
  const paused = 'bQ8e0W1ZlV5mXr3sT9uYc7dKfA2hJ6oPnE4iGxLkMzU='
  t.is(lifeOf(paused).paused, 'present idle')
  t.regex(draw(full, 'engines', { id: paused }), /<li aria-current="step">paused<\/li>/)
})

test('the details of a call show all calls of its action, each at its place in time', t => {
  const markup = draw(full, 'hooks', { id: '5' })
  const list = /<ol class="timeline">(.*?)<\/ol>/.exec(markup)?.[1] ?? ''
  t.true(tagsOf(list, 'li').length > 1)
  t.is(list.split('aria-current="true"').length, 2)
  t.regex(list, /inset-inline-start:0\.0%/)
})

test('a round shows its request, and marks a provider that did not reply', t => {
  const markup = draw(full, 'quotes')
  t.true(markup.includes('0.01 BTC → LTC: 2 of 5 gave a quote, 1 pending'))
  t.true(markup.includes('gave no reply in time'))
})

test('when all providers fail, the panel shows the error that the application receives', t => {
  const failed = new Map(
    [...sampleView.quotes].filter(([, { state }]) => state === 'failed' || state === 'timed out')
  )
  const markup = draw(makeSampleClient({ view: { ...sampleView, quotes: failed } }), 'quotes')
  t.true(markup.includes('All failed'))
  t.regex(markup, /The application receives <code>SWAP_BELOW_LIMIT<\/code> from Harbour Exchange/)
})

test('a route is a picture that says what it shows, and a table with the terms of each cost', t => {
  const markup = draw(full, 'rates')
  t.true(
    markup.includes('aria-label="The chosen route: BTC to iso:USD by coingecko, iso:USD to iso:EUR by ecb"')
  )
  t.true(markup.includes('Hops of the route'))
  t.true(markup.includes('inverted 1.1'))
})

test('the filter keeps the rows that contain it, and shows a message when none does', t => {
  const some = draw(full, 'engines', { filter: 'LITE' })
  t.true(some.includes('Spare change'))
  t.false(some.includes('>Savings<'))
  const none = draw(full, 'engines', { filter: 'dogecoin' })
  t.true(none.includes('Nothing matches'))
})

test('of ten thousand lines, only those in sight are in the page', t => {
  const markup = draw(makeSampleClient({ view: sampleView, events: sampleEvents(30_000) }), 'logs')
  t.true(tagsOf(markup, 'tr').length < 60)
  t.true(markup.includes('aria-rowcount="10001"'))
})

test('the panel reports a lost kernel and dropped events', t => {
  const client = makeSampleClient({
    view: sampleView,
    events: sampleEvents(30),
    status: { connection: 'lost', message: 'The socket closed.', missed: 12 }
  })
  const markup = draw(client, 'logs')
  t.true(markup.includes('The socket closed.'))
  t.true(markup.includes('12 events left out'))
  t.false(markup.includes('Create an account'))
})

test('a name that turns the direction of writing round is shown with a mark, in the table and beside it', t => {
  const wallets = new Map(sampleView.wallets)
  const savings = wallets.get(SAVINGS)
  if (savings !== undefined) wallets.set(SAVINGS, { ...savings, name: 'sgni\u202evaS' })
  const markup = draw(makeSampleClient({ view: { ...sampleView, wallets } }), 'engines', { id: SAVINGS })
  t.true(markup.split('sgni\ufffdvaS').length > 2)
  t.regex(markup, /<h2>sgni\ufffdvaS<\/h2>/)
})

test('names of sources, however long, leave the picture of rates at a size that can be looked at', t => {
  const [[place, route] = []] = [...sampleView.routes]
  if (place === undefined || route === undefined) return t.fail('the sample has no route')
  const long = 'x'.repeat(1000)
  const hops = route.hops.map((hop, at) => ({ ...hop, source: `${long}${at}`, rate: 5e-324 }))
  const routes = new Map([[place, { ...route, hops }]])
  const markup = draw(makeSampleClient({ view: { ...sampleView, routes } }), 'rates')
  const [, width = ''] = /<svg width="([\d.]+)"/.exec(markup) ?? []
  t.true(Number(width) > 0 && Number(width) < 2000, width)
})

test('the older a rate is, the more its line in the picture is broken', t => {
  const [[place, route] = []] = [...sampleView.routes]
  const [hop] = route?.hops ?? []
  if (place === undefined || route === undefined || hop === undefined)
    return t.fail('the sample has no route')
  const lookAt = (age: number): string | undefined => {
    const hops = [{ ...hop, at: SAMPLE_NOW / 1000 - age, ageSeconds: age }]
    const view = { ...sampleView, pairs: new Map(), routes: new Map([[place, { ...route, hops }]]) }
    return /class="route-edge chosen( \w+)?"/.exec(draw(makeSampleClient({ view }), 'rates'))?.[1]
  }
  t.deepEqual([0, 30, 31, 299, 300].map(lookAt), [undefined, undefined, ' ageing', ' ageing', ' stale'])
})

test('the details of a repo report an older state of a server, and how many files can be restored', t => {
  const repos = new Map(
    [...sampleView.repos].map(([id, repo]) => [
      id,
      id === 'repo-ada' ? { ...repo, keptCount: 3, rolledBackAt: repo.lastSync, rolledBackFiles: 2 } : repo
    ])
  )
  const client = makeSampleClient({ view: { ...sampleView, repos } })
  const markup = draw(client, 'sync', { id: 'repo-ada' })
  t.regex(markup, /a sync server had an older version of 2 files\. This device kept its newer files/)
  t.regex(markup, /3 deleted or replaced files are kept for 30 days\..*holdfast data recover/)
  const other = draw(full, 'sync', { id: 'repo-ada' })
  t.notRegex(other, /older version|are kept for 30 days/)
})
