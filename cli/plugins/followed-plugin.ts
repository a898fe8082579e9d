import { type Clock, type Kernel, type Plugin, WalletError, withDeadline } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'

/** A plugin whose `apply` is followed to its end, also an asynchronous one. */
export interface FollowedPlugin {
  /** For the kernel: the same plugin. */
  readonly plugin: Plugin
  /**
   * Waits until `apply` has ended, if the kernel has called it.
   *
   * @throws CliError PLUGIN_REFUSED with what it throws, or if it has not ended after 15 seconds
   */
  ended(clock: Clock): Promise<void>
}

/** Follows the `apply` of a plugin, whose kernel does not wait for it. */
export const followPlugin = (plugin: Plugin): FollowedPlugin => {
  const { id, apply } = plugin
  let applied: unknown
  const follow = (host: never): unknown => {
    applied = Reflect.apply(apply, plugin, [host])
    return applied
  }
  const field = { value: follow, enumerable: true, configurable: true, writable: true }
  const isSet = typeof apply !== 'function' || Reflect.defineProperty(plugin, 'apply', field)
  return {
    // One that is frozen is followed in a copy.
    plugin: isSet
      ? plugin
      : Object.create(Object.getPrototypeOf(plugin), {
          ...Object.getOwnPropertyDescriptors(plugin),
          apply: field
        }),
    async ended(clock) {
      const deadline = { clock, milliseconds: APPLY_MS, what: 'Its asynchronous apply' }
      try {
        await withDeadline(deadline, () => applied)
      } catch (error) {
        throw refusal(id, error instanceof Error ? error.message : String(error))
      }
    }
  }
}

const APPLY_MS = 15_000

const refusal = (id: string, reason: string): CliError =>
  new CliError('PLUGIN_REFUSED', `The plugin ${id} fails when it is applied: ${reason}`)

/** @throws WalletError PLUGIN_INVALID or CliError PLUGIN_REFUSED with what is wrong with a plugin of a kernel that has failed */
export const throwIfFailed = ({ context }: Kernel): void => {
  // By its state alone: one whose id cannot be used, or is taken, has another here.
  const failed = context.plugins.find(({ state }) => state === 'failed')
  if (failed === undefined) return
  const { pluginId, mistake, message = 'it failed' } = failed
  if (mistake !== undefined) throw new WalletError('PLUGIN_INVALID', { pluginId, ...mistake })
  throw refusal(pluginId, message)
}
