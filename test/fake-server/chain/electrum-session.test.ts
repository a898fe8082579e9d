import { createHash } from 'node:crypto'
import { connect as connectTcp } from 'node:net'
import test from 'ava'
import fc from 'fast-check'
import WebSocket from 'ws'
import { makeElectrumConnect } from '../../../fake-server/chain/electrum-connect.ts'
import { type ElectrumLimits, makeElectrumSession } from '../../../fake-server/chain/electrum-session.ts'
import type { FakeChain } from '../../../fake-server/chain/fake-chain.ts'
import { serveElectrumTcp } from '../../../fake-server/http/electrum-tcp.ts'
import { serveElectrumWebSocket } from '../../../fake-server/http/electrum-web-socket.ts'
import { doubleSha256, innerBytes, makeChain, makeFundedChain, makePurse, signAll } from './chain-kit.ts'

const purse = makePurse('p2wpkh')
const other = makePurse('p2tr', 2)

interface Reply {
  readonly id?: number | string | null
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
  readonly method?: string
  readonly params?: readonly unknown[]
}

/** A client that calls the session directly and remembers all that it is sent. */
const makeClient = (chain: FakeChain, limits?: Partial<ElectrumLimits>) => {
  const sent: string[] = []
  const session = makeElectrumSession(chain, text => sent.push(text), limits)
  const take = (): Reply[] => sent.splice(0).map(text => JSON.parse(text))
  const call = (method: string, ...params: unknown[]): Reply => {
    session.receive(JSON.stringify({ id: 7, method, params }))
    const [reply, ...rest] = take()
    sent.push(...rest.map(item => JSON.stringify(item)))
    return reply ?? {}
  }
  call('server.version', 'test', '1.4')
  return { session, sent, take, call }
}

test('server.version comes first and settles a version that both know', t => {
  const chain = makeChain()
  const asked = (version: unknown): Reply => {
    const sent: string[] = []
    const session = makeElectrumSession(chain, text => sent.push(text))
    session.receive(JSON.stringify({ id: 1, method: 'server.ping', params: [] }))
    t.is(JSON.parse(sent[0] ?? '').error.message, 'use server.version to identify client')
    session.receive(JSON.stringify({ id: 2, method: 'server.version', params: ['me', version] }))
    return JSON.parse(sent[1] ?? '')
  }
  const agreed = (version: unknown): unknown => (asked(version).result as string[] | undefined)?.[1]
  t.deepEqual(['1.4', ['1.2', '1.4'], ['1.4', '1.6'], '1.4.1'].map(agreed), ['1.4', '1.4', '1.4.2', '1.4.1'])
  for (const version of ['1.2', '9', ['1.5', '1.6'], ['1.4'], 1.4, '1.x', {}])
    t.is(asked(version).error?.code, 1)
  t.is(makeClient(chain).call('server.version', 'me', '1.4').error?.message, 'server.version already sent')
})

test('the server methods answer in the shapes of the protocol', t => {
  const chain = makeFundedChain(purse)
  const { call } = makeClient(chain)
  t.is(call('server.ping').result, null)
  t.is(typeof call('server.banner').result, 'string')
  t.is(call('server.donation_address').result, '')
  t.deepEqual(call('server.peers.subscribe').result, [])
  const features = call('server.features').result as Record<string, unknown>
  t.is(features['genesis_hash'], '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206')
  t.deepEqual(
    [features['protocol_min'], features['protocol_max'], features['hash_function']],
    ['1.4', '1.4.2', 'sha256']
  )
  t.is(call('blockchain.relayfee').result, 0.00001)
  chain.setFees({ 2: 15 })
  t.is(call('blockchain.estimatefee', 2).result, 0.00015)
  chain.setFees({})
  t.is(call('blockchain.estimatefee', 2).result, -1)
  t.deepEqual(call('mempool.get_fee_histogram').result, [])
  const raw = signAll(chain, purse, { to: other.script, fee: 1220n })
  chain.broadcast(raw)
  const vsize = chain.view.mempool.entries().next().value?.tx.vsize
  t.deepEqual(call('mempool.get_fee_histogram').result, [[Math.floor(1220 / (vsize ?? 1)), vsize]])
})

