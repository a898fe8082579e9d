import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { CliError } from '../../cli/errors/cli-error.ts'
import type { Plugin } from '../../kernel/index.ts'
import { leaveOut, usesAgent } from '../helpers/agents.ts'
import { ended, homeFor, startHoldfast } from '../helpers/command-line.ts'
import { waitFor } from '../helpers/device.ts'
import { failed } from '../helpers/envelopes.ts'
import { type InProcessOptions, runInProcess } from '../helpers/in-process.ts'
import { formsOf } from '../helpers/key-forms.ts'
import { openPanel } from '../helpers/panel-socket.ts'
import { serve } from '../helpers/served-devtools.ts'

const STOP = new CliError('INTERRUPTED', 'Stopped')
const PASSWORD = 'canary Password 7Q'
// So long that it stands in no random number, id or time by chance.
const PIN = '808151623428081516'
const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'

/** Every file below a folder, as text of bytes. */
const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => readFileSync(join(entry.parentPath, entry.name), 'latin1'))

test('a panel over the socket makes an account and a wallet, sees its engine, and sends with a review; no byte holds a secret', async t => {
  const home = homeFor(t)
  const served = await serve(t, home, ['-vv'])
  const { client, frames } = served
  t.deepEqual(client.status.getSnapshot(), {
    connection: 'live',
    isReadOnly: false,
    hasWorld: true,
    missed: 0
  })
  const { accountId } = await client.runAction('account.create', {
    username: 'alice',
    password: PASSWORD,
    pin: PIN
  })
  const { walletId } = await client.runAction('wallet.create', {
    accountId,
    walletType: 'wallet:bitcoin',
    name: 'Net'
  })
  const view = () => client.view.getSnapshot()
  await waitFor(() => view().engines.get(walletId)?.syncRatio === 1)
  t.is(view().engines.get(walletId)?.pluginId, 'bitcoin')
  await client.runAction('world.fund', { walletId, nativeAmount: '5000000' })
  await client.runAction('world.mine', { pluginId: 'bitcoin', count: 1 })
  await waitFor(() => view().wallets.get(walletId)?.balanceDetails?.['']?.spendable === '5000000')

  const { draftId, review } = await client.runAction('spend.draft', {
    walletId,
    publicAddress: PAYEE,
    nativeAmount: '100000'
  })
  t.deepEqual(review.targets, [{ publicAddress: PAYEE, nativeAmount: '100000' }])
  const { txid } = await client.runAction('spend.approve', { draftId })
  t.regex(txid, /^[0-9a-f]{64}$/)
  await t.throwsAsync(client.runAction('account.login', { username: 'alice', password: `${PASSWORD}!` }), {
    code: 'PASSWORD'
  })
  await waitFor(() =>
    client.events.getSnapshot().some(({ hook, data }) => hook === 'action' && data.errorCode === 'PASSWORD')
  )
  const ended = await served.stop()
  t.is(ended.code, 0, ended.stderr)
  t.is(ended.stdout.trim().split('\n').length, 1)

  const token = new URL(served.url).hash.replace('#token=', '')
  t.is(token.length, 43)
  for (const file of filesBelow(home)) t.false(file.includes(token))
  t.false(ended.stderr.includes(token))
  const reveal = async (...args: string[]) => {
    const ran = await runInProcess([...args, '--reveal', '--json', '--secrets-stdin', '-a', 'alice'], {
      home,
      input: JSON.stringify({ password: PASSWORD })
    })
    t.is(ran.code, 0, ran.stderr)
    return ran.json.data
  }
  const { loginKey } = await reveal('account', 'key')
  const { keys } = await reveal('wallets', 'keys', walletId, '--raw')
  const secrets: string[] = [loginKey, ...Object.values(keys).filter(key => typeof key === 'string')]
  t.true(secrets.length >= 4)
  const said = frames.join('\n')
  t.true(said.includes(walletId) && said.includes('"logged"'))
  for (const secret of [
    PASSWORD,
    PIN,
    token,
    ...secrets,
    ...secrets.flatMap(key => formsOf(Buffer.from(key))),
    ...secrets.flatMap(key => formsOf(Buffer.from(key, 'base64')))
  ])
    t.false(said.includes(secret), secret)
})

