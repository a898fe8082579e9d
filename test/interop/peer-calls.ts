import type { JsonObject } from '../../kernel/index.ts'

/** A wallet as the published core shows it. */
export interface PeerWallet {
  readonly id: string
  readonly type: string
  readonly name: string | null
  readonly fiatCurrencyCode: string
}

/** A user of the device as the published core shows it. */
export interface PeerUser {
  readonly loginId: string
  readonly username: string | undefined
  readonly isPinLoginEnabled: boolean
  readonly isKeyLoginEnabled: boolean
}

/** What the peer's currency without a chain is told of a transaction. Amounts are native. */
export interface PeerTransaction {
  readonly txid: string
  readonly date: number
  readonly nativeAmount: string
  readonly networkFee: string
}

/** What the app writes on a transaction. */
export interface PeerNote {
  readonly name?: string
  readonly category?: string
  readonly notes?: string
}

/**
 * The public calls of the published core that the tests use, one device and at most one account a process.
 *
 * Everything in and out is plain data, because it travels between processes.
 */
export interface PeerCalls {
  localUsers(): Promise<readonly PeerUser[]>
  usernameAvailable(username: string): Promise<boolean>
  createAccount(account: { username: string; password: string; pin: string }): Promise<void>
  loginWithPassword(username: string, password: string): Promise<void>
  loginWithPIN(username: string, pin: string): Promise<void>
  loginWithKey(username: string, loginKey: string): Promise<void>
  getLoginKey(): Promise<string>
  logout(): Promise<void>
  changePassword(password: string): Promise<void>
  changePin(pin: string): Promise<void>
  /** Switches two-factor codes on; gives the key, base32. */
  enableOtp(): Promise<string>
  createWallet(wallet: { name: string; fiatCurrencyCode: string; keys: JsonObject }): Promise<string>
  /** Waits until all wallets of the account are open. */
  wallets(): Promise<readonly PeerWallet[]>
  rawPrivateKey(walletId: string): Promise<JsonObject>
  renameWallet(walletId: string, name: string): Promise<void>
  /** Lets the wallet's engine say that the chain has these transactions. */
  showTransactions(walletId: string, transactions: readonly PeerTransaction[]): Promise<void>
  noteOf(walletId: string, txid: string): Promise<PeerNote>
  writeNote(walletId: string, txid: string, note: PeerNote): Promise<void>
  /** Exchanges the files of the account, or of one wallet, with the server. */
  sync(walletId?: string): Promise<void>
}

/** What the process is started with. */
export interface PeerPlace {
  /** The folder that the package was installed in. */
  readonly packageFolder: string
  /** Where the device keeps its files. */
  readonly folder: string
  readonly appId: string
  readonly authServer: string
  readonly infoServers: readonly string[]
  readonly syncServers: readonly string[]
}

/** One call, as it travels to the process. */
export interface PeerRequest {
  readonly id: number
  readonly call: keyof PeerCalls
  readonly args: readonly unknown[]
}

/** Its end, as it travels back. */
export interface PeerReply {
  readonly id: number
  readonly result?: unknown
  readonly error?: { readonly name: string; readonly message: string }
}
