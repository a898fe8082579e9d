import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { type Envelope, homeFor, type Ran } from '../helpers/command-line.ts'
import { failed } from '../helpers/envelopes.ts'
import { runInProcess } from '../helpers/in-process.ts'

/** Private key 1 on test networks, and its address of BIP-173. */
const KEY = 'cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA'
const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const input = JSON.stringify({ password: 'correct horse battery', pin: '2468' })

test('a wallet that watches an extended public key shows its coins, and every way to pay from it is refused', async t => {
  const home = homeFor(t)
  const file = (name: string): string => join(home, name)
  const run = (...args: readonly string[]): Promise<Ran> =>
    runInProcess([...args, '--secrets-stdin'], { home, input })
  const dataOf = async (...args: readonly string[]): Promise<Envelope['data']> => {
    const ran = await run(...args, '--json')
    if (ran.code !== 0) throw new Error(`${args.join(' ')}: ${ran.stdout}${ran.stderr}`)
    return ran.json.data
  }
  await dataOf('account', 'create', 'alice')
  await dataOf('wallets', 'create', 'litecoin', '--name', 'Savings')
  await dataOf('wallets', 'create', 'bitcoin', '--name', 'Cold')
  await dataOf('fake', 'chain', 'fund', 'Cold', '0.5 BTC')
  await runInProcess(['fake', 'chain', 'mine', '1'], { home })
  const { keys: xpub } = await dataOf('wallets', 'keys', 'Cold', '--public')
  writeFileSync(file('xpub'), `${xpub}\n`)
  const ran = await run('wallets', 'watch', 'bitcoin', '--name', 'Watcher', '--file', file('xpub'), '--json')
  t.is(ran.code, 0, ran.stdout)
  t.true(ran.json.data.wallet.watchOnly)
  t.deepEqual(ran.json.warnings, ['this wallet only watches: it shows and receives, and cannot pay'])
  const balanceOf = async (name: string): Promise<string> =>
    (await dataOf('wallets', 'show', name)).balances[0].spendable.native
  t.is(await balanceOf('Watcher'), '50000000')
  t.is(await balanceOf('Watcher'), await balanceOf('Cold'))
  const table = (await run('wallets', 'list')).stdout
  t.regex(table, /Watcher.*watch-only/)
  t.notRegex(table, /Cold.*watch-only/)
  const { address } = await dataOf('address', 'show', 'Watcher')
  t.is((await dataOf('address', 'show', 'Cold')).address, address)
  const to = ['--to', PAYEE, '--amount', '0.1 BTC']
  failed(t, await run('send', 'Watcher', ...to, '--yes', '--json'), 'WATCH_ONLY', 36)
  failed(t, await run('message', 'sign', 'Watcher', '--message', 'x', '--yes', '--json'), 'WATCH_ONLY', 36)
  failed(t, await run('wallets', 'keys', 'Watcher', '--private', '--reveal', '--json'), 'WATCH_ONLY', 36)
  const swap = ['--from', 'Watcher', '--to', 'Savings', '--amount', '0.1 BTC']
  failed(t, await run('swap', 'quote', ...swap, '--json'), 'WATCH_ONLY', 36)
  // The keys of others sign a sweep, which only arrives here.
  writeFileSync(file('paper'), `${KEY}\n`)
  chmodSync(file('paper'), 0o600)
  await dataOf('fake', 'chain', 'fund', PAYEE, '0.02 BTC')
  await runInProcess(['fake', 'chain', 'mine', '1'], { home })
  const swept = await run('sweep', 'Watcher', '--private-key-file', file('paper'), '--yes', '--json')
  t.is(swept.code, 0, swept.stdout)
  // What Cold paid is in the history of its watcher, too, and counts once.
  await dataOf('send', 'Cold', ...to, '--yes')
  await dataOf('balance', 'Watcher')
  await dataOf('policy', 'add', 'daily', 'rolling', '--max', '0.15 BTC', '--per', '24h')
  await dataOf('policy', 'test', 'Cold', '0.01 BTC', PAYEE)
  t.is((await run('policy', 'test', 'Cold', '0.05 BTC', PAYEE)).code, 36)
  t.is((await dataOf('wallets', 'keys', 'Watcher', '--public')).keys, xpub)
})
