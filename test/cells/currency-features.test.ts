import test from 'ava'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
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