test('headers, merkle proofs and checkpoint proofs verify against each other', t => {
  const chain = makeFundedChain(purse, ['5000', '6000', '7000'])
  const { call } = makeClient(chain)
  const { height } = chain
  t.deepEqual(call('blockchain.headers.subscribe').result, { hex: chain.view.tip.headerHex, height })
  const all = call('blockchain.block.headers', 0, 5000).result as { hex: string; count: number; max: number }
  t.deepEqual([all.count, all.hex.length, all.max], [height + 1, (height + 1) * 160, 2016])
  t.is(all.hex.slice(-160), call('blockchain.block.header', height).result)
  t.is((call('blockchain.block.headers', height + 1, 10).result as { count: number }).count, 0)
  t.is(call('blockchain.block.header', height + 1).error?.code, 1)

  const climb = (leaf: string, branch: readonly string[], position: number): string => {
    let at = innerBytes(leaf)
    branch.forEach((sibling, depth) => {
      const pair = (position >> depth) % 2 === 0 ? [at, innerBytes(sibling)] : [innerBytes(sibling), at]
      at = doubleSha256(Buffer.concat(pair))
    })
    return at.toString('hex')
  }
  const root = Buffer.from(chain.view.tip.headerHex, 'hex').subarray(36, 68).toString('hex')
  chain.view.tip.transactions.forEach(({ txid }, position) => {
    const proof = call('blockchain.transaction.get_merkle', txid, height).result as {
      merkle: string[]
      pos: number
    }
    t.is(proof.pos, position)
    t.is(climb(txid, proof.merkle, position), root)
    t.is(call('blockchain.transaction.id_from_pos', height, position).result, txid)
    const named = call('blockchain.transaction.id_from_pos', height, position, true).result
    t.deepEqual(named, { tx_hash: txid, merkle: proof.merkle })
  })
  t.is(call('blockchain.transaction.get_merkle', '00'.repeat(32), height).error?.code, 1)
  t.is(call('blockchain.transaction.id_from_pos', height, 99).error?.code, 1)

  const proven = call('blockchain.block.header', 5, height).result as {
    header: string
    branch: string[]
    root: string
  }
  t.is(proven.header, chain.view.blockAt(5)?.headerHex)
  t.is(climb(chain.view.blockAt(5)?.hash ?? '', proven.branch, 5), innerBytes(proven.root).toString('hex'))
  const many = call('blockchain.block.headers', 3, 3, height).result as { root: string; branch: string[] }
  t.deepEqual([many.root, many.branch], [proven.root, proven.branch])
  t.is(call('blockchain.block.header', 5, 4).error?.code, 1)
  t.is(call('blockchain.block.header', 5, height + 1).error?.code, 1)
})

test('a script has its history, mempool, balance and coins, before and after a block', t => {
  const chain = makeFundedChain(purse)
  const { call, take } = makeClient(chain)
  const [coin] = chain.view.scripts.utxosOf(purse.scriptHash)
  const confirmed = { tx_hash: coin?.txid, height: chain.height }
  t.deepEqual(call('blockchain.scripthash.get_history', purse.scriptHash).result, [confirmed])
  t.deepEqual(call('blockchain.scripthash.listunspent', purse.scriptHash.toUpperCase()).result, [
    { ...confirmed, tx_pos: coin?.index, value: 1_000_000 }
  ])
  const status = createHash('sha256').update(`${coin?.txid}:${chain.height}:`).digest('hex')
  t.is(call('blockchain.scripthash.subscribe', purse.scriptHash).result, status)
  t.is(call('blockchain.scripthash.subscribe', other.scriptHash).result, null)

  const raw = signAll(chain, purse, { to: other.script, fee: 1000n })
  const txid = call('blockchain.transaction.broadcast', raw).result as string
  const waiting = createHash('sha256').update(`${txid}:0:`).digest('hex')
  const notices = take()
  t.deepEqual(new Set(notices.map(notice => notice.method)), new Set(['blockchain.scripthash.subscribe']))
  t.deepEqual(new Map(notices.map(({ params }) => params as [string, string])).get(other.scriptHash), waiting)
  t.deepEqual(call('blockchain.scripthash.get_balance', purse.scriptHash).result, {
    confirmed: 1_000_000,
    unconfirmed: -1_000_000
  })
  t.deepEqual(call('blockchain.scripthash.get_mempool', other.scriptHash).result, [
    { tx_hash: txid, height: 0, fee: 1000 }
  ])
  t.deepEqual(call('blockchain.scripthash.listunspent', purse.scriptHash).result, [])
  t.deepEqual(call('blockchain.scripthash.listunspent', other.scriptHash).result, [
    { tx_hash: txid, tx_pos: 0, height: 0, value: 999_000 }
  ])
  t.is(call('blockchain.transaction.get', txid).result, raw)
  t.is(call('blockchain.scripthash.unsubscribe', purse.scriptHash).result, true)
  t.is(call('blockchain.scripthash.unsubscribe', purse.scriptHash).result, false)
  call('blockchain.headers.subscribe')
  chain.mine()
  t.deepEqual(
    take().map(({ method, params }) => [method, ...(params ?? [])]),
    [
      ['blockchain.headers.subscribe', { hex: chain.view.tip.headerHex, height: chain.height }],
      [
        'blockchain.scripthash.subscribe',
        other.scriptHash,
        createHash('sha256').update(`${txid}:${chain.height}:`).digest('hex')
      ]
    ]
  )
  const verbose = call('blockchain.transaction.get', txid, true).result as Record<string, unknown>
  t.deepEqual([verbose['txid'], verbose['hex'], verbose['confirmations']], [txid, raw, 1])
})

