import { type ChildProcess, execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { base58 } from '@scure/base'
import test from 'ava'
import { openProfileKernel } from '../../cli/profile/open-profile.ts'
import { openWorld } from '../../cli/profile/open-world.ts'
import { profilePaths } from '../../cli/profile/paths.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { openFileDisk } from '../../plugins/storage/file/file-storage.ts'
import { ended, homeFor, runHoldfast, startHoldfast } from '../helpers/command-line.ts'
import { formsOf } from '../helpers/key-forms.ts'
import { onTerminal, runOnTerminal } from '../helpers/on-terminal.ts'

const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'

/** Resolves when a child has said something. */
const until = async (child: ChildProcess, stream: 'stderr' | 'stdout', pattern: RegExp): Promise<string> => {
  let text = ''
  const source = child[stream]
  source?.setEncoding('utf8')
  while (!pattern.test(text)) {
    const [chunk] = await once(source ?? child, 'data')
    text += chunk
  }
  return text
}

test('a command waits for a profile that another process holds, then fails with the name of the holder', async t => {
  const home = homeFor(t)
  const disk = await openFileDisk(join(home, 'data', 'default', 'fake-world'), { holder: 'holdfast send' })
  const started = Date.now()
  const { code, json, stderr } = await runHoldfast(['account', 'list', '--json'], { home })
  await disk.close?.()
  t.is(code, 8)
  t.like(json.error, { code: 'STORAGE_LOCKED', retryable: true })
  t.is(json.error.message, `The data folder is in use by holdfast send (process ${process.pid})`)
  t.regex(stderr, /^error: The data folder is in use by holdfast send .*\(STORAGE_LOCKED\)\nhint: /)
  t.true(Date.now() - started >= 4900)
})

test('a reader that goes away ends a command quietly with 0', async t => {
  const home = homeFor(t)
  const child = startHoldfast(['help', 'exit-codes'], { home })
  child.stdout?.destroy()
  const { code, stderr } = await ended(child)
  t.is(code, 0)
  t.is(stderr, '')
})

test('fake start serves the world; commands use it over the network, and Ctrl-C ends it in order', async t => {
  const home = homeFor(t)
  const server = startHoldfast(['fake', 'start', '--json'], { home })
  t.teardown(() => server.kill('SIGKILL'))
  const said = JSON.parse(await until(server, 'stdout', /\n/))
  t.is(said.meta.schema, 'fake.start/1')
  t.regex(said.data.authServer, /^http:\/\/localhost:\d+\/api$/)
  const record = join(home, 'state', 'default', 'fake-world.json')
  t.true(existsSync(record))

  const again = await runHoldfast(['fake', 'start', '--json'], { home })
  t.is(again.code, 4)
  const created = await runHoldfast(['account', 'create', '--light', '--pin-stdin', '--json'], {
    home,
    input: '1234'
  })
  t.is(created.code, 0, created.stderr)
  const pin = { home, input: '1234' }
  const wallet = await runHoldfast(
    ['wallets', 'create', 'bitcoin', '--name', 'Net', '--pin-stdin', '--json'],
    pin
  )
  t.is(wallet.code, 0, wallet.stderr)
  const fund = ['fake', 'chain', 'fund', wallet.json.data.address, '0.1 BTC', '--confirm', '--json']
  const funded = await runHoldfast(fund, { home })
  t.is(funded.code, 0, funded.stderr)
  const bad = await runHoldfast(['fake', 'chain', 'fund', `${PAYEE.slice(0, -1)}x`, '1 BTC', '--json'], {
    home
  })
  t.is(bad.code, 2)
  const balance = await runHoldfast(['balance', 'Net', '--pin-stdin', '--json'], pin)
  t.is(balance.json.data.balances[0].native, '10000000')

  const rate = await runHoldfast(['rates', 'get', 'BTC', 'iso:USD', '--json'], { home })
  t.is(rate.code, 0, rate.stderr)
  t.is(rate.json.data.rate, '65000', 'of the market of the fake world, not of the real one')

  server.kill('SIGINT')
  t.deepEqual(await once(server, 'close'), [0, null])
  t.false(existsSync(record))
  const after = await runHoldfast(['balance', '--pin-stdin', '--json'], pin)
  t.is(after.json.data.balances[0].native, '10000000', 'the same world, now inside the process')
})

test('a command reaches the rate providers of a world that fake start serves, and never the real ones', async t => {
  const home = homeFor(t)
  const server = startHoldfast(['fake', 'start', '--json'], { home })
  t.teardown(() => server.kill('SIGKILL'))
  await until(server, 'stdout', /\n/)
  const paths = profilePaths('default', { HOLDFAST_HOME: home })
  const world = await openWorld(paths, { io: makeNodeIo(), holder: 'a test' })
  t.true(world.isShared)
  const { text } = await world.io.fetch('https://api.coinbase.com/v2/exchange-rates?currency=BTC')
  t.is(JSON.parse(text).data.rates.USD, '65000')
  t.is((await world.io.fetch('https://example.com/')).status, 404)
  await world.close()
})

test('a record of a world whose process died is ignored', async t => {
  const home = homeFor(t)
  const server = startHoldfast(['fake', 'start', '--json'], { home })
  await until(server, 'stdout', /\n/)
  server.kill('SIGKILL')
  await once(server, 'close')
  t.true(existsSync(join(home, 'state', 'default', 'fake-world.json')))
  const mined = await runHoldfast(['fake', 'chain', 'mine', '3', '--json'], { home })
  t.is(mined.json.data.height, 3)
})

/** Has a process tell on standard error when it begins to listen to Ctrl-C; before that, the signal would end it. */
const PRINTS_LISTENING = `--import data:text/javascript,${encodeURIComponent(
  'process.on("newListener", name => name === "SIGINT" && process.stderr.write("listens\\n"))'
)}`

test('Ctrl-C stops a command that waits and ends it with 130', async t => {
  const home = homeFor(t)
  const disk = await openFileDisk(join(home, 'data', 'default', 'fake-world'), { holder: 'a test' })
  t.teardown(() => disk.close?.())
  const env = { NODE_OPTIONS: PRINTS_LISTENING }
  const child = startHoldfast(['account', 'list', '--json'], { home, env })
  const run = ended(child)
  // It cannot end while the disk is held.
  await until(child, 'stderr', /listens/)
  child.kill('SIGINT')
  const { code, json } = await run
  t.is(code, 130)
  t.is(json.error.code, 'INTERRUPTED')
})

test('a command ends also while the disk does not answer; the next one takes the folder over', async t => {
  const home = homeFor(t)
  const { device } = profilePaths('default', { HOLDFAST_HOME: home })
  await mkdir(device, { recursive: true })
  // A pipe without a text is a disk that does not answer.
  const pipe = join(device, 'client.json')
  await promisify(execFile)('mkfifo', [pipe])
  const child = startHoldfast(['account', 'list'], { home })
  t.teardown(() => child.kill('SIGKILL'))
  const run = ended(child)
  const file = await open(pipe, 'w')
  child.kill('SIGINT')
  const { stderr } = await run
  t.regex(stderr, /Stopped \(INTERRUPTED\)/)
  await file.close()
  await rm(pipe)
  t.is((await runHoldfast(['account', 'list'], { home })).code, 0)
})

onTerminal('on a terminal the PIN is hidden, the review defaults to no, and y sends', async t => {
  const home = homeFor(t)
  const input = '7316'
  await runHoldfast(['account', 'create', '--light', '--pin-stdin'], { home, input })
  const wallet = await runHoldfast(['wallets', 'create', 'bitcoin', '--name', 'W', '--pin-stdin', '--json'], {
    home,
    input
  })
  await runHoldfast(['fake', 'chain', 'fund', wallet.json.data.address, '1 BTC', '--confirm'], { home })
  const send = ['send', 'W', '--to', PAYEE, '--amount', '0.25 BTC']
  const pin = [/PIN of/, '7316\r'] as const
  const declined = await runOnTerminal(t, send, { home, typed: [pin, [/\[y\/N\]/, '\r']] })
  t.is(declined.code, 5)
  t.regex(declined.screen, /amount +0\.25 BTC/)
  t.regex(declined.screen, /remaining +0\.7\d+ BTC/)
  t.regex(declined.screen, /bcrt 1qw5 08d6 qejx tdg4 y5r3 zarv ary0 c5xw 7kyg t080/)
  t.regex(declined.screen, /\(DECLINED\)/)
  t.notRegex(declined.screen, /7316/)
  t.notRegex(declined.screen, /toggle/)
  const stopped = await runOnTerminal(t, send, { home, typed: [[/PIN of/, '\u0003']] })
  t.is(stopped.code, 130)
  const sent = await runOnTerminal(t, send, { home, typed: [pin, [/\[y\/N\]/, 'y']] })
  t.is(sent.code, 0, sent.screen)
  t.regex(sent.screen, /txid +[0-9a-f]{64}/)
  const list = await runHoldfast(['tx', 'list', '--pin-stdin', '--json'], { home, input })
  t.is(list.json.data.transactions.length, 2, 'the declined one is not there')
})

test('no secret reaches the state files of a profile', async t => {
  const home = homeFor(t)
  await runHoldfast(['account', 'create', '--light', '--pin-stdin'], { home, input: '90210' })
  const state = readFileSync(join(home, 'state', 'default', 'current-account.json'), 'utf8')
  t.deepEqual(Object.keys(JSON.parse(state)), ['loginId', 'method', 'appId', 'isEdgeLogin'])
})

test('no key and no secret is in what the commands print', async t => {
  const home = homeFor(t)
  const password = 'canary password 7Q'
  // So long that it stands in no random number, id or time by chance.
  const pin = '808151623428081516'
  const said: string[] = []
  const run = async (args: readonly string[], input: object = { pin }): Promise<void> => {
    const ran = await runHoldfast([...args, '--secrets-stdin', '-vv'], { home, input: JSON.stringify(input) })
    said.push(ran.stdout, ran.stderr)
  }
  await run(['account', 'create', 'alice', '--json'], { password, pin })
  await run(['wallets', 'create', 'bitcoin', '--name', 'Savings', '--json'])
  await run(['fake', 'chain', 'fund', 'Savings', '0.5 BTC', '--confirm', '--json'])
  await run(['send', 'Savings', '--to', PAYEE, '--amount', '0.01 BTC', '--yes', '--json'])
  await run(['tx', 'list', 'Savings', '--json'])
  await run(['wallets', 'show', 'Savings', '--json'])
  await run(['wallets', 'show', 'Savings'])
  await run(['send', 'Savings', '--to', 'nonsense', '--amount', '0.01 BTC', '--yes', '--json'])
  const text = said.join('\n')
  t.regex(text, /"txid":"[0-9a-f]{64}"/)
  t.regex(text, /ADDRESS_INVALID/)
  for (const needle of [password, pin, ...(await keysOf(home, pin))]) t.false(text.includes(needle))
})

/** Every key of the one account in a home, in every form in which it could leak. */
const keysOf = async (home: string, pin: string): Promise<readonly string[]> => {
  const io = makeNodeIo()
  const paths = profilePaths('default', { HOLDFAST_HOME: home })
  const world = await openWorld(paths, { io, holder: 'a test' })
  const opening = {
    io,
    holder: 'a test',
    isOffline: () => false,
    device: 'default',
    logLevel: 'warn',
    onLog: () => {}
  } as const
  const kernel = await openProfileKernel(paths, world, opening)
  const account = await kernel.context.loginWithPIN({ username: 'alice' }, pin)
  const [walletId = ''] = account.getSnapshot().walletIds
  const { bitcoinKey, dataKey, syncKey } = await account.walletKeys.getRawPrivateKey(walletId)
  const bytes = [dataKey, syncKey].map(key => io.crypto.fromBase64(String(key)))
  const needles = [
    String(bitcoinKey),
    ...[...bytes, base58.decode(await account.getLoginKey())].flatMap(formsOf)
  ]
  await kernel.close()
  await world.close()
  return needles
}
