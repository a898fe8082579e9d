import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { type FakeWorld, makeFakeWorld } from '../../fake-server/fake-world.ts'
import { serveFakeWorld } from '../../fake-server/http/serve-fake-world.ts'
import type { Json } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { fileStorage } from '../../plugins/storage/file/file-storage.ts'
import { openDevice, waitFor } from '../helpers/device.ts'
import { drawSteps } from '../helpers/drawn-runs.ts'
import type { SpenderOrder } from '../helpers/killed-spender.ts'

const io = makeNodeIo()
const SPENDER = fileURLToPath(new URL('../helpers/killed-spender.js', import.meta.url))
const PAID = 40_000n
const FUNDS = 100_000n

interface Home {
  readonly folder: string
  readonly saved: Json
  readonly payTo: string
}

const makeFolder = (t: ExecutionContext): string => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-kill-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A folder with an account whose wallet has coins, and the world around it, both to be copied. */
const makeHome = async (t: ExecutionContext): Promise<Home> => {
  const folder = makeFolder(t)
  const world = makeFakeWorld({ io })
  const kernel = await openDevice(world, { storage: fileStorage(folder) })
  const account = await kernel.context.createAccount({ username: 'alice', password: 'Correct horse 1' })
  const wallet = await account.createCurrencyWallet('wallet:bitcoin', { name: 'Savings' })
  world.chain.fund((await wallet.getReceiveAddress()).publicAddress, FUNDS.toString())
  world.chain.mine(1)
  await waitFor(() => wallet.balanceDetailsOf(null).spendable === FUNDS.toString())
  await account.sync()
  const shop = await openDevice(world)
  const shopWallet = await (await shop.context.createAccount({})).createCurrencyWallet('wallet:bitcoin')
  const { publicAddress } = await shopWallet.getReceiveAddress()
  await shop.close()
  await kernel.close()
  return { folder, saved: world.toJson(), payTo: publicAddress }
}

const runSpender = (order: SpenderOrder): Promise<NodeJS.Signals | null> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [SPENDER, JSON.stringify(order)], {
      stdio: ['ignore', 'ignore', 'inherit']
    })
    child.once('error', reject)
    child.once('close', (_code, signal) => resolve(signal))
  })

const spendIn = async (
  t: ExecutionContext,
  home: Home,
  { killAt, moment }: Pick<SpenderOrder, 'killAt' | 'moment'>
): Promise<{ world: FakeWorld; folder: string; signal: NodeJS.Signals | null }> => {
  const folder = makeFolder(t)
  cpSync(home.folder, folder, { recursive: true })
  const world = makeFakeWorld({ io, saved: home.saved })
  const served = await serveFakeWorld(world)
  const { authServer, infoServers, syncServers, electrumServers } = served
  const addresses = { authServer, infoServers, syncServers, electrumServers }
  const signal = await runSpender({ folder, payTo: home.payTo, killAt, moment, ...addresses })
  await served.close()
  return { world, folder, signal }
}

/** Starts again after the kill and checks every promise. */
const checkRecovery = async (
  t: ExecutionContext,
  { world, folder, name }: { world: FakeWorld; folder: string; name: string }
): Promise<'paid' | 'not paid'> => {
  const errors: string[] = []
  const onError = (source: string, error: unknown): void => void errors.push(`${source}: ${error}`)
  const kernel = await openDevice(world, { storage: fileStorage(folder), onError })
  const account = await kernel.context.loginWithPassword('alice', 'Correct horse 1')
  const [walletId = ''] = account.getSnapshot().walletIds
  const wallet = await account.openWallet(walletId)
  t.is(wallet.name, 'Savings', name)
  await waitFor(() => wallet.engine.getSnapshot().syncRatio === 1 && wallet.unfinishedSpends().length === 0)
  world.chain.mine(1)
  await account.sync()
  await waitFor(async () =>
    (await wallet.getTransactions()).every(({ confirmations }) => confirmations === 'confirmed')
  )
  const history = await wallet.getTransactions()
  const sent = history.filter(({ isSend }) => isSend)
  t.true(sent.length <= 1, `${name}: one intent, one transaction`)
  const [payment] = sent
  const left = payment === undefined ? FUNDS : FUNDS - PAID - BigInt(payment.networkFee)
  await waitFor(() => wallet.balanceOf(null) === left.toString())
  if (payment !== undefined) {
    t.deepEqual(payment.metadata, { name: 'Landlord', notes: 'rent' }, `${name}: the note is kept`)
    t.is(payment.spendTargets?.[0]?.nativeAmount, PAID.toString() as never, `${name}: the payee is kept`)
  }
  await account.sync()
  await kernel.close()
  t.deepEqual(errors, [], name)
  t.false(existsSync(join(folder, 'quarantine')) && readdirSync(join(folder, 'quarantine')).length > 0, name)
  t.is(readdirSync(folder, { recursive: true }).filter(path => String(path).includes('.tmp')).length, 0, name)

  const second = await openDevice(world)
  const again = await second.context.loginWithPassword('alice', 'Correct horse 1')
  const same = await again.openWallet(walletId)
  await waitFor(async () => (await same.getTransactions()).length === history.length)
  t.deepEqual(
    (await same.getTransactions()).map(({ txid, metadata }) => [txid, metadata]),
    history.map(({ txid, metadata }) => [txid, metadata]),
    `${name}: another device sees the same`
  )
  await second.close()
  await world.close()
  return payment === undefined ? 'not paid' : 'paid'
}

test('a spend killed at any write leaves no torn file and forgets no coin, note or signed transaction', async t => {
  const home = await makeHome(t)
  const whole = await spendIn(t, home, { killAt: 0, moment: 'during' })
  t.is(whole.signal, null)
  t.is(await checkRecovery(t, { ...whole, name: 'whole' }), 'paid')

  const outcomes: string[] = []
  for (const moment of ['before', 'during'] as const) {
    const { first, step } = drawSteps(t, 2)
    let killAt = first
    // Syncs share their writes, so that the number of operations varies: go on until none is left to die at.
    for (let wasKilled = true; wasKilled; killAt += step) {
      const name = `killed ${moment} operation ${killAt}`
      const killed = await spendIn(t, home, { killAt, moment })
      wasKilled = killed.signal === 'SIGKILL'
      outcomes.push(await checkRecovery(t, { ...killed, name }))
    }
    t.true(
      killAt > 8,
      `a spend writes its intent, bytes, send, coins, file and end: ${killAt - 2} operations`
    )
  }
  const paidCount = outcomes.filter(outcome => outcome === 'paid').length
  t.log(`${outcomes.length - 2} kills, after which the payment had happened in ${paidCount - 2}`)
  t.is(outcomes[0], 'not paid', 'before anything is durable nothing has left')
  t.is(outcomes.at(-1), 'paid')
})
