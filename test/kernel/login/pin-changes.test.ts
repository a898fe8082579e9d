import test from 'ava'
import { makeAlice, openByPassword, openByPin } from '../../helpers/login-methods.ts'

test('a login that deployed clients open under duress keeps its own PIN when the account has a new one or none', async t => {
  const { world, alice } = await makeAlice()
  await alice.login.ensureAccountRepo('.duress')
  const ownIn = () => {
    for (const entry of world.server.db.entries()) {
      if (entry.kind === 'login' && entry.record.appId === '.duress') return entry.record.pin2Auth
    }
    return undefined
  }
  const before = ownIn()
  t.truthy(before)
  await alice.credentials.changePIN({ pin: '2580' })
  t.deepEqual(ownIn(), before)
  await openByPin(world, alice.files, { pin: '2580' })
  await alice.credentials.changePIN({ enableLogin: false })
  await alice.credentials.deletePIN()
  t.deepEqual(ownIn(), before)
  const { credentials } = await openByPassword(world)
  t.throws(() => credentials.getPIN(), { code: 'PIN_NOT_LOCAL' })
})
