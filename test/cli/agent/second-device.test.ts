import test from 'ava'
import { usesAgent } from '../../helpers/agents.ts'
import { makeHome } from '../../helpers/command-line.ts'
import { failed, succeeded } from '../../helpers/envelopes.ts'
import { runInProcess } from '../../helpers/in-process.ts'
import { onTerminal, runOnTerminal } from '../../helpers/on-terminal.ts'

const { home, remove } = makeHome()
const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const pin = '4815'
const password = 'Correct Horse 1'
const stop = new AbortController()
let served: Promise<unknown> = Promise.resolve()

const run = (words: string, secrets: object = { pin }) =>
  runInProcess([...words.split(' '), '--json', '--secrets-stdin'], { home, input: JSON.stringify(secrets) })

test.before(async () => {
  await new Promise<void>(resolve => {
    served = runInProcess(['fake', 'start', '--json'], {
      home,
      signal: stop.signal,
      onOutput: () => resolve()
    })
  })
  await run('account create alice', { password, pin })
  await run('wallets create bitcoin --name Savings')
  await run('fake chain fund Savings 0.1BTC --confirm')
  await run('login alice --device phone', { password })
  const { key } = (await run('policy device --device phone')).json.data
  await run(`policy add big second-device --max 0.001BTC --approver phone=${key}`)
})
test.after.always(async () => {
  stop.abort()
  await served
  remove()
})

/** An agent has the account open. */
const LOGIN: readonly (readonly [RegExp, string])[] = usesAgent ? [] : [[/PIN of/, `${pin}\r`]]
const SEND = ['send', 'Savings', '--to', PAYEE, '--fee', 'low', '--amount']

/** Begins a payment on a terminal, up to its request to the phone. */
const beginPayment = (t: Parameters<typeof runOnTerminal>[0], amount: string) => begin(t, [...SEND, amount])

const begin = (t: Parameters<typeof runOnTerminal>[0], command: readonly string[]) => {
  let drawn = ''
  let found = (_: string): void => {}
  let fail = (_: Error): void => {}
  const code = new Promise<string>((resolve, reject) => {
    found = resolve
    fail = reject
  })
  code.catch(() => {})
  const ended = runOnTerminal(t, command, {
    home,
    typed: [...LOGIN, [/\[y\/N\]/, 'y']],
    onDrawn(text) {
      drawn += text
      const [, id] = /policy approve ([1-9A-HJ-NP-Za-km-z]{10,})\s/.exec(drawn) ?? []
      if (id !== undefined) found(id)
    }
  })
  void ended.then(({ screen }) => fail(new Error(`it showed no code: ${screen}`)), fail)
  return { ended, code }
}

const answer = (t: Parameters<typeof runOnTerminal>[0], code: string, ...typed: readonly string[]) => {
  const questions = [/Type "yes"/, /to approve it/]
  return runOnTerminal(t, ['policy', 'approve', code, '--device', 'phone'], {
    home,
    typed: [...LOGIN, ...typed.map((text, at) => [questions[at] ?? /never/, text] as const)]
  })
}

onTerminal(
  'a payment or swap above the limit is approved on a second device, after the same review and the PIN once more',
  async t => {
    const count = async () => (await run('tx list Savings')).json.data.transactions.length
    const before = await count()
    const { summary } = (await run(`${SEND.join(' ')} 0.01 --dry-run`)).json.data
    t.regex(summary.warnings.join(' '), /the rule "big": it waits for the device "phone"/)
    t.like(summary.rules, { isAllowed: false, approvers: [{ name: 'phone' }] })

    const refused = beginPayment(t, '0.01')
    const no = await answer(t, await refused.code, 'no\r')
    t.is(no.code, 0, no.screen)
    const stopped = await refused.ended
    t.is(stopped.code, 36, stopped.screen)
    t.regex(stopped.screen, /the device "phone"\s+has refused it/)

    const paying = beginPayment(t, '0.01')
    const code = await paying.code
    const wrong = await answer(t, code, 'yes\r', '9999\r')
    t.not(wrong.code, 0, wrong.screen)
    const yes = await answer(t, code, 'yes\r', `${pin}\r`)
    t.is(yes.code, 0, yes.screen)
    t.regex(yes.screen, /0\.01 BTC/)
    t.true(yes.screen.replace(/\s/g, '').includes(PAYEE))
    const paid = await paying.ended
    t.is(paid.code, 0, paid.screen)
    t.regex(paid.screen, /waiting for "phone", \d+:\d\d left/)
    t.regex(paid.screen, /[█▀▄]{8}/, 'the code is drawn as a QR code')
    t.regex(paid.screen, /txid/)
    t.is(await count(), before + 1)

    await run('wallets create litecoin --name Pocket')
    const swapCount = async () => (await run('swap history')).json.data.swaps.length
    const swapsBefore = await swapCount()
    const swap = ['swap', 'run', '--from', 'Savings', '--to', 'Pocket', '--amount', '0.01 BTC']
    const swapping = begin(t, swap)
    const yesToSwap = await answer(t, await swapping.code, 'yes\r', `${pin}\r`)
    t.is(yesToSwap.code, 0, yesToSwap.screen)
    t.regex(yesToSwap.screen, /0\.01 BTC/)
    t.regex(yesToSwap.screen, /swap +by .*, for \d[\d.]* LTC/)
    t.regex(yesToSwap.screen, /paid out to +\w+/)
    t.notRegex(yesToSwap.screen, /no wallet of this account/)
    const swapped = await swapping.ended
    t.is(swapped.code, 0, swapped.screen)
    t.regex(swapped.screen, /the rule "big": it waits for the\s+device "phone"/)
    t.regex(swapped.screen, /txid/)
    t.is(await swapCount(), swapsBefore + 1)
  }
)

test.serial('a script cannot approve, and a payment below the limit needs nobody', async t => {
  failed(t, await run('policy approve nowhere --yes'), 'CONFIRMATION_REQUIRED', 5)
  const { rules, key } = (await run('policy device --device phone')).json.data
  t.regex(key, /^[0-9a-f]{64}$/)
  t.deepEqual(rules, [], 'the phone has not synced the rule')
  failed(t, await run('policy add odd second-device --approver phone'), 'USAGE', 2)
  succeeded(t, await run(`${SEND.join(' ')} 0.0005 --yes`), 'send/1')
})

// One after the other: each has the profile to itself.
const afterwards = onTerminal === test ? test.serial : test.skip

afterwards(
  'a second device is warned of a network fee that is not usual, as the device that pays',
  async t => {
    const paying = begin(t, [
      ...SEND.slice(0, -3),
      '--custom-fee',
      'satPerByte=1900',
      '--max-fee',
      '0.05 BTC',
      '--amount',
      '0.01'
    ])
    const no = await answer(t, await paying.code, 'no\r')
    t.is(no.code, 0, no.screen)
    t.regex(no.screen.replace(/\s+/g, ' '), /careful the network fee of .* is more than ten times the usual/)
    t.is((await paying.ended).code, 36)
  }
)