test('the panel of a profile on a real network has no fake world and no login server, and learns network and profile for its commands', async t => {
  const home = homeFor(t)
  const made = await runInProcess(
    ['profile', 'create', 'real', '--network', 'regtest', '--yes', '--confirm', 'yes', '--json'],
    { home }
  )
  t.is(made.code, 0, made.stderr)
  const { client, stop } = await serve(t, home, ['--profile', 'real'])
  t.deepEqual(client.status.getSnapshot(), {
    ...{ connection: 'live', isReadOnly: false, hasWorld: false, missed: 0 },
    ...{ hasLoginServer: false, network: 'regtest', profile: 'real' }
  })
  t.is((await stop()).code, 0)
})

test('naming an account with its secret logs it in, and starts its wallets unless they are paused', async t => {
  const home = homeFor(t)
  const input = JSON.stringify({ password: PASSWORD })
  const secret = ['--secrets-stdin', '-a', 'bob']
  const made = await runInProcess(['account', 'create', 'bob', '--json', '--secrets-stdin'], { home, input })
  t.is(made.code, 0, made.stderr)
  const created = await runInProcess(['wallets', 'create', 'bitcoin', '--json', ...secret], { home, input })
  t.is(created.code, 0, created.stderr)
  const second = await runInProcess(['wallets', 'create', 'litecoin', '--name', 'Still', ...secret], {
    home,
    input
  })
  t.is(second.code, 0, second.stderr)
  t.is((await runInProcess(['wallets', 'pause', 'Still', ...secret], { home, input })).code, 0)
  const wrong = { home, input: JSON.stringify({ password: `${PASSWORD}!` }) }
  failed(t, await runInProcess(['devtools', '--json', ...secret], wrong), 'PASSWORD', 10)

  const { client } = await serve(t, home, secret, { input })
  const wallets = () => [...client.view.getSnapshot().wallets.values()]
  await waitFor(() => wallets().filter(({ isPaused }) => !isPaused).length === 1 && wallets().length === 2)
  await waitFor(() =>
    [...client.view.getSnapshot().engines.values()].some(({ syncRatio }) => syncRatio === 1)
  )
  t.deepEqual(
    wallets().flatMap(({ isPaused, name }) => (isPaused ? [name] : [])),
    ['Still']
  )
  t.is([...client.view.getSnapshot().accounts.values()][0]?.isLoggedIn, true)
})

test('a pause on the command line holds after a login from the panel, and the reverse', async t => {
  const home = homeFor(t)
  const input = JSON.stringify({ password: PASSWORD })
  const run = async (...args: readonly string[]) => {
    const ran = await runInProcess([...args, '--json', '--secrets-stdin', '-a', 'bob'], { home, input })
    t.is(ran.code, 0, ran.stderr)
    return ran.json.data
  }
  const stages = async (): Promise<unknown> =>
    (await run('sync', 'status')).wallets.map(({ name, stage }: { name: string; stage: string }) => [
      name,
      stage
    ])
  await runInProcess(['account', 'create', 'bob', '--secrets-stdin'], { home, input })
  for (const [type, name] of [
    ['bitcoin', 'Run'],
    ['litecoin', 'Rest']
  ] as const)
    await run('wallets', 'create', type, '--name', name)
  await run('wallets', 'pause', 'Rest')

  const { client, stop } = await serve(t, home)
  await client.runAction('account.login', { username: 'bob', password: PASSWORD })
  const wallets = () => [...client.view.getSnapshot().wallets.values()]
  await waitFor(() => wallets().length === 2)
  const idOf = (name: string): string => wallets().find(wallet => wallet.name === name)?.walletId ?? ''
  const engineOf = (name: string) => client.view.getSnapshot().engines.get(idOf(name))
  await waitFor(() => engineOf('Run')?.syncRatio === 1)
  t.like(engineOf('Rest'), { isPaused: true, ...(usesAgent ? {} : { syncRatio: 0 }) })
  await client.runAction('engine.resume', { walletId: idOf('Rest') })
  await client.runAction('engine.pause', { walletId: idOf('Run') })
  await stop()
  t.deepEqual(await stages(), [
    ['Run', 'paused'],
    ['Rest', 'synced']
  ])
})

