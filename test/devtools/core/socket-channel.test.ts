import test from 'ava'
import type { ClientMessage, HostMessage } from '../../../devtools/core/protocol.ts'
import { connectSocket, MAX_PAUSE_MS } from '../../../devtools/core/socket-channel.ts'

/** A socket whose other end the test plays. */
class PlayedSocket {
  readonly sent: ClientMessage[] = []
  isClosed = false
  readonly #listeners = new Map<string, ((event: { readonly data: unknown }) => void)[]>()

  addEventListener(type: string, listener: (event: { readonly data: unknown }) => void): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener])
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text))
  }

  close(): void {
    this.isClosed = true
  }

  play(type: 'open' | 'close' | 'message', message?: HostMessage): void {
    for (const listener of this.#listeners.get(type) ?? []) listener({ data: JSON.stringify(message) })
  }
}

/** A channel whose sockets and pauses the test plays. */
const makeScene = () => {
  const sockets: PlayedSocket[] = []
  const asked: [string, string[]][] = []
  const pauses: number[] = []
  let next: (() => void) | undefined
  const channel = connectSocket({
    url: 'ws://127.0.0.1:1/socket',
    token: 'abc',
    makeWebSocket(url, protocols) {
      asked.push([url, protocols])
      const socket = new PlayedSocket()
      sockets.push(socket)
      return socket
    },
    later(milliseconds, then) {
      pauses.push(milliseconds)
      next = then
      return () => {
        next = undefined
      }
    }
  })
  const heard: HostMessage[] = []
  let losses = 0
  channel.onMessage(message => heard.push(message))
  channel.onClose(() => {
    losses += 1
  })
  const socket = (): PlayedSocket => {
    const newest = sockets.at(-1)
    if (newest === undefined) throw new Error('There is no socket')
    return newest
  }
  return {
    channel,
    asked,
    sockets,
    pauses,
    heard,
    socket,
    losses: () => losses,
    /** Lets the pause pass. */
    pass: () => next?.()
  }
}

const hello = (kernelId: string): HostMessage => ({
  type: 'hello',
  version: 1,
  kernelId,
  isReadOnly: false,
  hasWorld: true
})

const batch = (fromSeq: number, seq: number): HostMessage => ({
  type: 'batch',
  fromSeq,
  seq,
  patches: [],
  events: [],
  missed: 0
})

const snapshot = (seq: number): HostMessage => ({ type: 'snapshot', seq, slices: {} as never, events: [] })

const subscribe: ClientMessage = { type: 'subscribe', version: 1 }
const call: ClientMessage = { type: 'call', id: 7, action: 'rates.refresh', input: {} }

/** Lets promises and microtasks run. */
const settle = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

test('the token is offered as a subprotocol, and what is subscribed to early is asked for once it is open', t => {
  const { channel, asked, socket } = makeScene()
  t.deepEqual(asked, [['ws://127.0.0.1:1/socket', ['holdfast-devtools-1', 'token.abc']]])
  channel.send(subscribe)
  t.deepEqual(socket().sent, [])
  socket().play('open')
  t.deepEqual(socket().sent, [subscribe])
})

test('a new socket asks for what is newer than the last number that was seen without a gap', t => {
  const { channel, socket, pass, losses } = makeScene()
  channel.send(subscribe)
  socket().play('open')
  for (const message of [hello('a'), snapshot(3), batch(3, 5), batch(9, 12)])
    socket().play('message', message)
  socket().play('close')
  t.is(losses(), 1)
  pass()
  socket().play('open')
  t.deepEqual(socket().sent, [{ ...subscribe, sinceSeq: 5 }])
  socket().play('message', hello('a'))
  socket().play('message', batch(5, 8))
  socket().play('close')
  pass()
  socket().play('open')
  t.deepEqual(socket().sent, [{ ...subscribe, sinceSeq: 8 }])
})

test('of another kernel everything is asked for, and its batches count from its snapshot on', t => {
  const { channel, socket, pass, heard } = makeScene()
  channel.send(subscribe)
  socket().play('open')
  for (const message of [hello('a'), snapshot(3)]) socket().play('message', message)
  socket().play('close')
  pass()
  socket().play('open')
  heard.length = 0
  for (const message of [hello('b'), batch(3, 4), snapshot(1), batch(1, 2)]) socket().play('message', message)
  t.deepEqual(socket().sent, [{ ...subscribe, sinceSeq: 3 }, subscribe])
  t.deepEqual(heard, [hello('b'), snapshot(1), batch(1, 2)])
})

test('pauses grow while nothing answers, and begin anew after a greeting', t => {
  const { channel, socket, pass, pauses, losses } = makeScene()
  channel.send(subscribe)
  for (let attempt = 0; attempt < 8; attempt++) {
    socket().play('close')
    pass()
  }
  t.deepEqual(pauses, [250, 500, 1000, 2000, 4000, 8000, MAX_PAUSE_MS, MAX_PAUSE_MS])
  t.is(losses(), 8)
  socket().play('open')
  socket().play('close')
  t.is(pauses.at(-1), MAX_PAUSE_MS)
  pass()
  socket().play('open')
  socket().play('message', hello('a'))
  socket().play('close')
  t.is(pauses.at(-1), 250)
})

test('a call without a socket is refused and never sent later', async t => {
  const { channel, socket, heard } = makeScene()
  channel.send(call)
  t.deepEqual(heard, [])
  await settle()
  t.deepEqual(heard, [
    {
      type: 'refused',
      id: 7,
      error: { code: 'DISCONNECTED', message: 'The wallet is not connected, so nothing was done' }
    }
  ])
  socket().play('open')
  t.deepEqual(socket().sent, [])
})

test('a call that was under way when the socket was lost is refused once, and one that was answered is not', t => {
  const { channel, socket, heard } = makeScene()
  socket().play('open')
  channel.send(call)
  channel.send({ ...call, id: 8 })
  channel.send({ ...call, id: 9 })
  const result: HostMessage = { type: 'result', id: 7, output: {} }
  const refused: HostMessage = { type: 'refused', id: 9, error: { code: 'READ_ONLY', message: 'no' } }
  socket().play('message', result)
  socket().play('message', refused)
  socket().play('close')
  t.deepEqual(heard, [
    result,
    refused,
    {
      type: 'refused',
      id: 8,
      error: {
        code: 'DISCONNECTED',
        message: 'The connection was lost; whether it was done shows when it is back'
      }
    }
  ])
})

test('a channel that is closed closes its socket, tells nothing and never comes back', t => {
  const { channel, socket, sockets, pass, heard, pauses, losses } = makeScene()
  channel.send(subscribe)
  socket().play('open')
  channel.close()
  t.true(socket().isClosed)
  socket().play('message', hello('a'))
  socket().play('close')
  pass()
  t.deepEqual([sockets.length, heard.length, pauses.length, losses()], [1, 0, 0, 0])
})

test('a channel that is closed during a pause makes no further attempt', t => {
  const { channel, socket, sockets, pass } = makeScene()
  socket().play('close')
  channel.close()
  pass()
  t.is(sockets.length, 1)
})
