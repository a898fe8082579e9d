import test from 'ava'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import { describeError } from '../../kernel/base/errors.ts'
import { nativeAmount, type Plugin } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { bundled, type CellStage, openCellStage } from '../helpers/cell-stage.ts'
import { openDevice, waitFor } from '../helpers/device.ts'
import { HOSTILE_KINDS, type HostileKind } from '../helpers/hostile-kinds.ts'
import { ledgerIo, TOLLAR } from '../helpers/tollar-source.ts'

const pay = async (
  stage: CellStage,
  { kind, code }: HostileKind
): Promise<{ end: string; sent: number; key: string }> => {
  const load = async (): Promise<readonly Plugin[]> => {
    if (kind !== 'currency') {
      const tollar = await stage.load(await bundled(TOLLAR), {
        id: 'tollar',
        kind: 'currency',
        hosts: ['ledger.example']
      })
      return [tollar, await stage.load(await code(), { id: 'bad', kind })]
    }
    return [await stage.load(await code(), { id: 'tollar', kind, hosts: ['ledger.example'] })]
  }
  const world = makeFakeWorld({ io: makeNodeIo() })
  const { io, ledger } = ledgerIo(world)
  const reached: string[] = []
  const fetch: typeof io.fetch = (url, options) => {
    reached.push(url)
    return io.fetch(url, options)
  }
  const kernel = await openDevice(world, { plugins: await load(), io: { ...io, fetch } })
  try {
    const account = await kernel.context.createAccount({})
    const wallet = await account.createCurrencyWallet('wallet:tollar')
    // A policy may refuse that, too.
    const keys = await account.walletKeys
      .getRawPrivateKey(wallet.id)
      .catch(() => ({ tollarKey: 'not shown' }))
    const key = String(keys.tollarKey)
    await waitFor(() => wallet.balanceOf(null) === nativeAmount('5000'))
    const spendTargets = [{ publicAddress: 'tolshop', nativeAmount: nativeAmount('1000') }]
    const end = await wallet
      .makeSpend({ tokenId: null, spendTargets })
      .then(draft => wallet.spend(draft))
      .then(
        () => 'paid',
        (error: unknown) => describeError(error)
      )
    stage.seen.push(...reached)
    // The real currency of the device goes on.
    const savings = await account.createCurrencyWallet('wallet:bitcoin')
    world.chain.fund((await savings.getReceiveAddress()).publicAddress, '1000')
    await waitFor(() => savings.balanceOf(null) === nativeAmount('1000'))
    return { end, sent: ledger.sent.length, key }
  } finally {
    await kernel.close()
  }
}

test('hostile policies, observers and currencies stop or pass one payment, and no key leaves', async t => {
  t.timeout(280_000)
  const problems: string[] = []
  for (const hostile of HOSTILE_KINDS) {
    const { kind, name, payment } = hostile
    const stage = openCellStage({ busyMs: kind === 'currency' ? 400 : 1500 })
    try {
      const { end, sent, key } = await pay(stage, hostile)
      t.log(`${kind} ${name}: ${end}`)
      const isRight =
        payment === 'paid' ? end === 'paid' && sent === 1 : payment.test(end) && end !== 'paid' && sent === 0
      if (!isRight) problems.push(`${kind} ${name}: ${end}, ${sent} sent`)
      if (end.includes(key)) problems.push(`${kind} ${name}: the key is in the error`)
      const lines = kind === 'currency' ? stage.seen.filter(line => line.includes('evil')) : stage.seen
      if (lines.some(line => line.includes(key))) problems.push(`${kind} ${name}: the key is out`)
    } catch (error) {
      problems.push(`${kind} ${name}: ${error}`)
    } finally {
      stage.cells.close()
    }
  }
  t.deepEqual(problems, [])
})
