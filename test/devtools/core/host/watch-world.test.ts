import test from 'ava'
import { makeActionHandler } from '../../../../app/actions/actions.ts'
import { type DevtoolsClient, makeClient } from '../../../../devtools/core/client/client.ts'
import { makeChannelPair } from '../../../../devtools/core/protocol/channel-pair.ts'
import { makeChainControl, makeFakeWorldControl } from '../../../../fake-server/chain-control.ts'
import { makeFakeWorld } from '../../../../fake-server/fake-world.ts'
import type { Context } from '../../../../kernel/index.ts'
import { makeNodeIo } from '../../../../platform/node/index.ts'
import { makeStage } from '../../../helpers/devtools-stage.ts'

const openWorld = () => {
  const stage = makeStage()
  const fakeWorld = makeFakeWorld({ io: makeNodeIo() })
  const world = makeFakeWorldControl(makeChainControl(fakeWorld))
  const panel = (): DevtoolsClient => {
    const { host, client } = makeChannelPair()
    const runAction = makeActionHandler({ context: {} as Context, io: makeNodeIo(), world })
    stage.devtools.attach(host, { isReadOnly: false, hasWorld: true, runAction })
    return makeClient(client)
  }
  const isOnline = (client: DevtoolsClient): boolean | undefined =>
    client.view.getSnapshot().world.get('world')?.isOnline
  return { ...stage, fakeWorld, world, panel, isOnline }
}

test('every panel, also a later one, learns if the fake world is offline', async t => {
  const { devtools, clock, settle, world, panel, isOnline } = openWorld()
  devtools.watchWorld(world)
  const [first, second] = [panel(), panel()]
  await clock.advance(100)
  t.deepEqual([first, second].map(isOnline), [true, true])
  await first.runAction('world.network', { isOnline: false })
  await clock.advance(100)
  t.deepEqual([first, second].map(isOnline), [false, false])
  const late = panel()
  await settle()
  t.false(isOnline(late))
  await late.runAction('world.network', { isOnline: true })
  await clock.advance(100)
  t.deepEqual([first, second, late].map(isOnline), [true, true, true])
})

test('a new panel sees changes that others made to a fake world, and an equal state is sent once', async t => {
  const { devtools, clock, fakeWorld, world, panel, isOnline } = openWorld()
  devtools.watchWorld(world)
  const first = panel()
  await clock.advance(100)
  fakeWorld.network.change({ isOnline: false })
  devtools.watchWorld(world)
  await clock.advance(100)
  t.false(isOnline(first))
  devtools.watchWorld(world)
  await clock.advance(100)
  t.is(first.events.getSnapshot().filter(({ hook }) => hook === 'worldChanged').length, 2)
})

test('a fake world that does not answer has no state in the panel', async t => {
  const { devtools, clock, world, panel, isOnline } = openWorld()
  devtools.watchWorld({ ...world, look: () => Promise.reject(new Error('gone')) })
  const client = panel()
  await clock.advance(100)
  t.is(isOnline(client), undefined)
})