const alone = usesAgent ? leaveOut : test

alone('without a name or a secret there is no login, even with a current account', async t => {
  const home = homeFor(t)
  const made = await runInProcess(['account', 'create', 'bob', '--json', '--secrets-stdin'], {
    home,
    input: JSON.stringify({ password: PASSWORD })
  })
  t.is(made.code, 0, made.stderr)
  const { client } = await serve(t, home)
  t.deepEqual([...client.view.getSnapshot().accounts.values()], [])
  t.deepEqual(
    [...client.view.getSnapshot().users.values()].map(({ username, isLoggedIn }) => [username, isLoggedIn]),
    [['bob', false]]
  )
  await client.runAction('account.login', { username: 'bob', password: PASSWORD })
  await waitFor(() => client.view.getSnapshot().accounts.size === 1)
})

test('a read-only panel sees and does nothing, and another panel of the same kernel sees the same', async t => {
  const home = homeFor(t)
  const { client, url } = await serve(t, home, ['--read-only'])
  t.true(client.status.getSnapshot().isReadOnly)
  await t.throwsAsync(client.runAction('account.create', { pin: PIN }), { code: 'READ_ONLY' })
  const other = openPanel(url)
  t.teardown(() => other.client.close())
  await waitFor(() => other.client.status.getSnapshot().connection === 'live')
  t.deepEqual([...other.client.view.getSnapshot().plugins], [...client.view.getSnapshot().plugins])
  t.true(client.view.getSnapshot().plugins.has('devtools'))
})

test('drafts and rounds of quotes belong to the panel that made them, and are gone when its socket is lost', async t => {
  const one = await serve(t, homeFor(t))
  const { accountId } = await one.client.runAction('account.create', { pin: PIN })
  const { walletId } = await one.client.runAction('wallet.create', {
    accountId,
    walletType: 'wallet:bitcoin'
  })
  const { walletId: toWalletId } = await one.client.runAction('wallet.create', {
    accountId,
    walletType: 'wallet:litecoin'
  })
  await one.client.runAction('world.fund', { walletId, nativeAmount: '5000000' })
  await one.client.runAction('world.mine', { pluginId: 'bitcoin', count: 1 })
  await waitFor(
    () => one.client.view.getSnapshot().wallets.get(walletId)?.balanceDetails?.['']?.spendable === '5000000'
  )
  const draft = { walletId, publicAddress: PAYEE, nativeAmount: '100000' }
  const { draftId } = await one.client.runAction('spend.draft', draft)
  const other = openPanel(one.url)
  t.teardown(() => other.client.close())
  await waitFor(() => other.client.status.getSnapshot().connection === 'live')
  await t.throwsAsync(other.client.runAction('spend.approve', { draftId }), { code: 'GONE' })
  const { roundId } = await one.client.runAction('swap.ask', {
    fromWalletId: walletId,
    toWalletId,
    nativeAmount: '1000000',
    quoteFor: 'from'
  })
  const quotes = () =>
    [...other.client.view.getSnapshot().quotes.values()].filter(
      quote => quote.roundId === roundId && quote.quoteId !== undefined
    )
  await waitFor(() => quotes().length > 0)
  t.true(quotes().every(({ fate }) => fate === undefined))

  one.sockets[0]?.terminate()
  await waitFor(() => one.sockets.length === 2 && one.client.status.getSnapshot().connection === 'live')
  await t.throwsAsync(one.client.runAction('spend.approve', { draftId }), { code: 'GONE' })
  await waitFor(() => quotes().every(({ fate }) => fate === 'closed'))
  await t.throwsAsync(one.client.runAction('swap.close', { roundId }), { code: 'GONE' })
})

