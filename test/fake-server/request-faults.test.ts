import test from 'ava'
import { envelope, type Middleware } from '../../fake-server/base/replies.ts'
import {
  answerInstead,
  type FaultPort,
  loseReplies,
  loseRequests,
  makeRandom,
  repeatRequests,
  shuffleReplies,
  slowDown
} from '../../fake-server/request-faults.ts'
import { boxOf, makeServerBench, ROOT, rootData, type ServerBench } from '../helpers/fake-login.ts'

const KEY = 'ab'.repeat(20)

interface FaultyBench extends ServerBench {
  readonly port: FaultPort
  keysOf(): number
  addKey(count: number): ReturnType<ServerBench['query']>
}

const makeTroubled = async (seed = 1): Promise<FaultyBench> => {
  const bench = makeServerBench()
  await bench.query('POST', '/login/create', { data: { ...rootData(), newSyncKeys: [KEY] } })
  return {
    ...bench,
    port: { clock: bench.clock, random: makeRandom(seed) },
    keysOf: () => bench.server.db.login(ROOT.loginId)?.keyBoxes.length ?? 0,
    addKey: count =>
      bench.query('POST', '/login/keys', { ...ROOT, data: { keyBoxes: [boxOf(count)], newSyncKeys: [] } })
  }
}

const LOST = { message: 'Fake network error' }

test('a lost request changes nothing, a lost reply comes after the change', async t => {
  const { server, port, keysOf, addKey } = await makeTroubled()
  const stopRequests = server.use(loseRequests(port))
  await t.throwsAsync(addKey(1), LOST)
  t.is(keysOf(), 0)
  stopRequests()
  const stopReplies = server.use(loseReplies(port))
  await t.throwsAsync(addKey(1), LOST)
  t.is(keysOf(), 1)
  stopReplies()
  t.is((await addKey(2)).code, 0)
})

test('a repeated request acts twice, and the first reply comes back', async t => {
  const { server, port, query, keysOf, addKey } = await makeTroubled()
  server.use(repeatRequests(port))
  t.is((await addKey(1)).code, 0)
  t.is(keysOf(), 2)
  t.is((await query('PUT', '/lobby/abc', { data: { publicKey: 'AA==' } })).code, 0)
})

test('a fault affects only the method, the path and the number of requests it is meant for', async t => {
  const { server, port, query, addKey } = await makeTroubled()
  server.use(loseRequests(port, { method: 'POST', path: /\/login\/keys$/g, count: 2 }))
  await t.throwsAsync(addKey(1), LOST)
  t.is((await query('POST', '/login', ROOT)).code, 0)
  t.is((await query('GET', '/login/keys')).status, 405)
  await t.throwsAsync(addKey(1), LOST)
  t.is((await addKey(1)).code, 0)
})

test('a rate is a random share, the same for the same seed', async t => {
  const runOf = async (seed: number): Promise<string> => {
    const { server, port, query } = await makeTroubled(seed)
    server.use(loseRequests(port, { rate: 0.25 }))
    const outcomes: string[] = []
    for (let count = 0; count < 400; count += 1) {
      const reply = query('GET', '/v1/edgeServers')
      outcomes.push(
        await reply.then(
          () => '.',
          () => 'x'
        )
      )
    }
    return outcomes.join('')
  }
  const first = await runOf(7)
  const share = first.split('x').length - 1
  t.true(share > 60 && share < 140, `${share} of 400`)
  t.is(await runOf(7), first)
  t.not(await runOf(8), first)
  const { server, port, query } = await makeTroubled()
  server.use(loseRequests(port, { rate: 0 }))
  t.is((await query('GET', '/v1/edgeServers')).status, 200)
})

test('a slow network answers within its range, after the server acted', async t => {
  const { server, port, clock, keysOf, addKey } = await makeTroubled()
  server.use(slowDown(port, { from: 200, to: 300 }))
  const answered: number[] = []
  const start = clock.now()
  const replies = [1, 2, 3, 4, 5].map(async count => {
    await addKey(count)
    answered.push(clock.now() - start)
  })
  await clock.advance(199)
  t.is(keysOf(), 5)
  t.deepEqual(answered, [])
  await clock.advance(101)
  await Promise.all(replies)
  t.true(answered.every(time => time >= 200 && time <= 300) && new Set(answered).size > 1, `${answered}`)
})

test('held replies arrive in another order, all of them, and the last ones after a while', async t => {
  const { server, port, clock, addKey, keysOf } = await makeTroubled(3)
  server.use(shuffleReplies(port, { held: 4, wait: 1000 }))
  const arrived: number[] = []
  const replies = [0, 1, 2, 3, 4, 5].map(async count => {
    await addKey(count)
    arrived.push(count)
  })
  await Promise.all(replies.slice(0, 4))
  t.deepEqual([...arrived].sort(), [0, 1, 2, 3])
  t.notDeepEqual(arrived, [0, 1, 2, 3])
  t.is(keysOf(), 6)
  await clock.advance(999)
  t.is(arrived.length, 4)
  await clock.advance(1)
  await Promise.all(replies)
  t.deepEqual([...arrived].sort(), [0, 1, 2, 3, 4, 5])
  t.is(clock.timerCount, 0)
})

test('a fault can replace the reply, with any status and code', async t => {
  const { server, port, query, addKey, keysOf } = await makeTroubled()
  server.use(answerInstead(port, envelope('obsolete'), { count: 1 }))
  const obsolete = await addKey(1)
  t.deepEqual([obsolete.status, obsolete.code, keysOf()], [410, 1000, 0])
  server.use(answerInstead(port, { status: 502, headers: {}, body: '"no"' }, { path: /edgeServers/ }))
  t.is((await query('GET', '/v1/edgeServers')).status, 502)
  t.is((await addKey(1)).code, 0)
})

test('faults add up: the newest comes first', async t => {
  const { server, port, clock, addKey, keysOf } = await makeTroubled()
  const faults: readonly Middleware[] = [
    repeatRequests(port),
    loseReplies(port, { count: 1 }),
    slowDown(port, { from: 50, to: 50 })
  ]
  for (const fault of faults) server.use(fault)
  await t.throwsAsync(addKey(1), LOST)
  t.is(keysOf(), 2)
  const slow = addKey(2)
  await clock.advance(50)
  t.is((await slow).code, 0)
  t.is(keysOf(), 4)
})
