import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { type Envelope, makeHome, type Ran } from '../helpers/command-line.ts'
import { failed } from '../helpers/envelopes.ts'
import { runInProcess } from '../helpers/in-process.ts'

const { home, remove } = makeHome()
const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const TEXT = 'I am Alice,\n  grüße 🎩'
const input = JSON.stringify({ password: 'correct horse battery', pin: '2468' })
test.after.always(remove)

const run = (...args: readonly string[]): Promise<Ran> =>
  runInProcess([...args, '--secrets-stdin'], { home, input })
const dataOf = async (...args: readonly string[]): Promise<Envelope['data']> => {
  const ran = await run(...args, '--json')
  if (ran.code !== 0) throw new Error(`${args.join(' ')}: ${ran.stdout}${ran.stderr}`)
  return ran.json.data
}
/** Without any secret. */
const verify = (...args: readonly string[]): Promise<Ran> =>
  runInProcess(['message', 'verify', ...args, '--json'], { home })

test.before(async () => {
  await runInProcess(['account', 'create', 'alice', '--secrets-stdin'], { home, input })
  await dataOf('wallets', 'create', 'bitcoin', '--name', 'Savings')
})

test.serial('a wallet signs a text by its address, and who has no account verifies it', async t => {
  const { address } = await dataOf('address', 'Savings')
  const other = (await dataOf('address', 'Savings', '--index', '2')).address
  for (const format of ['legacy', 'bip322']) {
    const signed = await dataOf('message', 'sign', 'Savings', '--message', TEXT, '--format', format)
    t.like(signed, { address, message: TEXT })
    const valid = await verify('bitcoin', address, signed.signature, '--message', TEXT)
    t.is(valid.code, 0)
    t.is(valid.json.data.verdict, 'valid')
    for (const wrong of [
      ['bitcoin', address, signed.signature, '--message', `${TEXT} `],
      ['bitcoin', other, signed.signature, '--message', TEXT],
      ['bitcoin', address, 'smpAA==', '--message', TEXT]
    ]) {
      const ran = await verify(...wrong)
      t.is(ran.code, 1)
      t.is(ran.json.data.verdict, 'invalid')
    }
  }
  const named = await dataOf('message', 'sign', 'Savings', '--message', TEXT, '--address', other)
  t.is(named.address, other)
  t.is((await verify('bitcoin', other, named.signature, '--message', TEXT)).code, 0)
  t.is((await verify('bitcoin', address, named.signature, '--message', TEXT)).code, 1)
})

test.serial('the text of a message may come from a file, to its last byte', async t => {
  const path = join(home, 'text.txt')
  await writeFile(path, `${TEXT}\n`)
  const { address, signature } = await dataOf('message', 'sign', 'Savings', '--file', path)
  t.is((await verify('bitcoin', address, signature, '--message', `${TEXT}\n`)).code, 0)
  t.is((await verify('bitcoin', address, signature, '--file', path)).code, 0)
  t.is((await verify('bitcoin', address, signature, '--message', TEXT)).code, 1)
})

test.serial('what cannot be signed or verified is refused by name', async t => {
  const sign = ['message', 'sign', 'Savings', '--message', TEXT, '--json']
  failed(t, await run(...sign, '--address', PAYEE), 'ADDRESS_INVALID', 2)
  failed(t, await run(...sign, '--address', 'nowhere'), 'ADDRESS_INVALID', 2)
  failed(t, await run(...sign, '--format', 'pgp'), 'USAGE', 2)
  failed(t, await run('message', 'sign', 'Savings', '--json'), 'USAGE', 2)
  failed(t, await run('message', 'sign', 'Savings', '--message', '', '--json'), 'USAGE', 2)
  failed(t, await verify('bitcoin', 'nowhere', 'smp', '--message', TEXT), 'ADDRESS_INVALID', 2)
  failed(t, await verify('litecoin', PAYEE, 'smp', '--message', TEXT), 'ADDRESS_INVALID', 2)
  failed(t, await verify('gold', PAYEE, 'smp', '--message', TEXT), 'NOT_FOUND', 6)
})
