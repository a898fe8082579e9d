import type { Plugin } from '../kernel/plugin-api.ts'
import { bitcoin, bitcoinTestnet, litecoin } from './currency/utxo/plugin.ts'
import { changenow } from './swap/changenow.ts'
import { letsexchange } from './swap/letsexchange.ts'
import { sideshift } from './swap/sideshift.ts'
import { mayaprotocol, thorchain } from './swap/thorchain.ts'
import { transfer } from './swap/transfer.ts'

/** The plugins that the command line starts with, besides a storage plugin. */
export const defaultPlugins: readonly Plugin[] = [
  bitcoin,
  bitcoinTestnet,
  litecoin,
  transfer,
  changenow,
  sideshift,
  letsexchange,
  thorchain,
  mayaprotocol
]
