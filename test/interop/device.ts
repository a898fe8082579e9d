import type { JsonObject } from '../../kernel/index.ts'
import type { ChainTransaction } from './chain-transaction.ts'
import type { StorageCalls } from './storage-calls.ts'

// What a device can be asked to do, whichever core it runs. Everything in and out is plain data, because it
// travels between processes. A failure has the name that both cores give it, such as `OtpError`.

/** A user of the device. `loginId` and `recoveryKey` are base58. */
export interface DeviceUser {
  readonly loginId: string
  readonly username?: string
  readonly isPinLoginEnabled: boolean
  readonly isKeyLoginEnabled: boolean
  readonly recoveryKey?: string
}

/** What the server wants a user of the device to know. `loginId` is base64. */
export interface DeviceMessage {
  readonly loginId: string
  readonly username?: string
  readonly otpResetPending: boolean
  readonly vouchers: readonly DeviceVoucher[]
}

/** A device that waits to be let in. */
export interface DeviceVoucher {
  readonly voucherId: string
  readonly deviceDescription?: string
}

/** The account that is logged in, without what it is asked for by name. */
export interface DeviceAccount {
  readonly username?: string
  /** Base58. */
  readonly rootLoginId: string
  readonly isEdgeLogin: boolean
  readonly walletIds: readonly string[]
}

/** Two-factor of the account that is logged in. */
export interface DeviceTwoFactor {
  /** Base32. */
  readonly otpKey?: string
  readonly otpResetDate?: Date
  readonly vouchers: readonly DeviceVoucher[]
}

/** What a {@link Device} says of a refused one-time code. */
export interface OtpFailure extends Error {
  readonly resetToken?: string
  readonly voucherId?: string
  readonly resetDate?: Date | string
}

/** Username and password together, or neither for a light account. */
export interface DeviceNewAccount {
  readonly username?: string
  readonly password?: string
  readonly pin?: string
}

/** Names a user of the device; the id is base58. */
export type DeviceUserName = { readonly username: string } | { readonly loginId: string }

/** What helps a login past two-factor or a CAPTCHA. */
export interface DeviceHelp {
  readonly otp?: string
  readonly otpKey?: string
  readonly challengeId?: string
}

/** What a login by recovery takes; the key is base58. */
export interface DeviceRecovery {
  readonly recoveryKey: string
  readonly username: string
  readonly answers: readonly string[]
}

/** A question that an app may offer, and the shortest answer that it takes. */
export interface DeviceQuestion {
  readonly category: string
  readonly question: string
  readonly minLength: number
}

/** What is wrong with a new password, if anything. */
export interface DevicePasswordRules {
  readonly secondsToCrack: number
  readonly tooShort: boolean
  readonly noNumber: boolean
  readonly noLowerCase: boolean
  readonly noUpperCase: boolean
  readonly passed: boolean
}

/** A wallet of the account. */
export interface DeviceWallet {
  readonly id: string
  readonly type: string
  readonly name: string | null
  readonly fiatCurrencyCode: string
}

/** What the user writes on a transaction. */
export interface Note {
  readonly name?: string
  readonly category?: string
  readonly notes?: string
}

/** The users of a device, and what can be asked without logging in. */
export interface UserCalls {
  localUsers(): Promise<readonly DeviceUser[]>
  usernameAvailable(username: string): Promise<boolean>
  messages(): Promise<readonly DeviceMessage[]>
  recoveryQuestions(recoveryKey: string, username: string): Promise<readonly string[]>
  /** The questions that an app may offer. Version 2 of the published core has no such call. */
  questionChoices(): Promise<readonly DeviceQuestion[]>
  passwordRules(password: string): Promise<DevicePasswordRules>
  /** Asks for two-factor to be switched off; the date of that. */
  requestOtpReset(username: string, resetToken: string): Promise<Date>
}

/** The ways in and out. At most one account is logged in. */
export interface LoginCalls {
  createAccount(account: DeviceNewAccount): Promise<void>
  loginWithPassword(username: string, password: string, help?: DeviceHelp): Promise<void>
  loginWithPIN(user: DeviceUserName, pin: string, help?: DeviceHelp): Promise<void>
  loginWithKey(user: DeviceUserName, loginKey: string): Promise<void>
  loginWithRecovery(recovery: DeviceRecovery, help?: DeviceHelp): Promise<void>
  /** Gives the id of a lobby where another device may let this one in. */
  requestEdgeLogin(): Promise<string>
  /** Waits until that has happened. */
  finishEdgeLogin(): Promise<void>
  logout(): Promise<void>
  account(): Promise<DeviceAccount>
  /** Base58. */
  getLoginKey(): Promise<string>
}

/** Changes of the account that is logged in. */
export interface CredentialCalls {
  checkPassword(password: string): Promise<boolean>
  changePassword(password: string): Promise<void>
  deletePassword(): Promise<void>
  /** Undefined where this device knows none. */
  getPin(): Promise<string | undefined>
  checkPin(pin: string): Promise<boolean>
  changePin(change: { pin?: string; enableLogin?: boolean }): Promise<void>
  deletePin(): Promise<void>
  /** Gives the recovery key, base58. */
  changeRecovery(questions: readonly string[], answers: readonly string[]): Promise<string>
  deleteRecovery(): Promise<void>
  changeUsername(change: { username: string; password?: string }): Promise<void>
  deleteRemoteAccount(): Promise<void>
}

/** Two-factor, and the devices and apps that the account lets in. */
export interface TwoFactorCalls {
  twoFactor(): Promise<DeviceTwoFactor>
  enableOtp(timeoutSeconds?: number): Promise<void>
  disableOtp(): Promise<void>
  cancelOtpReset(): Promise<void>
  repairOtp(otpKey: string): Promise<void>
  approveVoucher(voucherId: string): Promise<void>
  rejectVoucher(voucherId: string): Promise<void>
  /** What the app behind a lobby calls itself. */
  appOfLobby(lobbyId: string): Promise<{ appId: string; displayName: string }>
  approveEdgeLogin(lobbyId: string): Promise<void>
}

/** The wallets of the account that is logged in. */
export interface WalletCalls {
  createWallet(wallet: { name: string; fiatCurrencyCode: string; format: string }): Promise<string>
  /** Opens all. */
  wallets(): Promise<readonly DeviceWallet[]>
  rawPrivateKey(walletId: string): Promise<JsonObject>
  renameWallet(walletId: string, name: string): Promise<void>
  receiveAddress(walletId: string): Promise<string>
  /** Waits until the wallet knows these; a core without a chain is told of them. */
  showTransactions(walletId: string, transactions: readonly ChainTransaction[]): Promise<void>
  noteOf(walletId: string, txid: string): Promise<Note>
  writeNote(walletId: string, txid: string, note: Note): Promise<void>
  /** Exchanges the files of the account and of its open wallets with the server. */
  sync(): Promise<void>
}

/** All that a device can be asked to do while it runs. */
export type DeviceCalls = UserCalls &
  LoginCalls &
  CredentialCalls &
  TwoFactorCalls &
  WalletCalls &
  StorageCalls

/** What version 2 of the published core can do besides. */
export interface DuressCalls {
  /** Sets the PIN that opens another account under duress. */
  changeDuressPin(pin: string): Promise<void>
  isUnderDuress(): Promise<boolean>
}

/** A device on a folder of its own, as a test sees it. */
export interface Device extends DeviceCalls {
  readonly folder: string
  /** What failed on it outside of any call. */
  readonly failures: readonly string[]
  /** Ends it as a user ends an app: without logging out. */
  stop(): Promise<void>
}