test('a refused broadcast says why in the words of a node', t => {
  const chain = makeFundedChain(purse)
  const { call } = makeClient(chain)
  const reply = call('blockchain.transaction.broadcast', signAll(chain, purse, { to: other.script, fee: 1n }))
  t.is(reply.error?.code, 1)
  t.regex(
    reply.error?.message ?? '',
    /^the transaction was rejected by network rules\.\n\nmin relay fee not met, 1 < /
  )
  t.regex(call('blockchain.transaction.broadcast', 'zz').error?.message ?? '', /TX decode failed/)
  t.is(call('blockchain.transaction.get', '11'.repeat(32)).error?.code, 2)
})

test('errors of JSON-RPC: bad JSON, no request, unknown method, bad parameters; notifications get no reply', t => {
  const { session, take, call } = makeClient(makeChain())
  const codes = (message: string): unknown => {
    session.receive(message)
    return take().map(reply => [reply.error?.code, reply.id])
  }
  t.deepEqual(codes('{'), [[-32700, null]])
  t.deepEqual(codes('"x"'), [[-32600, null]])
  t.deepEqual(codes('[]'), [[-32600, null]])
  t.deepEqual(codes('{"id":3,"params":[]}'), [[-32600, 3]])
  t.deepEqual(codes('{"id":{},"method":"server.ping"}'), [[-32600, null]])
  t.deepEqual(codes('{"id":"a","method":"server.ping","params":5}'), [[-32600, 'a']])
  t.deepEqual(codes('{"id":4,"method":"constructor"}'), [[-32601, 4]])
  t.deepEqual(codes('{"method":"server.ping"}'), [])
  t.deepEqual(codes('{"method":"nonsense"}'), [])
  t.deepEqual(codes('[{"method":"server.ping"}]'), [])
  for (const params of [[], ['xx'], [5], [purse.scriptHash, 1], [null]]) {
    t.is(call('blockchain.scripthash.subscribe', ...params).error?.code, -32602)
  }
  for (const params of [[-1], [1.5], ['1'], [1, -1], [2 ** 40]]) {
    t.is(call('blockchain.block.header', ...params).error?.code, -32602)
  }
  session.receive('{"id":5,"method":"blockchain.block.header","params":{"height":0}}')
  t.is((take()[0]?.result as string).length, 160)
  session.receive('{"id":5,"method":"blockchain.block.header","params":{"depth":0}}')
  t.is(take()[0]?.error?.code, -32602)
})

test('messages, batches, replies, subscriptions and histories are bounded', t => {
  const chain = makeFundedChain(purse, ['5000', '6000'])
  const { session, take, call } = makeClient(chain, {
    maxMessage: 2000,
    maxBatch: 4,
    maxSubscriptions: 2,
    maxHistory: 1,
    maxReply: 500
  })
  session.receive(JSON.stringify({ id: 1, method: 'server.ping', params: ['x'.repeat(3000)] }))
  t.regex(take()[0]?.error?.message ?? '', /too large/)
  session.receive(JSON.stringify(Array.from({ length: 5 }, (_, id) => ({ id, method: 'server.ping' }))))
  t.regex(take()[0]?.error?.message ?? '', /batch too large/)
  call('blockchain.scripthash.subscribe', '01'.repeat(32))
  call('blockchain.scripthash.subscribe', '02'.repeat(32))
  t.is(call('blockchain.scripthash.subscribe', '02'.repeat(32)).result, null)
  t.regex(
    call('blockchain.scripthash.subscribe', '03'.repeat(32)).error?.message ?? '',
    /too many subscriptions/
  )
  t.regex(
    call('blockchain.scripthash.get_history', purse.scriptHash).error?.message ?? '',
    /history too large/
  )
  t.regex(call('blockchain.block.headers', 0, 10).error?.message ?? '', /response too large/)
  const header = { method: 'blockchain.block.header', params: [1] }
  session.receive(JSON.stringify([1, 2, 3].map(id => ({ id, ...header }))))
  const batch = take()[0] as unknown as Reply[]
  t.deepEqual(
    batch.map(reply => [reply.id, reply.error?.code]),
    [
      [1, undefined],
      [2, undefined],
      [3, 1]
    ]
  )
})

