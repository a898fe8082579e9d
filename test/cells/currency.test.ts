import test from 'ava'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import { nativeAmount } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { applied, bundled, HONEST, openCellStage, pricesOf } from '../helpers/cell-stage.ts'
import { openDevice, waitFor } from '../helpers/device.ts'
import { quickCrypto } from '../helpers/quick-crypto.ts'

const TOLLAR = `import { type CurrencyPlugin, type EngineTransaction, negate, nativeAmount, Reply } from 'holdfast/plugin'
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

test('a contained currency makes keys, syncs and pays from a process of its own, and goes on when that is killed', async t => {
  const stage = openCellStage()
  t.teardown(() => stage.cells.close())
  const asks = { kind: 'currency', hosts: ['ledger.example'], keys: true } as const
  const code = await bundled(TOLLAR)
  await t.throwsAsync(stage.load(code, { ...asks, id: 'tollar', keys: false }), {
    message: /asks.keys is false/
  })
  const honest = applied(stage, await stage.load(HONEST, { id: 'honest' }))
  const tollar = await stage.load(code, { ...asks, id: 'tollar' })
  t.deepEqual(
    stage.cells.processes.map(({ cells }) => cells),
    [1, 1]
  )
  let balance = 5000n
  const sent: string[] = []
  const io = makeNodeIo()
  const world = makeFakeWorld({ io })
  const worldIo = world.ioFor({ ...io, crypto: quickCrypto })
  const kernel = await openDevice(world, {
    plugins: [tollar],
    io: {
      ...worldIo,
      fetch: async (url, options) => {
        if (!url.startsWith('https://ledger.example/')) return worldIo.fetch(url, options)
        if (options?.body !== undefined) {
          sent.push(options.body)
          balance -= 1000n
        }
        return { status: 200, headers: {}, text: JSON.stringify({ balance: String(balance) }) }
      }
    }
  })
  t.teardown(() => kernel.close())
  const account = await kernel.context.createAccount({})
  const wallet = await account.createCurrencyWallet('wallet:tollar')
  await waitFor(() => wallet.balanceOf(null) === nativeAmount('5000'))
  const spendTargets = [{ publicAddress: 'tolshop', nativeAmount: nativeAmount('1000') }]
  await wallet.spend(await wallet.makeSpend({ tokenId: null, spendTargets }))
  t.deepEqual(sent, ['{"to":"tolshop","amount":"1000"}'])
  await waitFor(() => wallet.balanceOf(null) === nativeAmount('4000'))
  const pid = stage.cells.processes.map(process => process.pid).at(-1) ?? 0
  process.kill(pid, 'SIGKILL')
  balance = 9000n
  await waitFor(() => wallet.balanceOf(null) === nativeAmount('9000'))
  await wallet.spend(await wallet.makeSpend({ tokenId: null, spendTargets }))
  t.is(sent.length, 2)
  t.deepEqual(await pricesOf(stage, honest), [64_000])
  t.deepEqual(
    stage.faults.map(({ pluginId, state }) => `${pluginId} ${state}`),
    ['tollar restarting', 'tollar running']
  )
})
