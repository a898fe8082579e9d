import { join } from 'node:path'
import test from 'ava'
import { openFileDisk } from '../../plugins/storage/file/file-storage.ts'
import { closeAgents, usesAgent } from '../helpers/agents.ts'
import { homeFor, type Ran } from '../helpers/command-line.ts'
import { failed } from '../helpers/envelopes.ts'
import { runInProcess } from '../helpers/in-process.ts'
import { onTerminal, runOnTerminal } from '../helpers/on-terminal.ts'
import { editRepo } from '../helpers/ruled-device.ts'

const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const PASSWORD = 'correct horse battery'
const PIN = '2468'

const done = (ran: Ran): void => {
  if (ran.code !== 0) throw new Error(ran.stdout + ran.stderr)
}

onTerminal(
  'a payment that cannot be read keeps an account with rules from paying until its owner types yes and the password',
  async t => {
    const home = homeFor(t)
    const run = (args: readonly string[], secrets: object = { pin: PIN }) =>
      runInProcess([...args, '--secrets-stdin', '--json'], { home, input: JSON.stringify(secrets) })
    done(await run(['account', 'create', 'alice'], { password: PASSWORD, pin: PIN }))
    done(await run(['wallets', 'create', 'bitcoin', '--name', 'Savings']))
    done(await run(['fake', 'chain', 'fund', 'Savings', '0.1 BTC', '--confirm']))
    const { keys } = (await run(['wallets', 'keys', 'Savings', '--raw', '--reveal'])).json.data
    done(await run(['policy', 'add', 'daily', 'rolling', '--max', '0.02 BTC']))
    const pay = (amount: string) =>
      run(['send', 'Savings', '--to', PAYEE, '--amount', amount, '--fee', 'low', '--yes'])
    done(await pay('0.001 BTC'))

    await closeAgents(home)
    const disk = await openFileDisk(join(home, 'data/default/device'))
    await editRepo(keys, disk, ({ local }) => local.write(new Map([['sent/torn', '{"stage":"sen']])))
    await disk.close?.()

    const refused = await pay('0.0011 BTC')
    failed(t, refused, 'SIGN_REFUSED', 36)
    t.regex(
      refused.json.error.message,
      /a payment in the journal of the wallet "Savings" cannot be read since 2\d{3}/
    )
    const explained = await run(['policy', 'explain'])
    t.regex(explained.json.warnings.join(' '), /cannot be read since/)
    const listed = (await run(['policy', 'set-aside', '--dry-run'])).json.data
    t.like(listed, { setAside: false, damaged: [{ entry: 'sent/torn' }] })
    failed(t, await run(['policy', 'set-aside', '--yes'], { password: PASSWORD }), 'CONFIRMATION_REQUIRED', 5)

    if (usesAgent) done(await run(['agent', 'unlock']))
    const login = usesAgent ? [] : [[/PIN of|Password of/, `${PIN}\r`] as const]
    const setAside = (...typed: readonly (readonly [RegExp, string])[]) =>
      runOnTerminal(t, ['policy', 'set-aside'], { home, typed: [...login, ...typed] })
    const no = await setAside([/Type "yes"/, 'y\r'])
    t.is(no.code, 5, no.screen)
    const wrong = await setAside([/Type "yes"/, 'yes\r'], [/Password of/, 'wrong\r'])
    t.not(wrong.code, 0, wrong.screen)
    t.is((await run(['policy', 'set-aside', '--dry-run'])).json.data.damaged.length, 1)
    const set = await setAside([/Type "yes"/, 'yes\r'], [/Password of/, `${PASSWORD}\r`])
    t.is(set.code, 0, set.screen)
    t.regex(set.screen.replace(/\s+/g, ' '), /may have left, and nobody knows how much it paid/)

    const full = await pay('0.0012 BTC')
    failed(t, full, 'SIGN_REFUSED', 36)
    t.like(full.json.error.details, { rule: 'daily' })
    t.regex(full.json.error.message, /a payment that cannot be read/)
    t.deepEqual((await run(['policy', 'set-aside'])).json.data, { damaged: [], setAside: false })
  }
)

test('where every payment can be read there is nothing to set aside', async t => {
  const home = homeFor(t)
  const run = (args: readonly string[], secrets: object) =>
    runInProcess([...args, '--secrets-stdin', '--json'], { home, input: JSON.stringify(secrets) })
  done(await run(['account', 'create', 'alice'], { password: PASSWORD, pin: PIN }))
  t.deepEqual((await run(['policy', 'set-aside', '--yes'], { pin: PIN })).json.data, {
    damaged: [],
    setAside: false
  })
})
