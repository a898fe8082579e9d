import { chainMethods } from './electrum-chain-methods.ts'
import type { ElectrumMethod } from './electrum-method.ts'
import { scriptMethods } from './electrum-script-methods.ts'
import { serverMethods } from './electrum-server-methods.ts'

/** Every method of Electrum protocol 1.4.2 but `server.version`, which the session answers itself. */
export const electrumMethods: ReadonlyMap<string, ElectrumMethod> = new Map([
  ...serverMethods,
  ...chainMethods,
  ...scriptMethods
])
