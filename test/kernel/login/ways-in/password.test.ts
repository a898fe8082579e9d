import test from 'ava'
import { loginWithPassword } from '../../../../kernel/login/ways-in/password.ts'
import { ALICE, makeAlice } from '../../../helpers/ways-in.ts'

test('why a password does not open the account on this device is in the log, and then the server is asked [8.56]', async t => {
  const { alice } = await makeAlice()
  const { services, stashes, logLines } = alice
  await alice.credentials.deletePassword()
  await alice.login.close()
  const { username, password } = ALICE
  await t.throwsAsync(loginWithPassword(services, stashes, { username, password }), { code: 'PASSWORD' })
  t.true(logLines.some(line => line.includes('Missing data for offline password login')))
  t.false(logLines.join().includes(password))
})
