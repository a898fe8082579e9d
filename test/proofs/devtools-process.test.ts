import { once } from 'node:events'
import { connect } from 'node:net'
import test from 'ava'
import { ended, homeFor, runHoldfast, startHoldfast } from '../helpers/command-line.ts'
import { waitFor } from '../helpers/device.ts'
import { openPanel } from '../helpers/panel-socket.ts'

/** Starts the process, and gives the address that it prints. */
const start = async (home: string, ...args: readonly string[]) => {
  const child = startHoldfast(['devtools', '--json', ...args], { home })
  const run = ended(child)
  const [line] = await once(child.stdout ?? child, 'data')
  return { child, run, data: JSON.parse(String(line)).data }
}

test('devtools of a profile keep other commands away with their name, and Ctrl-C ends them in order', async t => {
  const home = homeFor(t)
  const { child, run, data } = await start(home)
  t.teardown(() => child.kill('SIGKILL'))
  t.is(data.pid, child.pid)
  const { client } = openPanel(data.url)
  t.teardown(() => client.close())
  await waitFor(() => client.status.getSnapshot().connection === 'live')
  const { accountId } = await client.runAction('account.create', { pin: '4815' })
  const { walletId } = await client.runAction('wallet.create', { accountId, walletType: 'wallet:bitcoin' })

  for (const command of [
    ['account', 'list', '--json'],
    ['devtools', '--json']
  ]) {
    const refused = await runHoldfast(command, { home })
    t.is(refused.code, 8)
    t.is(refused.json.error.code, 'STORAGE_LOCKED')
    t.is(refused.json.error.message, `The data folder is in use by holdfast devtools (process ${child.pid})`)
  }

  child.kill('SIGINT')
  const { code, stderr } = await run
  t.is(code, 0, stderr)
  await waitFor(() => client.status.getSnapshot().connection === 'lost')
  const socket = connect(data.port, '127.0.0.1')
  t.is((await once(socket, 'error'))[0].code, 'ECONNREFUSED')

  const after = await runHoldfast(['wallets', 'list', '--json', '--pin-stdin'], { home, input: '4815' })
  t.is(after.code, 3, 'a login of the panel is not the login of the command line')
  const users = await runHoldfast(['account', 'list', '--json'], { home })
  const [user] = users.json.data.accounts
  const listed = await runHoldfast(['wallets', 'list', '--json', '--pin-stdin', '-a', user.loginId], {
    home,
    input: '4815'
  })
  t.deepEqual(
    listed.json.data.wallets.map(({ id }: { id: string }) => id),
    [walletId],
    'what the panel made was saved'
  )
})

test('devtools drive the world that fake start serves beside them', async t => {
  const home = homeFor(t)
  const world = startHoldfast(['fake', 'start', '--json'], { home })
  t.teardown(() => world.kill('SIGKILL'))
  await once(world.stdout ?? world, 'data')
  const { child, data } = await start(home)
  t.teardown(() => child.kill('SIGKILL'))
  const { client } = openPanel(data.url)
  t.teardown(() => client.close())
  await waitFor(() => client.status.getSnapshot().connection === 'live')
  const { height } = await client.runAction('world.mine', { pluginId: 'bitcoin', count: 2 })
  const mined = await runHoldfast(['fake', 'chain', 'mine', '1', '--json'], { home })
  t.is(mined.json.data.height, height + 1)
})
