import type { Secret } from '../base/secret.ts'
import type { LocalLoginId, LoginId, Username } from './ids.ts'
import type { Box, SecretWalletInfo, Snrp } from './keys.ts'

/** A login by a device that waits for approval. Dates are ISO text. */
export interface PendingVoucher {
  readonly voucherId: string
  readonly activates: string
  readonly created: string
  readonly ip: string
  readonly ipDescription: string
  readonly deviceDescription?: string
}

/** The fields that a login stash and the server's login have in common. Binary fields are base64. */
export interface LoginFields {
  readonly appId: string
  readonly created?: string
  readonly loginId: LoginId
  /** Loose base32, as typed or stored. */
  readonly otpKey?: string
  readonly otpResetDate?: string
  /** Seconds. */
  readonly otpTimeout?: number
  readonly pendingVouchers: readonly PendingVoucher[]
  readonly userId?: string
  readonly loginAuthBox?: Box
  readonly parentBox?: Box
  readonly passwordAuthBox?: Box
  readonly passwordAuthSnrp?: Snrp
  readonly passwordBox?: Box
  readonly passwordKeySnrp?: Snrp
  readonly pin2TextBox?: Box
  readonly keyBoxes?: readonly Box[]
  readonly mnemonicBox?: Box
  readonly rootKeyBox?: Box
  readonly syncKeyBox?: Box
  readonly syncToken?: string
}

/**
 * A login as this device keeps it in `logins/<id>.json` (specification §3 "Login stash").
 *
 * `syncToken` lives in memory only: an older file could otherwise be taken for current.
 */
export interface LoginStash extends LoginFields {
  readonly lastLogin?: string
  /** Of the root. A login below has one while its ids are made from an earlier name of the root. */
  readonly username?: Username
  /** A name that the server was asked for, its answer not yet seen. */
  readonly nextUsername?: Username
  readonly voucherId?: string
  readonly voucherAuth?: string
  readonly pin2Key?: string
  readonly recovery2Key?: string
  readonly children?: readonly LoginStash[]
  /**
   * Of a root that no server knows. `moving`: a server was asked to make it, and may know a state of it that is older than
   * this one. Only the end of a move takes the field away.
   */
  readonly deviceOnly?: 'yes' | 'moving'
  /** Of a root that is moving: digests of the names, passwords and PINs that this device has sent. */
  readonly sentValues?: readonly string[]
}

/** A box, or `true` where it exists but this login method may not see it. */
export type BoxOrTrue = Box | true

/** A login as the server sends it (specification §3 "Login (server form)"). */
export interface LoginPayload extends Omit<LoginFields, 'otpKey' | 'passwordBox'> {
  readonly created: string
  readonly otpKey?: string | true
  readonly passwordBox?: BoxOrTrue
  readonly pin2Box?: BoxOrTrue
  readonly pin2KeyBox?: Box
  readonly recovery2Box?: BoxOrTrue
  readonly recovery2KeyBox?: Box
  readonly question2Box?: Box
  readonly userTextBox?: Box
  readonly children?: readonly LoginPayload[]
  /** It is the login of an app of which only the names and the box with its key could be read. */
  readonly isOdd?: true
}

/** A logged-in node of the tree: the stash, opened. Keys are secrets; ids and dates are as in the stash. */
export interface LoginTree {
  readonly appId: string
  readonly isRoot: boolean
  readonly loginId: LoginId
  readonly loginKey: Secret<Uint8Array>
  readonly loginAuth?: Secret<Uint8Array>
  readonly passwordAuth?: Secret<Uint8Array>
  readonly userId?: string
  readonly username?: Username
  readonly pin?: Secret<string>
  readonly pin2Key?: Secret<Uint8Array>
  readonly recovery2Key?: Secret<Uint8Array>
  /** Base32. */
  readonly otpKey?: Secret<string>
  readonly otpResetDate?: string
  /** Seconds. */
  readonly otpTimeout?: number
  readonly pendingVouchers: readonly PendingVoucher[]
  readonly created?: string
  readonly lastLogin?: string
  readonly children: readonly LoginTree[]
  readonly walletInfos: readonly SecretWalletInfo[]
}

/** A user that this device knows (specification §3 "Local user"). Ids are base58. */
export interface LocalUser {
  readonly loginId: LocalLoginId
  readonly username?: Username
  readonly lastLogin?: Date
  readonly isPinLoginEnabled: boolean
  readonly isKeyLoginEnabled: boolean
  /**
   * Base58, for recovery login on this device. A secret, absent when keys are hidden. Not enumerable: it can be read by
   * name, and is not part of a copy, of JSON or of printed output.
   */
  readonly recovery2Key?: string
  readonly voucherId?: string
  /** No login server knows the account: it is lost with this device unless there is a backup. */
  readonly isDeviceOnly?: true
}

/** A recovery question that the server suggests (specification §3 "Recovery question choice"). */
export interface RecoveryQuestionChoice {
  readonly category: 'address' | 'must' | 'numeric' | 'recovery2' | 'string'
  /** The least number of characters that the answer should have. */
  readonly minLength: number
  readonly question: string
}

/** News of a login of this device, known without logging in (specification §3 "Login message"). */
export interface LoginMessage {
  /** Base64. */
  readonly loginId: LoginId
  readonly username?: Username
  readonly otpResetPending: boolean
  readonly pendingVouchers: readonly PendingVoucher[]
  readonly recovery2Corrupt: boolean
}