/** A panel with a payment that is approved, and that a policy looks at until it is told to go on. */
const approveSlowly = async (t: ExecutionContext, options: Pick<InProcessOptions, 'payingGraceMs'> = {}) => {
  let requested = 0
  let goOn = (): void => {}
  const policy: Plugin = {
    kind: 'policy',
    id: 'slow',
    apply: ({ hooks }) =>
      hooks.beforeSign.tapPromise('slow', () => {
        requested += 1
        return new Promise(resolve => {
          goOn = resolve
        })
      })
  }
  const served = await serve(t, homeFor(t), [], { plugins: [policy], ...options })
  const { runAction, view } = served.client
  const { accountId } = await runAction('account.create', { pin: PIN })
  const { walletId } = await runAction('wallet.create', { accountId, walletType: 'wallet:bitcoin' })
  await runAction('world.fund', { walletId, nativeAmount: '5000000' })
  await runAction('world.mine', { pluginId: 'bitcoin', count: 1 })
  await waitFor(() => view.getSnapshot().wallets.get(walletId)?.balanceDetails?.['']?.spendable === '5000000')
  const swapRequest = { walletId, publicAddress: PAYEE, nativeAmount: '100000' }
  const { draftId } = await runAction('spend.draft', swapRequest)
  const approved = runAction('spend.approve', { draftId })
  await waitFor(() => requested === 1)
  return { served, approved, goOn: () => goOn() }
}

test('a stopped command waits for an approved payment, and the panel gets its result', async t => {
  const { served, approved, goOn } = await approveSlowly(t)
  const ran = served.interrupt()
  goOn()
  t.regex((await approved).txid, /^[0-9a-f]{64}$/)
  t.is((await ran).code, 0)
})

test('the command reports that a payment which did not end in time may have been sent', async t => {
  const { served, approved } = await approveSlowly(t, { payingGraceMs: 50 })
  const lost = t.throwsAsync(approved, { code: 'DISCONNECTED' })
  const { code, stderr } = await served.interrupt()
  await lost
  t.is(code, STOP.exitCode)
  t.regex(stderr, /Stopped while a payment was being sent; it may have been sent/)
  t.regex(stderr, /holdfast tx open/)
})

test('the panel shows more of the log than the terminal', async t => {
  const talker: Plugin = {
    kind: 'rates',
    id: 'talker',
    displayName: 'Talker',
    retired: 'It only talks.',
    apply({ log }) {
      log.debug('a quiet word')
      log.error('a loud word')
    }
  }
  const { client, stop } = await serve(t, homeFor(t), [], { plugins: [talker] })
  const reported = client.events.getSnapshot().filter(({ hook }) => hook === 'logged')
  t.deepEqual(
    reported.map(({ data }) => [data.level, data.text]),
    [
      ['debug', 'a quiet word'],
      ['error', 'a loud word']
    ]
  )
  const { stderr } = await stop()
  t.true(stderr.includes('a loud word'))
  t.false(stderr.includes('a quiet word'))
})

test('addresses and transaction ids are hidden on request', async t => {
  const served = await serve(t, homeFor(t), ['--hide-addresses'])
  const { client, frames } = served
  const { accountId } = await client.runAction('account.create', { pin: PIN })
  const { walletId } = await client.runAction('wallet.create', { accountId, walletType: 'wallet:bitcoin' })
  const { txid } = await client.runAction('world.fund', { walletId, nativeAmount: '5000000' })
  t.regex(txid, /^hidden \(64 letters, [0-9a-f]{8}\)$/)
  await waitFor(() => client.view.getSnapshot().wallets.get(walletId)?.balances[''] === '5000000')
  await waitFor(() => client.events.getSnapshot().some(({ hook }) => hook === 'transactionsChanged'))
  await t.throwsAsync(client.runAction('wallet.receive', { walletId }), { code: 'HIDDEN' })
  const reported = frames.join('\n')
  t.true(reported.includes(walletId) && reported.includes(`["${txid}"]`))
  t.notRegex(reported, /"[0-9a-f]{64}"|bcrt1/)
})

test('the page is served on the requested port; a port in use is refused', async t => {
  const home = homeFor(t)
  const { port, url } = await serve(t, home)
  const status = await new Promise<number | undefined>(resolve => {
    get(url, response => resolve(response.resume().statusCode))
  })
  t.true(status === 200 || status === 503, String(status))
  const taken = await runInProcess(['devtools', '--json', '--port', String(port)], { home: homeFor(t) })
  failed(t, taken, 'USAGE', 2)
  failed(t, await runInProcess(['devtools', '--json', '--port', '70000'], { home: homeFor(t) }), 'USAGE', 2)
})

