import test from 'ava'
import type { ActionHandler } from '../../../../app/actions/actions.ts'
import { makeClient } from '../../../../devtools/core/client/client.ts'
import { makeDevtools } from '../../../../devtools/core/devtools.ts'
import { makeKernelClient } from '../../../../devtools/core/kernel-client.ts'
import type { JournalEvent } from '../../../../devtools/core/model/facts.ts'
import { makeChannelPair } from '../../../../devtools/core/protocol/channel-pair.ts'
import { makeChainControl, makeFakeWorldControl } from '../../../../fake-server/chain-control.ts'
import { fakePluginOptions } from '../../../../fake-server/fake-plugin-options.ts'
import { makeFakeWorld } from '../../../../fake-server/fake-world.ts'
import { makeNodeIo } from '../../../../platform/node/index.ts'
import { litecoin } from '../../../../plugins/currency/utxo/plugin.ts'
import { openDevice, waitFor } from '../../../helpers/device.ts'
import { account, engine, makeStage, quote, wallet } from '../../../helpers/devtools-stage.ts'

/** A panel whose actions end when a test says so. */
const attachHeld = () => {
  const stage = makeStage()
  const { host, client: channel } = makeChannelPair()
  const ends: ((output: object) => void)[] = []
  const runAction = (() => new Promise(resolve => ends.push(resolve as never))) as unknown as ActionHandler
  stage.devtools.attach(host, { isReadOnly: false, runAction, hasWorld: true })
  const client = makeClient(channel)
  const emit = async (reported: Promise<unknown>): Promise<void> => {
    reported.catch(() => {})
    await stage.clock.advance(100)
  }
  const events = async (): Promise<readonly JournalEvent[]> => {
    await stage.clock.advance(200)
    return client.events.getSnapshot()
  }
  return { stage, client, ends, emit, events }
}

test('what an action sets in motion has its id, and what is about something else has none', async t => {
  const { stage, client, ends, emit, events } = attachHeld()
  await stage.settle()
  await emit(client.runAction('engine.pause', { walletId: 'w1' }))
  stage.emit('engineChanged', engine('w1', { isPaused: true }))
  stage.emit('engineChanged', engine('w2'))
  stage.emit('repoChanged', {
    ...{ repoId: 'r1', accountId: 'a', walletId: 'w1', isOpen: true, pendingCount: 1, lastSync: 0 },
    isSyncing: false
  } as never)
  ends.shift()?.({})
  await stage.clock.advance(100)
  stage.emit('transactionsChanged', { walletId: 'w1', created: [], changed: [] })
  await stage.clock.advance(10_000)
  stage.emit('engineChanged', engine('w1'))
  const reported = (await events()).map(({ hook, subject, correlationId }) => [hook, subject, correlationId])
  t.deepEqual(reported, [
    ['engineChanged', 'w1', 'action-0001'],
    ['engineChanged', 'w2', undefined],
    ['repoChanged', 'r1', 'action-0001'],
    ['action', 'w1', 'action-0001'],
    ['transactionsChanged', 'w1', 'action-0001'],
    ['engineChanged', 'w1', undefined]
  ])
})

test('an action that pays is known by the id of its payment, and so is all that the payment does', async t => {
  const { stage, client, ends, emit, events } = attachHeld()
  await stage.settle()
  await emit(client.runAction('spend.draft', { walletId: 'w1', publicAddress: 'x', nativeAmount: '1' }))
  ends.shift()?.({
    draftId: 'd1',
    review: { walletId: 'w1', currencyCode: 'BTC', nativeAmount: '1', networkFee: '1', targets: [] }
  })
  await stage.clock.advance(100)
  await emit(client.runAction('spend.approve', { draftId: 'd1' }))
  for (const stage_ of ['intended', 'signed', 'broadcast', 'saved'] as const)
    stage.emit('spendChanged', { correlationId: 'spend-9', walletId: 'w1', stage: stage_ })
  stage.emit('walletChanged', wallet('w1'))
  ends.shift()?.({ txid: 'abc' })
  await stage.clock.advance(100)
  const reported = (await events()).slice(1)
  t.deepEqual([...new Set(reported.map(({ correlationId }) => correlationId))], ['spend-9'])
  t.deepEqual(
    reported.map(({ hook }) => hook),
    [...Array<string>(4).fill('spendChanged'), 'walletChanged', 'action']
  )
})

