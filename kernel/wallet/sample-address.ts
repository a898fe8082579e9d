import type { Services } from '../plugins/services.ts'
import type { FreshAddress } from '../types/engine.ts'
import { callTools } from './call-tools.ts'
import { checkFreshAddress } from './engine/engine-data.ts'

/**
 * An address that stands for a recipient who is not known yet: the currency's own sample, else one of the wallet.
 *
 * @throws PLUGIN_FAILED, BOGUS_DATA
 */
export const sampleAddress = async (
  services: Services,
  { pluginId, own }: { readonly pluginId: string; own(): Promise<FreshAddress> }
): Promise<string> => {
  const sample = await callTools(services, {
    pluginId,
    what: 'giving a sample address',
    async call(tools) {
      const said = await tools.sampleAddress?.()
      if (said === undefined) return undefined
      return checkFreshAddress(pluginId, { publicAddress: said }).publicAddress
    }
  })
  return sample ?? (await own()).publicAddress
}
