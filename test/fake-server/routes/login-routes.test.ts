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
  stateOf
} from '../../helpers/fake-login.ts'

const PASSWORD = { userId: id(3), passwordAuth: id(10) }
const child = (count: number, appId: string): Record<string, unknown> => ({
  appId,
  loginId: id(count),
  loginAuth: id(count + 1),
  loginAuthBox: boxOf(1),
  parentBox: boxOf(2)
})

test('a created login is found by each pair of id and secret, in the order of the protocol [6.10] [7.2] [7.13] [8.14] [8.24]', async t => {
  const { query } = makeServerBench()
  const made = await query('POST', '/login/create', { data: rootData() })
  t.deepEqual([made.status, made.code, made.message], [201, 0, 'Account created'])
  await query('POST', '/login/recovery2', { ...ROOT, data: recoveryGroup(30) })
  const recovery = { recovery2Id: id(30), recovery2Auth: [id(31), id(32)] }
  for (const credentials of [ROOT, PASSWORD, { pin2Id: id(20), pin2Auth: id(21) }, recovery]) {
    const { status, code, message, results } = await query('POST', '/login', credentials)
    t.deepEqual([status, code, message], [200, 0, 'Success'])
    t.is(results.loginId, id(1))
    t.is(results.created, '2026-01-01T00:00:00.000Z')
    t.deepEqual(results.passwordBox, boxOf(11))
    t.deepEqual(results.children, [])
    for (const secret of [
      'loginAuth',
      'passwordAuth',
      'pin2Id',
      'pin2Auth',
      'recovery2Id',
      'recovery2Auth'
    ]) {
      t.false(secret in results, `${secret} was shown`)
    }
  }
  t.is((await query('GET', '/login', ROOT)).code, 0)
  // The first complete pair decides, even if a later one is right.
  t.is((await query('POST', '/login', { ...PASSWORD, loginId: id(99), loginAuth: id(2) })).code, 3)
  t.is((await query('POST', '/login', { ...PASSWORD, loginId: id(1), loginAuth: id(99) })).code, 4)
})

test('a wrong secret, or one the login does not have, is code 4 with a wait of 0; an unknown login is code 3 [8.17] [8.18]', async t => {
  const { query } = makeServerBench()
  await query('POST', '/login/create', { data: rootData() })
  const wrong = [
    { loginId: id(1), loginAuth: id(9) },
    { userId: id(3), passwordAuth: id(9) },
    { pin2Id: id(20), pin2Auth: id(9) }
  ]
  for (const credentials of wrong) {
    const { status, code, message, results } = await query('POST', '/login', credentials)
    t.deepEqual([status, code, message, results], [401, 4, 'Invalid Password', { wait_seconds: 0 }])
  }
  const unknown = [
    { loginId: id(9), loginAuth: id(2) },
    { userId: id(9), passwordAuth: id(10) },
    { pin2Id: id(9), pin2Auth: id(21) },
    { recovery2Id: id(9), recovery2Auth: [] }
  ]
  for (const credentials of unknown) {
    const { status, code, message } = await query('POST', '/login', credentials)
    t.deepEqual([status, code, message], [401, 3, 'No account'])
  }
  await query('DELETE', '/login/password', ROOT)
  t.is((await query('POST', '/login', PASSWORD)).code, 4)
})

test('wrong, missing and too many recovery answers are all code 4, and none at all never passes', async t => {
  const { query } = makeServerBench()
  await query('POST', '/login/create', { data: rootData() })
  await query('POST', '/login/recovery2', { ...ROOT, data: recoveryGroup(30) })
  const lists = [[], [id(31)], [id(31), id(33)], [id(32), id(31)], [id(31), id(32), id(32)]]
  for (const recovery2Auth of lists) {
    t.is((await query('POST', '/login', { recovery2Id: id(30), recovery2Auth })).code, 4)
  }
  await query('POST', '/login/recovery2', { ...ROOT, data: { ...recoveryGroup(30), recovery2Auth: [] } })
  t.is((await query('POST', '/login', { recovery2Id: id(30), recovery2Auth: [] })).code, 4)
})

