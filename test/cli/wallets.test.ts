import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HDKey } from '@scure/bip32'
import { mnemonicToSeedSync } from '@scure/bip39'
import { p2wpkh } from '@scure/btc-signer'
import test from 'ava'
import { CliError } from '../../cli/errors/cli-error.ts'
import { usesAgent } from '../helpers/agents.ts'
import { type Envelope, makeHome, type Ran } from '../helpers/command-line.ts'
import { failed, succeeded } from '../helpers/envelopes.ts'
import { runInProcess } from '../helpers/in-process.ts'

// One world for the whole file: each test goes on where the one before it ended.
const { home, remove } = makeHome()
const secrets = { password: 'correct horse battery', pin: '2468' }
const WORDS = `${'abandon '.repeat(11)}about`
const REGTEST = { bech32: 'bcrt', pubKeyHash: 111, scriptHash: 196, wif: 239 }
test.after.always(remove)

const run = (...args: readonly string[]): Promise<Ran> =>
  runInProcess([...args, '--secrets-stdin'], { home, input: JSON.stringify(secrets) })
const dataOf = async (...args: readonly string[]): Promise<Envelope['data']> => {
  const ran = await run(...args, '--json')
  if (ran.code !== 0) throw new Error(`${args.join(' ')}: ${ran.stdout}${ran.stderr}`)
  return ran.json.data
}
const namesOf = async (...args: readonly string[]): Promise<string[]> =>
  (await dataOf('wallets', 'list', ...args)).wallets.map(({ name }: { name: string }) => name)
const file = (name: string): string => join(home, name)

test.before(async () => {
  await runInProcess(['account', 'create', 'alice', '--secrets-stdin'], {
    home,
    input: JSON.stringify(secrets)
  })
  await dataOf('wallets', 'create', 'bitcoin', '--name', 'Savings')
})

test.serial(
  'wallets create --batch makes a wallet for each row, and one that fails harms no other',
  async t => {
    const rows = [
      { name: 'Daily' },
      { type: 'nocoin' },
      { type: 'bitcointestnet', name: 'Test', fiat: 'iso:EUR' }
    ]
    writeFileSync(file('rows'), rows.map(row => JSON.stringify(row)).join('\n'))
    const batch = ['wallets', 'create', 'bitcoin', '--batch', file('rows'), '--json']
    t.is((await dataOf(...batch, '--dry-run')).rows.length, 3)
    const ran = await run(...batch)
    t.is(ran.code, 9)
    const { made, failed: lost, results } = ran.json.data
    t.deepEqual([made, lost], [2, 1])
    t.like(results[0], { ok: true, input: { type: 'wallet:bitcoin', name: 'Daily' } })
    t.like(results[1], { ok: false, error: { code: 'PLUGIN_FOR_TYPE', exitCode: 4 } })
    t.deepEqual((await namesOf()).sort(), ['Daily', 'Savings', 'Test'])
    t.deepEqual(await namesOf('--sort', 'name'), ['Daily', 'Savings', 'Test'])
    for (const text of ['[1]', '{"name":"x"', '[{"name":1}]', '[{"nmae":"x"}]']) {
      writeFileSync(file('bad'), text)
      failed(t, await run('wallets', 'create', 'bitcoin', '--batch', file('bad'), '--json'), 'USAGE', 2)
    }
    failed(t, await run('wallets', 'create', '--batch', file('rows'), '--json'), 'USAGE', 2)
    failed(t, await run('wallets', 'create', '--json'), 'USAGE', 2)
  }
)

test.serial('wallets rename, fiat and sort change what all devices show', async t => {
  t.like(await dataOf('wallets', 'rename', 'Daily', 'Pocket'), { name: 'Pocket', before: 'Daily' })
  await dataOf('wallets', 'fiat', 'Pocket', 'iso:GBP')
  await dataOf('wallets', 'sort', 'Pocket', '-1')
  const [first] = (await dataOf('wallets', 'list')).wallets
  t.like(first, { name: 'Pocket', fiatCode: 'iso:GBP', sortIndex: -1 })
  failed(t, await run('wallets', 'fiat', 'Pocket', 'GBP', '--json'), 'FIAT_CODE', 2)
  failed(t, await run('wallets', 'rename', 'Pocket', ' ', '--json'), 'USAGE', 2)
  failed(t, await run('wallets', 'sort', 'Pocket', 'first', '--json'), 'USAGE', 2)
  failed(t, await run('wallets', 'rename', 'Daily', 'x', '--json'), 'NOT_FOUND', 6)
})

