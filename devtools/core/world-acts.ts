import { ActionError } from './action-error.ts'
import { type ActorPlace, type ActsOf, walletOf } from './actor-place.ts'
import type { WorldDriver } from './world-driver.ts'

/** Drives the fake world. Each refuses with NO_WORLD where there is none. */
export const worldActs = (place: ActorPlace): ActsOf<'world'> => ({
  async 'world.fund'({ walletId, nativeAmount }) {
    const world = worldOf(place)
    const { wallet } = await walletOf(place, walletId)
    const { publicAddress } = await wallet.getReceiveAddress()
    return { txid: await world.fund(wallet.currencyInfo.pluginId, publicAddress, nativeAmount) }
  },
  async 'world.mine'({ pluginId, count }) {
    return { height: await worldOf(place).mine(pluginId, count) }
  },
  async 'world.network'({ isOnline }) {
    await worldOf(place).setOnline(isOnline)
    return { isOnline }
  }
})

const worldOf = ({ world }: ActorPlace): WorldDriver => {
  if (world === undefined)
    throw new ActionError({ code: 'NO_WORLD', message: 'This kernel does not live in a fake world' })
  return world
}
