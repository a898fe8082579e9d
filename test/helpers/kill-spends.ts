import { fileURLToPath } from 'node:url'
import type { ExecutionContext } from 'ava'
import { type FakeWorld, makeFakeWorld } from '../../fake-server/fake-world.ts'
import { serveFakeWorld } from '../../fake-server/http/serve-fake-world.ts'
import type { Json, StoragePlugin } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import type { Death } from './deadly-storage.ts'
import { openDevice, waitFor } from './device.ts'
import { drawSteps } from './drawn-runs.ts'
import { type MemoryKind, makeFaultMedium } from './fault-store.ts'
import type { SpenderOrder } from './killed-spender.ts'
import { type Contents, fillMedium, kindOf, type Medium, mediumStorage, storageOn } from './media.ts'
import { runToDeath } from './run-to-death.ts'
import type { SpenderStep, SpenderTask } from './spender-story.ts'

const io = makeNodeIo()
const SPENDER = fileURLToPath(new URL('./killed-spender.js', import.meta.url))
const FUNDS = 100_000n
const RECEIVED = 50_000n
const PAID = 40_000n

/** Where the process that is killed has its data, on media of one kind. */
export interface KillOptions {
  readonly kind: Medium['kind']
  /** Makes an empty medium of that kind. */
  makeMedium(): Promise<Medium>
  readonly moments: readonly Death['moment'][]
  /** Of the operations, each `part`-th is tried, or all in a full run. */
  readonly part: number
}

/** A place where a wallet is, and what kills it there. */
export interface KillPlace {
  fill(contents: Contents): Promise<void>
  /** Runs {@link receiveNotePay} there until it ends or dies. */
  run(world: FakeWorld, order: Death & SpenderTask): Promise<KilledRun>
  /** What opens it again. */
  storage(): Promise<StoragePlugin>
  /** Looks at it when its wallet was opened again. */
  check?(name: string): void
}

/** What is left of a run. */
export interface KilledRun {
  readonly wasKilled: boolean
  readonly steps: readonly SpenderStep[]
}

/** The kills of {@link killSpends}. */
export interface SpendKills extends Pick<KillOptions, 'moments' | 'part'> {
  readonly name: string
  /** What a place is filled with. */
  readonly contents: MemoryKind
  makePlace(): Promise<KillPlace>
}

/** Kills of processes on media. */
export const mediumKills = (
  options: KillOptions,
  check?: (medium: Medium, name: string) => void
): SpendKills => ({
  moments: options.moments,
  part: options.part,
  name: options.kind,
  contents: kindOf(options),
  async makePlace() {
    const medium = await options.makeMedium()
    return {
      fill: contents => fillMedium(medium, contents),
      storage: async () => mediumStorage(medium),
      check: name => check?.(medium, name),
      async run(world, order) {
        const { authServer, infoServers, syncServers, electrumServers, close } = await serveFakeWorld(world)
        const servers = { authServer, infoServers, syncServers, electrumServers }
        return runSpender({ ...order, ...servers, medium }).finally(close)
      }
    }
  }
})

/**
 * Kills a process whose wallet receives, notes, pays and syncs, at one operation of its medium after the other, and opens the wallet again:
 * what was answered is there, nothing is there by half, and the payment was sent once or never.
 *
 * @returns how many operations there are, and how many kills left the payment sent
 */
export const killSpends = async (
  t: ExecutionContext,
  options: SpendKills
): Promise<{ readonly operations: number; readonly kills: number; readonly paid: number }> => {
  const home = await makeHome(options.contents)
  const run = async (death: Death): Promise<Killed> => killIn(home, await options.makePlace(), death)
  const whole = await run({ killAt: 0, moment: 'during' })
  t.false(whole.wasKilled)
  t.deepEqual(
    whole.steps.map(({ step }) => step),
    ['noted', 'spent', 'synced']
  )
  t.is(await recover(t, { ...whole, name: 'whole' }), 'paid')

  const outcomes: ('not paid' | 'paid')[] = []
  let operations = 0
  for (const moment of options.moments) {
    const { first, step } = drawSteps(t, options.part)
    // Syncs share their writes, so that the number of operations varies: go on until none is left to die at.
    for (let killAt = first; ; killAt += step) {
      const killed = await run({ killAt, moment })
      const name = `${options.name}, killed ${moment} operation ${killAt}`
      const outcome = await recover(t, { ...killed, name })
      if (!killed.wasKilled) {
        operations = Math.max(operations, killAt - 1)
        break
      }
      outcomes.push(outcome)
    }
  }
  return { operations, kills: outcomes.length, paid: outcomes.filter(outcome => outcome === 'paid').length }
}

