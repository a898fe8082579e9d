import { createRequire } from 'node:module'
import { join } from 'node:path'
import type {
  DeviceHelp,
  DeviceNewAccount,
  DevicePasswordRules,
  DeviceQuestion,
  DeviceVoucher,
  Note
} from './device.ts'
import type { CoreAccountStorage, CoreWalletStorage } from './peer-core-storage.ts'
import { makePeerCurrencies, type PeerCurrencies } from './peer-currency.ts'
import type { PeerPlace } from './peer-messages.ts'

/** How the published core is told which user is meant: by name, or by an id if an option says so. */
export interface CoreLoginOptions extends DeviceHelp {
  readonly useLoginId?: boolean
}

/** The part of a context's public interface that is used here. */
export interface CoreContext {
  readonly localUsers: readonly {
    loginId: string
    username?: string
    pinLoginEnabled: boolean
    keyLoginEnabled: boolean
    recovery2Key?: string
  }[]
  usernameAvailable(username: string): Promise<boolean>
  createAccount(account: DeviceNewAccount): Promise<CoreAccount>
  loginWithPassword(username: string, password: string, options?: CoreLoginOptions): Promise<CoreAccount>
  loginWithPIN(user: string, pin: string, options?: CoreLoginOptions): Promise<CoreAccount>
  loginWithKey(user: string, loginKey: string, options?: CoreLoginOptions): Promise<CoreAccount>
  loginWithRecovery2(...args: [string, string, readonly string[], CoreLoginOptions?]): Promise<CoreAccount>
  fetchRecovery2Questions(key: string, username: string): Promise<readonly string[]>
  listRecoveryQuestionChoices(): Promise<
    readonly (Omit<DeviceQuestion, 'minLength'> & { min_length: number })[]
  >
  checkPasswordRules(password: string): DevicePasswordRules
  fetchLoginMessages(): Promise<readonly CoreMessage[]>
  requestOtpReset(username: string, resetToken: string): Promise<Date>
  requestEdgeLogin(): Promise<CoreEdgeLogin>
}

interface CoreMessage {
  readonly loginId: string
  readonly username?: string
  readonly otpResetPending: boolean
  readonly pendingVouchers: readonly DeviceVoucher[]
}

/** A login that waits for another device. */
export interface CoreEdgeLogin {
  readonly id: string
  readonly state: 'pending' | 'started' | 'done' | 'error' | 'closed'
  readonly account?: CoreAccount
  readonly error?: unknown
}

interface CoreLobby {
  readonly loginRequest?: { appId: string; displayName: string; approve(): Promise<void> }
}

/** The part of an account's public interface that is used here. */
export interface CoreAccount extends CoreAccountStorage {
  readonly username: string | undefined
  readonly rootLoginId: string
  readonly edgeLogin: boolean
  readonly isDuressAccount?: boolean
  readonly otpKey: string | undefined
  readonly otpResetDate: Date | undefined
  readonly pendingVouchers: readonly DeviceVoucher[] | undefined
  getLoginKey(): Promise<string>
  getPin(): Promise<string | undefined>
  checkPassword(password: string): Promise<boolean>
  checkPin(pin: string): Promise<boolean>
  changePassword(password: string): Promise<void>
  changePin(change: { pin?: string; enableLogin?: boolean; forDuressAccount?: boolean }): Promise<string>
  changeRecovery(questions: readonly string[], answers: readonly string[]): Promise<string>
  changeUsername(change: { username: string; password?: string }): Promise<void>
  deletePassword(): Promise<void>
  deletePin(): Promise<void>
  deleteRecovery(): Promise<void>
  deleteRemoteAccount(): Promise<void>
  enableOtp(timeoutSeconds?: number): Promise<void>
  disableOtp(): Promise<void>
  cancelOtpReset(): Promise<void>
  repairOtp(otpKey: string): Promise<void>
  approveVoucher(voucherId: string): Promise<void>
  rejectVoucher(voucherId: string): Promise<void>
  fetchLobby(lobbyId: string): Promise<CoreLobby>
  createCurrencyWallet(type: string, options: Record<string, unknown>): Promise<CoreWallet>
  waitForCurrencyWallet(walletId: string): Promise<CoreWallet>
  sync(): Promise<void>
  logout(): Promise<void>
}

/** The part of a wallet's public interface that is used here; arguments differ between versions. */
export interface CoreWallet extends CoreWalletStorage {
  readonly id: string
  readonly type: string
  readonly name: string | null
  readonly fiatCurrencyCode: string
  readonly disklet: {
    list(folder: string): Promise<Record<string, string>>
    getText(path: string): Promise<string>
  }
  renameWallet(name: string): Promise<void>
  getTransactions(query: object): Promise<readonly { txid: string; metadata?: Note }[]>
  saveTxMetadata(...args: readonly unknown[]): Promise<void>
  sync(): Promise<void>
}

/** The part of a test world's public interface that is used here. */
interface CoreTestWorld {
  makeEdgeContext(options: Record<string, unknown>): Promise<CoreContext>
  dumpFakeUser(account: CoreAccount): Promise<unknown>
}

/** A running published core and who is logged in. */
export interface PeerSession {
  readonly place: PeerPlace
  readonly context: CoreContext
  readonly currencies: PeerCurrencies
  /** Where the device lives if it has a test world of its own. */
  readonly world: CoreTestWorld | undefined
  account: CoreAccount | undefined
}

/** Starts the published core at its place. */
export const openPeerSession = async (place: PeerPlace): Promise<PeerSession> => {
  const load = createRequire(join(place.packageFolder, 'package.json'))
  const core = load('edge-core-js') as PeerCore
  const currencies = makePeerCurrencies()
  core.addEdgeCorePlugins(currencies.plugins)
  core.lockEdgeCorePlugins()
  const onLog = () => {}
  const { server, folder, appId, deviceDescription, users } = place
  const options = {
    apiKey: 'interop',
    appId,
    deviceDescription,
    plugins: Object.fromEntries(Object.keys(currencies.plugins).map(pluginId => [pluginId, true]))
  }
  if (users !== undefined) {
    const dated = users.map(user => ({ ...user, lastLogin: new Date(user.lastLogin ?? 0) }))
    const world = await core.makeFakeEdgeWorld(dated, { onLog })
    return { place, currencies, world, context: await world.makeEdgeContext(options), account: undefined }
  }
  const context = await core.makeEdgeContext({
    ...options,
    ...serversOf(place),
    infoServer: [server],
    syncServer: [server],
    path: folder,
    onLog
  })
  return { place, context, currencies, world: undefined, account: undefined }
}

/** The account that is logged in. @throws Error if nobody is */
export const accountOf = ({ account }: PeerSession): CoreAccount => {
  if (account === undefined) throw new Error('No account is logged in')
  return account
}

interface PeerCore {
  addEdgeCorePlugins(plugins: Record<string, unknown>): void
  lockEdgeCorePlugins(): void
  makeEdgeContext(options: Record<string, unknown>): Promise<CoreContext>
  makeFakeEdgeWorld(users: readonly unknown[], options: Record<string, unknown>): Promise<CoreTestWorld>
}

/** The addresses whose option has another name, or is new, in the newer version (protocol §7.5). */
const serversOf = ({ version, server }: PeerPlace): Record<string, unknown> =>
  version === '1.14.0'
    ? { authServer: `${server}/api` }
    : // Nothing listens there; by default it would look for the deployed one.
      { loginServer: server, changeServer: 'ws://127.0.0.1:9' }
