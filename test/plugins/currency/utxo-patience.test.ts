import test from 'ava'
import type { Clock, FetchReply, Io, Json } from '../../../kernel/plugin-api.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import type {
  ChainConnection,
  ChainServer,
  ConnectionHandlers,
  ElectrumCall
} from '../../../plugins/currency/utxo/electrum/connection.ts'
import { readElectrumUrl } from '../../../plugins/currency/utxo/electrum/connection.ts'
import { LinkedHeaders } from '../../../plugins/currency/utxo/electrum/headers.ts'
import { ElectrumPool } from '../../../plugins/currency/utxo/electrum/pool.ts'
import type { PoolClient } from '../../../plugins/currency/utxo/electrum/pool-clients.ts'
import { ServerScores } from '../../../plugins/currency/utxo/electrum/server-scores.ts'
import { ServerTurn } from '../../../plugins/currency/utxo/electrum/server-turn.ts'
import { readEsploraUrl } from '../../../plugins/currency/utxo/http/esplora.ts'
import { bitcoinRow } from '../../../plugins/currency/utxo/params/bitcoin.ts'
import { memoryDisk } from '../../../plugins/storage/memory.ts'

/** Time that jumps to the next timer once nothing else happens. */
interface JumpingClock extends Clock {
  /** Jumps until a promise has settled; gives its value or its error, and the seconds that it took. */
  settle<T>(promise: Promise<T>): Promise<{ readonly value: T | Error; readonly seconds: number }>
}