test('a payment that no panel approved has its id on all that it does, too', async t => {
  const { stage, events } = attachHeld()
  await stage.settle()
  stage.emit('spendChanged', { correlationId: 'spend-1', walletId: 'w1', stage: 'intended' })
  stage.emit('walletChanged', wallet('w1'))
  stage.emit('spendChanged', { correlationId: 'spend-1', walletId: 'w1', stage: 'saved' })
  stage.emit('walletChanged', wallet('w1', { balances: { '': '1' } }))
  await stage.clock.advance(10_000)
  stage.emit('walletChanged', wallet('w1'))
  t.deepEqual(
    (await events()).map(({ correlationId }) => correlationId),
    ['spend-1', 'spend-1', 'spend-1', 'spend-1', undefined]
  )
})

test('a login has its id on the account that it opens, and on the wallets in it', async t => {
  const { stage, client, ends, emit, events } = attachHeld()
  await stage.settle()
  await emit(client.runAction('account.login', { username: 'alice', password: 'secret' }))
  stage.emit('loginChanged', { attemptId: 'l1', method: 'password', stage: 'ready' })
  stage.emit('accountChanged', account('a', { walletIds: ['w1'] }))
  stage.emit('walletChanged', wallet('w1'))
  stage.emit('engineChanged', engine('w1'))
  ends.shift()?.({ accountId: 'a' })
  await stage.clock.advance(100)
  const reported = await events()
  t.is(reported.length, 5)
  t.deepEqual([...new Set(reported.map(({ correlationId }) => correlationId))], ['action-0001'])
})

test('a round of quotes has its id on its request, on each answer, and on each tap', async t => {
  const { stage, client, ends, emit, events } = attachHeld()
  await stage.settle()
  await emit(
    client.runAction('swap.ask', {
      fromWalletId: 'w1',
      toWalletId: 'w2',
      nativeAmount: '1',
      quoteFor: 'from'
    })
  )
  stage.emit('quoteChanged', quote('round-1', 'harbour'))
  ends.shift()?.({ roundId: 'round-1' })
  await stage.clock.advance(100)
  stage.emit('quoteChanged', quote('round-1', 'harbour', { state: 'resolved', quoteId: 'q1' }))
  await emit(client.runAction('swap.review', { quoteId: 'q1' }))
  ends.shift()?.({})
  await stage.clock.advance(100)
  const reported = await events()
  t.is(reported.length, 4)
  t.deepEqual([...new Set(reported.map(({ correlationId }) => correlationId))], ['round-1'])
})

test('in a real kernel, every event of a payment, a login and a round of quotes has the id of its action', async t => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const clock = makeNodeIo().clock
  const devtools = makeDevtools({ clock })
  const kernel = await openDevice(world, {
    plugins: [litecoin, devtools.plugin],
    pluginOptions: fakePluginOptions()
  })
  const client = makeKernelClient(kernel, { world: makeFakeWorldControl(makeChainControl(world)) })
  t.teardown(async () => {
    client.close()
    await kernel.close()
    await world.close()
  })
  await waitFor(() => client.status.getSnapshot().connection === 'live')
  const { accountId } = await client.runAction('account.create', {
    username: 'alice',
    password: 'correct horse'
  })
  const { walletId } = await client.runAction('wallet.create', { accountId, walletType: 'wallet:bitcoin' })
  await client.runAction('world.fund', { walletId, nativeAmount: '5000000' })
  await client.runAction('world.mine', { pluginId: 'bitcoin', count: 1 })
  const view = () => client.view.getSnapshot()
  await waitFor(() => view().wallets.get(walletId)?.balanceDetails?.['']?.spendable === '5000000')
  // What was begun before is over, and what follows is of the payment.
  await waitFor(() => view().engines.get(walletId)?.syncRatio === 1)
  const newest = () => client.events.getSnapshot().at(-1)?.seq ?? 0
  const { draftId } = await client.runAction('spend.draft', {
    ...{ walletId, nativeAmount: '1000000' },
    publicAddress: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
  })
  const before = newest()
  await client.runAction('spend.approve', { draftId })
  await waitFor(() => client.events.getSnapshot().some(({ data }) => data.action === 'spend.approve'))
  await waitFor(() =>
    client.events.getSnapshot().some(({ hook, seq }) => hook === 'filesExchanged' && seq > before)
  )
  const about = client.events
    .getSnapshot()
    .filter(({ seq, hook, data }) => seq > before && hook !== 'tapRan' && data.walletId === walletId)
  t.true(about.length >= 5)
  const [spend] = view().spends.keys()
  t.deepEqual([...new Set(about.map(({ correlationId }) => correlationId))], [spend])
  const all = client.events.getSnapshot().filter(({ hook }) => hook !== 'logged' && hook !== 'pluginChanged')
  const without = all.filter(({ correlationId }) => correlationId === undefined)
  t.log(`${all.length - without.length} of ${all.length} events have an id`)
  t.true(without.length <= all.length / 10, JSON.stringify(without.map(({ hook, data }) => [hook, data])))
})