test.serial('wallets that are archived, hidden or deleted leave the list, and come back', async t => {
  const usual = await namesOf()
  await dataOf('wallets', 'archive', 'Pocket', 'Test')
  await dataOf('wallets', 'hide', 'Savings')
  t.deepEqual(await namesOf(), [])
  t.deepEqual((await namesOf('--archived')).sort(), ['Pocket', 'Test'])
  t.deepEqual(await namesOf('--hidden'), ['Savings'])
  t.deepEqual((await namesOf('--all')).sort(), [...usual].sort())
  // An agent still has the wallet open, and so knows its balance.
  const archived = usesAgent
    ? /^Pocket\t0 BTC\t\tarchived\twallet:bitcoin\t/m
    : /^Pocket\t\t\tarchived\twallet:bitcoin\t/m
  t.regex((await run('wallets', 'list', '--archived')).stdout, archived)
  failed(t, await run('address', 'Pocket', '--json'), 'NOT_FOUND', 6)
  const requested = failed(t, await run('wallets', 'delete', 'Test', '--json'), 'CONFIRMATION_REQUIRED', 5)
  t.is(requested.error.details.summary.walletIds.length, 1)
  await dataOf('wallets', 'delete', 'Test', '--yes')
  t.deepEqual(await namesOf('--deleted'), ['Test'])
  const deleted = await dataOf('wallets', 'show', 'Test')
  t.like(deleted, { deleted: true, ...(usesAgent ? {} : { paused: true }) })
  t.is(deleted.balances.length, usesAgent ? 1 : 0)
  await dataOf('wallets', 'undelete', 'Test')
  await dataOf('wallets', 'unarchive', 'Pocket', 'Test')
  await dataOf('wallets', 'unhide', 'Savings')
  t.deepEqual(await namesOf(), usual)
})

test.serial('wallets pause stops the syncs of a wallet on this device until wallets resume', async t => {
  await dataOf('wallets', 'pause', 'Savings')
  const shown = await dataOf('wallets', 'show', 'Savings')
  t.deepEqual(shown.balances, [])
  t.deepEqual((await dataOf('balance', 'Savings')).balances, [])
  t.like(shown, { paused: true, sync: { state: 'paused' }, syncStatus: { stage: 'paused' } })
  t.regex(shown.address, /^bcrt1q/)
  const refused = failed(t, await run('wallets', 'wait', 'Savings', '--json'), 'USAGE', 2)
  t.is(refused.error.next[0].command, `holdfast wallets resume ${shown.id.slice(0, 8)}`)
  await dataOf('wallets', 'resume', 'Savings')
  t.like(await dataOf('wallets', 'show', 'Savings'), { paused: false, sync: { state: 'synced' } })
})

test.serial('wallets wait ends when the wallet has the wanted state, or with 8 at the timeout', async t => {
  await dataOf('fake', 'chain', 'fund', 'Savings', '0.5 BTC', '--confirm')
  for (const goal of ['synced', 'loaded', 'height=101', 'balance=0.5BTC']) {
    const { wallets } = await dataOf('wallets', 'wait', 'Savings', '--for', goal)
    t.is(wallets[0].name, 'Savings', goal)
  }
  const [{ height }] = (await dataOf('wallets', 'wait', 'Savings')).wallets
  t.is((await dataOf('wallets', 'wait', 'Savings', '--for', `height=${height}`)).wallets[0].height, height)
  const late = await run('wallets', 'wait', 'Savings', '--for', 'balance=0.6', '--timeout', '300ms', '--json')
  failed(t, late, 'DEADLINE', 8)
  for (const goal of ['soon', 'height=x', 'balance=max'])
    failed(t, await run('wallets', 'wait', '--for', goal, '--json'), 'USAGE', 2)
})

