import test from 'ava'
import { HostProcess } from '../../cells/node/host-process.ts'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import { nativeAmount } from '../../kernel/index.ts'
import { observerHookNames } from '../../kernel/observer-api.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { bundled, HONEST, openCellStage } from '../helpers/cell-stage.ts'
import { openDevice, waitFor } from '../helpers/device.ts'
import { ledgerIo, TOLLAR } from '../helpers/tollar-source.ts'

const POLICY = `definePlugin({ kind: 'policy', id: 'rule', apply({ hooks }) {
  hooks.beforeSign.tapPromise('rule', async () => {})
} })`
const OBSERVER = `definePlugin({ kind: 'observer', id: 'eye', apply({ hooks }) {
  for (const name of ${JSON.stringify(observerHookNames)}) hooks[name].tap('eye', () => {})
} })`

test('of a private key no cell receives anything but that of its currency, for the calls that make, derive and sign', async t => {
  const stage = openCellStage()
  const received: { readonly pid: number | undefined; readonly text: string }[] = []
  const { send } = HostProcess.prototype
  HostProcess.prototype.send = function (cell, text): void {
    received.push({ pid: this.pid, text })
    send.call(this, cell, text)
  }
  t.teardown(() => {
    HostProcess.prototype.send = send
    stage.cells.close()
  })
  const hosts = ['ledger.example']
  const code = await bundled(TOLLAR)
  const tollar = await stage.load(code, { id: 'tollar', kind: 'currency', hosts })
  const sollar = await stage.load(code.replaceAll('tollar', 'sollar').replaceAll('Tollar', 'Sollar'), {
    ...{ id: 'sollar', kind: 'currency', hosts }
  })
  const pids = stage.cells.processes.map(({ pid }) => pid)
  t.is(new Set(pids).size, 2)
  const others = [
    await stage.load(HONEST, { id: 'honest' }),
    await stage.load(POLICY, { id: 'rule', kind: 'policy' }),
    await stage.load(OBSERVER, { id: 'eye', kind: 'observer' })
  ]
  const world = makeFakeWorld({ io: makeNodeIo() })
  const { io, ledger } = ledgerIo(world)
  const kernel = await openDevice(world, { plugins: [tollar, sollar, ...others], io })
  t.teardown(() => kernel.close())
  const account = await kernel.context.createAccount({})
  const keyOf = async (name: string): Promise<string> => {
    const wallet = await account.createCurrencyWallet(`wallet:${name}`)
    await waitFor(() => wallet.balanceOf(null) !== nativeAmount('0'))
    const spendTargets = [{ publicAddress: 'tolshop', nativeAmount: nativeAmount('1000') }]
    await wallet.spend(await wallet.makeSpend({ tokenId: null, spendTargets }))
    const keys = await account.walletKeys.getRawPrivateKey(wallet.id)
    return String(keys[`${name}Key`])
  }
  for (const [at, name] of ['tollar', 'sollar'].entries()) {
    const key = await keyOf(name)
    t.regex(key, /^[0-9a-f]{64}$/)
    const holding = received.filter(({ text }) => text.includes(key))
    t.deepEqual([...new Set(holding.map(({ pid }) => pid))], [pids[at]], name)
    const methods = new Set(holding.map(({ text }) => JSON.parse(text).method))
    t.true(methods.has('signTx'))
    t.deepEqual(
      [...methods].filter(method => !['derivePublicKey', 'signTx'].includes(method)),
      []
    )
  }
  t.is(ledger.sent.length, 2)
  // The others did receive something: a payment to judge, and what observers see.
  t.true(received.some(({ pid, text }) => !pids.includes(pid) && text.includes('tolshop')))
})
