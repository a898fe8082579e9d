import { createHash } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import test from 'ava'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import { nativeAmount } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { bundled, openCellStage } from '../helpers/cell-stage.ts'
import { openDevice, waitFor } from '../helpers/device.ts'
import { ledgerIo, TOLLAR } from '../helpers/tollar-source.ts'

/** The Tollar with methods of its own, files, and engines that survive a pause. */
const FEATURES = TOLLAR.replace(
  'denominations: [',
  `otherMethods: {
      keep: { description: 'Keeps bytes', arguments: { type: 'object', properties: { text: { type: 'string' } } },
        result: { type: 'array', items: { type: 'string' } } },
      looks: { description: 'What the engine did', arguments: { type: 'object' }, result: { type: 'string' } },
      odd: { description: 'Answers something else', arguments: { type: 'object' }, result: { type: 'integer' } }
    },
    denominations: [`
)
  .replace('async ({ walletInfo,', 'async ({ localFiles, syncedFiles, walletInfo,')
  .replace(
    'return {\n        async startEngine()',
    `let calls = ''
      return {
        changePaused: async isPaused => { calls += isPaused ? 'pause ' : 'resume ' },
        otherMethods: {
          async keep({ text }) {
            await localFiles.setData('bytes', Uint8Array.from([1, 2, 255]))
            await syncedFiles.setText('texts/first', String(text))
            const bytes = await localFiles.getData('bytes')
            const none = [await localFiles.getText('none'), await syncedFiles.getData('none')]
            await localFiles.setText('gone', '')
            await localFiles.delete('gone')
            const refused = await localFiles.setText('../x', '').then(() => 'no', error => error.code)
            return [...(await localFiles.list('')), String(bytes), String(await syncedFiles.getText('texts/first')),
              ...(await syncedFiles.list('texts')), none.join(), refused]
          },
          looks: async () => calls,
          odd: async () => 'no number'
        },
        async startEngine()`
  )

test('a contained currency has methods of its own, files and engines that survive a pause', async t => {
  const stage = openCellStage()
  t.teardown(() => stage.cells.close())
  const asks = { kind: 'currency', hosts: ['ledger.example'], keys: true } as const
  const tollar = await stage.load(await bundled(FEATURES), { ...asks, id: 'tollar' })
  const world = makeFakeWorld({ io: makeNodeIo() })
  const kernel = await openDevice(world, { plugins: [tollar], io: ledgerIo(world).io })
  t.teardown(() => kernel.close())
  const account = await kernel.context.createAccount({})
  const wallet = await account.createCurrencyWallet('wallet:tollar')
  await waitFor(() => wallet.engine.getSnapshot().state === 'started')
  const { keep, looks, odd } = wallet.otherMethods
  t.deepEqual(await keep?.({ text: 'hello' }), [
    'bytes',
    '1,2,255',
    'hello',
    'texts/first',
    ',',
    'PATH_REFUSED'
  ])
  await t.throwsAsync(async () => keep?.({ txet: 'hello' }), { code: 'OPTION_INVALID' })
  await t.throwsAsync(async () => odd?.(), { code: 'BOGUS_DATA' })
  await wallet.changePaused(true)
  t.is(await looks?.(), 'pause ')
  await wallet.changePaused(false)
  t.is(await looks?.(), 'pause resume ')
  // Killed while it is paused, it is made again as it was.
  await wallet.changePaused(true)
  const [first] = stage.cells.processes
  process.kill(first?.pid ?? 0, 'SIGKILL')
  await waitFor(() => stage.faults.some(({ state }) => state === 'running'))
  t.is(await looks?.(), 'pause ')
})

/** The Tollar without keys: the kernel signs, and the plugin keeps everything that it is called with. */
const KEYLESS = TOLLAR.replace(
  'denominations: [',
  `signing: { curve: 'ed25519', keyName: 'tollarKey' },
    otherMethods: {
      seen: { description: 'All it saw', arguments: { type: 'object' }, result: { type: 'string' } }
    },
    denominations: [`
)
  .replace(
    'const { crypto } = io',
    `const { crypto } = io
    let all = ''
    const spy = (given: any): any => Object.fromEntries(Object.entries(given).map(([name, fn]) =>
      [name, typeof fn === 'function' ? (...args: any[]) => { all += JSON.stringify(args); return fn(...args) } : fn]))`
  )
  .replace("tapPromise('tollar', async () => ({", "tapPromise('tollar', async () => spy({")
  .replace(/createPrivateKey: .*\n/, '')
  .replace('addressOf(String(keys.tollarKey))', "'tol' + keys.publicKey")
  .replace(
    'return {\n        async startEngine()',
    'return spy({\n        otherMethods: { seen: async () => all },\n        async startEngine()'
  )
  .replace(
    /signTx: async [\s\S]*?broadcastTx/,
    `getBytesToSign: async (tx: EngineTransaction) => ['ab' + crypto.toHex(crypto.sha256(crypto.fromHex('00')))],
        addSignatures: async (tx: EngineTransaction, [first]: any) =>
          ({ ...tx, txid: first.publicKey.slice(0, 20), signedTx: JSON.stringify(first) }),
        broadcastTx`
  )
  .replace('saveTx: async () => {}\n      }', 'saveTx: async () => {}\n      })')

test('a contained currency for which the kernel signs never gets a private key', async t => {
  const stage = openCellStage()
  t.teardown(() => stage.cells.close())
  const asks = { kind: 'currency', hosts: ['ledger.example'], keys: false } as const
  const code = await bundled(KEYLESS)
  t.like(await stage.cells.inspect(code), { id: 'tollar', keys: false })
  t.like(await stage.cells.inspect(await bundled(TOLLAR)), { id: 'tollar', keys: true })
  const tollar = await stage.load(code, { ...asks, id: 'tollar' })
  const world = makeFakeWorld({ io: makeNodeIo() })
  const { io, ledger } = ledgerIo(world)
  const kernel = await openDevice(world, { plugins: [tollar], io })
  t.teardown(() => kernel.close())
  const account = await kernel.context.createAccount({})
  const wallet = await account.createCurrencyWallet('wallet:tollar')
  await waitFor(() => wallet.balanceOf(null) === nativeAmount('5000'))
  const spendTargets = [{ publicAddress: 'tolshop', nativeAmount: nativeAmount('1000') }]
  await wallet.spend(await wallet.makeSpend({ tokenId: null, spendTargets }))
  const { publicKey, signature } = JSON.parse(ledger.sent[0] ?? '{}')
  const signed = Buffer.from(
    `ab${createHash('sha256')
      .update(Buffer.from([0]))
      .digest('hex')}`,
    'hex'
  )
  t.true(ed25519.verify(Buffer.from(signature, 'hex'), signed, Buffer.from(publicKey, 'hex')))
  const key = await account.walletKeys.getDisplayPrivateKey(wallet.id)
  const seen = String(await wallet.otherMethods.seen?.())
  t.true(seen.includes(publicKey))
  t.false(seen.includes(key))
})