if (process.platform === 'linux') {
  test('the browser is opened by a private file, so that no argument of a program holds the token', async t => {
    const home = homeFor(t)
    const folder = join(home, 'programs')
    mkdirSync(folder)
    const seen = join(home, 'seen')
    writeFileSync(
      join(folder, 'xdg-open'),
      `#!/bin/sh\n/bin/cp "$1" ${seen}.html\necho "$#:$1" > ${seen}.part\n/bin/mv ${seen}.part ${seen}\n`
    )
    chmodSync(join(folder, 'xdg-open'), 0o755)
    const controller = new AbortController()
    let text = ''
    const ran = runInProcess(['devtools', '--json', '--open'], {
      home,
      env: { PATH: folder },
      signal: controller.signal,
      onOutput: more => {
        text += more
      }
    })
    await waitFor(() => existsSync(seen) && text !== '')
    const { url } = JSON.parse(text).data
    const [count, path = ''] = readFileSync(seen, 'utf8').trim().split(':')
    t.is(count, '1')
    t.false(path.includes('token'))
    t.true(readFileSync(`${seen}.html`, 'utf8').includes(`content="0;url=${url}"`))
    t.is(statSync(path).mode & 0o777, 0o600)
    t.is(statSync(join(path, '..')).mode & 0o777, 0o700)
    const { client } = openPanel(url)
    await waitFor(() => client.status.getSnapshot().connection === 'live')
    t.false(existsSync(path))
    client.close()
    controller.abort(STOP)
    const { code, stderr } = await ran
    t.deepEqual([code, stderr.includes('No browser')], [0, false])
  })

  test('if the file for the browser cannot be written, the command warns and still serves the panel', async t => {
    const child = startHoldfast(['devtools', '--open'], { home: homeFor(t), env: { TMPDIR: '/nowhere' } })
    const done = ended(child)
    child.stdout?.once('data', () => child.kill('SIGINT'))
    const { code, stdout, stderr } = await done
    t.is(code, 0, stderr)
    t.regex(stdout, /#token=/)
    t.regex(stderr, /Could not open a browser/)
  })

  test('if no browser can be opened, the command warns and still serves the panel', async t => {
    const home = homeFor(t)
    const controller = new AbortController()
    const ran = runInProcess(['devtools', '--open'], {
      home,
      env: { PATH: home },
      signal: controller.signal,
      onOutput: text => {
        const { client } = openPanel(text.trim())
        client.status.subscribe(() => {
          if (client.status.getSnapshot().connection !== 'live') return
          client.close()
          controller.abort(STOP)
        })
      }
    })
    const { code, stdout, stderr } = await ran
    t.is(code, 0)
    t.regex(stdout, /^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{43}\n$/)
    t.regex(stderr, /Could not open a browser/)
  })
}

test('a panel sees the calls into the plugins that were added, with what they offer', async t => {
  const home = homeFor(t)
  const path = join(home, 'corner.js')
  writeFileSync(
    path,
    `export default { kind: 'rates', id: 'corner', displayName: 'Corner', apply({ hooks }) {
      hooks.fetchRates.tapPromise('corner', async ({ offer }) => offer({ fromCurrency: 'BTC', toCurrency: 'iso:XTS' }, 42))
    } }`
  )
  t.is((await runInProcess(['plugins', 'add', path, '--yes', '--json'], { home })).code, 0)
  const { client, stop } = await serve(t, home)
  await client.runAction('rates.route', { from: 'BTC', to: 'iso:XTS', alternatives: 0 })
  await client.runAction('rates.refresh', {})
  const called = () =>
    client.events
      .getSnapshot()
      .find(({ hook, data }) => hook === 'pluginCalled' && data.call === 'fetchRates')
  await waitFor(() => called() !== undefined)
  t.like(called()?.data, { pluginId: 'corner', outcome: 'done' })
  t.regex(String(called()?.data.result), /offer\(.*"iso:XTS".*42\)/)
  await stop()
})
