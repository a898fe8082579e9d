import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { usesAgent } from '../helpers/agents.ts'
import { type Envelope, makeHome, type Ran } from '../helpers/command-line.ts'
import { runInProcess } from '../helpers/in-process.ts'
import { startInProcess } from '../helpers/running-command.ts'

// One world for the whole file: each test goes on where the one before it ended.
const { home, remove } = makeHome()
const input = JSON.stringify({ password: 'correct horse battery', pin: '2468' })
test.after.always(remove)

const run = (...args: readonly string[]): Promise<Ran> =>
  runInProcess([...args, '--secrets-stdin'], { home, input })
const dataOf = async (...args: readonly string[]): Promise<Envelope['data']> => {
  const ran = await run(...args, '--json')
  if (ran.code !== 0) throw new Error(`${args.join(' ')}: ${ran.stdout}${ran.stderr}`)
  return ran.json.data
}
const repoOf = (data: Envelope['data'], ownerId: string): Envelope['data'] =>
  data.repos.find((repo: { ownerId: string }) => repo.ownerId === ownerId)

let walletId = ''

test.before(async () => {
  await run('account', 'create', 'alice')
  walletId = (await dataOf('wallets', 'create', 'bitcoin', '--name', 'Savings')).wallet.id
  await runInProcess(['login', 'alice', '--device', 'phone', '--with', 'password', '--secrets-stdin'], {
    home,
    input
  })
})

test.serial('sync shows the hash before and after, and the number of files sent and received', async t => {
  await run('sync', '--wait')
  const quiet = repoOf(await dataOf('sync'), walletId)
  t.like(quiet, {
    type: 'wallet:bitcoin',
    ...(usesAgent ? {} : { sent: 0 }),
    received: 0,
    pending: 0,
    error: null
  })
  if (!usesAgent) t.is(quiet.hashBefore, quiet.hash)

  await run('sync', '--device', 'phone')
  await run('fake', 'chain', 'fund', 'Savings', '0.1 BTC', '--confirm')
  const [tx] = (await dataOf('tx', 'list', 'Savings')).transactions
  await dataOf('tx', 'label', 'Savings', tx.txid, '--name', 'Ann')
  const phone = repoOf(await dataOf('sync', '--device', 'phone'), walletId)
  t.true(phone.received > 0)
  t.not(phone.hashBefore, phone.hash)
  t.is(repoOf(await dataOf('sync'), walletId).hash, phone.hash, 'both devices have the same files')
})

test.serial('the account can be synced without its wallets, or beside one', async t => {
  const alone = await dataOf('sync', 'account')
  t.deepEqual(alone.wallets, [])
  t.deepEqual(
    alone.repos.map(({ type }: { type: string }) => type),
    // An agent has the wallets open, and tells of them, too.
    ['account-repo:co.airbitz.wallet', ...(usesAgent ? ['wallet:bitcoin'] : [])]
  )
  const both = await dataOf('sync', 'account', 'Savings')
  t.deepEqual(
    both.wallets.map(({ id }: { id: string }) => id),
    [walletId]
  )
  const refused = await run('sync', 'accounts', '--json')
  t.is(refused.code, 6)
})

test.serial('sync status explains the state, and sync repos lists pending uploads', async t => {
  const [wallet] = (await dataOf('sync', 'status', '--wait')).wallets
  t.like(wallet, { id: walletId, name: 'Savings', ratio: 1, stage: 'synced', error: null })
  t.regex(wallet.sentence, /^Up to date\./)
  writeFileSync(join(home, 'text'), 'kept until the network is back')
  const offline = (...args: readonly string[]): Promise<Ran> =>
    runInProcess([...args, '--offline', '--json', '--secrets-stdin'], {
      home,
      input: JSON.stringify({ password: 'correct horse battery' })
    })
  await offline('data', 'set', 'com.example', 'text', '--file', join(home, 'text'))
  const [account] = (await offline('sync', 'repos')).json.data.repos
  t.true(account.pending > 0)
  t.true('doubtful' in account)
  const synced = repoOf(await dataOf('sync'), account.ownerId)
  t.like(synced, { pending: 0, sent: account.pending })
})

test.serial('sync watch reports syncs until it is stopped', async t => {
  const watch = startInProcess(['sync', 'watch', '--json', '--secrets-stdin'], { home, input })
  await watch.waitFor(/"sync\.repo".*"lastSync":"/)
  const ran = await watch.stop()
  t.is(ran.code, 0, ran.stderr)
  const lines = ran.stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  t.is(lines[0].event, 'sync.watching')
  t.deepEqual(lines.at(-1), { event: 'end', reason: 'stopped' })
  t.false(/syncKey|dataKey/.test(ran.stdout))
})

test.serial('sync watch reports the account alone if it is named', async t => {
  const watch = startInProcess(['sync', 'watch', 'account', '--json', '--secrets-stdin'], { home, input })
  await watch.waitFor(/"sync\.repo".*"lastSync":"/)
  const ran = await watch.stop()
  const types = ran.stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
    .filter(({ event }) => event === 'sync.repo')
    .map(({ data }) => data.type)
  t.deepEqual([...new Set(types)], ['account-repo:co.airbitz.wallet'])
})
