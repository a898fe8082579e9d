import type { FakeDb } from './fake-db.ts'
import type { LoginRecord, Voucher } from './login-record.ts'

/**
 * A login as the server shows it to its owner, with all logins below it (protocol §2.6).
 *
 * This server always shows the boxes themselves, never `true`.
 */
export const loginPayloadOf = (record: LoginRecord, db: FakeDb): Record<string, unknown> => {
  const shown: Record<string, unknown> = {}
  for (const field of SHOWN) shown[field] = record[field]
  return {
    ...shown,
    children: db.childrenOf(record.loginId).map(child => loginPayloadOf(child, db)),
    pendingVouchers: pendingVouchersOf(record)
  }
}

/** The vouchers that still wait for the owner, in their public form (protocol §2.5). */
export const pendingVouchersOf = ({ vouchers }: LoginRecord): Omit<Voucher, 'voucherAuth' | 'status'>[] =>
  vouchers
    .filter(({ status }) => status === 'pending')
    .map(({ voucherAuth: _, status: __, ...voucher }) => voucher)

// Ids and secrets that only the server compares are missing here on purpose.
const SHOWN = [
  'appId',
  'created',
  'loginId',
  'userId',
  'parentBox',
  'loginAuthBox',
  'passwordAuthBox',
  'passwordAuthSnrp',
  'passwordBox',
  'passwordKeySnrp',
  'pin2Box',
  'pin2KeyBox',
  'pin2TextBox',
  'recovery2Box',
  'recovery2KeyBox',
  'question2Box',
  'otpKey',
  'otpResetDate',
  'otpTimeout',
  'keyBoxes',
  'mnemonicBox',
  'rootKeyBox',
  'syncKeyBox',
  'userTextBox'
] as const satisfies readonly (keyof LoginRecord)[]