test('the user id alone shows if a name is taken, and the recovery id alone gives the questions [7.3] [7.5]', async t => {
  const { query } = makeServerBench()
  await query('POST', '/login/create', { data: rootData() })
  const taken = await query('POST', '/login', { userId: id(3) })
  t.deepEqual(taken.results, { loginId: id(1), passwordAuthSnrp: { salt_hex: '00ff', n: 16, r: 1, p: 1 } })
  t.is((await query('POST', '/login', { userId: id(4) })).code, 3)
  t.is((await query('POST', '/login', { recovery2Id: id(30) })).code, 3)
  await query('POST', '/login/recovery2', { ...ROOT, data: recoveryGroup(30) })
  t.deepEqual((await query('POST', '/login', { recovery2Id: id(30) })).results, { question2Box: boxOf(32) })
  t.is((await query('POST', '/login', {})).code, 1)
  await query('DELETE', '/login/password', ROOT)
  const { n, salt_hex } = (await query('POST', '/login', { userId: id(3) })).results.passwordAuthSnrp
  t.deepEqual([n, salt_hex], [16384, 'b5865ffb9fa7b3bfe4b2384d47ce831ee22a4a9d5c34c7ef7d21467cc758f81b'])
})

test('an old login without a user id is found by its login id', async t => {
  const { query, server } = makeServerBench()
  const created = '2015-01-01T00:00:00.000Z'
  server.db.saveLogin({ loginId: id(5), appId: '', created, passwordAuth: id(6), vouchers: [], keyBoxes: [] })
  t.is((await query('POST', '/login', { userId: id(5), passwordAuth: id(6) })).code, 0)
  await query('POST', '/login/create', { data: rootData() })
  t.is((await query('POST', '/login', { userId: id(1), passwordAuth: id(10) })).code, 3)
})

test('a login id and a user name exist once; a second create changes nothing [5.47] [8.16]', async t => {
  const { query, server } = makeServerBench()
  await query('POST', '/login/create', { data: rootData() })
  const before = stateOf(server)
  const sameLogin = { ...rootData(), userId: id(40) }
  const sameName = { ...rootData(), loginId: id(41), pin2Id: id(42) }
  for (const data of [sameLogin, sameName]) {
    const { status, code, message } = await query('POST', '/login/create', { data })
    t.deepEqual([status, code, message], [401, 2, 'Account already exists'])
  }
  const samePin = { ...rootData(), loginId: id(41), userId: id(43) }
  t.is((await query('PUT', '/login/create', { data: samePin })).code, 10)
  t.is(stateOf(server), before)
})

test('an app has one login below each parent, and only the top has a name [5.48] [6.2] [8.28]', async t => {
  const { query, server } = makeServerBench()
  await query('POST', '/login/create', { data: rootData() })
  t.is((await query('POST', '/login/create', { ...ROOT, data: child(50, 'a') })).code, 0)
  const again = await query('POST', '/login/create', { ...ROOT, data: child(52, 'a') })
  t.deepEqual(
    [again.status, again.code, again.message],
    [401, 10, 'A login with the same appId already exists']
  )
  t.is((await query('POST', '/login/create', { ...ROOT, data: child(54, 'b') })).code, 0)
  const below = { loginId: id(50), loginAuth: id(51) }
  t.is((await query('POST', '/login/create', { ...below, data: child(56, 'a') })).code, 0)
  const before = stateOf(server)
  t.is(
    (await query('POST', '/login/create', { ...ROOT, data: { ...child(58, 'c'), userId: id(60) } })).code,
    1
  )
  t.is((await query('POST', '/login/create', { data: child(58, 'c') })).code, 1)
  t.is(
    (await query('POST', '/login/create', { loginId: id(1), loginAuth: id(9), data: child(58, 'c') })).code,
    4
  )
  t.is(stateOf(server), before)
  const { results } = await query('POST', '/login', ROOT)
  t.deepEqual(
    results.children.map((item: { appId: string; children: unknown[] }) => [
      item.appId,
      item.children.length
    ]),
    [
      ['a', 1],
      ['b', 0]
    ]
  )
})

test('create keeps each complete group of fields and drops the others', async t => {
  const { query } = makeServerBench()
  const { passwordBox: _, ...data } = rootData()
  await query('POST', '/login/create', { data: { ...data, keyBoxes: [boxOf(1)], newSyncKeys: ['AB01'] } })
  const { results } = await query('POST', '/login', ROOT)
  t.is(results.passwordAuthBox, undefined)
  t.deepEqual(results.pin2Box, boxOf(20))
  t.deepEqual(results.keyBoxes, [boxOf(1)])
  t.is((await query('GET', '/store/ab01/')).status, 200)
  for (const field of ['appId', 'loginId', 'loginAuth', 'loginAuthBox']) {
    const other: Record<string, unknown> = { ...rootData(), loginId: id(70), userId: id(71), pin2Id: id(72) }
    delete other[field]
    t.is((await query('POST', '/login/create', { data: other })).code, 1, field)
  }
})

