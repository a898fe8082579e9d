import test from 'ava'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import { type EngineSnapshot, nativeAmount, type ObserverPlugin } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { openDevice, waitFor } from '../helpers/device.ts'

const SHOP = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'

test('an engine says at once that its server is lost and which one, and is synced again as soon as one is back', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const reported: EngineSnapshot[] = []
  const watch: ObserverPlugin = {
    kind: 'observer',
    id: 'watch',
    apply({ hooks }) {
      hooks.engineChanged.tap('watch', engine => void reported.push(engine))
    }
  }
  const device = await openDevice(world, { plugins: [watch] })
  const account = await device.context.createAccount({ username: 'alice', password: 'correct horse battery' })
  const wallet = await account.createCurrencyWallet('wallet:bitcoin')
  const { engine } = wallet
  await waitFor(() => wallet.syncStatus.stage === 'synced')

  reported.length = 0
  world.setOnline(false)
  await waitFor(() => reported.length > 0)
  t.like(reported[0], { errorCode: 'CONNECTION_LOST' })
  t.regex(reported[0]?.failure ?? '', /^The connection to \w+:\/\/\S+ was lost: /)
  t.is(wallet.syncStatus.stage, 'waiting')
  await waitFor(() => engine.getSnapshot().errorCode === 'NETWORK')
  t.regex(
    engine.getSnapshot().failure ?? '',
    /^Could not reach (any of \d+ servers, the last of them )?\w+:\/\//
  )
  t.false(reported.some(({ failure = '' }) => /auth/.test(failure)))
  t.regex(wallet.syncStatus.sentence, /^Waits for the network: what is shown may be old\. Could not reach/)
  const { since } = wallet.syncStatus
  t.true(Math.abs(since - Date.now() / 1000) < 30)

  world.setOnline(true)
  // The repos of the account may wait for their next turn, half a minute; the engine does not.
  const faultCounts = (): readonly unknown[] => {
    const { failure, errorCode, status } = engine.getSnapshot()
    return [failure, errorCode, status].filter(fault => fault !== undefined)
  }
  await waitFor(() => faultCounts().length === 0 && engine.getSnapshot().syncRatio === 1, 60_000)
  t.deepEqual(faultCounts(), [])
  await device.close()
  await world.close()
})

test('a payment waits for a server that comes back, and is then sent', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const device = await openDevice(world)
  const account = await device.context.createAccount({})
  const wallet = await account.createCurrencyWallet('wallet:bitcoin')
  const { publicAddress } = await wallet.getReceiveAddress()
  world.chain.fund(publicAddress, '500000')
  world.chain.mine(1)
  await waitFor(() => wallet.balanceDetailsOf(null).spendable === '500000')
  const draft = await wallet.makeSpend({
    tokenId: null,
    spendTargets: [{ publicAddress: SHOP, nativeAmount: nativeAmount('100000') }]
  })
  world.setOnline(false)
  const sent = wallet.spend(draft)
  await waitFor(() => wallet.engine.getSnapshot().errorCode === 'NETWORK')
  world.setOnline(true)
  let txid = ''
  sent.then(tx => (txid = tx.txid), t.fail)
  // The kernel's timers keep no process alive.
  await waitFor(() => txid !== '')
  t.regex(txid, /^[0-9a-f]{64}$/)
  await device.close()
  await world.close()
})
