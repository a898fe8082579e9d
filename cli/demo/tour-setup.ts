import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { durationText } from '../../app/format/times.ts'
import { FAKE_ADDRESSES, type FakeWorld } from '../../fake-server/fake-world.ts'
import {
  type CurrencyWallet,
  compact,
  createKernel,
  type Io,
  type Kernel,
  type NativeAmount,
  type PluginId,
  type Txid
} from '../../kernel/index.ts'
import { defaultPlugins } from '../../plugins/default-plugins.ts'
import { fileStorage } from '../../plugins/storage/file/file-storage.ts'
import { kernelSettings } from '../profile/open-profile.ts'
import { openLocalWorld } from '../profile/open-world.ts'
import { makePrivateFolder, type ProfilePaths, profilePaths } from '../profile/paths.ts'
import type { WorldSettings } from '../profile/settings.ts'
import type { TourStep } from '../screens/tour-screen.tsx'
import { untilSynced } from '../session/until-synced.ts'

/** The fake world of a tour, and its folder. */
export interface TourWorld {
  readonly world: FakeWorld
  /** Each device has a folder of its own below this one. */
  readonly folder: string
  /** The profile that keeps it; undefined if it is removed afterwards. */
  readonly profile: string | undefined
  readonly paths: ProfilePaths
  close(): Promise<void>
}

/** Options of {@link openTourWorld}. */
export interface TourWorldOptions {
  readonly io: Io
  readonly isKept: boolean
  readonly holder: string
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** Opens a fresh world: in a folder that is removed afterwards, or as a new profile that stays. */
export const openTourWorld = async (options: TourWorldOptions): Promise<TourWorld> => {
  if (options.isKept) {
    const { profile, paths } = await newProfile(options)
    const { world, close } = await openLocalWorld(paths, options)
    return { world, folder: paths.data, profile, paths, close }
  }
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-demo-'))
  const paths = profilePaths('demo', { HOLDFAST_HOME: folder })
  makePrivateFolder(paths.data)
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true })
  const { world, close } = await openLocalWorld(paths, options).catch(async (error: unknown) => {
    await remove()
    throw error
  })
  return {
    world,
    folder: paths.data,
    profile: undefined,
    paths,
    async close() {
      await close()
      await remove()
    }
  }
}

const MAX_PROFILES = 10_000

const newProfile = async ({
  environment
}: TourWorldOptions): Promise<{ readonly profile: string; readonly paths: ProfilePaths }> => {
  for (let number = 1; number <= MAX_PROFILES; number += 1) {
    const profile = `demo-${number}`
    const paths = profilePaths(profile, environment)
    const isTaken = await stat(paths.data).then(
      () => true,
      () => false
    )
    if (!isTaken) return { profile, paths }
  }
  throw new Error('There are too many kept tours')
}

/** The chain on which the tour pays. */
export interface TourChain {
  /** The name of its currency. */
  readonly currency: string
  readonly walletType: string
  /** An address of another owner. */
  readonly payee: string
  fund(address: string, amount: NativeAmount): Promise<void>
  mine(): Promise<void>
  /** The Electrum server of a chain outside of the world. */
  readonly server?: { readonly pluginId: PluginId; readonly port: number }
  /** Tells what a node of the chain has of a payment, in its own words. */
  readonly testify?: (txid: Txid) => Promise<string>
}

/** Bitcoin's chain in the world. */
export const fakeTourChain = (world: FakeWorld): TourChain => ({
  currency: 'Bitcoin',
  walletType: 'wallet:bitcoin',
  // The example key of BIP-173.
  payee: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
  async fund(address, amount) {
    world.chain.fund(address, amount)
    await world.saved()
  },
  async mine() {
    world.chain.mine(1)
    await world.saved()
  }
})

/** Opens one device of the tour: its own kernel on its own folder, in the shared world. */
export const openTourDevice = (
  world: FakeWorld,
  {
    io,
    folder,
    name,
    chain: { server }
  }: { readonly io: Io; readonly folder: string; readonly name: string; readonly chain: TourChain }
): Promise<Kernel> =>
  createKernel({
    ...tourSettings(server),
    io: server === undefined ? world.ioFor(io) : reaching(io, world.ioFor(io), server.port),
    deviceDescription: name,
    logLevel: 'error',
    plugins: [fileStorage(join(folder, name), { holder: 'holdfast demo' }), ...defaultPlugins]
  })

const tourSettings = (server: TourChain['server']): WorldSettings => {
  const settings = kernelSettings(FAKE_ADDRESSES)
  if (server === undefined) return settings
  const { pluginId, port } = server
  const options = { network: 'regtest', servers: [`tcp://127.0.0.1:${port}`] }
  return { ...settings, pluginOptions: { ...settings.pluginOptions, [pluginId]: options } }
}

/** The io of a world, which reaches one port of this computer beside it. */
const reaching = (io: Io, worldIo: Io, port: number): Io => ({
  ...worldIo,
  connect: async (address, handlers, options) => {
    const connect = address.port === port ? io.connect : worldIo.connect
    if (connect === undefined) throw new Error('No TCP on this platform')
    return connect(address, handlers, options)
  }
})

/** Waits until a condition on a wallet holds; it is checked after each change, and every 20 ms. */
export const untilTrue = async (
  wallet: CurrencyWallet,
  signal: AbortSignal,
  isTrue: () => Promise<boolean>
): Promise<void> => {
  await untilSynced(wallet, signal)
  while (!(await isTrue())) {
    signal.throwIfAborted()
    await nextChange(wallet)
  }
}

const POLL_MS = 20

const nextChange = (wallet: CurrencyWallet): Promise<void> =>
  new Promise(resolve => {
    const timer = setTimeout(() => finish(), POLL_MS)
    const stops = [wallet.subscribe(() => finish()), wallet.engine.subscribe(() => finish())]
    const finish = (): void => {
      clearTimeout(timer)
      for (const stop of stops) stop()
      resolve()
    }
  })

/** Called for each change of a step. */
export type OnTourStep = (step: TourStep) => void

/** The result of a step. */
export interface StepOutcome<T> {
  readonly value: T
  readonly detail: string
  readonly lines?: readonly string[]
}

/** Runs one step and reports it. */
export type RunStep = <T>(id: string, title: string, work: () => Promise<StepOutcome<T>>) => Promise<T>

/** Makes the runner of steps; `pauseMs` gives readers time after each step. */
export const makeRunStep =
  (onStep: OnTourStep, pauseMs: number): RunStep =>
  async (id, title, work) => {
    const started = performance.now()
    onStep({ id, title, state: 'running' })
    try {
      const { value, detail, lines } = await work()
      const durationMs = performance.now() - started
      onStep({ id, title, state: 'done', detail, durationMs, ...compact({ lines }) })
      if (pauseMs > 0) await new Promise(resolve => setTimeout(resolve, pauseMs))
      return value
    } catch (error) {
      onStep({ id, title, state: 'failed', durationMs: performance.now() - started })
      throw error
    }
  }

/** Prints the steps of a tour as plain lines, without a terminal. */
export const plainProgress =
  (write: (line: string) => void): OnTourStep =>
  ({ title, state, detail, lines, durationMs }) => {
    if (state === 'running') return
    const mark = state === 'done' ? 'ok    ' : 'FAILED'
    const time = durationMs === undefined ? '' : ` (${durationText(durationMs)})`
    write(`${mark}  ${title}${time}`)
    for (const line of [...(lines ?? []), ...(detail === undefined ? [] : [detail])]) write(`        ${line}`)
  }
