import test from 'ava'
import {
  boxOf,
  id,
  makeServerBench,
  passwordGroup,
  pinGroup,
  ROOT,
  recoveryGroup,
  rootData,
  type ServerBench
} from '../../helpers/fake-login.ts'

const KEY = 'UDLS6IABHPBTNYFO'
const CHILD = { loginId: id(50), loginAuth: id(51) }
const PASSWORD = { userId: id(3), passwordAuth: id(10) }
const OTP_OFF = { otpKey: KEY, otpTimeout: 60 }

const makeFamily = async (): Promise<ServerBench> => {
  const bench = makeServerBench()
  const child = { ...CHILD, appId: 'a', loginAuthBox: boxOf(1), parentBox: boxOf(2) }
  await bench.query('POST', '/login/create', { data: rootData() })
  await bench.query('POST', '/login/create', { ...ROOT, data: child })
  return bench
}

const tokenOf = async ({ query }: ServerBench, login: unknown): Promise<string> =>
  (await query('POST', '/login', login)).results.syncToken

test('sync is true while a login and its children are unchanged since the token, and reveals nothing else [7.21]', async t => {
  const bench = await makeFamily()
  const { query } = bench
  const syncToken = await tokenOf(bench, ROOT)
  const sync = (body: unknown) => query('POST', '/sync', body)
  t.is((await sync({ loginId: id(1), syncToken })).results, true)
  // Logging in is no news.
  t.is(await tokenOf(bench, PASSWORD), syncToken)
  t.is((await sync({ loginId: id(1), syncToken })).results, true)
  t.is((await sync({ loginId: id(1), syncToken: 'another' })).results, false)
  t.is((await sync({ loginId: id(50), syncToken })).results, false)
  const { children } = (await query('POST', '/login', ROOT)).results
  t.is((await sync({ loginId: id(50), syncToken: children[0].syncToken })).results, true)
  t.is((await sync({ loginId: id(9), syncToken })).code, 3)
  t.is((await sync({ loginId: id(1) })).code, 1)
  t.is((await sync({ syncToken })).code, 1)
})

test('every change of a login gives it and those above it another token', async t => {
  const bench = await makeFamily()
  const { query } = bench
  const changes: readonly (readonly [string, string, Record<string, unknown>])[] = [
    ['POST', '/login/password', { ...ROOT, data: passwordGroup(60) }],
    ['DELETE', '/login/pin2', ROOT],
    ['POST', '/login/pin2', { ...CHILD, data: pinGroup(70) }],
    ['POST', '/login/recovery2', { ...ROOT, data: recoveryGroup(80) }],
    ['POST', '/login/keys', { ...CHILD, data: { keyBoxes: [boxOf(9)], newSyncKeys: [] } }],
    ['POST', '/login/otp', { ...CHILD, data: OTP_OFF }],
    ['POST', '/login', CHILD],
    ['DELETE', '/login/otp', { ...ROOT }]
  ]
  for (const [method, route, body] of changes) {
    const syncToken = await tokenOf(bench, ROOT)
    await query(method, route, body)
    const isSame = (await query('POST', '/sync', { loginId: id(1), syncToken })).results
    // The last one is already so: no two-factor at the root.
    t.is(isSame, route === '/login/otp' && method === 'DELETE', `${method} ${route}`)
  }
})

test('changes by time alter the token as well: an approved voucher, a completed reset', async t => {
  const bench = await makeFamily()
  const { query, clock } = bench
  await query('POST', '/login/otp', { ...CHILD, data: OTP_OFF })
  await query('POST', '/login', CHILD)
  const syncToken = await tokenOf(bench, ROOT)
  await clock.advance(604_799_999)
  t.is((await query('POST', '/sync', { loginId: id(1), syncToken })).results, true)
  await clock.advance(1)
  t.is((await query('POST', '/sync', { loginId: id(1), syncToken })).results, false)
})
