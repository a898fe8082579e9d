import { WalletError } from '../kernel/base/errors.ts'
import { Observable, type Readable } from '../kernel/index.ts'
import type { PluginId } from '../kernel/types/ids.ts'
import type { NetworkConditions } from './base/network-conditions.ts'
import { type ChainId, chainIds } from './chain/open-chain.ts'
import type { FakeWorld } from './fake-world.ts'

/** Controls a world, in this process or by requests to another one; each call resolves once its change is saved. */
export interface ChainControl {
  /** Pays from the faucet of a chain; gives the txid. @throws ADDRESS_INVALID, AMOUNT_INVALID, BROADCAST_REFUSED */
  fund(chain: ChainId, address: string, native: string): Promise<string>
  /** Mines blocks; gives the new height. @throws OPTION_INVALID */
  mine(chain: ChainId, count: number): Promise<number>
  network(): Promise<NetworkConditions>
  /** Gives the new conditions. @throws BAD_REPLY */
  changeNetwork(change: Partial<NetworkConditions>): Promise<NetworkConditions>
}

/** Makes the control of a world in this process. */
export const makeChainControl = ({
  chains,
  network,
  saved
}: Pick<FakeWorld, 'chains' | 'network' | 'saved'>): ChainControl => ({
  async fund(chain, address, native) {
    const txid = chains[chain].fund(address, native)
    await saved()
    return txid
  },
  async mine(chain, count) {
    chains[chain].mine(count)
    await saved()
    return chains[chain].height
  },
  network: async () => network.current,
  async changeNetwork(change) {
    network.change(change)
    await saved()
    return network.current
  }
})

/** Controls a world by the plugin ids of its chains, with its state as the devtools want it (`FakeWorldControl`). */
export const makeFakeWorldControl = (control: ChainControl): ControlledWorld => {
  const state = new Observable<WorldState | undefined>(undefined)
  const showConditions = ({ isOnline }: NetworkConditions): void => {
    if (state.getSnapshot()?.isOnline !== isOnline) state.set({ isOnline })
  }
  return {
    state,
    look: async () => showConditions(await control.network()),
    fund: async (pluginId, address, native) => control.fund(chainOf(pluginId), address, native),
    mine: async (pluginId, count) => control.mine(chainOf(pluginId), count),
    setOnline: async isOnline => showConditions(await control.changeNetwork({ isOnline }))
  }
}

/** The state of a world. */
interface WorldState {
  readonly isOnline: boolean
}

interface ControlledWorld {
  readonly state: Readable<WorldState | undefined>
  look(): Promise<void>
  fund(pluginId: PluginId, publicAddress: string, nativeAmount: string): Promise<string>
  mine(pluginId: PluginId, count: number): Promise<number>
  setOnline(isOnline: boolean): Promise<void>
}

const chainOf = (pluginId: PluginId): ChainId => {
  const found = chainIds.find(id => id === pluginId)
  if (found !== undefined) return found
  throw new WalletError('OPTION_INVALID', {
    option: 'pluginId',
    rule: `has no chain in the fake world; those there are ${chainIds.join(', ')}`
  })
}
