import { hex, utf8 } from '@scure/base'
import type { Clock, CryptoPort } from '../../kernel/io/io.ts'
import { loginAt } from './auth.ts'
import type { FakeDb } from './fake-db.ts'
import type { LoginRecord, Voucher } from './login-record.ts'

/** The database, crypto and clock that a reply is made from. */
export interface PayloadSource {
  readonly db: FakeDb
  readonly crypto: Pick<CryptoPort, 'sha256'>
  readonly clock: Pick<Clock, 'now'>
}

/** A login as its owner sees it; all fields but these are passed on as the server keeps them. */
export interface LoginReply extends Readonly<Record<string, unknown>> {
  readonly syncToken: string
  readonly children: readonly LoginReply[]
}

/**
 * A login as the server shows it to its owner, with all logins below it (protocol §2.6).
 *
 * This server always shows the boxes themselves, never `true`. The `syncToken` names all that is shown: it is
 * another one as soon as anything of this login or below it is, and the same for the same content.
 */
export const loginPayloadOf = (record: LoginRecord, source: PayloadSource): LoginReply => {
  const current = loginAt(record, source.clock.now())
  const own: Record<string, unknown> = {}
  for (const field of SHOWN) own[field] = current[field]
  own.pendingVouchers = pendingVouchersOf(current)
  const children = source.db.childrenOf(record.loginId).map(child => loginPayloadOf(child, source))
  const marks = children.map(({ syncToken }) => syncToken)
  const digest = source.crypto.sha256(utf8.decode(JSON.stringify([own, marks])))
  return { ...own, children, syncToken: hex.encode(digest) }
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
