import type { ExecutionContext } from 'ava'
import test from 'ava'
import { CliError } from '../../cli/errors/cli-error.ts'
import { failureOf } from '../../cli/errors/failure.ts'
import { failureLines } from '../../cli/output/print-result.ts'
import { kernelSettings } from '../../cli/profile/open-profile.ts'
import { openWorld } from '../../cli/profile/open-world.ts'
import { profilePaths } from '../../cli/profile/paths.ts'
import { makePaint } from '../../cli/terminal/terminal.ts'
import { type Context, createKernel, type KernelOptions, WalletError } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { memoryStorage } from '../../plugins/storage/memory.ts'
import { makeHome, type Ran } from '../helpers/command-line.ts'
import { CHEAP_SNRP } from '../helpers/device.ts'
import { runInProcess } from '../helpers/in-process.ts'

// What strangers call themselves is shown to the owner, who has to judge it.

const { home, remove } = makeHome()
const password = 'Correct Horse 1'
const pin = '4815'

const HOSTILE = `evil\u001b[2J\u009b1A\u0007\r\nYour device\u202e${'x'.repeat(900)}`
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNSAFE = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u202e]/

const run = (words: string, secrets: object = { pin }): Promise<Ran> =>
  runInProcess([...words.split(' '), '--secrets-stdin'], { home, input: JSON.stringify(secrets) })

/** The stop of a world that was started. */
const startWorld = async (): Promise<() => Promise<unknown>> => {
  const stop = new AbortController()
  let ended: Promise<unknown> = Promise.resolve()
  await new Promise<void>(resolve => {
    ended = runInProcess(['fake', 'start', '--json'], {
      home,
      signal: stop.signal,
      onOutput: () => resolve()
    })
  })
  return () => {
    stop.abort(new CliError('INTERRUPTED', 'Stopped'))
    return ended
  }
}

let stopWorld: () => Promise<unknown> = async () => {}
test.before(async () => {
  stopWorld = await startWorld()
  await run('account create alice', { password, pin })
  await run('2fa enable')
})
test.after.always(async () => {
  await stopWorld()
  remove()
})

/** A kernel of somebody else's, in the same world. */
const openStranger = async (t: ExecutionContext, settings: Partial<KernelOptions>): Promise<Context> => {
  const paths = profilePaths('default', { HOLDFAST_HOME: home }, 'stranger')
  const world = await openWorld(paths, { io: makeNodeIo(), holder: 'a test' })
  const kernel = await createKernel({
    ...kernelSettings(world.addresses),
    io: world.io,
    passwordSnrp: CHEAP_SNRP,
    plugins: [memoryStorage()],
    ...settings
  })
  t.teardown(async () => {
    await kernel.close()
    await world.close()
  })
  return kernel.context
}

const checkHarmless = (t: ExecutionContext, { code, stdout, stderr }: Ran): void => {
  t.is(code, 0, stderr)
  const shown = `${stdout}${stderr}`
  t.true(shown.includes('evil'), shown)
  for (const line of shown.split('\n')) {
    t.notRegex(line, UNSAFE)
    t.true(line.length <= 250, line)
  }
}

test.serial('the name of a waiting device can neither move the cursor nor fill the screen', async t => {
  const context = await openStranger(t, { deviceDescription: HOSTILE })
  await t.throwsAsync(context.loginWithPassword('alice', password), { code: 'OTP' })
  checkHarmless(t, await runInProcess(['messages'], { home }))
  for (const words of ['voucher list', 'voucher approve --all --dry-run']) checkHarmless(t, await run(words))
  const ran = await run('voucher list --json')
  t.notRegex(ran.stdout.trimEnd(), UNSAFE)
  t.is(ran.json.data.vouchers[0].deviceDescription, HOSTILE, 'programs get all of it')
})

test.serial('the name of an app that requests a login cannot either', async t => {
  const context = await openStranger(t, { appId: HOSTILE })
  const { lobbyId } = await context.requestEdgeLogin()
  for (const words of ['show', 'approve --dry-run', 'close']) {
    const [verb, ...flags] = words.split(' ')
    checkHarmless(t, await run(['lobby', verb, lobbyId, ...flags].join(' ')))
  }
})

test('the details of a refused code can be printed, and pasted into a shell', t => {
  const voucherId = "v'; rm -rf ~ #"
  const remark = '2030-01-01 (\u001b[2J)'
  t.false(Number.isNaN(Date.parse(remark)), 'a date may carry a remark')
  const error = new WalletError('OTP', { reason: 'otp', voucherId, voucherActivates: remark })
  const lines = failureLines(failureOf(error), [], makePaint(false))
  for (const line of lines) t.notRegex(line, UNSAFE)
  t.true(
    lines.some(line => line.includes(`holdfast voucher approve 'v'\\''; rm -rf ~ #'`)),
    lines.join('\n')
  )
  const challenge = new WalletError('CHALLENGE', {
    challengeId: '$(reboot)',
    challengeUri: 'https://x.test/'
  })
  t.is(failureOf(challenge).next[0]?.command, "holdfast login <user> --challenge-id '$(reboot)'")
})
