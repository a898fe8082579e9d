import type { Plugin } from '../kernel/plugin-api.ts'
import { bitcoin, bitcoinTestnet, litecoin } from './currency/utxo/plugin.ts'

/** The plugins that the command line starts with, besides a storage plugin. */
export const defaultPlugins: readonly Plugin[] = [bitcoin, bitcoinTestnet, litecoin]
