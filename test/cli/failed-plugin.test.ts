import test from 'ava'
import type { Plugin } from '../../kernel/index.ts'
import { makeHome, type Ran } from '../helpers/command-line.ts'
import { runInProcess } from '../helpers/in-process.ts'
import { makeToy } from '../helpers/toy-currency.ts'

const { home, remove } = makeHome()
const input = JSON.stringify({ password: 'correct horse battery', pin: '2468' })
test.after.always(remove)

const SENTENCE = 'The server elektrum.example has no port'
const broken: Plugin = {
  ...makeToy().plugin,
  apply() {
    throw new Error(SENTENCE)
  }
}
const run = (plugin: Plugin, ...args: readonly string[]): Promise<Ran> =>
  runInProcess([...args, '--secrets-stdin'], { home, input, plugins: [plugin] })

test('an account opens although a plugin failed to load, and each command gives the reason for the wallets of that plugin', async t => {
  const { plugin } = makeToy()
  await run(plugin, 'account', 'create', 'alice')
  for (const [currency, name] of [
    ['bitcoin', 'Savings'],
    ['toycoin', 'Fun']
  ] as const)
    t.is((await run(plugin, 'wallets', 'create', currency, '--name', name)).code, 0)
  const warning = `the plugin toycoin failed to load, so its wallets do not open: ${SENTENCE}`
  for (const command of [['balance'], ['wallets', 'list'], ['tx', 'list'], ['tx', 'open']] as const) {
    const ran = await run(broken, ...command, '--json')
    t.is(ran.code, 0, ran.stdout)
    t.deepEqual(ran.json.warnings, [warning], command.join(' '))
  }
  t.regex((await run(broken, 'balance')).stdout, /Savings/)
  const exported = await run(broken, 'tx', 'export')
  t.is(exported.code, 0, exported.stderr)
  t.true(exported.stderr.includes(warning), exported.stderr)
  for (const command of [
    ['balance', 'Fun'],
    ['address', 'show', 'Fun'],
    ['wallets', 'show', 'Fun']
  ] as const) {
    const ran = await run(broken, ...command, '--json')
    t.not(ran.code, 0)
    t.true(JSON.stringify(ran.json.error).includes(SENTENCE), `${command.join(' ')}: ${ran.stdout}`)
  }
})