test.serial(
  'wallets resync drops the chain data after a confirmation, and finds everything again',
  async t => {
    failed(t, await run('wallets', 'resync', 'Savings', '--json'), 'CONFIRMATION_REQUIRED', 5)
    const { wallets } = await dataOf('wallets', 'resync', 'Savings', '--yes')
    t.is(wallets[0].ratio, 1)
    t.is((await dataOf('tx', 'list', 'Savings')).transactions.length, 1)
  }
)

test.serial('balance adds up holdings of one kind, and --watch reports changes', async t => {
  const { totals, balances } = await dataOf('balance', '--total')
  t.is(balances.length, 3)
  for (const { sync } of balances) t.like(sync, { ratio: 1, state: 'synced' })
  t.deepEqual(totals.map(({ pluginId, display }: Record<string, string>) => [pluginId, display]).sort(), [
    ['bitcoin', '0.5'],
    ['bitcointestnet', '0']
  ])
  const stop = new AbortController()
  const ran = await runInProcess(['wallets', 'list', '--watch', '--json', '--secrets-stdin'], {
    home,
    input: JSON.stringify(secrets),
    signal: stop.signal,
    onOutput: text => {
      if (text.includes('"0.5"')) stop.abort(new CliError('INTERRUPTED', 'Stopped'))
    }
  })
  t.is(ran.code, 0, ran.stderr + ran.stdout)
  const events = ran.stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  t.like(events[0], { event: 'wallets.list', seq: 1 })
  t.deepEqual(events.at(-1), { event: 'end', reason: 'stopped' })
})

test.serial('wallets keys shows public keys, and private ones only with --reveal', async t => {
  const shown = succeeded(t, await run('wallets', 'keys', 'Savings', '--json'), 'wallets.keys/1')
  t.like(shown.data, { kind: 'public', form: 'display' })
  t.regex(shown.data.keys, /^[a-z]pub/)
  for (const flag of ['--private', '--raw']) {
    const hidden = await dataOf('wallets', 'keys', 'Savings', flag)
    t.deepEqual(hidden.keys, { redacted: true, hint: '--reveal' })
  }
  const { keys: words, paths } = await dataOf('wallets', 'keys', 'Savings', '--private', '--reveal')
  t.is(words.split(' ').length, 24)
  t.deepEqual(paths.givenOut, ["m/84'/1'/0'/0/*"])
  t.deepEqual(
    paths.watched,
    [49, 84].flatMap(purpose => [0, 1].map(change => `m/${purpose}'/1'/0'/${change}/*`))
  )
  // A copy of the keys alone can go into a file.
  const ran = await run('wallets', 'keys', 'Savings', '--private', '--reveal')
  t.is(ran.stdout.trim(), words)
  t.regex(ran.stderr, /its addresses: m\/84'\/1'\/0'\/0\/\*\n.*also watched: m\/49'/)
  t.is(typeof (await dataOf('wallets', 'keys', 'Savings', '--raw', '--public')).keys, 'object')
  failed(t, await run('wallets', 'keys', 'Savings', '--private', '--qr', '--json'), 'USAGE', 2)
  failed(t, await run('wallets', 'keys', 'Savings', '--private', '-o', file('keys'), '--json'), 'USAGE', 2)
})

test.serial(
  'keys go into a private file after a typed confirmation, and a copy of them makes no second wallet',
  async t => {
    const args = ['wallets', 'keys', 'Savings', '--raw', '--reveal', '-o', file('keys'), '--json']
    const requested = failed(t, await run(...args), 'CONFIRMATION_REQUIRED', 5)
    const confirmed = /--confirm (\S+)/.exec(requested.error.next[0].command)?.[1] ?? ''
    failed(t, await run(...args, '--yes', '--confirm', 'no'), 'DECLINED', 5)
    t.is((await run(...args, '--yes', '--confirm', confirmed.replaceAll("'", ''))).code, 0)
    t.is(statSync(file('keys')).mode & 0o777, 0o600)
    const { wallet } = await dataOf('wallets', 'create', 'bitcoin', '--keys-file', file('keys'))
    t.is(wallet.id, requested.error.details.summary.walletId)
    t.is((await namesOf()).length, 3)
    chmodSync(file('keys'), 0o644)
    const shared = await run('wallets', 'create', 'bitcoin', '--keys-file', file('keys'), '--json')
    failed(t, shared, 'SECRET_SOURCE', 2)
    writeFileSync(file('nokeys'), 'hunter2', { mode: 0o600 })
    const bad = await run('wallets', 'create', 'bitcoin', '--keys-file', file('nokeys'), '--json')
    failed(t, bad, 'SECRET_SOURCE', 2)
    t.false(bad.stdout.includes('hunter2') || bad.stderr.includes('hunter2'))
  }
)

