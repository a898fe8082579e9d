import { stripVTControlCharacters } from 'node:util'
import test from 'ava'
import { Box } from 'ink'
import { render } from 'ink-testing-library'
import {
  type QuoteLines,
  type QuoteListKey,
  type QuoteListProps,
  QuoteScreen
} from '../../../cli/screens/quote-screen.tsx'
import { waitFor } from '../../helpers/device.ts'

const row = (pluginId: string, changes: Partial<QuoteLines> = {}): QuoteLines => ({
  pluginId,
  quoteId: '',
  title: `${pluginId} (CEX)`,
  state: 'open',
  main: '7.1 LTC for 0.01 BTC',
  detail: `fee of ${pluginId}`,
  left: '4:59',
  ...changes
})

const props: QuoteListProps = {
  title: '0.01 BTC from Savings to Lite',
  rows: [
    row('first'),
    row('second', { left: '' }),
    row('third', { state: 'pending', main: 'waiting for a reply', detail: '', left: '' }),
    row('fourth', { state: 'failed', main: 'Amount is too low: at least 0.05 BTC', detail: '', left: '' })
  ],
  selected: 'first',
  waitSeconds: 12.3,
  height: 23,
  isAscii: true,
  onKey: () => {}
}

const linesOf = (changes: Partial<QuoteListProps> = {}): readonly string[] => {
  const screen = render(<QuoteScreen {...props} {...changes} />)
  const lines = stripVTControlCharacters(screen.lastFrame() ?? '').split('\n')
  screen.unmount()
  return lines
}

/** The same on fewer columns than the library's own hundred. */
const narrowLinesOf = (rows: readonly QuoteLines[], width: number): readonly string[] => {
  const screen = render(
    <Box width={width}>
      <QuoteScreen {...props} rows={rows} />
    </Box>
  )
  const lines = stripVTControlCharacters(screen.lastFrame() ?? '').split('\n')
  screen.unmount()
  return lines
}

test('the list shows quotes with countdown and reasons, failed providers with the limit, and pending providers', t => {
  t.deepEqual(linesOf(), [
    '0.01 BTC from Savings to Lite',
    '> 1 7.1 LTC for 0.01 BTC  first (CEX)',
    '    4:59 left  fee of first',
    '  2 7.1 LTC for 0.01 BTC  second (CEX)',
    '    fee of second',
    '  . third (CEX): waiting for a reply',
    '  x fourth (CEX): Amount is too low: at least 0.05 BTC',
    'waiting for 1 of 4 providers, 13 s at most',
    'up/down choose  Enter review it  s stop waiting  q quit'
  ])
})

test('an expired quote cannot be chosen, and an ended round can be repeated', t => {
  const lines = linesOf({
    rows: [row('first', { state: 'expired', left: 'expired' })],
    selected: undefined,
    waitSeconds: undefined
  })
  t.deepEqual(lines.slice(1, 3), ['  1 7.1 LTC for 0.01 BTC  first (CEX)', '    expired  fee of first'])
  t.is(lines.at(-2), 'all quotes are here')
  t.is(lines.at(-1), 'r ask again  q quit')
})

test('in a narrow terminal the countdown and the limit of a refusal stay visible', t => {
  const wide = { main: '7.64251781 LTC for 0.01 BTC', title: 'A Long Exchange (CEX)' }
  const refused = {
    ...wide,
    state: 'failed',
    main: 'Amount is too low: at least 0.05 BTC',
    left: ''
  } as const
  const lines = narrowLinesOf([row('first', wide), row('second', refused)], 40)
  t.is(lines[1], '> 1 7.64251781 LTC for 0.01 BTC  A Long…')
  t.is(lines[2], '    4:59 left  fee of first')
  t.regex(lines[3] ?? '', /^ {2}x A Long Exchange.*… ?.*0\.05 BTC$/)
})

test('after the time limit it shows that the first quote is awaited', t => {
  const lines = linesOf({ rows: [row('third', { state: 'pending' })], selected: undefined, waitSeconds: -1 })
  t.is(lines.at(-2), 'waiting for 1 of 1 providers, until the first reply')
})

test('the list is never taller than the terminal, and the selected quote stays in sight', t => {
  const rows = Array.from({ length: 50 }, (_, index) => row(`p${index}`))
  for (const [height, selected] of [
    [23, 'p0'],
    [23, 'p30'],
    [10, 'p49'],
    [8, 'p7']
  ] as const) {
    const lines = linesOf({ rows, height, selected })
    t.true(lines.length <= height, `${lines.length} of ${height}`)
    t.true(
      lines.some(line => line.startsWith('> ') && line.includes(` ${selected} `)),
      selected
    )
    t.regex(lines.at(-3) ?? '', /^and \d+ more$/)
  }
})

test('the list is printed in ASCII on request', t => {
  t.notRegex(linesOf().join(''), /[^\x20-\x7e]/)
  t.regex(linesOf({ isAscii: false }).join('\n'), /❯ 1[\s\S]*… third[\s\S]*✘ fourth/)
})

test('keys choose, stop the wait, fetch again, quit and interrupt; others do nothing', async t => {
  const received: QuoteListKey[] = []
  const screen = render(<QuoteScreen {...props} onKey={key => received.push(key)} />)
  await waitFor(() => screen.stdin.listenerCount('readable') > 0)
  for (const key of ['\u001b[A', '\u001b[B', '\r', 's', 'r', 'x', 'q', '\u0003']) {
    const before = received.length
    screen.stdin.write(key)
    if (key !== 'x') await waitFor(() => received.length > before)
  }
  screen.unmount()
  t.deepEqual(received, ['up', 'down', 'choose', 'enough', 'again', 'close', 'interrupt'])
})
