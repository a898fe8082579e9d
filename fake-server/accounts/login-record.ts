import {
  finite,
  isoDate,
  leaf,
  listOf,
  objectOf,
  optionalFinite,
  optionalIsoDate,
  optionalListOf,
  optionalSnrp,
  optionalText,
  text
} from '../../kernel/schema/shape.ts'
import type { Box, Snrp } from '../../kernel/types/keys.ts'
import {
  credential,
  optionalCredential,
  optionalOtpKey,
  optionalWireBox,
  type Shape,
  wireBox
} from './shapes.ts'

/** A login by a new device that waits for the owner (specification §3 "Voucher (fake server)"). */
export interface Voucher {
  readonly voucherId: string
  readonly voucherAuth: string
  readonly status: 'pending' | 'approved' | 'rejected'
  readonly activates: string
  readonly created: string
  readonly ip: string
  readonly ipDescription: string
  readonly deviceDescription: string | undefined
}

/**
 * One login as the server keeps it (specification §3 "Login record (fake server)").
 *
 * Binary fields are base64, dates ISO text; `parentId` names the login above, `otpTimeout` counts seconds.
 */
export interface LoginRecord {
  readonly loginId: string
  readonly appId: string
  readonly created: string
  readonly lastLogin?: string | undefined
  readonly userId?: string | undefined
  readonly parentId?: string | undefined
  readonly parentBox?: Box | undefined
  readonly loginAuth?: string | undefined
  readonly loginAuthBox?: Box | undefined
  readonly passwordAuth?: string | undefined
  readonly passwordAuthBox?: Box | undefined
  readonly passwordAuthSnrp?: Snrp | undefined
  readonly passwordBox?: Box | undefined
  readonly passwordKeySnrp?: Snrp | undefined
  readonly pin2Id?: string | undefined
  readonly pin2Auth?: string | undefined
  readonly pin2Box?: Box | undefined
  readonly pin2KeyBox?: Box | undefined
  readonly pin2TextBox?: Box | undefined
  readonly recovery2Id?: string | undefined
  readonly recovery2Auth?: string[] | undefined
  readonly recovery2Box?: Box | undefined
  readonly recovery2KeyBox?: Box | undefined
  readonly question2Box?: Box | undefined
  readonly otpKey?: string | undefined
  readonly otpTimeout?: number | undefined
  readonly otpResetDate?: string | undefined
  readonly otpResetAuth?: string | undefined
  readonly vouchers: Voucher[]
  readonly keyBoxes: Box[]
  readonly syncKeyBox?: Box | undefined
  readonly mnemonicBox?: Box | undefined
  readonly rootKeyBox?: Box | undefined
  readonly userTextBox?: Box | undefined
}

const isStatus = (value: unknown): value is Voucher['status'] =>
  value === 'pending' || value === 'approved' || value === 'rejected'

const voucherShape: Shape<Voucher> = objectOf<Voucher>({
  voucherId: text(),
  voucherAuth: credential(),
  status: leaf('voucher status', isStatus),
  activates: isoDate(),
  created: isoDate(),
  ip: text(),
  ipDescription: text(),
  deviceDescription: optionalText()
})

/** Checks a saved login record; everything the server keeps goes through it when it is loaded. */
export const loginRecordShape: Shape<LoginRecord> = objectOf<LoginRecord>({
  loginId: credential(),
  appId: text(),
  created: isoDate(),
  lastLogin: optionalIsoDate(),
  userId: optionalCredential(),
  parentId: optionalCredential(),
  parentBox: optionalWireBox(),
  loginAuth: optionalCredential(),
  loginAuthBox: optionalWireBox(),
  passwordAuth: optionalCredential(),
  passwordAuthBox: optionalWireBox(),
  passwordAuthSnrp: optionalSnrp(),
  passwordBox: optionalWireBox(),
  passwordKeySnrp: optionalSnrp(),
  pin2Id: optionalCredential(),
  pin2Auth: optionalCredential(),
  pin2Box: optionalWireBox(),
  pin2KeyBox: optionalWireBox(),
  pin2TextBox: optionalWireBox(),
  recovery2Id: optionalCredential(),
  recovery2Auth: optionalListOf<string>(credential()),
  recovery2Box: optionalWireBox(),
  recovery2KeyBox: optionalWireBox(),
  question2Box: optionalWireBox(),
  otpKey: optionalOtpKey(),
  otpTimeout: optionalFinite(),
  otpResetDate: optionalIsoDate(),
  otpResetAuth: optionalText(),
  vouchers: listOf(voucherShape),
  keyBoxes: listOf<Box>(wireBox()),
  syncKeyBox: optionalWireBox(),
  mnemonicBox: optionalWireBox(),
  rootKeyBox: optionalWireBox(),
  userTextBox: optionalWireBox()
})

/** A login waiting for replies (specification §3 "Lobby (fake server)"). `expires`: milliseconds. */
export interface LobbyRecord {
  readonly request: Readonly<Record<string, unknown>>
  readonly replies: LobbyReply[]
  readonly expires: number
}

/** An answer in a lobby, readable only by the asker. */
export interface LobbyReply {
  readonly publicKey: string
  readonly box: Box
}

/** Checks a lobby reply, on the wire and when loaded. */
export const lobbyReplyShape: Shape<LobbyReply> = objectOf<LobbyReply>({
  publicKey: credential(),
  box: wireBox()
})

const isLobbyRequest = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Checks a saved lobby. */
export const lobbyShape: Shape<LobbyRecord> = objectOf<LobbyRecord>({
  request: leaf('lobby request', isLobbyRequest),
  replies: listOf(lobbyReplyShape),
  expires: finite()
})

/** An app on an info server (protocol §2.8). A test chooses the addresses of its images. */
export interface AppInfo {
  readonly appName: string
  readonly imageUrl?: string | undefined
  readonly lightImageUrl?: string | undefined
  readonly darkImageUrl?: string | undefined
}

/** Checks a saved app. */
export const appInfoShape: Shape<AppInfo> = objectOf<AppInfo>({
  appName: text(),
  imageUrl: optionalText(),
  lightImageUrl: optionalText(),
  darkImageUrl: optionalText()
})
