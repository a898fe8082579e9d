import test from 'ava'
import { makeClient } from '../../../../devtools/core/client/client.ts'
import { eventsSince, pauseView } from '../../../../devtools/core/client/paused-view.ts'
import { makeChannelPair } from '../../../../devtools/core/protocol/channel-pair.ts'
import { engine, makeStage } from '../../../helpers/devtools-stage.ts'

const makeLive = async () => {
  const stage = makeStage()
  const { host, client: end } = makeChannelPair()
  stage.devtools.attach(host, { isReadOnly: false, hasWorld: true })
  const client = makeClient(end)
  stage.emit('engineChanged', engine('w1'))
  await stage.settle()
  return { stage, client, host }
}

test('a paused client shows the state of its pause, and counts what waits', async t => {
  const { stage, client } = await makeLive()
  const held = pauseView(client)
  const [view, events] = [held.view.getSnapshot(), held.events.getSnapshot()]
  for (const blockHeight of [1, 2, 3]) stage.emit('engineChanged', engine('w1', { blockHeight }))
  await stage.clock.advance(100)
  t.is(client.view.getSnapshot().engines.get('w1')?.blockHeight, 3)
  t.deepEqual([held.view.getSnapshot(), held.events.getSnapshot()], [view, events])
  t.is(held.view.getSnapshot().engines.get('w1')?.blockHeight, 100)
  t.is(eventsSince(held, client), 3)
})

test('a paused client runs no action, and reports the loss of its kernel', async t => {
  const { stage, client, host } = await makeLive()
  const held = pauseView(client)
  t.is(held.status.getSnapshot().connection, 'past')
  t.is(held.status.getSnapshot(), held.status.getSnapshot())
  await t.throwsAsync(held.runAction('engine.pause', { walletId: 'w1' }), { code: 'READ_ONLY' } as never)
  let reported = 0
  held.status.subscribe(() => {
    reported += 1
  })
  host.close()
  await stage.settle()
  t.is(held.status.getSnapshot().connection, 'lost')
  t.is(reported, 1)
  held.close()
  t.is(held.view.getSnapshot().engines.size, 1)
})
