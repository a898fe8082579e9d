import { WalletError } from '../base/errors.ts'
import type { EngineStore } from '../types/engine.ts'
import type { PluginId } from '../types/ids.ts'

/**
 * Gives a plugin a store of its own: nothing of the kernel's class is reached through it, and what is no text is refused, since the
 * entries of others share its batch.
 */
export const pluginStore = (store: EngineStore, pluginId: PluginId): EngineStore =>
  Object.freeze({
    get: (key: string) => store.get(key),
    // No generator: plugins would share its prototype with the kernel.
    entries: (prefix: string) => [...store.entries(prefix)],
    write: async (changes: ReadonlyMap<string, string | null>) => {
      const copy = new Map<unknown, unknown>(changes)
      for (const [key, text] of copy)
        if (typeof key !== 'string' || !(text === null || typeof text === 'string'))
          throw new WalletError('BOGUS_DATA', { pluginId, what: 'store entry', path: '' })
      await store.write(copy as ReadonlyMap<string, string | null>)
    }
  })
