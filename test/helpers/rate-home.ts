import type { ExecutionContext } from 'ava'
import {
  createKernel,
  type Disk,
  type FaultSnapshot,
  type Kernel,
  type LogLine,
  type ObserverPlugin,
  type Plugin,
  type RateContext,
  type RatePair,
  type RatePlugin,
  type RateService,
  type RatesSnapshot,
  type RouteSnapshot
} from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { memoryDisk } from '../../plugins/storage/memory.ts'
import { type FakeClock, makeFakeClock } from '../../testing/fake-clock.ts'

/** A device with rates whose time stands still until a test moves it, and what was told of it. */
export interface RateHome {
  readonly clock: FakeClock
  readonly kernel: Kernel
  readonly rates: RateService
  readonly changes: RatesSnapshot[]
  readonly routes: RouteSnapshot[]
  readonly faults: FaultSnapshot[]
  readonly lines: LogLine[]
  readonly reports: [source: string, error: unknown][]
}

/** What a rate home may be given. */
export interface RateHomeOptions {
  readonly plugins?: readonly Plugin[]
  readonly clock?: FakeClock
  readonly disk?: Disk
  readonly laterPlugins?: readonly string[]
}

/** Makes a device with rate plugins, and nobody logged in. */
export const openRateHome = async (t: ExecutionContext, options: RateHomeOptions = {}): Promise<RateHome> => {
  const { plugins = [], clock = makeFakeClock(), disk = memoryDisk() } = options
  const reported = { changes: [], routes: [], faults: [], lines: [] } as Pick<
    RateHome,
    'changes' | 'routes' | 'faults' | 'lines'
  >
  const reports: [string, unknown][] = []
  const watcher: ObserverPlugin = {
    kind: 'observer',
    id: 'watcher',
    apply({ hooks }) {
      hooks.ratesChanged.tap('watcher', change => void reported.changes.push(change))
      hooks.routeFound.tap('watcher', route => void reported.routes.push(route))
      hooks.pluginFault.tap('watcher', fault => void reported.faults.push(fault))
      hooks.logged.tap('watcher', line => void reported.lines.push(line))
    }
  }
  const kernel = await createKernel({
    io: { ...makeNodeIo(), clock },
    apiKey: '',
    laterPlugins: options.laterPlugins ?? [],
    onError: (source, error) => void reports.push([source, error]),
    plugins: [
      {
        kind: 'storage',
        id: 'storage',
        apply: ({ hooks }) => hooks.openDisk.tapPromise('storage', async () => disk)
      },
      watcher,
      ...plugins
    ]
  })
  t.teardown(() => kernel.close())
  return { clock, kernel, rates: kernel.context.rates, ...reported, reports }
}

/** A rate plugin that answers as the test says, and what it was asked. */
export interface ToySource extends RatePlugin {
  readonly requested: (readonly RatePair[])[]
  readonly contexts: RateContext[]
}

/** What a toy source does with a desk; a list is offered as it is. */
export type ToyAnswer =
  | ((tapContext: RateContext) => void | Promise<void>)
  | readonly (readonly [string, string, number])[]

/** Makes a rate plugin for tests. */
export const toySource = (
  id: string,
  answer: ToyAnswer,
  more: Partial<Pick<RatePlugin, 'bias' | 'retired'>> = {}
): ToySource => {
  const requested: (readonly RatePair[])[] = []
  const contexts: RateContext[] = []
  return {
    kind: 'rates',
    id,
    displayName: `Toy ${id}`,
    ...more,
    requested,
    contexts,
    apply({ hooks }) {
      hooks.fetchRates.tapPromise(id, async tapContext => {
        requested.push(tapContext.wanted)
        contexts.push(tapContext)
        if (typeof answer === 'function') await answer(tapContext)
        else
          for (const [fromCurrency, toCurrency, rate] of answer)
            tapContext.offer({ fromCurrency, toCurrency }, rate)
      })
    }
  }
}

/** A pair by its codes. */
export const pairOf = (fromCurrency: string, toCurrency: string): RatePair => ({ fromCurrency, toCurrency })
