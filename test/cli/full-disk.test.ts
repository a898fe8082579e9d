import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test from 'ava'
import type { CliError } from '../../cli/errors/cli-error.ts'
import { makePrivateFolder } from '../../cli/profile/paths.ts'
import type { ObserverPlugin } from '../../kernel/index.ts'
import { fileCalls } from '../../plugins/storage/file/file-store.ts'
import { homeFor } from '../helpers/command-line.ts'
import { runInProcess } from '../helpers/in-process.ts'

const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const input = JSON.stringify({ password: 'correct horse battery', pin: '2468' })

test.serial(
  'a payment after which the disk is full is sent, and its record follows when there is room',
  async t => {
    const home = homeFor(t)
    const run = (args: readonly string[], plugins: readonly ObserverPlugin[] = []) =>
      runInProcess([...args, '--secrets-stdin', '--json'], { home, input, plugins })
    await run(['account', 'create', 'alice'])
    await run(['wallets', 'create', 'bitcoin', '--name', 'Savings'])
    t.is((await run(['fake', 'chain', 'fund', 'Savings', '1', '--confirm'])).code, 0)
    const { write } = fileCalls
    const isFull = { device: false }
    const devices = new Set<number>()
    t.teardown(() => void Object.assign(fileCalls, original))
    const original = { ...fileCalls }
    Object.assign(fileCalls, {
      async open(...args: Parameters<typeof fileCalls.open>) {
        const file = await original.open(...args)
        if (args[0].includes('/device/')) devices.add(file)
        else devices.delete(file)
        return file
      },
      write(...args: Parameters<typeof write>) {
        if (isFull.device && devices.has(args[0]))
          return Promise.reject(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }))
        return write(...args)
      }
    })
    const filler: ObserverPlugin = {
      kind: 'observer',
      id: 'filler',
      apply: ({ hooks }) =>
        hooks.spendChanged.tap('filler', ({ stage }) => {
          if (stage === 'broadcast') isFull.device = true
        })
    }
    const sent = await run(
      ['send', 'Savings', '--to', PAYEE, '--amount', '0.25', '--name', 'Landlady', '--yes'],
      [filler]
    )
    t.true(isFull.device)
    t.is(sent.code, 0)
    t.is(
      sent.json.warnings[0],
      'the payment is sent, but not recorded here yet; it is recorded after the next scan of the chain'
    )
    isFull.device = false
    const { json } = await run(['tx', 'list', 'Savings'])
    const row = json.data.transactions.find(
      ({ txid }: { readonly txid: string }) => txid === sent.json.data.txid
    )
    t.is(row?.metadata.name, 'Landlady')
  }
)

test('a home below what is no folder ends with its path and advice, and is no bug', t => {
  const file = join(homeFor(t), 'file')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, '')
  const error = t.throws(() => makePrivateFolder(join(file, 'home')), { code: 'PROFILE_INVALID' }) as CliError
  t.true(error.message.includes(file), error.message)
  t.regex(error.hint ?? '', /HOLDFAST_HOME/)
})
