/// <reference lib="dom" />
// Runs in a browser: a wallet whose servers and chains are elsewhere, as in a web application.
import { fakePluginOptions } from '../../../fake-server/fake-plugin-options.ts'
import type { ServedWorld } from '../../../fake-server/http/serve-fake-world.ts'
import { type CurrencyWallet, createKernel, type Kernel, nativeAmount } from '../../../kernel/index.ts'
import { makeBrowserIo } from '../../../platform/browser/index.ts'
import { bitcoin } from '../../../plugins/currency/utxo/plugin.ts'
import { browserStorage } from '../../../plugins/storage/browser/browser-storage.ts'

/** Where the servers are. */
export type WorldAddresses = Pick<ServedWorld, 'authServer' | 'infoServers' | 'syncServers' | 'chainServers'>

/** What the page offers, as `globalThis.networked`. */
export interface NetworkedPage {
  /** Makes an account with a wallet; gives the wallet's id and an address of it. */
  open(addresses: WorldAddresses, user: NetworkedUser): Promise<{ walletId: string; publicAddress: string }>
  /** What can be paid now, in satoshi. */
  spendable(): string
  /** Pays, uploads what it was for, and gives the txid. */
  pay(publicAddress: string, native: string): Promise<string>
  close(): Promise<void>
}

/** Who has the account. */
export interface NetworkedUser {
  readonly username: string
  readonly password: string
}

let kernel: Kernel | undefined
let wallet: CurrencyWallet | undefined

const opened = (): CurrencyWallet => {
  if (wallet === undefined) throw new Error('It is not open')
  return wallet
}

const networked: NetworkedPage = {
  async open({ chainServers, ...servers }, user) {
    kernel = await createKernel({
      ...servers,
      io: makeBrowserIo({ proxies: [] }),
      apiKey: 'any',
      passwordSnrp: { cost: { n: 16, r: 1, p: 1 } },
      pluginOptions: fakePluginOptions(chainServers),
      plugins: [browserStorage({ name: 'networked' }), bitcoin]
    })
    const account = await kernel.context.createAccount(user)
    wallet = await account.createCurrencyWallet('wallet:bitcoin', { name: 'Savings' })
    const { publicAddress } = await wallet.getReceiveAddress()
    return { walletId: wallet.id, publicAddress }
  },
  spendable: () => opened().balanceDetailsOf(null).spendable,
  async pay(publicAddress, native) {
    const draft = await opened().makeSpend({
      tokenId: null,
      spendTargets: [{ publicAddress, nativeAmount: nativeAmount(native) }],
      metadata: { name: 'Landlady' }
    })
    const { txid } = await opened().spend(draft)
    for (const account of kernel?.context.accounts ?? []) await account.sync()
    return txid
  },
  async close() {
    await kernel?.close()
  }
}

Object.assign(globalThis, { networked })
