import { isRecord } from '../kernel/base/json.ts'
import {
  isSnrp,
  type Leaf,
  leaf,
  listOf,
  type OptionalLeaf,
  objectOf,
  optional,
  optionalListOf,
  parse
} from '../kernel/schema/shape.ts'
import type { Box, Snrp } from '../kernel/types/keys.ts'
import { credential, optionalCredential, optionalWireBox, otpKey, syncKey, wireBox } from './fields.ts'
import type { Shape } from './login-record.ts'

const isAnything = (value: unknown): value is unknown => value !== undefined
const isShortText = (value: unknown): value is string => typeof value === 'string' && value.length <= 4000
const isTimeout = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 && value <= 1e9
const isIds = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length <= 1000 && value.every(isShortText)
const shortText = (): OptionalLeaf<string> => optional('text', isShortText)

/** The flat body that all login routes share (protocol §2.3); what the server never reads is left out. */
export interface LoginRequest {
  readonly data: unknown
  readonly otp: string | undefined
  readonly voucherId: string | undefined
  readonly voucherAuth: string | undefined
  readonly deviceDescription: string | undefined
  readonly challengeId: string | undefined
  readonly syncToken: string | undefined
  readonly loginId: string | undefined
  readonly loginAuth: string | undefined
  readonly userId: string | undefined
  readonly passwordAuth: string | undefined
  readonly pin2Id: string | undefined
  readonly pin2Auth: string | undefined
  readonly recovery2Id: string | undefined
  readonly recovery2Auth: string[] | undefined
  readonly loginIds: string[] | undefined
  readonly otpResetAuth: string | undefined
}

/** Checks the body of a login route. */
export const loginRequestShape: Shape<LoginRequest> = objectOf<LoginRequest>({
  data: optional('data', isAnything),
  otp: shortText(),
  voucherId: shortText(),
  voucherAuth: optionalCredential(),
  deviceDescription: shortText(),
  challengeId: shortText(),
  syncToken: shortText(),
  loginId: optionalCredential(),
  loginAuth: optionalCredential(),
  userId: optionalCredential(),
  passwordAuth: optionalCredential(),
  pin2Id: optionalCredential(),
  pin2Auth: optionalCredential(),
  recovery2Id: optionalCredential(),
  recovery2Auth: optionalListOf<string>(credential()),
  loginIds: optionalListOf<string>(credential()),
  otpResetAuth: shortText()
})

/** `data` of POST /v2/login/password. */
export interface PasswordGroup {
  readonly passwordAuth: string
  readonly passwordAuthBox: Box
  readonly passwordAuthSnrp: Snrp
  readonly passwordBox: Box
  readonly passwordKeySnrp: Snrp
}

/** `data` of POST /v2/login/pin2; only the text of the PIN when PIN login is off. */
export interface PinGroup {
  readonly pin2Id: string | undefined
  readonly pin2Auth: string | undefined
  readonly pin2Box: Box | undefined
  readonly pin2KeyBox: Box | undefined
  readonly pin2TextBox: Box
}

/** `data` of POST /v2/login/recovery2. */
export interface RecoveryGroup {
  readonly recovery2Id: string
  readonly recovery2Auth: string[]
  readonly recovery2Box: Box
  readonly recovery2KeyBox: Box
  readonly question2Box: Box
}

/** `data` of POST /v2/login/secret. */
export interface SecretGroup {
  readonly loginAuth: string
  readonly loginAuthBox: Box
}

/** `data` of POST /v2/login/keys. */
export interface KeysGroup {
  readonly keyBoxes: Box[]
  readonly newSyncKeys: string[]
}

/** The username part of a create or username call. */
export interface UsernameGroup {
  readonly userId: string
  readonly userTextBox: Box | undefined
}

const snrp = (): Leaf<Snrp> => leaf('snrp', isSnrp)

/** One schema for each group of fields that a login may carry (protocol §2.4). */
export const groups: {
  readonly password: Shape<PasswordGroup>
  readonly pin: Shape<PinGroup>
  readonly recovery: Shape<RecoveryGroup>
  readonly secret: Shape<SecretGroup>
  readonly keys: Shape<KeysGroup>
  readonly username: Shape<UsernameGroup>
} = {
  password: objectOf<PasswordGroup>({
    passwordAuth: credential(),
    passwordAuthBox: wireBox(),
    passwordAuthSnrp: snrp(),
    passwordBox: wireBox(),
    passwordKeySnrp: snrp()
  }),
  pin: objectOf<PinGroup>({
    pin2Id: optionalCredential(),
    pin2Auth: optionalCredential(),
    pin2Box: optionalWireBox(),
    pin2KeyBox: optionalWireBox(),
    pin2TextBox: wireBox()
  }),
  recovery: objectOf<RecoveryGroup>({
    recovery2Id: credential(),
    recovery2Auth: listOf<string>(credential()),
    recovery2Box: wireBox(),
    recovery2KeyBox: wireBox(),
    question2Box: wireBox()
  }),
  secret: objectOf<SecretGroup>({ loginAuth: credential(), loginAuthBox: wireBox() }),
  keys: objectOf<KeysGroup>({ keyBoxes: listOf<Box>(wireBox()), newSyncKeys: listOf<string>(syncKey()) }),
  username: objectOf<UsernameGroup>({ userId: credential(), userTextBox: optionalWireBox() })
}

/** `data` of POST /v2/login/create that every login has. */
export const createShape: Shape<{ appId: string; loginId: string; parentBox: Box | undefined }> = objectOf<{
  appId: string
  loginId: string
  parentBox: Box | undefined
}>({ appId: leaf('text', isShortText), loginId: credential(), parentBox: optionalWireBox() })

/** `data` of POST /v2/login/otp. */
export const otpShape: Shape<{ otpKey: string; otpTimeout: number | undefined }> = objectOf<{
  otpKey: string
  otpTimeout: number | undefined
}>({ otpKey: otpKey(), otpTimeout: optional('seconds', isTimeout) })

/** `data` of POST /v2/login/vouchers. */
export const vouchersShape: Shape<{
  approvedVouchers: string[] | undefined
  rejectedVouchers: string[] | undefined
}> = objectOf<{ approvedVouchers: string[] | undefined; rejectedVouchers: string[] | undefined }>({
  approvedVouchers: optional('list of text', isIds),
  rejectedVouchers: optional('list of text', isIds)
})

/** `data` of POST /v2/login/username besides the username and password groups. */
export const newIdsShape: Shape<{ pin2Id: string | undefined; recovery2Id: string | undefined }> = objectOf<{
  pin2Id: string | undefined
  recovery2Id: string | undefined
}>({ pin2Id: optionalCredential(), recovery2Id: optionalCredential() })

/** The group if the data has its whole shape, else undefined: groups are tried one by one (protocol §2.4). */
export const tryGroup = <T>(shape: Shape<T>, data: unknown): T | undefined => {
  if (!isRecord(data)) return undefined
  try {
    return parse(shape, data, 'data')
  } catch {
    return undefined
  }
}
