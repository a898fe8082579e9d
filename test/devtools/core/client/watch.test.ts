import test from 'ava'
import type { ActionWatcher } from '../../../../app/actions/actions.ts'
import type { WatchListener } from '../../../../app/actions/watch-action.ts'
import { makeClient } from '../../../../devtools/core/client/client.ts'
import type { AttachOptions } from '../../../../devtools/core/host/session.ts'
import { makeChannelPair } from '../../../../devtools/core/protocol/channel-pair.ts'
import type { ClientMessage, HostMessage, PanelChannel } from '../../../../devtools/core/protocol/protocol.ts'
import { makeStage } from '../../../helpers/devtools-stage.ts'

const TXID = 'ab'.repeat(32)

/** A host whose watched actions a test answers, and a client whose connection it cuts. */
const watchedStage = (options: Partial<AttachOptions> = {}) => {
  const stage = makeStage()
  const watches: { readonly name: string; readonly listener: WatchListener<never>; isOver: boolean }[] = []
  const watchAction: ActionWatcher = (name, _, listener) => {
    const watch = { name, listener: listener as WatchListener<never>, isOver: false }
    watches.push(watch)
    return () => {
      watch.isOver = true
    }
  }
  const messages: ((message: HostMessage) => void)[] = []
  const closers: (() => void)[] = []
  let link = makeChannelPair()
  const connect = (): void => {
    link = makeChannelPair()
    link.client.onMessage(message => {
      for (const listener of messages) listener(message)
    })
    const runAction = (async () => ({ hasAgent: false, proposals: [] })) as never
    stage.devtools.attach(link.host, {
      ...{ isReadOnly: false, hasWorld: false, runAction, watchAction },
      ...options
    })
  }
  const channel: PanelChannel<ClientMessage, HostMessage> = {
    send: message => link.client.send(message),
    onMessage: listener => void messages.push(listener),
    onClose: listener => void closers.push(listener),
    close: () => link.client.close()
  }
  const client = makeClient(channel)
  connect()
  const seen: unknown[] = []
  const listener = {
    onOutput: (output: unknown) => seen.push(output),
    onFailure: (error: unknown) => seen.push((error as { readonly code: string }).code)
  }
  const cut = (): void => {
    link.client.close()
    for (const closed of closers) closed()
  }
  return { stage, watches, client, seen, listener, connect, cut }
}

const page = (txid: string) => ({
  hasAgent: true,
  proposals: [
    {
      ...{ id: '1', accountId: 'a', walletId: 'w', state: 'sent', txid, created: 0, ends: 1 },
      untrusted: { client: 'helper' }
    }
  ]
})

test('a panel is sent each result of what it watches, also after its connection was lost, until it stops', async t => {
  const { stage, watches, client, seen, listener, connect, cut } = watchedStage()
  const stop = client.watch?.('proposal.list', {}, listener)
  await stage.settle()
  t.is(watches.length, 1)
  watches[0]?.listener.onOutput(page(TXID) as never)
  watches[0]?.listener.onFailure(new Error('a foreign text'))
  await stage.settle()
  t.deepEqual(seen, [page(TXID), 'UNKNOWN'])
  t.deepEqual(client.events.getSnapshot(), [], 'it is no event')

  cut()
  await stage.settle()
  t.true(watches[0]?.isOver)
  connect()
  await stage.settle()
  t.is(watches.length, 2)
  watches[1]?.listener.onOutput(page('') as never)
  await stage.settle()
  t.is(seen.length, 3)
  stop?.()
  await stage.settle()
  t.true(watches[1]?.isOver)
  cut()
  connect()
  await stage.settle()
  t.is(watches.length, 2)
})

test('what is watched is redacted as a result is, changes nothing, and is bounded', async t => {
  const { stage, watches, client, seen, listener } = watchedStage({ hideAddresses: true })
  client.watch?.('proposal.list', {}, listener)
  await stage.settle()
  watches[0]?.listener.onOutput(page(TXID) as never)
  await stage.settle()
  t.false(JSON.stringify(seen).includes(TXID))
  t.regex(JSON.stringify(seen), /hidden \(64 letters/)
  client.watch?.('proposal.decline', { proposalId: '1' }, listener)
  await stage.settle()
  t.is(seen.at(-1), 'BAD_MESSAGE')
  for (let i = 0; i < 60; i += 1) client.watch?.('proposal.list', {}, listener)
  await stage.settle()
  t.is(watches.length, 50)
  client.close()
  await stage.settle()
  t.true(watches.every(({ isOver }) => isOver))
})

test('an application whose actions cannot be watched gives one result', async t => {
  const { stage, client, seen, listener } = watchedStage({ watchAction: undefined } as never)
  client.watch?.('proposal.list', {}, listener)
  await stage.settle()
  t.deepEqual(seen, [{ hasAgent: false, proposals: [] }])
})
