/// <reference lib="dom" />
// Runs in a browser: a kernel in a fake world of the page, whose currency and policies by others run in cells.
import { type AddedPlugin, openWithPlugins } from '../../../examples/contain-plugins-in-a-page.ts'
import { FAKE_ADDRESSES, makeFakeWorld } from '../../../fake-server/fake-world.ts'
import { describeError } from '../../../kernel/base/errors.ts'
import { type Io, nativeAmount } from '../../../kernel/index.ts'
import { makeBrowserIo } from '../../../platform/browser/index.ts'
import { bitcoin } from '../../../plugins/currency/utxo/plugin.ts'
import { memoryStorage } from '../../../plugins/storage/memory.ts'

/** A plugin with the text of its bundle. */
export type BundledPlugin = Omit<AddedPlugin, 'address' | 'sha512'> & { readonly code: string }

/** How a payment ended, and everything that came out of the cells meanwhile. */
export interface PaymentEnd {
  readonly end: string
  /** The payments that the ledger took. */
  readonly sent: number
  readonly key: string
  readonly seen: readonly string[]
}

/** What the page offers, as `globalThis.contained`. */
export interface ContainedPage {
  /** Makes an account with a wallet of tollars, pays, and then receives in a wallet of Bitcoin. */
  pay(added: readonly BundledPlugin[]): Promise<PaymentEnd>
}

const contained: ContainedPage = {
  async pay(added) {
    const world = makeFakeWorld({ io: makeBrowserIo() })
    const io = world.ioFor(makeBrowserIo())
    const seen: string[] = []
    const ledger = { balance: 5000n, sent: 0 }
    const fetchTollars: Io['fetch'] = async (url, options) => {
      seen.push(url)
      if (!url.startsWith('https://ledger.example/')) return io.fetch(url, options)
      if (options?.body !== undefined) {
        ledger.sent += 1
        ledger.balance -= 1000n
      }
      return { status: 200, headers: {}, text: JSON.stringify({ balance: String(ledger.balance) }) }
    }
    const note = (text: string): void => void seen.push(text)
    const { authServer, infoServers, syncServers, electrumServers } = FAKE_ADDRESSES
    const { kernel, close } = await openWithPlugins(
      {
        ...{ authServer, infoServers, syncServers, apiKey: '', io: { ...io, fetch: fetchTollars } },
        passwordSnrp: { cost: { n: 16, r: 1, p: 1 } },
        pluginOptions: { bitcoin: { network: 'regtest', servers: [...electrumServers] } },
        plugins: [memoryStorage(), bitcoin]
      },
      await Promise.all(added.map(addressed)),
      { debug: note, info: note, warn: note, error: note }
    )
    try {
      const account = await kernel.context.createAccount({})
      const wallet = await account.createCurrencyWallet('wallet:tollar')
      // A policy may refuse that, too.
      const keys = await account.walletKeys
        .getRawPrivateKey(wallet.id)
        .catch(() => ({ tollarKey: 'not shown' }))
      await until(() => wallet.balanceOf(null) === '5000')
      const spendTargets = [{ publicAddress: 'tolshop', nativeAmount: nativeAmount('1000') }]
      const end = await wallet
        .makeSpend({ tokenId: null, spendTargets })
        .then(draft => wallet.spend(draft))
        .then(
          () => 'paid',
          (error: unknown) => describeError(error)
        )
      // The other currency goes on.
      const savings = await account.createCurrencyWallet('wallet:bitcoin')
      world.chain.fund((await savings.getReceiveAddress()).publicAddress, '1000')
      await until(() => savings.balanceOf(null) === '1000')
      return { end, sent: ledger.sent, key: String(keys.tollarKey), seen }
    } finally {
      await close()
    }
  }
}

/** The plugin as a server would give it. */
const addressed = async ({ code, ...plugin }: BundledPlugin): Promise<AddedPlugin> => {
  const bytes = await crypto.subtle.digest('SHA-512', new TextEncoder().encode(code))
  const sha512 = `sha512-${btoa(String.fromCharCode(...new Uint8Array(bytes)))}`
  return { ...plugin, sha512, address: URL.createObjectURL(new Blob([code])) }
}

const until = async (isTrue: () => boolean): Promise<void> => {
  const end = Date.now() + 30_000
  while (!isTrue()) {
    if (Date.now() > end) throw new Error(`Timed out, waiting for ${isTrue}`)
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}

Object.assign(globalThis, { contained })
