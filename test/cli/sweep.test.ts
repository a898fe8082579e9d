import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256 } from '@noble/hashes/sha2.js'
import { createBase58check } from '@scure/base'
import { HDKey } from '@scure/bip32'
import { mnemonicToSeedSync } from '@scure/bip39'
import test from 'ava'
import { type Envelope, makeHome, type Ran } from '../helpers/command-line.ts'
import { failed } from '../helpers/envelopes.ts'
import { runInProcess } from '../helpers/in-process.ts'

const { home, remove } = makeHome()
const input = JSON.stringify({ password: 'correct horse battery', pin: '2468' })
test.after.always(remove)

/** Private key 1 on test networks, and its address of BIP-173. */
const KEY = createBase58check(sha256).encode(Uint8Array.of(239, ...new Uint8Array(31), 1, 1))
const ADDRESS = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'

const run = (...args: readonly string[]): Promise<Ran> =>
  runInProcess([...args, '--secrets-stdin', '--json'], { home, input })
const dataOf = async (...args: readonly string[]): Promise<Envelope['data']> => {
  const ran = await run(...args)
  if (ran.code !== 0) throw new Error(`${args.join(' ')}: ${ran.stdout}${ran.stderr}`)
  return ran.json.data
}

/** The key of the first address of words, in wallet import format. */
const firstKeyOf = (words: string): string => {
  const { privateKey } = HDKey.fromMasterSeed(mnemonicToSeedSync(words)).derive("m/84'/1'/0'/0/0")
  return createBase58check(sha256).encode(Uint8Array.of(239, ...(privateKey ?? []), 1))
}

const mine = (): Promise<Ran> => runInProcess(['fake', 'chain', 'mine'], { home })

test.serial('a key from a file is swept into a wallet after a review, and never shown', async t => {
  await runInProcess(['account', 'create', 'alice', '--secrets-stdin'], { home, input })
  await dataOf('wallets', 'create', 'bitcoin', '--name', 'Savings')
  const path = join(home, 'paper.txt')
  await writeFile(path, `${KEY}\n`, { mode: 0o600 })
  const sweep = ['sweep', 'Savings', '--private-key-file', path]
  failed(t, await run(...sweep, '--yes'), 'NOTHING_TO_SWEEP', 31)
  await dataOf('fake', 'chain', 'fund', ADDRESS, '0.02 BTC')
  failed(t, await run(...sweep, '--yes'), 'PENDING_FUNDS', 32)
  t.is((await mine()).code, 0)
  failed(t, await run(...sweep), 'CONFIRMATION_REQUIRED', 5)
  const dry = await dataOf(...sweep, '--dry-run')
  t.like(dry.summary, { sweep: { coinCount: 1, left: [], secondWord: 'alone' } })
  const ran = await run(...sweep, '--yes')
  t.is(ran.code, 0, ran.stderr)
  t.false(`${ran.stdout}${ran.stderr}`.includes(KEY))
  t.is(ran.json.data.txid, dry.txid ?? ran.json.data.txid)
  t.is((await mine()).code, 0)
  const [row] = (await dataOf('tx', 'list', 'Savings')).transactions
  t.is(row.txid, ran.json.data.txid)
  const { native } = dry.summary.amount
  t.is((await dataOf('balance', 'Savings')).balances[0].native, native)
  failed(t, await run(...sweep, '--yes'), 'NOTHING_TO_SWEEP', 31)
})

test.serial(
  'a sweep leaves what another wallet of the account has frozen or reserved, and says why',
  async t => {
    const words = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
    await runInProcess(['wallets', 'import', 'bitcoin', '--name', 'Other', '--secrets-stdin', '--json'], {
      home,
      input: JSON.stringify({ password: 'correct horse battery', pin: '2468', 'private-key': words })
    })
    const address = (await dataOf('address', 'Other')).address
    const path = join(home, 'own.txt')
    await writeFile(path, firstKeyOf(words), { mode: 0o600 })
    for (const amount of ['0.01 BTC', '0.02 BTC', '0.04 BTC'])
      await dataOf('fake', 'chain', 'fund', address, amount)
    t.is((await mine()).code, 0)
    const coinOf = async (native: string): Promise<string> =>
      (await dataOf('coins', 'list', 'Other')).coins.find(
        ({ amount }: { amount: { native: string } }) => amount.native === native
      ).coin
    const [frozen, reserved] = [await coinOf('1000000'), await coinOf('2000000')]
    await dataOf('coins', 'freeze', 'Other', frozen)
    const send = ['send', 'Other', '--to', ADDRESS, '--amount', '0.01 BTC', '--coin', reserved]
    await dataOf(...send, '--sign-only', '--output', join(home, 'signed.json'), '--yes')
    const sweep = ['sweep', 'Savings', '--private-key-file', path]
    const { summary } = await dataOf(...sweep, '--dry-run')
    t.like(summary.sweep, {
      coinCount: 1,
      left: [
        { reason: 'frozen', amount: { native: '1000000' } },
        { reason: 'reserved', amount: { native: '2000000' } }
      ]
    })
    const shown = await runInProcess([...sweep, '--dry-run', '--secrets-stdin'], { home, input })
    t.regex(shown.stdout, /0\.01 BTC that is frozen in a wallet of the account/)
    await dataOf(...sweep, '--yes')
    t.is((await mine()).code, 0)
    const refused = await run(...sweep, '--yes')
    failed(t, refused, 'PENDING_FUNDS', 32)
    t.like(refused.json.error?.details, { frozen: '1000000', reserved: '2000000' })
  }
)

test.serial('what is no key of the network is refused by name', async t => {
  for (const [text, rule] of [
    [`6P${'R'.repeat(56)}`, /BIP-38/],
    ['KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn', /mainnet/],
    ['a few words', /no private key/]
  ] as const) {
    const path = join(home, 'bad.txt')
    await writeFile(path, text, { mode: 0o600 })
    const ran = await run('sweep', 'Savings', '--private-key-file', path, '--yes')
    failed(t, ran, 'KEY_INTEGRITY', 51)
    t.regex(ran.json.error?.message ?? '', rule)
  }
})
