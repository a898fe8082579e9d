import test from 'ava'
import fc from 'fast-check'
import { makeElectrumSession } from '../../../fake-server/electrum/session.ts'
import { makeChain, makeFundedChain, makeTestWallet } from '../chain/chain-kit.ts'
import { makeClient, type Reply } from './electrum-kit.ts'

const testWallet = makeTestWallet('p2wpkh')

test('protocol 1.6 lists headers, and has its least fee under another name', async t => {
  const chain = makeChain()
  chain.mine(2)
  const callWith = (version: string, method: string, ...params: unknown[]): Reply => {
    const sent: string[] = []
    const session = makeElectrumSession(chain, text => sent.push(text))
    session.receive(JSON.stringify({ id: 1, method: 'server.version', params: ['me', version] }))
    session.receive(JSON.stringify({ id: 2, method, params }))
    return JSON.parse(sent[1] ?? '')
  }
  const headers = [1, 2].map(height => chain.view.blockAt(height)?.headerHex)
  for (const [version, shown] of [
    ['1.4.2', { hex: headers.join('') }],
    ['1.6', { headers }]
  ] as const)
    t.deepEqual(callWith(version, 'blockchain.block.headers', 1, 5).result, { ...shown, count: 2, max: 2016 })
  const least = chain.relayFee / 1e8
  t.is(callWith('1.4.2', 'blockchain.relayfee').result, least)
  t.is(callWith('1.4.2', 'mempool.get_info').error?.message, 'unknown method "mempool.get_info"')
  t.is(callWith('1.6', 'blockchain.relayfee').error?.message, 'unknown method "blockchain.relayfee"')
  t.deepEqual(callWith('1.6', 'mempool.get_info').result, {
    ...{ mempoolminfee: least, minrelaytxfee: least },
    incrementalrelayfee: least
  })
})

test('server.version comes first and settles a version that both know', t => {
  const chain = makeChain()
  const requested = (version: unknown): Reply => {
    const sent: string[] = []
    const session = makeElectrumSession(chain, text => sent.push(text))
    session.receive(JSON.stringify({ id: 1, method: 'server.ping', params: [] }))
    t.is(JSON.parse(sent[0] ?? '').error.message, 'use server.version to identify client')
    session.receive(JSON.stringify({ id: 2, method: 'server.version', params: ['me', version] }))
    return JSON.parse(sent[1] ?? '')
  }
  const agreed = (version: unknown): unknown => (requested(version).result as string[] | undefined)?.[1]
  t.deepEqual(['1.4', ['1.2', '1.4'], ['1.4', '1.6'], '1.4.1'].map(agreed), ['1.4', '1.4', '1.6', '1.4.1'])
  for (const version of ['1.2', '9', ['1.7', '1.8'], ['1.4'], 1.4, '1.x', {}])
    t.is(requested(version).error?.code, 1)
  t.is(makeClient(chain).call('server.version', 'me', '1.4').error?.message, 'server.version already sent')
})

test('errors of JSON-RPC: bad JSON, no request, unknown method, bad parameters; notifications get no reply', t => {
  const chain = makeChain()
  const { session, take, call } = makeClient(chain)
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
  for (const params of [[], ['xx'], [5], [testWallet.scriptHash, 1], [null]]) {
    t.is(call('blockchain.scripthash.subscribe', ...params).error?.code, -32602)
  }
  for (const params of [[-1], [1.5], ['1'], [1, -1], [2 ** 40]]) {
    t.is(call('blockchain.block.header', ...params).error?.code, -32602)
  }
  session.receive('{"id":5,"method":"blockchain.block.header","params":{"height":0}}')
  t.is(take()[0]?.result, chain.view.blockAt(0)?.headerHex)
  session.receive('{"id":5,"method":"blockchain.block.header","params":{"depth":0}}')
  t.is(take()[0]?.error?.code, -32602)
})

test('messages, batches, replies, subscriptions and histories are bounded', t => {
  const chain = makeFundedChain(testWallet, ['5000', '6000'])
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
    call('blockchain.scripthash.get_history', testWallet.scriptHash).error?.message ?? '',
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
  const chain = makeFundedChain(testWallet)
  const { session, sent, call } = makeClient(chain)
  call('blockchain.headers.subscribe')
  session.close()
  chain.mine()
  session.receive('{"id":1,"method":"server.ping"}')
  t.deepEqual(sent, [])
})

test('whatever a client sends, each request gets exactly one well-formed reply and no internal error', t => {
  const chain = makeFundedChain(testWallet)
  const known = ['server.version', 'server.features', 'blockchain.estimatefee', 'mempool.get_fee_histogram']
  const about = ['subscribe', 'unsubscribe', 'get_history', 'get_mempool', 'get_balance', 'listunspent']
  const methods = [
    ...known,
    ...about.map(name => `blockchain.scripthash.${name}`),
    ...['get', 'broadcast', 'get_merkle', 'id_from_pos'].map(name => `blockchain.transaction.${name}`),
    'blockchain.block.header',
    'blockchain.block.headers'
  ]
  const value = fc.oneof(
    fc.jsonValue(),
    fc.nat(200),
    fc.constantFrom(testWallet.scriptHash, chain.view.tip.hash)
  )
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
        const requested = parsed(text) as Reply | undefined
        if (typeof requested?.id === 'number' && typeof requested.method === 'string')
          t.is(replies[0]?.id, requested.id)
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
