import test from 'ava'
import { parseLoginPayload } from '../../../kernel/schema/login.ts'
import { boxOf, id } from '../../helpers/fake-login.ts'

const SNRP = { salt_hex: '00ff', n: 16, r: 1, p: 1 }
const DATE = '2026-01-01T00:00:00.000Z'

test("a login in the server's form is read with every one of its fields, and loses all others [3.7]", t => {
  const child = { appId: 'app', created: DATE, loginId: id(2), parentBox: boxOf(1), pendingVouchers: [] }
  const voucher = { voucherId: 'v', activates: DATE, created: DATE, ip: '::1', ipDescription: 'here' }
  const login = {
    appId: '',
    created: DATE,
    loginId: id(1),
    syncToken: 'token',
    children: [child],
    parentBox: boxOf(1),
    otpKey: 'AAAAAAAA',
    otpResetDate: DATE,
    otpTimeout: 604800,
    passwordAuthBox: boxOf(2),
    passwordAuthSnrp: SNRP,
    passwordBox: boxOf(3),
    passwordKeySnrp: SNRP,
    pin2Box: boxOf(4),
    pin2KeyBox: boxOf(5),
    pin2TextBox: boxOf(6),
    question2Box: boxOf(7),
    recovery2Box: boxOf(8),
    recovery2KeyBox: boxOf(9),
    loginAuthBox: boxOf(10),
    userId: id(3),
    userTextBox: boxOf(11),
    pendingVouchers: [voucher],
    keyBoxes: [boxOf(12)],
    mnemonicBox: boxOf(13),
    rootKeyBox: boxOf(14),
    syncKeyBox: boxOf(15)
  }
  t.is(Object.keys(login).length, 27)
  t.deepEqual(parseLoginPayload({ ...login, more: 'later' }), login)
  const hidden = { ...login, otpKey: true, passwordBox: true, pin2Box: true, recovery2Box: true }
  t.deepEqual<unknown, unknown>(parseLoginPayload(hidden), hidden)
})

test('the fields of a login that must be there are its app, its date and its id of 32 bytes', t => {
  const login = { appId: '', created: DATE, loginId: id(1) }
  t.deepEqual(parseLoginPayload(login), { ...login, pendingVouchers: [] })
  for (const field of Object.keys(login)) {
    t.throws(() => parseLoginPayload({ ...login, [field]: undefined }), { code: 'BAD_REPLY' }, field)
    t.throws(() => parseLoginPayload({ ...login, [field]: null }), { code: 'BAD_REPLY' }, field)
  }
})

test('a date loses what else stands in it, and a voucher is short and one of at most a thousand', t => {
  const login = { appId: '', created: 'Thu, 01 Jan 2026 01:00:00 +0100 (\u001b[2J)', loginId: id(1) }
  t.is(parseLoginPayload(login).created, DATE)
  const voucher = { voucherId: 'v', activates: DATE, created: DATE, ip: '::1', ipDescription: 'here' }
  const waiting = (pendingVouchers: readonly object[]) => parseLoginPayload({ ...login, pendingVouchers })
  t.is(waiting(Array.from({ length: 1000 }, () => voucher)).pendingVouchers.length, 1000)
  t.throws(() => waiting(Array.from({ length: 1001 }, () => voucher)), { code: 'BAD_REPLY' })
  for (const field of ['voucherId', 'ip', 'ipDescription', 'deviceDescription']) {
    t.throws(() => waiting([{ ...voucher, [field]: 'x'.repeat(1001) }]), { code: 'BAD_REPLY' }, field)
  }
})