test('keys are added to those there are, and a repo that exists keeps its files [7.6]', async t => {
  const { query } = makeServerBench()
  await query('POST', '/login/create', { data: rootData() })
  const add = (count: number) =>
    query('POST', '/login/keys', { ...ROOT, data: { keyBoxes: [boxOf(count)], newSyncKeys: ['ff00'] } })
  t.is((await add(1)).code, 0)
  await query('POST', '/store/ff00/', { changes: { 'a.json': boxOf(5) } })
  t.is((await add(2)).code, 0)
  t.deepEqual((await query('POST', '/login', ROOT)).results.keyBoxes, [boxOf(1), boxOf(2)])
  t.deepEqual((await query('GET', '/store/ff00/')).body.changes, { 'a.json': boxOf(5) })
  t.is((await query('POST', '/login/keys', { data: { keyBoxes: [], newSyncKeys: [] } })).code, 1)
  t.is((await query('POST', '/login/keys', { ...ROOT, data: { keyBoxes: [{}], newSyncKeys: [] } })).code, 1)
})

test('password, PIN and recovery are replaced and cleared as whole groups [7.8] [7.9] [7.10] [7.11] [7.16]', async t => {
  const { query } = makeServerBench()
  await query('POST', '/login/create', { data: rootData() })
  t.is((await query('PUT', '/login/password', { ...ROOT, data: passwordGroup(80) })).code, 0)
  t.is((await query('POST', '/login', PASSWORD)).code, 4)
  t.is((await query('POST', '/login', { ...PASSWORD, passwordAuth: id(80) })).code, 0)
  t.is((await query('POST', '/login/pin2', { ...ROOT, data: { pin2TextBox: boxOf(9) } })).code, 0)
  t.is((await query('POST', '/login', { pin2Id: id(20), pin2Auth: id(21) })).code, 3)
  const off = (await query('POST', '/login', ROOT)).results
  t.deepEqual([off.pin2Box, off.pin2KeyBox, off.pin2TextBox], [undefined, undefined, boxOf(9)])
  await query('POST', '/login/pin2', { ...ROOT, data: pinGroup(84) })
  t.is((await query('POST', '/login', { pin2Id: id(84), pin2Auth: id(85) })).code, 0)
  await query('DELETE', '/login/pin2', ROOT)
  t.is((await query('POST', '/login', ROOT)).results.pin2TextBox, undefined)
  await query('POST', '/login/recovery2', { ...ROOT, data: recoveryGroup(90) })
  await query('DELETE', '/login/recovery2', ROOT)
  t.is((await query('POST', '/login', { recovery2Id: id(90) })).code, 3)
  t.is((await query('DELETE', '/login/password', { loginId: id(1) })).code, 1)
})

test('a PIN or recovery id of another login is a conflict [5.49] [8.22]', async t => {
  const { query, server } = makeServerBench()
  await query('POST', '/login/create', { data: rootData() })
  await query('POST', '/login/recovery2', { ...ROOT, data: recoveryGroup(30) })
  await query('POST', '/login/create', { ...ROOT, data: child(50, 'a') })
  const auth = { loginId: id(50), loginAuth: id(51) }
  const before = stateOf(server)
  for (const [route, data] of [
    ['pin2', pinGroup(20)],
    ['recovery2', recoveryGroup(30)]
  ] as const) {
    const { status, code } = await query('POST', `/login/${route}`, { ...auth, data })
    t.deepEqual([status, code], [409, 10])
  }
  t.is(stateOf(server), before)
  t.is((await query('POST', '/login/pin2', { ...ROOT, data: pinGroup(20) })).code, 0)
})

test('the secret of a login is set once [5.50] [7.7]', async t => {
  const { query, server } = makeServerBench()
  const created = '2015-01-01T00:00:00.000Z'
  server.db.saveLogin({ loginId: id(5), appId: '', created, passwordAuth: id(6), vouchers: [], keyBoxes: [] })
  const auth = { userId: id(5), passwordAuth: id(6) }
  const data = { loginAuth: id(7), loginAuthBox: boxOf(7) }
  const { code, results } = await query('POST', '/login/secret', { ...auth, data })
  t.deepEqual([code, results.loginAuthBox], [0, boxOf(7)])
  t.is((await query('POST', '/login', { loginId: id(5), loginAuth: id(7) })).code, 0)
  const again = await query('POST', '/login/secret', { ...auth, data })
  t.deepEqual(
    [again.status, again.code, again.message],
    [409, 10, 'The secret-key login is already configured']
  )
})

