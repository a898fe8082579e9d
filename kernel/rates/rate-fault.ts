import type { Services } from '../plugins/services.ts'

/** What a rate plugin did wrong, in which hook. */
export interface RateFault {
  readonly pluginId: string
  readonly hook: 'fetchRates' | 'fetchHistoricRates'
  readonly message: string
}

/** Tells of an offer that was refused: in the plugin's log, and as its fault. */
export const tellFault = ({ logOf, hooks }: Services, { pluginId, hook, message }: RateFault): void => {
  logOf(pluginId).error(message)
  hooks.pluginFault.call(Object.freeze({ pluginId, hook, errorName: 'Error', message }))
}
