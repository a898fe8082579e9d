import test from 'ava'
import { connectSocket, MAX_PAUSE_MS } from '../../../../devtools/core/client/socket.ts'
import type { ClientMessage, HostMessage } from '../../../../devtools/core/protocol/protocol.ts'

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
  const requested: [string, string[]][] = []
  const pauses: number[] = []
  let next: (() => void) | undefined
  const channel = connectSocket({
    url: 'ws://127.0.0.1:1/socket',
    token: 'abc',
    makeWebSocket(url, protocols) {
      requested.push([url, protocols])
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
  const received: HostMessage[] = []
  let losses = 0
  channel.onMessage(message => received.push(message))
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
    requested,
    sockets,
    pauses,
    received,
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

const subscribe: ClientMessage = { type: 'subscribe', version: 1 }

test('the token is offered as a subprotocol, and messages go both ways once it is open', t => {
  const { channel, requested, socket, received } = makeScene()
  t.deepEqual(requested, [['ws://127.0.0.1:1/socket', ['holdfast-devtools-1', 'token.abc']]])
  socket().play('open')
  socket().play('message', hello('a'))
  channel.send(subscribe)
  t.deepEqual([socket().sent, received], [[subscribe], [hello('a')]])
})

test('a loss is reported, and the next socket serves the same listeners', t => {
  const { channel, socket, sockets, requested, pass, received, losses } = makeScene()
  socket().play('open')
  socket().play('close')
  t.is(losses(), 1)
  pass()
  t.is(sockets.length, 2)
  t.deepEqual(requested[0], requested[1])
  socket().play('open')
  socket().play('message', hello('b'))
  channel.send(subscribe)
  t.deepEqual([sockets.map(({ sent }) => sent), received], [[[], [subscribe]], [hello('b')]])
})

test('what is sent without a socket is dropped, and never sent later', t => {
  const { channel, socket, pass } = makeScene()
  const call: ClientMessage = { type: 'call', id: 7, action: 'rates.refresh', input: {} }
  channel.send(call)
  socket().play('open')
  t.deepEqual(socket().sent, [])
  socket().play('close')
  channel.send(call)
  pass()
  channel.send(call)
  socket().play('open')
  t.deepEqual(socket().sent, [])
})

test('a stranger on the port of the kernel receives nothing, and the channel never reconnects', t => {
  const { channel, socket, pass, pauses, received, losses } = makeScene()
  socket().play('open')
  socket().play('message', hello('a'))
  socket().play('close')
  pass()
  socket().play('open')
  socket().play('message', hello('stranger'))
  channel.send({ type: 'call', id: 1, action: 'account.login', input: { username: 'alice', pin: '1234' } })
  socket().play('message', { type: 'result', id: 1, output: {} })
  t.deepEqual([received, socket().sent, socket().isClosed], [[hello('a')], [], true])
  t.is(losses(), 2)
  socket().play('close')
  t.deepEqual([pauses.length, losses()], [1, 2])
})

test('pauses grow while nothing answers, and start over after a message arrived', t => {
  const { socket, pass, pauses, losses } = makeScene()
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
  t.is(pauses.at(-1), MAX_PAUSE_MS)
  pass()
  socket().play('open')
  socket().play('message', hello('a'))
  socket().play('message', { type: 'result', id: 1, output: {} })
  socket().play('close')
  t.is(pauses.at(-1), 250)
})

test('a closed channel closes its socket, emits nothing and never reconnects', t => {
  const { channel, socket, sockets, pass, received, pauses, losses } = makeScene()
  socket().play('open')
  channel.close()
  t.true(socket().isClosed)
  socket().play('message', hello('a'))
  socket().play('close')
  pass()
  t.deepEqual([sockets.length, received.length, pauses.length, losses()], [1, 0, 0, 0])
})

test('a channel that is closed during a pause makes no further attempt', t => {
  const { channel, socket, sockets, pass } = makeScene()
  socket().play('close')
  channel.close()
  pass()
  t.is(sockets.length, 1)
})