const makeClock = (): JumpingClock => {
  let now = 0
  const timers = new Set<{ readonly at: number; readonly task: () => void }>()
  return {
    now: () => now,
    monotonic: () => now,
    turn: () => new Promise(resolve => setImmediate(resolve)),
    after(delayMs, task) {
      const timer = { at: now + delayMs, task }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    async settle(promise) {
      const began = now
      let value: unknown
      let isSettled = false
      const onEnd = (end: unknown): void => {
        value = end
        isSettled = true
      }
      promise.then(onEnd, onEnd)
      for (;;) {
        for (let quiet = 0; quiet < 5; quiet += 1) await new Promise(resolve => setImmediate(resolve))
        if (isSettled) return { value: value as never, seconds: (now - began) / 1000 }
        const [next] = [...timers].sort((a, b) => a.at - b.at)
        if (next === undefined) throw new Error('It waits for nothing')
        timers.delete(next)
        now = Math.max(now, next.at)
        next.task()
      }
    }
  }
}

type Answer = (path: string) => Partial<FetchReply> | Promise<Partial<FetchReply>>

const HASH = '11'.repeat(32)
const SCRIPT = '22'.repeat(32)

const tip: Answer = path => {
  if (path === '/blocks/tip/hash') return { text: HASH }
  return { text: path.endsWith('/header') ? '00'.repeat(80) : '{"height":1,"previousblockhash":""}' }
}

const busy: Partial<FetchReply> = { status: 429, text: 'busy', headers: { 'retry-after': '600' } }

const silence = (): Promise<FetchReply> => new Promise(() => undefined)

interface Stage {
  readonly clock: JumpingClock
  readonly io: Io
  readonly server: ChainServer
  open(handlers?: Partial<ConnectionHandlers>): Promise<ChainConnection>
}

/** An Esplora server, whose answers `answer` gives; the platform does not end a request that is aborted. */
const makeStage = (answer: Answer, isProxied = false): Stage => {
  const clock = makeClock()
  const io: Io = {
    ...makeNodeIo(),
    ...{ clock, isProxied },
    fetch: async url => ({
      ...{ status: 200, text: '', headers: {} },
      ...(await answer(url.replace('https://esplora.test/api', '')))
    })
  }
  const server = readEsploraUrl('esplora+https://esplora.test/api')
  if (server === undefined) throw new Error('It is no server')
  const silent = { onNotification: () => undefined, onClose: () => undefined }
  return { clock, io, server, open: handlers => server.open(io, { ...silent, ...handlers }, undefined) }
}

const query = (connection: ChainConnection, method: string): Promise<Json> =>
  connection.callMany([{ method, params: [SCRIPT] }])[0] as Promise<Json>

const openAt = async (
  { clock, open }: Stage,
  handlers?: Partial<ConnectionHandlers>
): Promise<ChainConnection> => (await clock.settle(open(handlers))).value as ChainConnection

for (const [what, answer, callSeconds] of [
  ['says for minutes that it is busy', () => busy, 120],
  ['is busy and says not for how long', () => ({ status: 503 }), 120],
  ['is silent', silence, 30]
] as const)
  for (const isProxied of [false, true])
    test(`a server that ${what} is given up ${isProxied ? 'later through a proxy' : 'in time'}`, async t => {
      const patience = isProxied ? 3 : 1
      const closed = makeStage(answer, isProxied)
      const opened = await closed.clock.settle(closed.open())
      t.regex(String(opened.value), /The server (is busy|does not answer)/)
      t.true(opened.seconds <= 10 * patience, `${opened.seconds} s`)
      let isOpen = false
      const stage = makeStage(path => (isOpen ? answer() : tip(path)), isProxied)
      const connection = await openAt(stage)
      isOpen = true
      const called = await stage.clock.settle(query(connection, 'blockchain.scripthash.get_history'))
      t.regex(String(called.value), /The server (is busy|does not answer)/)
      t.true(called.seconds <= callSeconds * patience, `${called.seconds} s`)
      t.false(connection.isOpen)
    })

test('a busy server that its owner waits for is asked until it answers', async t => {
  let left = 9
  const stage = makeStage(path => (left-- > 0 ? busy : tip(path)))
  const reasons: string[] = []
  const onBusy = (reason: string | undefined): boolean => {
    reasons.push(String(reason))
    return true
  }
  const { value, seconds } = await stage.clock.settle(stage.open({ onBusy }))
  t.true((value as ChainConnection).isOpen)
  t.is(reasons[0], 'The server is busy, and asked again in 60 s')
  t.true(seconds > 300, `${seconds} s`)
  t.is(reasons.at(-1), 'undefined', 'it answers again')
})

test('a payment that a busy server has not taken while its sender waited is never sent later', async t => {
  let isBusy = false
  let sent = 0
  const stage = makeStage(path => {
    if (path === '/tx') sent += 1
    return isBusy ? busy : tip(path)
  })
  const { value } = await stage.clock.settle(stage.open({ onBusy: () => true }))
  const connection = value as ChainConnection
  isBusy = true
  const payment = await stage.clock.settle(query(connection, 'blockchain.transaction.broadcast'))
  t.true(payment.value instanceof Error)
  t.true(payment.seconds < 60, `${payment.seconds} s`)
  t.is(sent, 1)
  // Nor one that waits behind others for its turn.
  const waiting = Array.from({ length: 4 }, () => query(connection, 'blockchain.scripthash.get_history'))
  await new Promise(resolve => setImmediate(resolve))
  const behind = query(connection, 'blockchain.transaction.broadcast').catch(String)
  const later = stage.clock.settle(Promise.all(waiting.map(call => call.catch(String))))
  for (let turn = 0; turn < 50; turn += 1) await new Promise(resolve => setImmediate(resolve))
  isBusy = false
  await later
  t.regex(String(await behind), /^Error/)
  t.is(sent, 1)
})

test('what waits for a busy or silent server is rejected at once when the connection is closed', async t => {
  for (const answer of [() => busy, silence]) {
    let isOpen = false
    const stage = makeStage(path => (isOpen ? answer() : tip(path)))
    const connection = await openAt(stage)
    isOpen = true
    const calls = Array.from({ length: 9 }, () => query(connection, 'blockchain.scripthash.get_history'))
    await new Promise(resolve => setImmediate(resolve))
    connection.close(new Error('It is over'))
    // No timer fires here.
    const ends = await Promise.all(calls.map(call => call.catch(String)))
    t.deepEqual([...new Set(ends)], ['Error: The connection is closed'])
  }
})

test('a payment leaves at once and alone, however many requests wait for a server of Electrum', async t => {
  const messages: (object | object[])[] = []
  let onText = (_text: string): void => undefined
  const io: Io = {
    ...makeNodeIo(),
    async connect(_address, handlers) {
      onText = handlers.onText
      const onLine = (text: string): void => {
        for (const line of text.trim().split('\n')) messages.push(JSON.parse(line) as object)
      }
      return { send: onLine, close: () => undefined }
    }
  }
  const silent = { onNotification: () => undefined, onClose: () => undefined }
  const connection = await readElectrumUrl('tcp://electrum.test:50001')?.open(io, silent, undefined)
  if (connection === undefined) throw new Error('It is no server')
  const untilSent = async (count: number): Promise<void> => {
    for (let turn = 0; messages.flat().length < count && turn < 500; turn += 1)
      await new Promise(resolve => setImmediate(resolve))
  }
  const history = { method: 'blockchain.scripthash.get_history', params: [SCRIPT] }
  const payment = { method: 'blockchain.transaction.broadcast', params: ['beef'] }
  const send = (calls: readonly ElectrumCall[]): Promise<unknown> =>
    Promise.allSettled(connection.callMany(calls))
  const first = send([history])
  await untilSent(2)
  const [probe = {}] = messages.flatMap(message => (Array.isArray(message) ? message : []))
  onText(`${JSON.stringify([{ ...probe, method: undefined, result: null }])}\n`)
  const others = send(Array.from({ length: 6000 }, () => history))
  await untilSent(5001)
  const payments = send([history, payment, history])
  await untilSent(5002)
  t.is(messages.flat().length, 5002, 'the rest waits')
  t.like(messages.at(-1), payment)
  connection.close(new Error('It is over'))
  await Promise.all([first, others, payments])
})

const regtestPool = (io: Io, server: ChainServer): ElectrumPool => {
  const regtest = bitcoinRow.networks.find(({ name }) => name === 'regtest') ?? bitcoinRow.networks[0]
  return new ElectrumPool(io, regtest, {
    ...{ scores: new ServerScores([server], io.clock), linked: new LinkedHeaders(io, regtest, memoryDisk()) },
    log: { debug() {}, info() {}, warn() {}, error() {} }
  })
}

const silentClient = (onFault: (text: string) => void): PoolClient => ({
  scripts: { placeOf: () => undefined, branches: () => [], likely: () => [] },
  expected: 0,
  ...{ onOpen() {}, onTip() {}, onLinked() {}, onScript() {}, onLost() {}, onReady() {} },
  onFault
})

test('a pool that no wallet needs any more waits no longer for a busy server that has not answered yet', async t => {
  let requests = 0
  const stage = makeStage(() => {
    requests += 1
    return busy
  })
  const pool = regtestPool(stage.io, stage.server)
  const faults: string[] = []
  const client = silentClient(text => void faults.push(text))
  const nothing = (): Promise<unknown> => stage.clock.settle(new Promise(() => undefined))
  const until = async (isThere: () => boolean): Promise<void> => {
    while (!isThere()) await new Promise(resolve => setImmediate(resolve))
  }
  for (const waits of [1, 2]) {
    const detach = pool.attach(client)
    await until(() => faults.length === waits)
    t.regex(faults.at(-1) ?? '', /The server is busy, and asked again in 60 s/)
    detach()
    await t.throwsAsync(nothing(), { message: 'It waits for nothing' })
    t.is(stage.clock.monotonic(), 0, 'no timer was left')
    t.is(requests, waits)
  }
})

test('one attempt at most is made at a silent server of Electrum, however often wallets pause and wait', async t => {
  let openings = 0
  let inFlight = 0
  let most = 0
  const clock = makeClock()
  const connect: NonNullable<Io['connect']> = (_address, _handlers, options) =>
    new Promise((_resolve, reject) => {
      openings += 1
      inFlight += 1
      most = Math.max(most, inFlight)
      options?.signal?.addEventListener('abort', () => {
        inFlight -= 1
        reject(new Error('aborted'))
      })
    })
  const io: Io = { ...makeNodeIo(), clock, connect }
  const server = readElectrumUrl('tcp://electrum.test:50001')
  if (server === undefined) throw new Error('It is no server')
  const pool = regtestPool(io, server)
  const client = silentClient(() => {})
  for (let pause = 0; pause < 9; pause += 1) {
    const detach = pool.attach(client)
    while (openings === pause) await new Promise(resolve => setImmediate(resolve))
    detach()
  }
  t.deepEqual([openings, inFlight, most], [9, 0, 1])
  // Each attempt of a wallet that stays has ended before the next one begins.
  const detach = pool.attach(client)
  const waited = await clock.settle(pool.whenReady(120_000, true))
  t.regex(String(waited.value), /does not answer/)
  t.true(openings > 12, `${openings} attempts`)
  t.is(most, 1)
  detach()
  t.is(inFlight, 0)
})

const COUNT = 100_000

const pageFrom = (start: number, end = COUNT): string =>
  JSON.stringify(
    Array.from({ length: Math.max(0, Math.min(25, end - start)) }, (_, at) => ({
      txid: (start + at).toString(16).padStart(64, '0'),
      status: { confirmed: true, block_height: 1_000_000 - start - at }
    }))
  )

/** A history of `count` payments, as a server counts them. */
const history =
  (count: number, page: (start: number) => string): Answer =>
  path => {
    if (path.endsWith('/txs')) return { text: page(0) }
    const last = /\/txs\/chain\/([0-9a-f]{64})$/.exec(path)?.[1]
    if (last !== undefined) return { text: page(Number.parseInt(last, 16) + 1) }
    return path.startsWith('/scripthash/')
      ? { text: JSON.stringify({ chain_stats: { tx_count: count } }) }
      : tip(path)
  }

test('an address with 100,000 payments is read to its end', async t => {
  const stage = makeStage(history(COUNT, pageFrom))
  const connection = await openAt(stage)
  const { value } = await stage.clock.settle(query(connection, 'blockchain.scripthash.get_history'))
  t.is((value as Json[]).length, COUNT)
  t.like((value as Json[])[0], { tx_hash: (COUNT - 1).toString(16).padStart(64, '0') })
})

test('a history without an end is a fault of its server', async t => {
  let pages = 0
  const late = (start: number): Promise<string> | string => {
    pages += 1
    return pageFrom(start, Number.POSITIVE_INFINITY)
  }
  for (const [what, answer, most] of [
    ['longer than it was counted', history(300, start => late(start) as string), 60],
    ['too long', history(1e9, start => late(start) as string), 1],
    ['not counted', history(Number.NaN, start => late(start) as string), 1],
    ['the same page again', history(300, () => late(0) as string), 2]
  ] as const) {
    pages = 0
    const stage = makeStage(answer)
    const connection = await openAt(stage)
    const { value } = await stage.clock.settle(query(connection, 'blockchain.scripthash.get_history'))
    t.is((value as Error).name, 'ElectrumFault', what)
    t.true(pages <= most, `${what}: ${pages} pages`)
    t.false(connection.isOpen)
  }
})

test('a history that comes too slowly to have an end in a quarter of an hour is a fault of its server', async t => {
  const read = history(COUNT, pageFrom)
  const stage = makeStage(async path => {
    if (path.includes('/txs/')) await new Promise<void>(resolve => stage.clock.after(20_000, resolve))
    return read(path)
  })
  const connection = await openAt(stage)
  const { value, seconds } = await stage.clock.settle(query(connection, 'blockchain.scripthash.get_history'))
  t.is((value as Error).name, 'ElectrumFault')
  t.true(seconds < 1000, `${seconds} s`)
})

test('a server is left in peace for longer and longer, also where others ask all other servers', t => {
  const servers = ['tcp://a.test:1', 'tcp://b.test:1', 'tcp://c.test:1'].map(readElectrumUrl) as ChainServer[]
  for (const own of servers) {
    const scores = new ServerScores(servers, makeClock())
    for (const server of servers) if (server !== own) scores.take(server, server)
    const turn = new ServerTurn(scores, { user: {}, mayShare: false })
    const pauses = Array.from({ length: 10 }, () => {
      const server = turn.next()
      t.is(server, own)
      turn.fail(own, new Error('gone'))
      return turn.delayMs()
    })
    t.deepEqual(pauses, [250, 500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
  }
})
