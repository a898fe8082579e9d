import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import test from 'ava'
import { closeAgents } from '../helpers/agents.ts'
import { homeFor, type Ran } from '../helpers/command-line.ts'
import { runInProcess } from '../helpers/in-process.ts'

const password = 'Correct Horse 1'

/** An agent keeps the profile that it has opened, so that it has to end before a command with a store of its own. */
const run = async (home: string, words: string, input?: object, env = {}): Promise<Ran> => {
  if (/store/i.test(`${words} ${Object.keys(env)}`)) await closeAgents(home)
  return runInProcess([...words.split(' '), '--json'], {
    ...{ home, env },
    ...(input === undefined ? {} : { input: JSON.stringify(input) })
  })
}

const done = async (ran: Promise<Ran>): Promise<Ran['json']['data']> => {
  const { code, stdout, stderr, json } = await ran
  if (code !== 0) throw new Error(`${code}: ${stdout} ${stderr}`)
  return json.data
}

const accountsOf = async (home: string, more = '', env = {}): Promise<readonly string[]> =>
  (await done(run(home, `account list${more}`, undefined, env))).accounts.map(
    ({ username }: { readonly username: string }) => username
  )

test('an account in a store of its own is there with that store alone, by flag, variable or setting', async t => {
  const home = homeFor(t)
  const url = pathToFileURL(join(home, 'elsewhere')).href
  await done(run(home, `account create alice --secrets-stdin --store ${url}`, { password }))
  t.deepEqual(await accountsOf(home), [])
  t.deepEqual(await accountsOf(home, ` --store ${url}`), ['alice'])
  t.deepEqual(await accountsOf(home, '', { HOLDFAST_STORE: url }), ['alice'])
  const shown = await done(run(home, `profile store default ${url}`))
  t.like(shown, { name: 'default', store: url, isUnprotected: false, hasPassword: false })
  t.deepEqual(await accountsOf(home), ['alice'])
  t.is((await done(run(home, 'profile show'))).store, url)
  const wallet = await done(run(home, 'wallets create bitcoin --name Savings --secrets-stdin', { password }))
  t.is(wallet.wallet.name, 'Savings')
  t.is((await done(run(home, 'profile store default files'))).store, null)
  t.deepEqual(await accountsOf(home), [])
})

test('two devices and two profiles with one store see none of each other', async t => {
  const home = homeFor(t)
  const url = pathToFileURL(join(home, 'elsewhere')).href
  await done(run(home, `account create alice --secrets-stdin --store ${url}`, { password }))
  t.deepEqual(await accountsOf(home, ` --store ${url} --device phone`), [])
  t.deepEqual(await accountsOf(home, ` --store ${url} --profile other`), [])
})

test('an address that names no store, has a password or no lock is refused with what to do', async t => {
  const home = homeFor(t)
  const refused = async (words: string, env = {}): Promise<string> => {
    const { code, json } = await run(home, words, undefined, env)
    t.not(code, 0)
    return `${json.error.code} ${json.error.message} ${json.error.hint}`
  }
  t.regex(await refused('profile store default mysql://localhost'), /^USAGE .*level:\/\/\//)
  t.regex(await refused('profile store default level://wallets'), /^USAGE .*three slashes/)
  t.regex(await refused('profile store default redis://127.0.0.1:1'), /^USAGE .*--unprotected/)
  t.regex(await refused('profile store nobody level:///tmp/x'), /^NOT_FOUND/)
  for (const address of [
    'postgres://me@h/db?password=canary',
    'postgres://localhost/db?host=far',
    'postgres:///db'
  ])
    t.regex(await refused(`profile store default ${address}`), /^USAGE/)
  const own = pathToFileURL(join(home, 'data', 'default')).href
  t.regex(await refused(`profile store default ${own}`), /^USAGE .*elsewhere/)
  t.regex(await refused('account list --store nowhere'), /^USAGE/)
  t.false((await refused('account list --store redis://me:canary@127.0.0.1:1')).includes('canary'))
  t.regex(
    await refused('account list --store redis://127.0.0.1:1'),
    /^USAGE .*profile store default <url> --unprotected/
  )
  const withSecret = await refused('profile store default redis://me:canary@127.0.0.1:1 --unprotected')
  t.regex(withSecret, /^USAGE .*--store-password-file/)
  t.false(withSecret.includes('canary'))
  const missing = await refused('account list --store redis://127.0.0.1:1', {
    HOLDFAST_STORE_UNPROTECTED: '1'
  })
  t.regex(missing, /^STORAGE_FAILED .*npm install --prefix ".*" @keyv\/redis/)
})

test('the password of a store is kept in a private file and never shown', async t => {
  const home = homeFor(t)
  const words = 'profile store default postgres://me@127.0.0.1:1/wallets --secrets-stdin'
  const { stdout, stderr } = await run(home, words, { 'store-password': 'canary' })
  const shown = await run(home, 'profile store default')
  t.like(shown.json.data, { hasPassword: true, isUnprotected: false })
  for (const text of [stdout, stderr, shown.stdout, (await run(home, 'profile show')).stdout])
    t.false(text.includes('canary'))
  const path = join(home, 'config', 'default', 'store-password.json')
  t.is(readFileSync(path, 'utf8').trim(), '{"password":"canary"}')
  t.is(statSync(path).mode & 0o777, 0o600)
})

test('a damaged setting is no reason to open another store', async t => {
  const home = homeFor(t)
  const folder = join(home, 'config', 'default')
  mkdirSync(folder, { recursive: true })
  for (const text of ['', '{', '[]', '{"url":7}', '{"url":"nowhere"}']) {
    writeFileSync(join(folder, 'store.json'), text)
    const { json } = await run(home, 'account list')
    t.true(['PROFILE_INVALID', 'USAGE'].includes(json.error.code), text)
  }
  await done(run(home, 'profile store default files'))
  t.deepEqual(await accountsOf(home), [])
})

test('a profile with a proxy goes to no database on another computer', async t => {
  const home = homeFor(t)
  const yes = ['--yes', '--confirm', 'yes']
  const made = await runInProcess(
    [...'profile create far --network test --proxy socks5://127.0.0.1:9050 --json'.split(' '), ...yes],
    { home }
  )
  t.is(made.code, 0)
  for (const address of ['redis://192.0.2.1:6379 --unprotected', 'postgres://192.0.2.1/wallets']) {
    await done(run(home, `profile store far ${address}`))
    const { json } = await run(home, 'account list --profile far')
    t.is(json.error.code, 'USAGE')
    t.regex(json.error.message, /proxy/)
  }
})
