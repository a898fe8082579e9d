import type { FakeWorld } from '../../fake-server/fake-world.ts'
import type { Io } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { quickCrypto } from './quick-crypto.ts'

/** The source of a small currency, as an author writes it, whose ledger is a server. */
export const TOLLAR = `import { type CurrencyPlugin, type EngineTransaction, negate, nativeAmount, Reply } from 'holdfast/plugin'
const plugin = async (): Promise<CurrencyPlugin> => ({
  kind: 'currency', id: 'tollar',
  info: { pluginId: 'tollar', displayName: 'Tollar', walletType: 'wallet:tollar', currencyCode: 'TOL',
    denominations: [{ name: 'TOL', multiplier: '1000' }] },
  apply({ hooks, io }) {
    const { crypto } = io
    const addressOf = (key: string) => 'tol' + crypto.toHex(crypto.sha256(crypto.fromHex(key))).slice(0, 40)
    const ledger = async (path: string, body?: string) => {
      const { text } = await io.fetch('https://ledger.example/' + path, body === undefined ? {} : { method: 'POST', body })
      return Reply.of(text, 'reply of the ledger')
    }
    hooks.makeTools.tapPromise('tollar', async () => ({
      createPrivateKey: async () => ({ tollarKey: crypto.toHex(io.random(32)) }),
      derivePublicKey: async ({ keys }) => ({ address: addressOf(String(keys.tollarKey)) }),
      parseUri: async uri => ({ publicAddress: uri.replace('tollar:', '') }),
      encodeUri: async ({ publicAddress }) => 'tollar:' + publicAddress
    }))
    hooks.makeEngine.tapPromise('tollar', async ({ walletInfo, callbacks, store, log }) => {
      const address = String(walletInfo.keys.address)
      let isAlive = true
      const look = async () => {
        const reply = await ledger(address)
        const balance = reply.field('balance').text()
        await store.write(new Map([['looks', String(Number(store.get('looks') ?? 0) + 1)]]))
        if (!isAlive) return
        callbacks.onBlockHeightChanged(7)
        callbacks.onTokenBalanceChanged(null, balance)
        callbacks.onAddressesChecked(1)
        callbacks.onSeenTxCheckpoint('looked')
      }
      return {
        async startEngine() { log.info('starts after ' + (store.get('looks') ?? 'no') + ' looks') },
        async killEngine() { isAlive = false },
        async syncNetwork() { await look(); return 50 },
        resyncBlockchain: look,
        getFreshAddress: async () => ({ publicAddress: address }),
        async addGapLimitAddresses() {},
        isAddressUsed: async () => false,
        makeSpend: async ({ spendTargets }) => {
          const [{ publicAddress = '', nativeAmount: amount = nativeAmount('0') } = {}] = spendTargets
          const tx: EngineTransaction = { tokenId: null, txid: '', date: 0, blockHeight: 0, nativeAmount: negate(amount),
            networkFee: nativeAmount('0'), ourReceiveAddresses: [], signedTx: '', otherParams: { to: publicAddress, amount } }
          return tx
        },
        signTx: async (tx, { tollarKey }) => {
          const text = JSON.stringify(tx.otherParams)
          const bytes = crypto.fromHex(String(tollarKey))
          const proof = crypto.toHex(crypto.hmacSha256(bytes, bytes.map((_, at) => text.charCodeAt(at % text.length))))
          return { ...tx, txid: proof, signedTx: text }
        },
        broadcastTx: async tx => { await ledger('send', tx.signedTx); return tx },
        saveTx: async () => {}
      }
    })
  }
})
export default plugin`

/** The ledger of {@link TOLLAR}, of one address, beside a fake world. */
export const ledgerIo = (
  world: FakeWorld
): { io: Io; ledger: { balance: bigint; readonly sent: string[] } } => {
  const ledger = { balance: 5000n, sent: [] as string[] }
  const io = world.ioFor({ ...makeNodeIo(), crypto: quickCrypto })
  const fetch: Io['fetch'] = async (url, options) => {
    if (!url.startsWith('https://ledger.example/')) return io.fetch(url, options)
    if (options?.body !== undefined) {
      ledger.sent.push(options.body)
      ledger.balance -= 1000n
    }
    return { status: 200, headers: {}, text: JSON.stringify({ balance: String(ledger.balance) }) }
  }
  return { io: { ...io, fetch }, ledger }
}