test.serial(
  'wallets import reads words from standard input, and reports keys that the account already has',
  async t => {
    const imported = (name: string, key: string): Promise<Ran> =>
      runInProcess(['wallets', 'import', 'bitcoin', '--name', name, '--json', '--secrets-stdin'], {
        home,
        input: JSON.stringify({ ...secrets, 'private-key': key })
      })
    const first = succeeded(t, await imported('Old', WORDS), 'wallets.import/1')
    t.is(first.data.wallet.name, 'Old')
    t.deepEqual(first.warnings, [])
    const wrong = failed(t, await imported('Bad', `${WORDS} zoo`), 'IMPORT_INVALID', 2)
    t.false(JSON.stringify(wrong).includes('abandon'))
    const missing = failed(t, await run('wallets', 'import', 'bitcoin', '--json'), 'PROMPT_IMPOSSIBLE', 5)
    t.regex(missing.error.message, /private key is needed/)
  }
)

test.serial(
  'words are imported with their passphrase, which is never an option of the command line',
  async t => {
    const args = ['wallets', 'import', 'bitcoin', '--json', '--secrets-stdin']
    const importWith = (more: readonly string[], given: object): Promise<Ran> =>
      runInProcess([...args, ...more], {
        home,
        input: JSON.stringify({ ...secrets, 'private-key': WORDS, ...given })
      })
    // Computed by @scure/bip39 and bip32 of the words with the passphrase TREZOR: m/84'/0'/0'/0/0 of regtest.
    const account = HDKey.fromMasterSeed(mnemonicToSeedSync(WORDS, 'TREZOR')).derive("m/84'/1'/0'/0/0")
    const made = await importWith(['--name', 'Hidden'], { 'key-passphrase': 'TREZOR' })
    const { data } = succeeded(t, made, 'wallets.import/1')
    t.is(data.address, p2wpkh(account.publicKey ?? new Uint8Array(), REGTEST).address)
    t.false(`${made.stdout}${made.stderr}`.includes('TREZOR'))
    const refused = failed(t, await importWith(['--key-option', 'passphrase=TREZOR'], {}), 'SECRET_SOURCE', 2)
    t.regex(refused.error.hint, /--key-passphrase-stdin/)
    t.false(JSON.stringify(refused).includes('TREZOR'))
  }
)

test.serial('wallets dump hides the owner without --reveal, and the private keys always', async t => {
  const words = (await dataOf('wallets', 'keys', 'Savings', '--private', '--reveal')).keys
  const { dump } = await dataOf('wallets', 'dump', 'Savings')
  t.like(dump, { pluginId: 'bitcoin', walletId: { redacted: true }, wallet: { name: { redacted: true } } })
  t.is(dump.engine.state, 'started')
  await dataOf('wallets', 'dump', 'Savings', '--reveal', '-o', file('dump'))
  const text = readFileSync(file('dump'), 'utf8')
  t.is(JSON.parse(text).wallet.name, 'Savings')
  t.false(text.includes(words))
})

test.serial('wallets types lists what can be made', async t => {
  const { types } = await dataOf('wallets', 'types')
  t.like(types[0], { type: 'wallet:bitcoin', code: 'BTC', canImport: true })
  t.deepEqual((await dataOf('wallets', 'split', 'Savings', '--list')).types, [])
  const split = await run('wallets', 'split', 'Savings', '--to', 'bitcoincash', '--yes', '--json')
  failed(t, split, 'PLUGIN_FOR_TYPE', 4)
})
