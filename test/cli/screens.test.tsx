import test from 'ava'
import { render } from 'ink-testing-library'
import { type DevKey, type DevLines, DevScreen } from '../../cli/screens/dev-screen.tsx'
import { type EdgeLoginProps, EdgeLoginStatus } from '../../cli/screens/edge-login.tsx'
import { type Answer, Question } from '../../cli/screens/question.tsx'
import { SendReview } from '../../cli/screens/review.tsx'
import { TourProgress, type TourStep } from '../../cli/screens/tour-screen.tsx'
import type { SpendSummary } from '../../cli/spend/summary.ts'
import { waitFor } from '../helpers/device.ts'

const summary: SpendSummary = {
  lines: [
    ['asset', 'Bitcoin (BTC)'],
    ['amount', '0.01 BTC'],
    ['network fee', '0.00001 BTC (8 sat/vB)'],
    ['total', '0.01001 BTC'],
    ['remaining', '1.2 BTC']
  ],
  recipients: [
    { place: 1, groups: ['bcrt', '1qw5', '08d6'], amount: '0.005 BTC' },
    { place: 2, groups: ['bcrt', '1qw5', '08d6'], amount: '0.005 BTC' }
  ],
  similar: [],
  tokenFees: [],
  json: {}
}

/** The first answer to keys that are typed one after another. */
const answerTo = async (...keys: readonly string[]): Promise<Answer | undefined> => {
  let answer: Answer | undefined
  const screen = render(
    <Question
      text="Sure?"
      onAnswer={given => {
        answer = given
      }}
    />
  )
  await waitFor(() => screen.stdin.listenerCount('readable') > 0)
  for (const key of keys) screen.stdin.write(key)
  await waitFor(() => answer !== undefined)
  screen.unmount()
  return answer
}

test('the review shows every line and every recipient in groups', t => {
  const screen = render(
    <SendReview
      summary={summary}
      question="Sign and send it?"
      network="fake world"
      maxRecipients={5}
      onAnswer={() => {}}
    />
  )
  const frame = screen.lastFrame() ?? ''
  for (const [label, value] of summary.lines)
    t.regex(frame, new RegExp(`${label} +${value.replace(/[()]/g, '.')}`))
  t.is(frame.match(/bcrt 1qw5 08d6 0\.005 BTC/g)?.length, 2)
  t.regex(frame, /\[y\/N\]/)
  screen.unmount()
})

test('a review that does not fit shows the number of recipients printed above it', t => {
  const screen = render(
    <SendReview
      summary={summary}
      question="Sign and send it?"
      network="main network"
      maxRecipients={1}
      onAnswer={() => {}}
    />
  )
  t.regex(screen.lastFrame() ?? '', /and 1 more, printed above/)
  t.is((screen.lastFrame() ?? '').match(/bcrt/g)?.length, 1)
  screen.unmount()
})

test('only y means yes; Enter, n and Escape mean no, Ctrl-C stops, and a slip means nothing', async t => {
  t.is(await answerTo('y'), 'yes')
  t.is(await answerTo('\r'), 'no')
  t.is(await answerTo('n'), 'no')
  t.is(await answerTo('\u001b'), 'no')
  t.is(await answerTo('\u0003'), 'interrupt')
  t.is(await answerTo('x', 'y'), 'yes', 'a key without a meaning answers nothing')
})

