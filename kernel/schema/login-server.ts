import type { Schema } from 'yup'
import { WalletError } from '../base/errors.ts'
import type { LoginPayload, PendingVoucher } from '../types/login.ts'
import { type LoginNode, MAX_LOGINS, parseLogins } from './login-nodes.ts'
import {
  finite,
  isoDate,
  type Leaf,
  leaf,
  type OptionalLeaf,
  objectOf,
  optional,
  optionalBox,
  optionalBoxes,
  optionalBoxOrTrue,
  optionalBytes64,
  optionalFinite,
  optionalIsoDate,
  optionalListOf,
  optionalShortText,
  optionalSnrp,
  shortText,
  text
} from './shape.ts'

/** More logins than this never wait for one owner. */
const MAX_VOUCHERS = 1000

const LOGIN_ID =
  /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/]{4})$/

const BYTES32 = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/

// The guards stand first: the schemas below are made while the module loads.
const isBytes32 = (value: unknown): value is string => typeof value === 'string' && BYTES32.test(value)

const isLoginId = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= 88 && LOGIN_ID.test(value)

const isList = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && value.length <= MAX_LOGINS

const isTextOrTrue = (value: unknown): value is string | true =>
  value === true || (typeof value === 'string' && value.length <= 1000)

/** The login server's envelope (protocol §2.2). `results` is unchecked. */
export interface Envelope {
  readonly status_code: number
  readonly message: string
  readonly results: unknown
}

/** Details of a refused one-time code, as the server spells them (protocol §2.2). */
export interface OtpResults {
  readonly login_id: string | undefined
  readonly otp_reset_auth: string | undefined
  readonly otp_timeout_date: string | undefined
  readonly reason: string | undefined
  readonly voucher_activates: string | undefined
  readonly voucher_auth: string | undefined
  readonly voucher_id: string | undefined
}

/** Where a CAPTCHA waits. */
export interface ChallengeResults {
  readonly challengeId: string
  readonly challengeUri: string
}

/** How long the server refuses further tries. */
export interface PasswordResults {
  readonly wait_seconds: number | undefined
}

/** Tells whether text is base64 of exactly 32 bytes, as the ids of root logins are. */
export const isRootId = (value: unknown): value is string => isBytes32(value)

/** Base64 of exactly 32 bytes. */
export const bytes32 = (): Leaf<string> => leaf('32 bytes of base64', isBytes32)

/**
 * The id of a login: base64 of 1 to 64 bytes. Root logins have 32 (specification §3); the logins of apps below them
 * may have 31, as old clients made some.
 */
export const loginIdLeaf = (): Leaf<string> => leaf('base64 of 1 to 64 bytes', isLoginId)

/** Base64 of exactly 32 bytes, or absent. */
const optionalBytes32 = (): OptionalLeaf<string> => optional('32 bytes of base64', isBytes32)

/** A list of anything, or absent; its items are checked one by one elsewhere. */
export const optionalList = (): OptionalLeaf<readonly unknown[]> => optional('list', isList)

/** The envelope's schema. */
export const asEnvelope: Schema<Envelope> = objectOf<Envelope>({
  status_code: finite(),
  message: text(),
  results: optional('anything', (value): value is unknown => value !== undefined)
})

/** The schema of {@link OtpResults}. */
export const asOtpResults: Schema<OtpResults> = objectOf<OtpResults>({
  login_id: optionalBytes32(),
  otp_reset_auth: optionalShortText(),
  otp_timeout_date: optionalIsoDate(),
  reason: optionalShortText(),
  voucher_activates: optionalIsoDate(),
  voucher_auth: optionalBytes64(),
  voucher_id: optionalShortText()
})

/** The schema of {@link ChallengeResults}. */
export const asChallengeResults: Schema<ChallengeResults> = objectOf<ChallengeResults>({
  challengeId: shortText(),
  challengeUri: shortText()
})

/** The schema of {@link PasswordResults}. */
export const asPasswordResults: Schema<PasswordResults> = objectOf<PasswordResults>({
  wait_seconds: optionalFinite()
})

/** The schema of a login that waits for approval (protocol §2.5). */
export const asPendingVoucher: Schema<PendingVoucher> = objectOf<PendingVoucher>({
  voucherId: shortText(),
  activates: isoDate(),
  created: isoDate(),
  ip: shortText(),
  ipDescription: shortText(),
  deviceDescription: optionalShortText()
} as never)

/**
 * Checks a login as the server sends it, with all its children (protocol §2.6).
 *
 * @throws BAD_REPLY, also for a root login without ids of 32 bytes, and for children deeper than 8 levels or more than
 * 1000 in all
 */
export const parseLoginPayload = (value: unknown): LoginPayload => {
  const source = 'login reply'
  const payload = parseLogins(asPayloadNode, value, source)
  for (const path of ['loginId', 'userId'] as const) {
    if (payload.appId === '' && payload[path] !== undefined && !isBytes32(payload[path]))
      throw new WalletError('BAD_REPLY', { source, path, rule: 'is not 32 bytes of base64' })
  }
  return payload
}

/** One login of a reply, its children not yet checked. */
type PayloadNode = Omit<LoginPayload, keyof LoginNode> & LoginNode

const asPayloadNode: Schema<PayloadNode> = objectOf<PayloadNode>({
  appId: shortText(),
  created: isoDate(),
  loginId: loginIdLeaf(),
  syncToken: optionalShortText(),
  children: optionalList(),
  parentBox: optionalBox(),
  passwordAuthBox: optionalBox(),
  passwordAuthSnrp: optionalSnrp(),
  passwordBox: optionalBoxOrTrue(),
  passwordKeySnrp: optionalSnrp(),
  pin2Box: optionalBoxOrTrue(),
  pin2KeyBox: optionalBox(),
  pin2TextBox: optionalBox(),
  question2Box: optionalBox(),
  recovery2Box: optionalBoxOrTrue(),
  recovery2KeyBox: optionalBox(),
  loginAuthBox: optionalBox(),
  userId: optionalBytes64(),
  userTextBox: optionalBox(),
  otpKey: optional('base32', isTextOrTrue),
  otpResetDate: optionalIsoDate(),
  otpTimeout: optionalFinite(),
  pendingVouchers: optionalListOf(asPendingVoucher).max(MAX_VOUCHERS) as never,
  keyBoxes: optionalBoxes(),
  mnemonicBox: optionalBox(),
  rootKeyBox: optionalBox(),
  syncKeyBox: optionalBox()
} as never)
