import type { PluginId, Readable } from '../../kernel/index.ts'

/** The state of a fake world. */
export interface WorldSnapshot {
  /** False while the network of all devices there is cut. */
  readonly isOnline: boolean
}

/** Drives the fake world that a kernel lives in; there is none where its chains are real. Amounts are native. */
export interface FakeWorldControl {
  /** The last known state; undefined before the first look. */
  readonly state: Readable<WorldSnapshot | undefined>
  /** Asks how it is: others may drive it, too. */
  look(): Promise<void>
  /** Pays from the faucet of a currency's chain; gives the txid. @throws OPTION_INVALID for a plugin without a chain there */
  fund(pluginId: PluginId, publicAddress: string, nativeAmount: string): Promise<string>
  /** Mines blocks on a currency's chain; gives the new height. @throws as {@link fund} */
  mine(pluginId: PluginId, count: number): Promise<number>
  /** Cuts or restores the network of all devices there. */
  setOnline(isOnline: boolean): Promise<void>
}
