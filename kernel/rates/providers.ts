import { compact } from '../base/compact.ts'
import { describeError, isWalletError } from '../base/errors.ts'
import type { RatePlugin } from '../plugins/plugin.ts'
import type { AppliedRatePlugin, PluginSet } from '../plugins/plugin-set.ts'
import type { PluginId } from '../types/ids.ts'
import type { RateProviderSnapshot } from '../types/snapshots.ts'
import { isBias } from './graph.ts'

/** The outcome of one request to a provider. */
export interface ProviderAnswer {
  readonly pairCount: number
  readonly durationMs: number
  /** Unix seconds. */
  readonly at: number
  /** Undefined if all went well. */
  readonly error?: unknown
}

/** The state of each rate provider; plugins may still join while it is in use. */
export class RateProviders {
  readonly #plugins: Pick<PluginSet, 'ratePlugins'>
  readonly #states = new Map<string, RateProviderSnapshot>()

  constructor(plugins: Pick<PluginSet, 'ratePlugins'>) {
    this.#plugins = plugins
  }

  /** In the order of the plugins. */
  snapshots(): readonly RateProviderSnapshot[] {
    return Object.freeze(this.#plugins.ratePlugins.map(applied => this.#stateOf(applied)))
  }

  /** The bias of a provider; 0 for one that is not here, or whose bias would make a hop cost nothing. */
  biasOf(pluginId: PluginId): number {
    return biasOf(this.#find(pluginId)?.plugin)
  }

  /** Returns true if a provider may be asked. */
  isActive(pluginId: PluginId): boolean {
    const applied = this.#find(pluginId)
    return applied !== undefined && applied.leftOutReason === undefined
  }

  markQueried(pluginId: PluginId): void {
    this.#change(pluginId, { state: 'asked' })
  }

  /** Its round went on without it. */
  markSilent(pluginId: PluginId): void {
    this.#change(pluginId, { state: 'silent' })
  }

  markEnded(pluginId: PluginId, { pairCount, durationMs, at, error }: ProviderAnswer): void {
    if (error === undefined) {
      // One with a quota has nothing new in most rounds, and what it gave still counts.
      const given = pairCount === 0 ? {} : { pairCount }
      this.#change(pluginId, { state: 'answered', ...given, durationMs, answeredAt: at })
      return
    }
    const errorCode = isWalletError(error) ? { errorCode: error.code } : {}
    this.#change(pluginId, { state: 'failed', durationMs, message: describeError(error), ...errorCode })
  }

  #find(pluginId: PluginId): AppliedRatePlugin | undefined {
    return this.#plugins.ratePlugins.find(({ plugin }) => plugin.id === pluginId)
  }

  #stateOf(applied: AppliedRatePlugin): RateProviderSnapshot {
    const { id } = applied.plugin
    const known = this.#states.get(id)
    if (known !== undefined) return known
    const first = firstState(applied)
    this.#states.set(id, first)
    return first
  }

  /** Changes the state of a provider; its last failure is cleared by the next answer. */
  #change(pluginId: PluginId, change: Partial<RateProviderSnapshot>): void {
    const applied = this.#find(pluginId)
    if (applied === undefined) return
    const { errorCode, message, ...known } = this.#stateOf(applied)
    const isWaiting = change.state === 'asked' || change.state === 'silent'
    const failure = isWaiting
      ? compact({ errorCode: errorCode || undefined, message: message || undefined })
      : {}
    this.#states.set(pluginId, Object.freeze({ ...known, ...failure, ...change }))
  }
}

const biasOf = (plugin: RatePlugin | undefined): number => (isBias(plugin?.bias) ? plugin.bias : 0)

const firstState = ({ plugin, leftOutReason }: AppliedRatePlugin): RateProviderSnapshot =>
  Object.freeze({
    pluginId: plugin.id,
    displayName: plugin.displayName,
    bias: biasOf(plugin),
    state: plugin.retired === undefined ? 'idle' : 'retired',
    pairCount: 0,
    ...compact({ message: leftOutReason })
  })
