import test from 'ava'
import type { Plugin } from '../../kernel/index.ts'
import { homeFor, makeHome, type Ran } from '../helpers/command-line.ts'
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

test('with --debug a command that needs a wallet of a failed plugin gives the message of the plugin beside the stack', async t => {
  const alone = homeFor(t)
  const runAlone = (plugin: Plugin, ...args: readonly string[]): Promise<Ran> =>
    runInProcess([...args, '--secrets-stdin'], { home: alone, input, plugins: [plugin] })
  const { plugin } = makeToy()
  await runAlone(plugin, 'account', 'create', 'alice')
  await runAlone(plugin, 'wallets', 'create', 'toycoin', '--name', 'Fun')
  for (const command of [
    ['login', 'alice'],
    ['balance', 'Fun'],
    ['send', 'Fun', '--to', 'shop', '--amount', '1', '--yes'],
    ['wallets', 'create', 'toycoin']
  ] as const) {
    const ran = await runAlone(broken, ...command, '--debug')
    const name = `${command.join(' ')}: ${ran.stderr}`
    t.false(ran.stderr.includes('PLUGINS_MISSING'), name)
    if (command[0] === 'login') {
      t.is(ran.code, 0, name)
      continue
    }
    t.not(ran.code, 0, name)
    t.regex(ran.stderr, new RegExp(`^hint: .*The plugin toycoin failed to load.*: ${SENTENCE}`, 'm'), name)
    t.regex(ran.stderr, /^ +at \S+/m, name)
  }
})
