import test from 'ava'
import type { ActionHandler } from '../../../app/actions/actions.ts'
import { makeClient } from '../../../devtools/core/client/client.ts'
import { makeDevtools } from '../../../devtools/core/devtools.ts'
import { makeChannelPair } from '../../../devtools/core/protocol/channel-pair.ts'
import { record, recordClient } from '../../../devtools/core/recording/record.ts'
import { openRecording } from '../../../devtools/core/recording/timeline.ts'
import { engineRows } from '../../../devtools/core/rows/engine-rows.ts'
import { makeFakeWorld } from '../../../fake-server/fake-world.ts'
import { nativeAmount } from '../../../kernel/index.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { openDevice, waitFor } from '../../helpers/device.ts'
import { secretsOf } from '../../helpers/wallet-secrets.ts'

const io = makeNodeIo()
const FOREIGN = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'

/** A story of one person, looked on by a panel and recorded; every letter that left the host, and what it must not hold. */
const emitStory = async (hideAddresses: boolean) => {
  const world = makeFakeWorld({ io })
  const devtools = makeDevtools({ clock: io.clock, hideAddresses, batchMs: 5 })
  const kernel = await openDevice(world, { plugins: [devtools.plugin], logLevel: 'debug', onError: () => {} })
  const received: string[] = []
  const stop = record(devtools, { now: () => io.clock.now(), write: line => void received.push(line) })
  const { host, client: end } = makeChannelPair()
  const password = 'canary password 7Q'
  const runAction = (async (name: string, input: { password?: string; privateKeys?: readonly string[] }) => {
    if (name === 'account.login') throw new Error(`wrong: ${input.password}`)
    if (name === 'account.move') throw new Error(`wrong: ${input.password}`)
    if (name === 'spend.sweep') throw new Error(`wrong: ${input.privateKeys?.join()}`)
    return {}
  }) as unknown as ActionHandler
  const sent: string[] = []
  const send: typeof host.send = message => {
    sent.push(JSON.stringify(message))
    host.send(message)
  }
  devtools.attach({ ...host, send }, { isReadOnly: false, hasWorld: true, runAction })
  const client = makeClient(end)
  await waitFor(() => client.status.getSnapshot().connection === 'live')
  const saved = recordClient(client, { now: () => io.clock.now() })
  const account = await kernel.context.createAccount({ username: 'canary', password, pin: '80815' })
  const wallet = await account.createCurrencyWallet('wallet:bitcoin', { name: 'Nest' })
  const { publicAddress } = await wallet.getReceiveAddress()
  world.chain.fund(publicAddress, '100000')
  world.chain.mine(1)
  await waitFor(() => wallet.balanceDetailsOf(null).spendable === '100000')
  const { txid } = await wallet.spend(
    await wallet.makeSpend({
      tokenId: null,
      spendTargets: [{ publicAddress: FOREIGN, nativeAmount: nativeAmount('20000') }],
      metadata: { notes: 'canary note' }
    })
  )
  await kernel.context.loginWithPassword('canary', `${password} wrong`).catch(() => {})
  await kernel.context.loginWithPIN({ username: 'canary' }, '11111').catch(() => {})
  await client
    .runAction('account.login', { username: 'canary', password })
    .catch(error => sent.push(String(error)))
  await client
    .runAction('spend.sweep', { walletId: wallet.id, privateKeys: ['canary key 9W'] })
    .catch(error => sent.push(String(error)))
  await client
    .runAction('account.move', { accountId: account.id, password: 'canary move 5M' })
    .catch(error => sent.push(String(error)))
  const backup = await account.location.makeBackup()
  await account.sync()
  await waitFor(() => client.events.getSnapshot().some(({ data }) => data.stage === 'saved'))
  // The engine looks at the chain once more after a payment.
  await waitFor(() => engineRows(client.view.getSnapshot())[0]?.stage === 'synced')
  const needles = [
    ...(await secretsOf(account, wallet.id)),
    password,
    '"80815"',
    'canary note',
    'canary key 9W',
    'canary move 5M',
    ...backup.trimEnd().split('\n')
  ]
  const view = client.view.getSnapshot()
  await account.logout()
  await waitFor(() => client.view.getSnapshot().wallets.size === 0)
  const after = client.view.getSnapshot()
  await kernel.close()
  stop()
  saved.stop()
  await world.close()
  return { received, sent, saved, needles, txid, publicAddress, view, after, client }
}

test('no secret of a real kernel reaches a panel or a recording, in any form, and the tables show the story', async t => {
  const { received, sent, saved, needles, txid, view, after, client } = await emitStory(false)
  const text = [...received, ...sent, ...saved.lines(false)].join('\n')
  t.true(text.includes(txid), 'the story was heard')
  t.true(text.includes('tapRan') && text.includes('logged') && text.includes('account.login'))
  for (const needle of needles) t.false(text.includes(needle), `${needle} leaked`)
  const [row] = engineRows(view)
  t.is(row?.title, 'Nest')
  t.is(row?.username, 'canary')
  t.is(row?.stage, 'synced')
  t.deepEqual(
    [...view.spends.values()].map(({ stage }) => stage),
    ['saved']
  )
  t.deepEqual([after.wallets.size, after.engines.size], [0, 0])
  t.is([...after.accounts.values()][0]?.isLoggedIn, false)
  const timeline = openRecording(received)
  t.deepEqual([...timeline.view.getSnapshot().plugins], [...client.view.getSnapshot().plugins])
  t.true(timeline.events.getSnapshot().length > 20)
  for (const hides of [false, true]) {
    const { events } = openRecording(saved.lines(hides))
    t.is(events.getSnapshot().at(-1)?.seq, client.events.getSnapshot().at(-1)?.seq)
  }
})

test('a panel that shows addresses and txids can save what it saw without any', async t => {
  const { saved, txid, publicAddress, needles } = await emitStory(false)
  t.true(saved.lines(false).join('\n').includes(txid))
  const text = saved.lines(true).join('\n')
  for (const needle of [...needles, txid, publicAddress, FOREIGN])
    t.false(text.includes(needle), `${needle} leaked`)
})

test('with addresses hidden neither an address nor a txid reaches a panel', async t => {
  const { received, sent, txid, publicAddress, needles } = await emitStory(true)
  const text = [...received, ...sent].join('\n')
  t.regex(text, /hidden \(64 letters, [0-9a-f]{8}\)/)
  for (const needle of [...needles, txid, publicAddress, FOREIGN])
    t.false(text.includes(needle), `${needle} leaked`)
})
