import { chainIds } from '../../chain/open-chain.ts'
import type { FakeProvider } from '../market/provider.ts'
import { fakeChangenow } from './fake-changenow.ts'
import { type ExchangePorts, FakeExchange } from './fake-exchange.ts'
import { fakeLetsexchange } from './fake-letsexchange.ts'
import { fakeSideshift } from './fake-sideshift.ts'
import { FakeVault } from './fake-vault.ts'
import { fakeVaultNetwork, MAYA_ASSETS, THORCHAIN_ASSETS } from './fake-vault-network.ts'
import { startSettlement } from './settlement-worker.ts'

/** The exchanges and vaults behind the fake swap providers, by plugin id: their behaviour, orders and payouts. */
export interface FakeSwaps {
  readonly changenow: FakeExchange
  readonly sideshift: FakeExchange
  readonly letsexchange: FakeExchange
  readonly thorchain: FakeVault
  readonly mayaprotocol: FakeVault
}

/** Swap providers, with the exchanges and vaults behind them. */
export interface OpenedSwaps {
  readonly swaps: FakeSwaps
  readonly providers: readonly FakeProvider[]
  /** Resumes saved orders: deposits that have arrived, and payouts that were due. */
  resume(): void
}

/** Opens the swap providers of a world, with a worker that settles their orders on its chains. */
export const makeFakeSwaps = (ports: ExchangePorts): OpenedSwaps => {
  const swaps: FakeSwaps = {
    changenow: new FakeExchange(ports, 100),
    sideshift: new FakeExchange(ports, 120),
    letsexchange: new FakeExchange(ports, 150),
    thorchain: new FakeVault('thorchain', ports, THORCHAIN_ASSETS),
    mayaprotocol: new FakeVault('mayaprotocol', ports, MAYA_ASSETS)
  }
  const { changenow, sideshift, letsexchange, thorchain, mayaprotocol } = swaps
  const worker = startSettlement(ports, [changenow, sideshift, letsexchange])
  return {
    swaps,
    resume() {
      for (const exchange of [changenow, sideshift, letsexchange]) worker.checkPayments(exchange)
      for (const id of chainIds) for (const vault of [thorchain, mayaprotocol]) vault.checkPayments(id)
    },
    providers: [
      fakeChangenow(changenow, () => worker.checkPayments(changenow)),
      fakeSideshift(sideshift, () => worker.checkPayments(sideshift)),
      fakeLetsexchange(letsexchange, () => worker.checkPayments(letsexchange)),
      fakeVaultNetwork(thorchain, {
        id: 'thorchain',
        nodeHost: 'thornode.ninerealms.com',
        nodePath: '/thorchain',
        midgardHost: 'midgard.ninerealms.com'
      }),
      fakeVaultNetwork(mayaprotocol, {
        id: 'mayaprotocol',
        nodeHost: 'mayanode.mayachain.info',
        nodePath: '/mayachain',
        midgardHost: 'midgard.mayachain.info'
      })
    ]
  }
}
