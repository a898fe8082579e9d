import { connect as connectTcp } from 'node:net'
import test from 'ava'
import WebSocket from 'ws'
import type { FakeChain } from '../../../fake-server/chain/fake-chain.ts'
import { makeElectrumConnect } from '../../../fake-server/electrum/connect.ts'
import { serveElectrumTcp } from '../../../fake-server/http/electrum-tcp.ts'
import { serveElectrumWebSocket } from '../../../fake-server/http/electrum-web-socket.ts'
import { makeChain, makeFundedChain, makeTestWallet, signAll } from '../chain/chain-kit.ts'
import type { Reply } from './electrum-kit.ts'

const testWallet = makeTestWallet('p2wpkh')
const other = makeTestWallet('p2tr', 2)

/** An open line to a server: whole messages in, whole messages out. */
interface Line {
  send(text: string): void
  readonly lines: string[]
  /** Waits until this many messages came. */
  until(count: number): Promise<void>
  close(): void
  readonly closed: Promise<void>
}

const makeLine = (): {
  line: Omit<Line, 'send' | 'close'>
  onText(text: string, isStream: boolean): void
  onClose(): void
} => {
  const lines: string[] = []
  let rest = ''
  let wake = (): void => {}
  let onClose = (): void => {}
  const closed = new Promise<void>(resolve => {
    onClose = resolve
  })
  const until = async (count: number): Promise<void> => {
    while (lines.length < count)
      await new Promise<void>(resolve => {
        wake = resolve
      })
  }
  const onText = (text: string, isStream: boolean): void => {
    const parts = isStream ? (rest + text).split('\n') : [text, '']
    rest = parts.pop() ?? ''
    lines.push(...parts)
    wake()
  }
  return { line: { lines, until, closed }, onText, onClose: () => onClose() }
}

const transports: Record<
  string,
  (chain: FakeChain) => Promise<{ open(): Promise<Line>; stop(): Promise<void> }>
> = {
  'in-process TCP': async chain => {
    const server = makeElectrumConnect(chain, { sliceLength: 7 })
    const open = async (): Promise<Line> => {
      const { line, onText, onClose } = makeLine()
      const handlers = { onText: (text: string) => onText(text, true), onClose }
      const channel = await server.connect({ host: 'x', port: 1, isTls: false }, handlers)
      return { ...line, send: text => channel.send(`${text}\n`), close: () => channel.close() }
    }
    return { open, stop: async () => server.close() }
  },
  'in-process WebSocket': async chain => {
    const server = makeElectrumConnect(chain)
    const open = async (): Promise<Line> => {
      const { line, onText, onClose } = makeLine()
      const channel = await server.webSocket('ws://x', { onText: text => onText(text, false), onClose })
      return { ...line, send: text => channel.send(text), close: () => channel.close() }
    }
    return { open, stop: async () => server.close() }
  },
  TCP: async chain => {
    const server = await serveElectrumTcp(chain)
    const open = async (): Promise<Line> => {
      const { line, onText, onClose } = makeLine()
      const socket = connectTcp(server.port, server.host)
      socket.on('data', bytes => onText(bytes.toString(), true))
      socket.on('error', () => {})
      socket.on('close', onClose)
      await new Promise<void>((resolve, reject) => void socket.once('connect', resolve).once('error', reject))
      return { ...line, send: text => void socket.write(`${text}\n`), close: () => void socket.destroy() }
    }
    return { open, stop: () => server.close() }
  },
  WebSocket: async chain => {
    const server = await serveElectrumWebSocket(chain)
    const open = async (): Promise<Line> => {
      const { line, onText, onClose } = makeLine()
      const socket = new WebSocket(server.url)
      socket.on('message', data => onText(data.toString(), false))
      socket.on('error', () => {})
      socket.on('close', onClose)
      await new Promise<void>((resolve, reject) => void socket.once('open', resolve).once('error', reject))
      return { ...line, send: text => socket.send(text), close: () => socket.close() }
    }
    return { open, stop: () => server.close() }
  }
}

for (const [name, serve] of Object.entries(transports)) {
  test(`${name}: pipelined and batched requests are answered in order, and notifications arrive without a request`, async t => {
    const chain = makeFundedChain(testWallet)
    const server = await serve(chain)
    const line = await server.open()
    line.send('{"id":0,"method":"server.version","params":["test","1.4"]}')
    for (let id = 1; id <= 20; id += 1) line.send(JSON.stringify({ id, method: 'server.ping', params: [] }))
    for (let i = 0; i < 50; i += 1) await Promise.resolve()
    t.deepEqual(line.lines, [])
    await line.until(21)
    t.deepEqual(
      line.lines.splice(0).map(text => JSON.parse(text).id),
      Array.from({ length: 21 }, (_, id) => id)
    )
    const batch = [testWallet, other].map(({ scriptHash }, id) => ({
      id,
      method: 'blockchain.scripthash.subscribe',
      params: [scriptHash]
    }))
    line.send(JSON.stringify([...batch, { id: 2, method: 'blockchain.headers.subscribe' }]))
    await line.until(1)
    const replies = JSON.parse(line.lines.splice(0)[0] ?? '') as Reply[]
    t.deepEqual(
      replies.map(reply => reply.result),
      [
        chain.view.scripts.statusOf(testWallet.scriptHash),
        null,
        { hex: chain.view.tip.headerHex, height: chain.height }
      ]
    )
    const raw = signAll(chain, testWallet, { to: other.script, fee: 1000n })
    line.send(JSON.stringify({ id: 'pay', method: 'blockchain.transaction.broadcast', params: [raw] }))
    await line.until(3)
    const [reply, ...news] = line.lines.splice(0).map(text => JSON.parse(text) as Reply)
    t.is(reply?.id, 'pay')
    t.deepEqual(
      new Set(news.map(notice => notice.params?.[0])),
      new Set([testWallet.scriptHash, other.scriptHash])
    )
    chain.mine()
    await line.until(3)
    t.is((JSON.parse(line.lines[0] ?? '') as Reply).method, 'blockchain.headers.subscribe')

    const second = await server.open()
    second.close()
    await second.closed
    await server.stop()
    await line.closed
    await t.throwsAsync(server.open())
  })
}

test('a TCP client that never ends its line is answered and cut off', async t => {
  const server = await serveElectrumTcp(makeChain(), { limits: { maxMessage: 1000 } })
  const { line, onText, onClose } = makeLine()
  const socket = connectTcp(server.port, server.host)
  socket.on('data', bytes => onText(bytes.toString(), true))
  socket.on('close', onClose)
  socket.write('x'.repeat(5000))
  await line.closed
  t.regex(line.lines[0] ?? '', /message too large/)
  await server.close()
})

test('a port that is taken is reported by both servers', async t => {
  const chain = makeChain()
  const server = await serveElectrumTcp(chain)
  const { port } = server
  await t.throwsAsync(serveElectrumTcp(chain, { port }), { code: 'EADDRINUSE' })
  await t.throwsAsync(serveElectrumWebSocket(chain, { port }), { code: 'EADDRINUSE' })
  await server.close()
})