test('the tour shows ended steps with ticks and times, and the one that runs', t => {
  const ended: TourStep[] = [
    { id: 'a', title: 'First', state: 'done', detail: 'it worked', lines: ['one'], durationMs: 1234 },
    { id: 'b', title: 'Second', state: 'failed', durationMs: 5 }
  ]
  const running: TourStep = { id: 'c', title: 'Third', state: 'running' }
  const draw = (isAscii: boolean) => (
    <TourProgress ended={ended} running={running} elapsedMs={90} isAscii={isAscii} />
  )
  const screen = render(draw(false))
  t.regex(
    screen.lastFrame() ?? '',
    /✔ First 1\.2 s\n {2}one\n {2}it worked\n✘ Second failed after 5 ms\n⠙ Third 90 ms/
  )
  screen.unmount()
  const plain = render(draw(true))
  t.regex(plain.lastFrame() ?? '', /^ok First/)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are allowed, other letters are not
  t.notRegex((plain.lastFrame() ?? '').replace(/\u001b\[\d+m/g, ''), /[^\x00-\x7f]/)
  plain.unmount()
})

test('a login request shows the time left, a failure and the approving user, each in a line of 80 columns', t => {
  const look = (props: Partial<EdgeLoginProps>): string => {
    const all = {
      state: 'pending',
      username: undefined,
      secondsLeft: 65.2,
      errorCode: undefined,
      skippedReplies: 0,
      ...props
    } as const
    const screen = render(<EdgeLoginStatus {...all} />)
    const frame = screen.lastFrame() ?? ''
    screen.unmount()
    t.false(frame.includes('\n'), frame)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are allowed, other letters are not
    return frame.replace(/\u001b\[\d+m/g, '')
  }
  t.is(look({}), 'waiting for approval, 1:06 left; Ctrl-C cancels')
  t.is(look({ secondsLeft: -3 }), 'waiting for approval, 0:00 left; Ctrl-C cancels')
  t.is(look({ errorCode: 'NETWORK' }), 'waiting for approval (NETWORK), 1:06 left; Ctrl-C cancels')
  t.is(
    look({ errorCode: 'APP_ID_NOT_FOUND', skippedReplies: 12, secondsLeft: 600 }),
    'waiting for approval (skipped 12: APP_ID_NOT_FOUND), 10:00 left; Ctrl-C cancels'
  )
  t.is(look({ state: 'started', username: 'alice' }), 'approved by alice; opening the account')
  t.is(look({ state: 'done', username: 'alice' }), 'logged in as alice')
  t.is(look({ state: 'done' }), 'logged in as a light account')
  t.is(look({ state: 'closed' }), 'cancelled')
  t.is(look({ state: 'error', errorCode: 'BAD_REPLY' }), 'the request failed (BAD_REPLY)')
})

const DEV_LINES: DevLines = {
  ...{ title: 'corner (rates)', stage: 'loaded', about: 'version 2, live after 310 ms', problem: undefined },
  ...{ tests: 'quick checks: 12 passed, 0 failed, 1 skipped', hasFailures: false, failures: [] },
  ...{ calls: [{ hook: 'fetchRates', durationMs: 12, outcome: 'failed' }], log: ['warn no price'] },
  ...{ wallets: ['Bitcoin  0.05 BTC'], isOnline: true, url: undefined }
}

test('the screen of a plugin shows its version, checks, calls, log and keys, and fits a small terminal', t => {
  const frameOf = (lines: Partial<DevLines>): string => {
    const shown = { ...DEV_LINES, ...lines }
    const screen = render(<DevScreen lines={shown} height={23} width={80} isAscii={true} onKey={() => {}} />)
    const frame = screen.lastFrame() ?? ''
    screen.unmount()
    return frame
  }
  const frame = frameOf({})
  for (const text of [
    '* corner (rates) version 2, live after 310 ms',
    'fetchRates  12 ms  failed',
    'warn no price'
  ])
    t.true(frame.includes(text), frame)
  t.true(frame.includes('Bitcoin  0.05 BTC') && frame.includes('q quit'))
  const problem = `src/index.ts:3:7: ${'a long sentence '.repeat(10)}end`
  const full = frameOf({
    ...{ stage: 'failed', problem, hasFailures: true, url: `http://127.0.0.1:1/#token=${'x'.repeat(80)}` },
    failures: Array.from({ length: 30 }, (_, at) => `check ${at}`),
    calls: Array.from({ length: 30 }, () => ({ hook: 'fetchRates', durationMs: 1, outcome: 'done' })),
    log: ['\u001b[2Jhostile', ...Array.from({ length: 30 }, (_, at) => `line ${at}`)]
  })
  t.true(full.split('\n').length <= 23, full)
  t.true(full.includes('src/index.ts:3:7:') && full.includes('end'), 'the problem is not cut')
  t.true(full.includes('line 29') && !full.includes('\u001b[2J'))
})

test('the keys of the screen of a plugin do what its last line says, and Ctrl-C ends it', async t => {
  const pressed: DevKey[] = []
  const onKey = (key: DevKey): void => void pressed.push(key)
  const screen = render(<DevScreen lines={DEV_LINES} height={23} width={80} isAscii={false} onKey={onKey} />)
  await waitFor(() => screen.stdin.listenerCount('readable') > 0)
  for (const key of ['r', 't', 'f', 'o', 'd', 'x', 'q', '\u0003']) screen.stdin.write(key)
  await waitFor(() => pressed.length >= 7)
  screen.unmount()
  t.deepEqual(pressed, ['reload', 'test', 'fund', 'network', 'devtools', 'quit', 'quit'])
})
