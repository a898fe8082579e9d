import type { RatePlugin } from '../../kernel/plugin-api.ts'

/** Its service ended on 31 March 2023. */
export const nomics: RatePlugin = retiredSource('nomics', {
  displayName: 'Nomics',
  bias: 0.1,
  retired: 'Nomics ended its service in March 2023'
})

/** It has not traded since it was robbed. */
export const wazirx: RatePlugin = retiredSource('wazirx', {
  displayName: 'WazirX',
  bias: -0.15,
  retired: 'WazirX stopped trading in July 2024'
})

/** Bitcoin in Argentine pesos; whether anybody keeps its address is not known. */
export const coinmonitor: RatePlugin = retiredSource('coinmonitor', {
  displayName: 'Coinmonitor',
  bias: -0.2,
  retired: 'Coinmonitor has no address any more that is known to be its own'
})

// Ids of old sources that settings may still name: known, never asked.
type Retired = Required<Pick<RatePlugin, 'displayName' | 'bias' | 'retired'>>
function retiredSource(id: string, about: Retired): RatePlugin {
  return { kind: 'rates', id, ...about, apply() {} }
}
