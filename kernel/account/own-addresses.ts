import { withDeadline } from '../base/deadline.ts'
import type { JsonObject } from '../base/json.ts'
import type { Services } from '../plugins/services.ts'
import type { OwnAddresses } from '../swap/payees.ts'
import type { PluginId, WalletId } from '../types/ids.ts'
import { findOwnAddresses } from '../wallet/own-addresses.ts'
import { callTools } from '../wallet/tools.ts'
import type { CurrencyWallet } from '../wallet/wallet.ts'

/** The wallets of a currency in an account. */
export interface OwnWallets {
  /** Those that are open. */
  readonly open: readonly CurrencyWallet[]
  /** The ids of all of them: paused, archived, deleted and without an engine, too. */
  readonly all: readonly string[]
  /** Returns the public keys of a wallet, from which addresses can be derived. @throws ENGINE_NO_KEY, … */
  publicKeysOf(walletId: WalletId): Promise<JsonObject>
}

/**
 * Finds which of some addresses belong to wallets of a currency: those that open wallets have saved, were paid to or
 * show now, and those that its tools derive from the public keys of every wallet.
 *
 * A wallet that cannot tell, or not in time, is reported and holds up nothing; then, or where the tools derive nothing,
 * the search is not complete.
 */
export const ownAddressesIn = async (
  services: Services,
  { pluginId, addresses }: { readonly pluginId: PluginId; readonly addresses: ReadonlySet<string> },
  wallets: OwnWallets
): Promise<OwnAddresses> => {
  const { io, report } = services
  const own = new Set<string>()
  const look = async (find: () => Promise<Iterable<string>>): Promise<boolean> => {
    try {
      const deadline = { clock: io.clock, milliseconds: WALLET_MS, what: 'Looking for own addresses' }
      for (const address of await withDeadline(deadline, find)) if (addresses.has(address)) own.add(address)
      return true
    } catch (error) {
      report(`wallet ${pluginId}`, error)
      return false
    }
  }
  await Promise.all(
    wallets.open.map(wallet => look(async () => (await findOwnAddresses(wallet, addresses)).keys()))
  )
  const requested = [...addresses]
  let isComplete = true
  for (const walletId of wallets.all) {
    const derive = async (): Promise<Iterable<string>> => {
      const keys = await wallets.publicKeysOf(walletId)
      const found: unknown = await callTools(services, {
        pluginId,
        what: 'looking for own addresses',
        call: async tools => tools.findOwnAddresses?.(keys, requested)
      })
      if (found === undefined) isComplete = false
      return Array.isArray(found) ? found.filter(address => typeof address === 'string') : []
    }
    if (!(await look(derive))) isComplete = false
  }
  return { own, isComplete }
}

/** A slow device derives 250 addresses a branch in a few seconds. */
const WALLET_MS = 30_000
