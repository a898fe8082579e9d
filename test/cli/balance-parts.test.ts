import test from 'ava'
import { openLocalWorld } from '../../cli/profile/open-world.ts'
import { profilePaths } from '../../cli/profile/paths.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { closeAgents } from '../helpers/agents.ts'
import { type Envelope, makeHome, type Ran } from '../helpers/command-line.ts'
import { runInProcess } from '../helpers/in-process.ts'

// One world for the whole file: each test goes on where the one before it ended.
const { home, remove } = makeHome()
const input = JSON.stringify({ password: 'correct horse battery', pin: '2468' })
const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
test.after.always(remove)

const run = async (...args: readonly string[]): Promise<Ran> => {
  const ran = await runInProcess([...args, '--secrets-stdin'], { home, input })
  if (ran.code !== 0) throw new Error(`${args.join(' ')}: ${ran.stdout}${ran.stderr}`)
  return ran
}
const partsOf = async (wallet = 'Savings'): Promise<Record<string, string>> => {
  const { data }: Envelope = (await run('balance', wallet, '--json')).json
  const [{ spendable, incoming, immature, reserved, native }] = data.balances
  return {
    total: native,
    ...Object.fromEntries(
      Object.entries({ spendable, incoming, immature, reserved }).map(([part, amount]) => [
        part,
        (amount as { native: string }).native
      ])
    )
  }
}

test.before(async () => {
  await runInProcess(['account', 'create', 'alice', '--secrets-stdin'], { home, input })
  await run('wallets', 'create', 'bitcoin', '--name', 'Savings')
})

test.serial(
  'an unconfirmed amount is shown as incoming, in its own column and in JSON, until it is mined',
  async t => {
    await run('fake', 'chain', 'fund', 'Savings', '0.5 BTC')
    const shown = await run('balance')
    t.regex(shown.stdout, /^Savings\t0\.5 BTC\t0\.5 BTC incoming\tclaimed\tsynced\t/)
    t.deepEqual(await partsOf(), {
      ...{ total: '50000000', spendable: '0', incoming: '50000000', immature: '0', reserved: '0' }
    })
    t.regex((await run('wallets', 'show', 'Savings')).stdout, /balance\t0\.5 BTC \(0\.5 BTC incoming\)/)
    await runInProcess(['fake', 'chain', 'mine'], { home })
    t.regex((await run('balance')).stdout, /^Savings\t0\.5 BTC\tclaimed\tsynced\t/)
    t.like(await partsOf(), { spendable: '50000000', incoming: '0' })
  }
)

test.serial('a payment says how well it is known, in the list, alone and in JSON', async t => {
  const { stdout } = await run('tx', 'list', 'Savings')
  t.regex(stdout, /\tclaimed\t/)
  const [{ txid, grade }] = JSON.parse((await run('tx', 'list', 'Savings', '--json')).stdout).data
    .transactions
  t.is(grade, 'claimed')
  t.regex((await run('tx', 'show', 'Savings', txid)).stdout, /^grade\tclaimed$/m)
  const { tx } = JSON.parse((await run('tx', 'show', 'Savings', txid, '--json')).stdout).data
  t.is(tx.grade, 'claimed')
})

test.serial('the balance shows what is reserved for a payment that is signed but not sent', async t => {
  const file = `${home}/payment`
  await run(
    ...['send', 'Savings', '--to', PAYEE, '--amount', '0.1', '--sign-only', '--output', file, '--yes']
  )
  t.regex((await run('balance')).stdout, /^Savings\t0\.5 BTC\t0\.5 BTC reserved\t/)
  t.like(await partsOf(), { total: '50000000', spendable: '0', reserved: '50000000' })
})

test.serial('what a new block has earned is shown as immature, in its own column and in JSON', async t => {
  await run('wallets', 'create', 'bitcoin', '--name', 'Mine')
  const { address } = JSON.parse((await run('address', 'Mine', '--json')).stdout).data
  await closeAgents(home)
  const paths = profilePaths('default', { HOLDFAST_HOME: home })
  const { world, close } = await openLocalWorld(paths, { holder: 'a test', io: makeNodeIo() })
  world.chains.bitcoin.mine(1, address)
  await close()

  t.regex((await run('balance', 'Mine')).stdout, /^Mine\t50 BTC\t50 BTC immature\tclaimed\tsynced\t/)
  t.deepEqual(await partsOf('Mine'), {
    ...{ total: '5000000000', spendable: '0', incoming: '0', immature: '5000000000', reserved: '0' }
  })
  t.regex((await run('wallets', 'show', 'Mine')).stdout, /balance\t50 BTC \(50 BTC immature\)/)
  await runInProcess(['fake', 'chain', 'mine', '100'], { home })
  t.regex((await run('balance', 'Mine')).stdout, /^Mine\t50 BTC\tclaimed\tsynced\t/)
  t.like(await partsOf('Mine'), { spendable: '5000000000', immature: '0' })
})
