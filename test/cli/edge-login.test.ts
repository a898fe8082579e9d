import test from 'ava'
import { CliError } from '../../cli/errors/cli-error.ts'
import { leaveOut, usesAgent } from '../helpers/agents.ts'
import { makeHome } from '../helpers/command-line.ts'
import { failed, succeeded } from '../helpers/envelopes.ts'
import { runInProcess } from '../helpers/in-process.ts'

const { home, remove } = makeHome()
const pin = '4815'

/** A run that goes on until it is stopped, with the objects it has printed. */
const start = (args: readonly string[], input = '') => {
  const stop = new AbortController()
  let text = ''
  let emit = (): void => {}
  const onOutput = (chunk: string): void => {
    text += chunk
    emit()
  }
  const ended = runInProcess(args, { home, signal: stop.signal, onOutput, input })
  const lines = () =>
    text
      .split('\n')
      .slice(0, -1)
      .map(line => JSON.parse(line))
  return {
    ended,
    stop: (error?: Error) => stop.abort(error),
    lines,
    async firstLine() {
      while (!text.includes('\n')) {
        await Promise.race([
          new Promise<void>(resolve => {
            emit = resolve
          }),
          ended.then(({ stdout, stderr }) => {
            if (stdout === '') throw new Error(stderr)
          })
        ])
      }
      return text.split('\n')[0] ?? ''
    }
  }
}

const as = (words: string, secrets: object) =>
  runInProcess([...words.split(' '), '--json', '--secrets-stdin'], { home, input: JSON.stringify(secrets) })

const world = start(['fake', 'start', '--json'])
test.before(async () => {
  await world.firstLine()
})
test.after.always(async () => {
  world.stop()
  await world.ended
  remove()
})

test.serial(
  'a logged-in device approves a device without a secret, which then opens the account by PIN',
  async t => {
    succeeded(t, await as('account create alice', { password: 'Correct Horse 1', pin }), 'account.create/1')
    const phone = start(['login', '--with', 'edge', '--device', 'phone', '--json'])
    const pending = JSON.parse(await phone.firstLine())
    t.like(pending, { event: 'login.pending', seq: 1 })
    const { lobbyId, link } = pending.data
    t.is(link, `edge://edge/${lobbyId}`)

    const shown = succeeded(t, await as(`lobby show ${link}`, { pin }), 'lobby.show/1')
    t.like(shown.data, { appId: '', isWholeAccount: true })
    failed(t, await as(`lobby approve ${lobbyId} --no-wait`, { pin }), 'CONFIRMATION_REQUIRED', 5)
    succeeded(t, await as(`lobby approve ${link} --no-wait --yes`, { pin }), 'lobby.approve/1')
    const { code, stderr } = await phone.ended
    t.is(code, 0, stderr)
    const events = phone.lines()
    t.deepEqual(
      events.map(({ event }) => event),
      ['login.pending', 'login.started', 'login.done', 'end']
    )
    t.is(events[1].data.username, 'alice')
    t.like(events[2].data, { username: 'alice', method: 'edge', edgeLogin: false, pinEnabled: true })
    t.is(events[3].reason, 'done')
    const after = succeeded(t, await as('login alice --device phone', { pin }), 'login/1')
    t.is(after.data.method, 'pin')
  }
)

test.serial('Ctrl-C cancels a request and ends with 130', async t => {
  const tablet = start(['login', '--with', 'edge', '--device', 'tablet', '--json'])
  const { data } = JSON.parse(await tablet.firstLine())
  tablet.stop(new CliError('INTERRUPTED', 'Stopped'))
  t.is((await tablet.ended).code, 130)
  t.regex(data.lobbyId, /^[1-9A-HJ-NP-Za-km-z]+$/)
})

test.serial(
  '--link prints only the link, and an account that only its login key opens gets a warning',
  async t => {
    const light = { device: '--device light', pin: '2222' }
    await as(`account create --light ${light.device}`, { pin: light.pin })
    const { loginKey } = (await as(`account key --reveal ${light.device}`, { pin: light.pin })).json.data
    const key = { 'login-key': loginKey }
    await as(`account pin disable --yes ${light.device}`, { pin: light.pin })
    const pendingQuery = start(['login', '--with', 'edge', '--device', 'new', '--link'])
    const link = await pendingQuery.firstLine()
    t.regex(link, /^edge:\/\/edge\/[1-9A-HJ-NP-Za-km-z]+$/)
    succeeded(t, await as(`lobby approve ${link} --no-wait --yes ${light.device}`, key), 'lobby.approve/1')
    const { code, stdout, stderr } = await pendingQuery.ended
    t.is(code, 0, stderr)
    t.regex(stdout, /opens here with\tonly its login key/)
    t.regex(stderr, /warning: .* has neither PIN nor password: the next command here needs the login key/)
    succeeded(t, await as('wallets list --device new', key), 'wallets.list/1')
  }
)

test.serial('a request without an approval in time ends with its own code', async t => {
  const late = start(['login', '--with', 'edge', '--device', 'late', '--lobby-timeout', '1s', '--json'])
  const { code } = await late.ended
  const failure = late.lines().at(-1)
  t.false(failure.ok)
  t.is(code, failure.error.exitCode)
  t.is(failure.error.code, 'EDGE_LOGIN_EXPIRED')
})

test.serial('lobby commands refuse ids without a lobby', async t => {
  failed(t, await as('lobby show 4xwfNmV6qoSM', { pin }), 'LOBBY_NOT_FOUND', 6)
  failed(t, await as('lobby show edge://edge/', { pin }), 'LOBBY_NOT_FOUND', 6)
})

test.serial('a PIN that comes with an edge login opens the account from then on', async t => {
  const pendingQuery = start(
    ['login', '--with', 'edge', '--device', 'fresh', '--json', '--new-pin-stdin'],
    '1357\n'
  )
  const { data } = JSON.parse(await pendingQuery.firstLine())
  succeeded(t, await as(`lobby approve ${data.lobbyId} --no-wait --yes`, { pin }), 'lobby.approve/1')
  t.is((await pendingQuery.ended).code, 0)
  succeeded(t, await as('login alice --device fresh', { pin: '1357' }), 'login/1')
})

// The devices of an agent share its world.
const alone = usesAgent ? leaveOut : test.serial

alone('a request in a world of the command itself fails, since no device could approve it', async t => {
  const { home: alone, remove: tidy } = makeHome()
  t.teardown(tidy)
  const ran = await runInProcess(['login', '--with', 'edge', '--json'], { home: alone })
  const { error } = failed(t, ran, 'WORLD_NOT_SHARED', 4)
  t.is(error.next[0].command, 'holdfast fake start')
  failed(t, await runInProcess(['login', 'alice', '--with', 'edge', '--json'], { home: alone }), 'USAGE', 2)
})
