import test, { type ExecutionContext } from 'ava'
import type { HostChannel } from '../../../devtools/server/serve-devtools.ts'
import { serveDevtools } from '../../../devtools/server/serve-devtools.ts'
import { waitFor } from '../../helpers/device.ts'
import { engine, makeStage, type Stage } from '../../helpers/devtools-stage.ts'
import { openPanel, type PanelOverSocket } from '../../helpers/panel-socket.ts'

interface Scene extends PanelOverSocket {
  readonly stage: Stage
  readonly channels: HostChannel[]
}

/** Devtools that a test tells what a kernel would, and one panel over a real socket, which is live. */
const openScene = async (
  t: ExecutionContext,
  isReadOnly = true,
  options: Parameters<typeof openPanel>[1] = {}
): Promise<Scene> => {
  const stage = makeStage()
  const channels: HostChannel[] = []
  const server = await serveDevtools({
    files: new Map(),
    attach(channel) {
      channels.push(channel)
      const runAction = async () => ({}) as never
      const isSlow = (): boolean => channel.isSlow()
      return stage.devtools.attach(channel, { isReadOnly, runAction, hasWorld: false, isSlow })
    }
  })
  const panel = openPanel(server.url, options)
  t.teardown(async () => {
    panel.client.close()
    await server.close()
  })
  await waitFor(() => panel.client.status.getSnapshot().connection === 'live')
  return { ...panel, stage, channels }
}

const heights = ({ client }: Scene): unknown[] =>
  client.events.getSnapshot().map(({ data }) => data.blockHeight)

const heightOf = ({ client }: Scene): number | undefined =>
  client.view.getSnapshot().engines.get('w1')?.blockHeight

test('a panel over a socket follows the tables and events of a kernel', async t => {
  const scene = await openScene(t)
  scene.stage.emit('engineChanged', engine('w1', { blockHeight: 7 }))
  await scene.stage.clock.advance(100)
  await waitFor(() => heightOf(scene) === 7)
  t.deepEqual([...scene.client.view.getSnapshot().engines], [['w1', engine('w1', { blockHeight: 7 })]])
  t.deepEqual(heights(scene), [7])
})

test('a lost socket reconnects, and every missed event arrives once', async t => {
  let comeBack = (): void => {}
  const scene = await openScene(t, true, {
    later(_pause, then) {
      comeBack = then
      return () => {}
    }
  })
  const emit = (blockHeight: number): void => scene.stage.emit('engineChanged', engine('w1', { blockHeight }))
  emit(1)
  await scene.stage.clock.advance(100)
  await waitFor(() => heightOf(scene) === 1)
  scene.sockets[0]?.terminate()
  await waitFor(() => scene.client.status.getSnapshot().connection === 'lost')
  emit(2)
  emit(3)
  await scene.stage.clock.advance(100)
  t.is(heightOf(scene), 1)
  comeBack()
  await waitFor(() => scene.client.status.getSnapshot().connection === 'live')
  t.is(scene.sockets.length, 2)
  emit(4)
  await scene.stage.clock.advance(100)
  await waitFor(() => heightOf(scene) === 4)
  t.deepEqual(heights(scene), [1, 2, 3, 4])
  t.deepEqual(
    scene.client.events.getSnapshot().map(({ seq }) => seq),
    [1, 2, 3, 4]
  )
  t.is(scene.client.status.getSnapshot().missed, 0)
})

test('a panel that reads too slowly gets tables and the number of missed events, and catches up', async t => {
  const scene = await openScene(t)
  const [socket] = scene.sockets
  const [channel] = scene.channels
  socket?.pause()
  let height = 0
  const emit = async (count: number): Promise<void> => {
    for (const end = height + count; height < end; height += 1)
      scene.stage.emit('engineChanged', engine('w1', { blockHeight: height + 1 }))
    await scene.stage.clock.advance(100)
  }
  while (channel?.isSlow() === false) await emit(2000)
  await emit(500)
  await scene.stage.clock.advance(1000)
  t.is(channel?.isSlow(), true)
  socket?.resume()
  await waitFor(() => heightOf(scene) === height)
  t.is(scene.client.status.getSnapshot().missed, 500)
  await emit(1)
  await waitFor(() => heightOf(scene) === height)
  t.is(heights(scene).at(-1), height)
  t.is(scene.client.status.getSnapshot().missed, 500)
})

test('a read-only panel cannot run an action, not even one that bypasses its client', async t => {
  const scene = await openScene(t)
  const call = { type: 'call', id: 1, action: 'engine.pause', input: { walletId: 'w1' } }
  scene.sockets[0]?.send(JSON.stringify(call))
  const refusal = '"type":"refused","id":1,"error":{"code":"READ_ONLY"'
  await waitFor(() => scene.frames.some(frame => frame.includes(refusal)))
  await t.throwsAsync(scene.client.runAction('engine.pause', { walletId: 'w1' }), { code: 'READ_ONLY' })
  await t.notThrowsAsync(scene.client.runAction('rates.route', { from: 'BTC', to: 'iso:USD' }))
})

test('JSON that is no message is refused, and the panel goes on', async t => {
  const scene = await openScene(t, false)
  const bad = ['null', '[]', '7', '{"type":"hello"}', '{"type":"subscribe","version":1,"sinceSeq":-1}']
  for (const frame of bad) scene.sockets[0]?.send(frame)
  const refused = (): number => scene.frames.filter(frame => frame.includes('"BAD_MESSAGE"')).length
  await waitFor(() => refused() === bad.length)
  t.is(scene.client.status.getSnapshot().connection, 'live')
  await t.notThrowsAsync(scene.client.runAction('engine.pause', { walletId: 'w1' }))
})
