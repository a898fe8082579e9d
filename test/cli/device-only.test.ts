import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import { serveFakeWorld } from '../../fake-server/http/serve-fake-world.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { closeAgents } from '../helpers/agents.ts'
import { homeFor, type Ran } from '../helpers/command-line.ts'
import { runInProcess } from '../helpers/in-process.ts'

const password = 'Correct Horse 1'
const YES = ['--yes', '--confirm', 'yes'] as const

interface Home {
  readonly home: string
  readonly served: Awaited<ReturnType<typeof serveFakeWorld>>
  /** Runs a command of the profile, with its secrets. */
  run(words: string, more?: readonly string[], secrets?: object): Promise<Ran>
  /** The same, which must succeed. */
  done(words: string, more?: readonly string[], secrets?: object): Promise<Ran['json']['data']>
}

/** A profile on a regtest network without a login server, and servers that it may be given. */
const makeAlone = async (t: ExecutionContext): Promise<Home> => {
  const home = homeFor(t)
  const world = makeFakeWorld({ io: makeNodeIo() })
  const served = await serveFakeWorld(world)
  t.teardown(async () => {
    await served.close()
    await world.close()
  })
  const run: Home['run'] = (words, more = [], secrets) => {
    const input = secrets === undefined ? {} : { input: JSON.stringify(secrets) }
    const flags = secrets === undefined ? [] : ['--secrets-stdin']
    return runInProcess(['--profile', 'alone', ...words.split(' '), ...more, ...flags, '--json'], {
      home,
      ...input
    })
  }
  const done: Home['done'] = async (...args) => {
    const { code, stdout, stderr, json } = await run(...args)
    if (code !== 0) throw new Error(`${code}: ${stdout} ${stderr}`)
    return json.data
  }
  const chain = `bitcoin=${served.chainServers.bitcoin[0]}`
  const created = ['profile', 'create', 'alone', '--network', 'regtest', '--chain', chain, ...YES, '--json']
  await runInProcess(created, { home })
  return { home, served, run, done }
}

test('a profile without a login server makes an account of this device, which is backed up, restored and moved to a server', async t => {
  const { home, served, run, done } = await makeAlone(t)
  const pinned = await run('account create hermit', [], { password, pin: '4711' })
  t.is(pinned.json.error.code, 'DEVICE_ONLY')
  const made = await run('account create hermit', [], { password })
  t.true(made.json.data.deviceOnly)
  t.regex(made.stdout + made.stderr, /on this device only, and lost with it unless you back it up/)
  await done('wallets create bitcoin --name Savings', [], { password })
  t.true((await done('whoami')).deviceOnly)
  t.true((await done('account show', [], { password })).deviceOnly)
  t.deepEqual(
    (await done('account list')).accounts.map((account: { deviceOnly: boolean }) => account.deviceOnly),
    [true]
  )
  const { repos } = await done('sync --wait', [], { password })
  t.true(repos.length > 1)
  t.true(
    repos.every((repo: { deviceOnly: boolean; error: unknown }) => repo.deviceOnly && repo.error === null)
  )

  const file = join(home, 'hermit.backup')
  await done('account backup', [file], { password })
  t.is(statSync(file).mode & 0o777, 0o600)
  t.false(readFileSync(file, 'utf8').includes('Savings'))
  t.is((await run('account backup', [file], { password })).json.error.code, 'USAGE')
  await done('account backup --force', [file], { password })

  const onPhone = ['--device', 'phone']
  const wrong = await run('account restore', [file, ...onPhone], { password: 'Correct Horse 2' })
  t.is(wrong.json.error.code, 'PASSWORD')
  const cut = join(home, 'cut.backup')
  writeFileSync(cut, readFileSync(file, 'utf8').slice(0, -2000))
  t.is((await run('account restore', [cut, ...onPhone], { password })).json.error.code, 'BACKUP_INVALID')
  t.is((await done('account list', onPhone)).accounts.length, 0)
  await done('account restore', [file, ...onPhone], { password })
  await done('login hermit', onPhone, { password })
  const { wallets } = await done('wallets list', onPhone, { password })
  t.deepEqual(
    wallets.map(({ name }: { name: string }) => name),
    ['Savings']
  )
  const again = await run('account restore', [file, ...onPhone], { password })
  t.is(again.json.error.code, 'ACCOUNT_ON_DEVICE')
  await done('logout', onPhone)
  await done('account forget hermit --yes --confirm hermit', onPhone)
  await done('account restore', [file, ...onPhone], { password })
  t.is((await done('account list', onPhone)).accounts.length, 1)

  t.is((await run('account move-to-server', [], { password })).json.error.code, 'NETWORK')
  // An agent keeps the servers that it began with.
  await closeAgents(home)
  const key = join(home, 'key')
  writeFileSync(key, 'a-key\n', { mode: 0o600 })
  const servers = ['--login-server', served.authServer, '--sync-server', served.syncServers[0] ?? '']
  const edited = await runInProcess(
    ['profile', 'edit', 'alone', ...servers, '--api-key-file', key, '--json'],
    { home }
  )
  t.is(edited.code, 0, edited.stdout)
  const moved = await done('account move-to-server', [], { password })
  t.like(moved, { moved: true, deviceOnly: false })
  t.false((await done('account show', [], { password })).deviceOnly)
  const onTablet = ['--device', 'tablet']
  await done('login hermit', onTablet, { password })
  const elsewhere = await done('wallets list', onTablet, { password })
  t.deepEqual(
    elsewhere.wallets.map(({ id }: { id: string }) => id),
    wallets.map(({ id }: { id: string }) => id)
  )
})

test('an account of this device is forgotten only by a person who types its name', async t => {
  const { run, done } = await makeAlone(t)
  await done('account create hermit', [], { password })
  await done('logout')
  const refused = await run('account forget hermit --yes')
  t.is(refused.json.error.code, 'CONFIRMATION_REQUIRED')
  t.true(refused.json.error.details.summary.deviceOnly)
  await done('account forget hermit --yes --confirm hermit')
  t.deepEqual((await done('account list')).accounts, [])
})

test('a profile is removed only after it was said how many accounts are nowhere else', async t => {
  const { home, run, done } = await makeAlone(t)
  await done('account create hermit', [], { password })
  await done('account create recluse', [], { password })
  await done('logout')
  await closeAgents(home)
  const remove = (...more: string[]): Promise<Ran> =>
    runInProcess(['profile', 'remove', 'alone', '--yes', ...more, '--json'], { home })
  const { error } = (await remove()).json
  t.is(error.code, 'CONFIRMATION_REQUIRED')
  t.like(error.details.summary, { accounts: 2, deviceOnly: 2 })
  t.is((await remove('--confirm', 'other')).json.error.code, 'DECLINED')
  t.is((await done('account list')).accounts.length, 2)
  await closeAgents(home)
  t.like((await remove('--confirm', 'alone')).json.data, { accounts: 2, deviceOnly: 2 })
  t.is((await run('account list')).json.data?.accounts?.length ?? 0, 0)
})

test('in a profile with a login server an account is kept on this device with --local', async t => {
  const home = homeFor(t)
  const run = (words: string, secrets: object): Promise<Ran> =>
    runInProcess([...words.split(' '), '--secrets-stdin', '--json'], {
      home,
      input: JSON.stringify(secrets)
    })
  t.true((await run('account create hermit --local', { password })).json.data.deviceOnly)
  t.false((await run('account create alice', { password })).json.data.deviceOnly)
  t.is((await run('account create --light --local', { pin: '4711' })).json.error.code, 'USAGE')
})