test('a new username needs every part that depends on it, unused ids, and a top login; else nothing changes [5.7] [7.12]', async t => {
  const { query, server } = makeServerBench()
  await query('POST', '/login/create', { data: rootData() })
  const full: Record<string, unknown> = {
    userId: id(100),
    userTextBox: boxOf(1),
    pin2Id: id(101),
    ...passwordGroup(102)
  }
  const { passwordAuth: _, ...noPassword } = full
  const { pin2Id: __, ...noPin } = full
  const { userId: ___, ...noName } = full
  const before = stateOf(server)
  for (const data of [noPassword, noPin, noName, { ...full, recovery2Id: id(110) }]) {
    t.is((await query('POST', '/login/username', { ...ROOT, data })).code, 1)
  }
  for (const data of [
    { ...full, userId: id(3) },
    { ...full, pin2Id: id(20) }
  ]) {
    const { status, code } = await query('POST', '/login/username', { ...ROOT, data })
    t.deepEqual([status, code], [409, 10])
  }
  t.is(stateOf(server), before)
  const { code, results } = await query('POST', '/login/username', { ...ROOT, data: full })
  t.deepEqual([code, results.userId], [0, id(100)])
  t.is((await query('POST', '/login', { userId: id(3) })).code, 3)
  t.is((await query('POST', '/login', { userId: id(100), passwordAuth: id(102) })).code, 0)
  t.is((await query('POST', '/login', { pin2Id: id(101), pin2Auth: id(21) })).code, 0)

  await query('POST', '/login/create', { ...ROOT, data: { ...child(50, 'a'), ...pinGroup(120) } })
  const below = { loginId: id(50), loginAuth: id(51) }
  const named = { userId: id(130), userTextBox: boxOf(1), pin2Id: id(131) }
  const refused = await query('POST', '/login/username', { ...below, data: named })
  t.deepEqual(
    [refused.code, refused.message],
    [1, 'Invalid request: Only top-level logins can have usernames']
  )
  t.is((await query('POST', '/login/username', { ...below, data: { pin2Id: id(131) } })).code, 0)
})

test('deleting an account deletes its child logins, and its names are free again [7.15]', async t => {
  const { query, server } = makeServerBench()
  await query('POST', '/login/create', { data: rootData() })
  await query('POST', '/login/create', { ...ROOT, data: { ...child(50, 'a'), ...pinGroup(120) } })
  const below = { loginId: id(50), loginAuth: id(51) }
  await query('POST', '/login/create', { ...below, data: child(60, 'b') })
  await query('POST', '/login/create', { ...ROOT, data: child(70, 'c') })
  t.is((await query('POST', '/login/delete', { loginId: id(1), loginAuth: id(9) })).code, 4)
  t.is((await query('POST', '/login/delete', {})).code, 1)
  t.is(server.db.counts.logins, 4)
  t.is((await query('POST', '/login/delete', below)).code, 0)
  const { children } = (await query('POST', '/login', ROOT)).results
  t.deepEqual(
    children.map(({ appId }: { appId: string }) => appId),
    ['c']
  )
  t.is((await query('POST', '/login', { pin2Id: id(120), pin2Auth: id(121) })).code, 3)
  t.is((await query('POST', '/login/delete', PASSWORD)).code, 0)
  t.is(server.db.counts.logins, 0)
  for (const credentials of [ROOT, PASSWORD, { userId: id(3) }, { loginId: id(60), loginAuth: id(61) }]) {
    t.is((await query('POST', '/login', credentials)).code, 3)
  }
  t.is((await query('POST', '/login/create', { data: rootData() })).code, 0)
  t.deepEqual((await query('POST', '/login', ROOT)).results.children, [])
})

test('while a CAPTCHA is demanded, a login form needs its id and a logged-in device does not', async t => {
  const { query, server } = makeServerBench()
  await query('POST', '/login/create', { data: rootData() })
  const challenge = { challengeId: 'cats', challengeUri: 'https://example.org/cats' }
  server.challenge = challenge
  const pin = { pin2Id: id(20), pin2Auth: id(21) }
  for (const credentials of [PASSWORD, pin, { recovery2Id: id(30), recovery2Auth: [] }]) {
    const { status, code, results } = await query('POST', '/login', credentials)
    t.deepEqual([status, code, results], [401, 1, challenge])
    t.is((await query('POST', '/login', { ...credentials, challengeId: 'dogs' })).code, 1)
  }
  for (const credentials of [PASSWORD, pin]) {
    t.is((await query('POST', '/login', { ...credentials, challengeId: 'cats' })).code, 0)
  }
  t.is((await query('POST', '/login', ROOT)).code, 0)
  t.is((await query('POST', '/login', { userId: id(3) })).code, 0)
  server.challenge = undefined
  t.is((await query('POST', '/login', PASSWORD)).code, 0)
})
