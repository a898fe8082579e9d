import type { Io, JsonObject, Plugin, WalletError } from '../kernel/plugin-api.ts'
import type { KernelHooks } from '../kernel/plugins/hook-types.ts'
import { makeKernelHooks } from '../kernel/plugins/hooks.ts'
import {
  currencyHost,
  type HostOptions,
  observerHost,
  policyHost,
  rateHost,
  storageHost,
  swapHost
} from '../kernel/plugins/plugin.ts'
import { PluginSet } from '../kernel/plugins/plugin-set.ts'
import { makeNodeIo } from '../platform/node/index.ts'
import { memoryDisk } from '../plugins/storage/memory.ts'
import { type FakeClock, makeFakeClock } from './fake-clock.ts'
import { type FakeNetwork, makeFakeNetwork, type Replies } from './fake-network.ts'
import type { GlobalUses } from './global-uses.ts'

/** How a lab is opened. */
export interface PluginLabOptions {
  readonly replies?: Replies
  /** What an application gives the plugin in `pluginOptions`. */
  readonly options?: JsonObject
  /** Replaces parts of the io, such as the connections of a currency. */
  readonly io?: Partial<Io>
  /** Notes the globals that the plugin uses. */
  readonly uses?: GlobalUses
  /** Uses the real network and the real time. */
  readonly isLive?: boolean
}

/** One plugin with a host of the kernel, on a clock that stands still and a fake network. */
export interface PluginLab {
  readonly clock: FakeClock
  readonly network: FakeNetwork
  readonly hooks: KernelHooks
  /** What the plugin logged. */
  readonly lines: readonly string[]
  /** Adds a line, of an engine of the plugin. */
  log(text: string): void
  /** What the kernel would report as a fault of the plugin. */
  readonly faults: readonly unknown[]
  /** Calls code of the plugin, whose uses of globals are noted. */
  call<T>(run: () => T): T
  /**
   * Waits for plugin code, and lets up to so much time of the clock pass for it.
   *
   * @returns its answer or error, and `isLate` if it has not ended by then
   */
  wait<T>(work: Promise<T>, milliseconds: number): Promise<Waited<T>>
  /** Waits for plugin code that uses the real network. */
  waitLive<T>(work: Promise<T>): Promise<Waited<T>>
}

/** How a call of a plugin ended. */
export interface Waited<T> {
  readonly answer?: T
  readonly error?: unknown
  readonly isLate: boolean
}

/** Applies a plugin as the kernel does. @throws PLUGIN_INVALID, or PLUGIN_FAILED with what `apply` threw */
export const openPluginLab = (
  plugin: Plugin,
  { replies = {}, options = {}, io = {}, uses, isLive = false }: PluginLabOptions = {}
): PluginLab => {
  const nodeIo = makeNodeIo()
  const clock = makeFakeClock()
  const network = makeFakeNetwork(outside(replies, uses), clock)
  const [lines, faults]: [string[], unknown[]] = [[], []]
  const onFault = (fault: unknown): void => void faults.push(fault)
  const hooks = makeKernelHooks({ clock, onFault: ({ error }) => onFault(error) })
  const log = (text: string): void => void lines.push(text)
  const call: PluginLab['call'] = run => (uses === undefined ? run() : uses.within(run))
  const host: HostOptions = {
    hooks,
    onFault,
    io: isLive
      ? nodeIo
      : { crypto: nodeIo.crypto, random: nodeIo.random, clock, fetch: network.fetch, ...io },
    disk: memoryDisk(),
    log: { debug: log, info: log, warn: log, error: log },
    options
  }
  let failure: WalletError | undefined
  new PluginSet(hooks).add(plugin, checked => call(() => applyTo(checked, host)), {
    options,
    onFailure: (_id, error) => {
      failure = error
    },
    onFault
  })
  if (failure !== undefined) throw failure
  return {
    ...{ clock, network, hooks, lines, log, faults, call },
    wait: (work, milliseconds) => waitFor(clock, work, milliseconds),
    waitLive: work =>
      work.then(
        answer => ({ answer, isLate: false }),
        (error: unknown) => ({ error, isLate: false })
      )
  }
}

/** A fake provider is no code of the plugin: it may use any global. */
const outside = (replies: Replies, uses: GlobalUses | undefined): Replies => {
  if (uses === undefined || typeof replies !== 'function') return replies
  return clock => {
    const serve = replies(clock)
    return request => uses.without(() => serve(request))
  }
}

const applyTo = (plugin: Plugin, host: HostOptions): void => {
  const { id } = plugin
  if (plugin.kind === 'currency') plugin.apply(currencyHost(id, host))
  else if (plugin.kind === 'rates') plugin.apply(rateHost(id, host))
  else if (plugin.kind === 'swap') plugin.apply(swapHost(id, host))
  else if (plugin.kind === 'storage') plugin.apply(storageHost(id, host))
  else if (plugin.kind === 'policy') plugin.apply(policyHost(id, { ...host, fail: host.onFault }))
  else plugin.apply(observerHost(id, host.hooks))
}

/** So much time passes in one step of waiting. */
const STEP_MS = 250

const waitFor = async <T>(clock: FakeClock, work: Promise<T>, milliseconds: number): Promise<Waited<T>> => {
  let ended: Waited<T> | undefined
  void work.then(
    answer => {
      ended = { answer, isLate: false }
    },
    (error: unknown) => {
      ended = { error: error ?? new Error('It threw nothing'), isLate: false }
    }
  )
  await clock.advance(0)
  for (let passed = 0; ended === undefined && passed < milliseconds; passed += STEP_MS)
    await clock.advance(Math.min(STEP_MS, milliseconds - passed))
  return ended ?? { isLate: true }
}

/** Calls the taps of a hook, each with the same arguments, as the plugin wrote them. @returns their answers */
export const callTaps = <Args extends readonly unknown[]>(
  lab: Pick<PluginLab, 'call'>,
  hook: { readonly taps: readonly { readonly fn: unknown }[] },
  args: Args
): Promise<readonly unknown[]> => {
  const run = async (fn: unknown): Promise<unknown> => (fn as (...args: Args) => unknown)(...args)
  return Promise.all(hook.taps.map(({ fn }) => lab.call(() => run(fn))))
}