/** An account whose wallet has coins, and the world around it, in which a payment waits for it. */
interface Home {
  readonly contents: Contents
  readonly saved: Json
  readonly payTo: string
  readonly received: string
}

const makeHome = async (kind: MemoryKind): Promise<Home> => {
  const contents = new Map<string, string>()
  const world = makeFakeWorld({ io })
  const storage = storageOn(kind, async () => makeFaultMedium(kind, contents))
  const kernel = await openDevice(world, { storage })
  const account = await kernel.context.createAccount({ username: 'alice', password: 'Correct horse 1' })
  const wallet = await account.createCurrencyWallet('wallet:bitcoin', { name: 'Savings' })
  const { publicAddress: own } = await wallet.getReceiveAddress()
  world.chain.fund(own, FUNDS.toString())
  world.chain.mine(1)
  await waitFor(() => wallet.balanceDetailsOf(null).spendable === FUNDS.toString())
  await account.sync()
  const shop = await openDevice(world)
  const shopWallet = await (await shop.context.createAccount({})).createCurrencyWallet('wallet:bitcoin')
  const { publicAddress } = await shopWallet.getReceiveAddress()
  await shop.close()
  await kernel.close()
  const received = world.chain.fund(own, RECEIVED.toString())
  world.chain.mine(1)
  return { contents, saved: world.toJson(), payTo: publicAddress, received }
}

interface Killed extends KilledRun {
  readonly place: KillPlace
  readonly world: FakeWorld
  readonly received: string
}

const killIn = async (
  { contents, saved, payTo, received }: Home,
  place: KillPlace,
  death: Death
): Promise<Killed> => {
  await place.fill(contents)
  const world = makeFakeWorld({ io, saved })
  return { ...(await place.run(world, { ...death, payTo, received })), place, world, received }
}

const runSpender = async (order: SpenderOrder): Promise<KilledRun> => {
  const { signal, lines } = await runToDeath<SpenderStep>(SPENDER, order)
  return { wasKilled: signal === 'SIGKILL', steps: lines }
}

/** Starts again after the kill and checks every promise. */
const recover = async (
  t: ExecutionContext,
  { world, place, steps, received, name }: Killed & { readonly name: string }
): Promise<'not paid' | 'paid'> => {
  const errors: string[] = []
  const onError = (source: string, error: unknown): void => void errors.push(`${source}: ${error}`)
  const kernel = await openDevice(world, { storage: await place.storage(), onError })
  const account = await kernel.context.loginWithPassword('alice', 'Correct horse 1')
  const [walletId = ''] = account.getSnapshot().walletIds
  const wallet = await account.openWallet(walletId)
  t.is(wallet.name, 'Savings', name)
  const noted = (await wallet.getTransactions()).find(({ txid }) => txid === received)?.metadata.notes
  if (steps.some(({ step }) => step === 'noted')) t.is(noted, 'salary', `${name}: the note was answered`)
  await waitFor(() => wallet.engine.getSnapshot().syncRatio === 1 && wallet.unfinishedSpends().length === 0)
  world.chain.mine(1)
  await account.sync()
  await waitFor(async () => {
    const rows = await wallet.getTransactions()
    return rows.length >= 2 && rows.every(({ confirmations }) => confirmations === 'confirmed')
  })
  const history = await wallet.getTransactions()
  const sent = history.filter(({ isSend }) => isSend)
  t.is(history.length - sent.length, 2, name)
  t.true(sent.length <= 1, `${name}: one intent, one transaction`)
  const [payment] = sent
  for (const step of steps)
    if (step.step === 'spent') t.is(payment?.txid, step.txid as never, `${name}: the payment was answered`)
  const paid = payment === undefined ? 0n : PAID + BigInt(payment.networkFee)
  await waitFor(() => wallet.balanceOf(null) === (FUNDS + RECEIVED - paid).toString())
  if (payment !== undefined) {
    t.deepEqual(payment.metadata, { name: 'Landlord', notes: 'rent' }, `${name}: the note is kept`)
    t.is(payment.spendTargets?.[0]?.nativeAmount, PAID.toString() as never, `${name}: the payee is kept`)
  }
  await account.sync()
  await kernel.close()
  t.deepEqual(errors, [], name)
  place.check?.(name)

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