test('nothing is sent after close, and a closed session no longer listens', t => {
  const chain = makeFundedChain(purse)
  const { session, sent, call } = makeClient(chain)
  call('blockchain.headers.subscribe')
  session.close()
  chain.mine()
  session.receive('{"id":1,"method":"server.ping"}')
  t.deepEqual(sent, [])
})

test('whatever a client sends, each request gets exactly one well-formed reply and no internal error', t => {
  const chain = makeFundedChain(purse)
  const known = ['server.version', 'server.features', 'blockchain.estimatefee', 'mempool.get_fee_histogram']
  const about = ['subscribe', 'unsubscribe', 'get_history', 'get_mempool', 'get_balance', 'listunspent']
  const methods = [
    ...known,
    ...about.map(name => `blockchain.scripthash.${name}`),
    ...['get', 'broadcast', 'get_merkle', 'id_from_pos'].map(name => `blockchain.transaction.${name}`),
    'blockchain.block.header',
    'blockchain.block.headers'
  ]
  const value = fc.oneof(fc.jsonValue(), fc.nat(200), fc.constantFrom(purse.scriptHash, chain.view.tip.hash))
  const request = fc.record(
    {
      id: fc.oneof(fc.nat(), fc.string(), fc.jsonValue()),
      method: fc.constantFrom(...methods),
      params: fc.array(value)
    },
    { requiredKeys: ['method'] }
  )
  const message = fc.oneof(
    fc.string(),
    fc.json(),
    request.map(item => JSON.stringify(item)),
    fc.array(fc.oneof(request, fc.jsonValue()), { maxLength: 8 }).map(items => JSON.stringify(items))
  )
  fc.assert(
    fc.property(fc.array(message, { maxLength: 5 }), messages => {
      const { session, sent } = makeClient(chain)
      for (const text of messages) {
        session.receive(text)
        const replies = sent.splice(0).flatMap(reply => JSON.parse(reply) as Reply | Reply[])
        t.true(replies.length <= Math.max(1, Array.isArray(parsed(text)) ? (parsed(text) as []).length : 1))
        for (const reply of replies) {
          t.true('result' in reply !== 'error' in reply)
          t.true(
            reply.error === undefined || [1, 2, -32700, -32600, -32601, -32602].includes(reply.error.code)
          )
        }
        const asked = parsed(text) as Reply | undefined
        if (typeof asked?.id === 'number' && typeof asked.method === 'string') t.is(replies[0]?.id, asked.id)
      }
      session.close()
    }),
    { numRuns: 300 }
  )
})

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

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
    while (lines.length < count) await new Promise<void>(resolve => void (wake = resolve))
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
  test(`${name}: pipelined and batched requests are answered in order, and news arrives by itself`, async t => {
    const chain = makeFundedChain(purse)
    const server = await serve(chain)
    const line = await server.open()
    line.send('{"id":0,"method":"server.version","params":["test","1.4"]}')
    for (let id = 1; id <= 20; id += 1) line.send(JSON.stringify({ id, method: 'server.ping', params: [] }))
    t.deepEqual(line.lines, [])
    await line.until(21)
    t.deepEqual(
      line.lines.splice(0).map(text => JSON.parse(text).id),
      Array.from({ length: 21 }, (_, id) => id)
    )
    const batch = [purse, other].map(({ scriptHash }, id) => ({
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
        chain.view.scripts.statusOf(purse.scriptHash),
        null,
        { hex: chain.view.tip.headerHex, height: chain.height }
      ]
    )
    const raw = signAll(chain, purse, { to: other.script, fee: 1000n })
    line.send(JSON.stringify({ id: 'pay', method: 'blockchain.transaction.broadcast', params: [raw] }))
    await line.until(3)
    const [reply, ...news] = line.lines.splice(0).map(text => JSON.parse(text) as Reply)
    t.is(reply?.id, 'pay')
    t.deepEqual(
      new Set(news.map(notice => notice.params?.[0])),
      new Set([purse.scriptHash, other.scriptHash])
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
