import type { FaultPort } from '../../fake-server/base/faults.ts'
import type { FakeReply, Middleware } from '../../fake-server/base/replies.ts'
import { type FakeWorld, makeFakeWorld } from '../../fake-server/fake-world.ts'
import { makeAbort } from '../../kernel/base/deadline.ts'
import { isWalletError } from '../../kernel/base/errors.ts'
import type { JsonObject } from '../../kernel/base/json.ts'
import type { AbortSignalLike } from '../../kernel/io/io.ts'
import { makeKernelHooks } from '../../kernel/plugins/hooks.ts'
import { type RatePlugin, rateHost } from '../../kernel/plugins/plugin.ts'
import { ProviderRequest } from '../../kernel/rates/rounds.ts'
import type { DatedPair, HistoricRateContext, RatePair } from '../../kernel/types/rates.ts'
import type { RateSnapshot } from '../../kernel/types/snapshots.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { memoryDisk } from '../../plugins/storage/memory.ts'
import { type FakeClock, makeFakeClock } from '../../testing/fake-clock.ts'

/** What one round of one plugin brought. */
export interface RateAnswer {
  readonly pairs: readonly RateSnapshot[]
  /** The reasons of refused offers. */
  readonly refusals: readonly string[]
  readonly error: unknown
}

/** How a lab is opened. */
export interface RateLabOptions {
  readonly options?: JsonObject
}

/** One request that a plugin sent. */
export interface SentRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignalLike | undefined
}

/** One rate plugin with a host of the kernel, in a fake world whose time stands still. */
export interface RateLab {
  readonly world: FakeWorld
  readonly clock: FakeClock
  readonly port: FaultPort
  /** What the plugin has sent. */
  readonly requests: readonly SentRequest[]
  /** How providers answered. */
  readonly statuses: readonly number[]
  /** What the plugin logged. */
  readonly lines: readonly string[]
  query(wanted: readonly RatePair[], options?: { readonly isAborted?: boolean }): Promise<RateAnswer>
  queryHistory(wanted: readonly DatedPair[]): Promise<{ pair: DatedPair; rate: number }[]>
  /** What its provider says in one round, without a mark. */
  reply(wanted: readonly RatePair[]): Promise<FakeReply>
  /** Gives up the round that is under way. */
  abort(): void
  /** Adds a fault to its provider. */
  fault(middleware: Middleware): () => void
  codeOf(error: unknown): string | undefined
}

/** Opens a lab for a plugin. @throws what the plugin throws when it is applied */
export const openRateLab = (plugin: RatePlugin, { options = {} }: RateLabOptions = {}): RateLab => {
  const clock = makeFakeClock()
  const io = { ...makeNodeIo(), clock }
  const world = makeFakeWorld({ io })
  const { providers } = world
  const device = world.ioFor(io)
  const [requests, statuses, lines]: [SentRequest[], number[], string[]] = [[], [], []]
  const hooks = makeKernelHooks({ clock, onFault: () => {} })
  const log = (text: string): void => void lines.push(text)
  plugin.apply(
    rateHost(plugin.id, {
      hooks,
      onFault() {},
      io: {
        ...device,
        fetch(url, fetchOptions) {
          requests.push({ url, headers: fetchOptions?.headers ?? {}, signal: fetchOptions?.signal })
          return device.fetch(url, fetchOptions)
        }
      },
      disk: memoryDisk(),
      log: { debug: log, info: log, warn: log, error: log },
      options
    })
  )
  providers.traffic.onLine(({ status }) => void statuses.push(status))
  let abort = makeAbort()
  const query: RateLab['query'] = async (wanted, { isAborted = false } = {}) => {
    const refusals: string[] = []
    const request = new ProviderRequest({
      pluginId: plugin.id,
      wanted,
      clock: { now: () => 0, monotonic: () => 0 },
      onRefused: message => void refusals.push(message)
    })
    abort = request.abort
    if (isAborted) abort.abort()
    let failure: unknown
    await hooks.fetchRates.promise({
      contextFor: () => request.context,
      ended: (_pluginId, error) => {
        failure = error
        return true
      }
    })
    return { pairs: request.take(), refusals, error: failure }
  }
  return {
    world,
    clock,
    port: { clock, random: () => 0 },
    requests,
    statuses,
    lines,
    query,
    async reply(wanted) {
      let said: FakeReply | undefined
      const stop = providers.use(async (_request, next) => {
        said = await next()
        return said
      }, plugin.id)
      await query(wanted)
      stop()
      if (said === undefined) throw new Error('The plugin asked nobody')
      return { status: said.status, headers: {}, body: said.body }
    },
    async queryHistory(wanted) {
      const offers: { pair: DatedPair; rate: number }[] = []
      const context: HistoricRateContext = {
        wanted,
        signal: makeAbort().signal,
        offer: (pair, rate) => void offers.push({ pair, rate })
      }
      await hooks.fetchHistoricRates.promise({ contextFor: () => context })
      return offers
    },
    abort: () => abort.abort(),
    fault: middleware => providers.use(middleware, plugin.id),
    codeOf: error => (isWalletError(error) ? error.code : error === undefined ? undefined : `${error}`)
  }
}
