import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { JsonObject } from '../../kernel/index.ts'
import type { PeerCalls, PeerNote, PeerPlace, PeerReply, PeerRequest } from './peer-calls.ts'
import { makePeerCurrency } from './peer-currency.ts'

// A process of its own for the published core: what it keeps in memory ends with it. It is called by messages.

/** The part of its public interface that is used here. */
interface PeerCore {
  addEdgeCorePlugins(plugins: Record<string, unknown>): void
  lockEdgeCorePlugins(): void
  makeEdgeContext(options: Record<string, unknown>): Promise<CoreContext>
}

interface CoreContext {
  readonly localUsers: readonly {
    loginId: string
    username?: string
    pinLoginEnabled: boolean
    keyLoginEnabled: boolean
  }[]
  usernameAvailable(username: string): Promise<boolean>
  createAccount(account: { username: string; password: string; pin: string }): Promise<CoreAccount>
  loginWithPassword(username: string, password: string): Promise<CoreAccount>
  loginWithPIN(username: string, pin: string): Promise<CoreAccount>
  loginWithKey(username: string, loginKey: string): Promise<CoreAccount>
}

interface CoreAccount {
  readonly activeWalletIds: readonly string[]
  createCurrencyWallet(type: string, options: Record<string, unknown>): Promise<CoreWallet>
  waitForCurrencyWallet(walletId: string): Promise<CoreWallet>
  getLoginKey(): Promise<string>
  getRawPrivateKey(walletId: string): Promise<JsonObject>
  readonly otpKey: string | undefined
  changePassword(password: string): Promise<void>
  changePin(options: { pin: string }): Promise<string>
  enableOtp(): Promise<void>
  sync(): Promise<void>
  logout(): Promise<void>
}

interface CoreWallet {
  readonly id: string
  readonly type: string
  readonly name: string | null
  readonly fiatCurrencyCode: string
  readonly disklet: { list(folder: string): Promise<Record<string, string>> }
  renameWallet(name: string): Promise<void>
  getTransactions(query: object): Promise<readonly { txid: string; metadata?: PeerNote }[]>
  saveTxMetadata(txid: string, currencyCode: string, note: PeerNote): Promise<void>
  sync(): Promise<void>
}

const place = JSON.parse(process.argv[2] ?? '{}') as PeerPlace
const currency = makePeerCurrency()
const core = createRequire(join(place.packageFolder, 'package.json'))('edge-core-js') as PeerCore
core.addEdgeCorePlugins({ chainless: currency.plugin })
core.lockEdgeCorePlugins()

const context = await core.makeEdgeContext({
  apiKey: 'interop',
  appId: place.appId,
  authServer: place.authServer,
  infoServer: place.infoServers,
  syncServer: place.syncServers,
  path: place.folder,
  plugins: { chainless: true },
  onLog: () => {}
})
let account: CoreAccount | undefined

const mine = (): CoreAccount => {
  if (account === undefined) throw new Error('Nobody is logged in')
  return account
}

const calls: PeerCalls = {
  localUsers: async () =>
    context.localUsers.map(({ loginId, username, pinLoginEnabled, keyLoginEnabled }) => ({
      loginId,
      username,
      isPinLoginEnabled: pinLoginEnabled,
      isKeyLoginEnabled: keyLoginEnabled
    })),
  usernameAvailable: username => context.usernameAvailable(username),
  async createAccount(options) {
    account = await context.createAccount(options)
  },
  async loginWithPassword(username, password) {
    account = await context.loginWithPassword(username, password)
  },
  async loginWithPIN(username, pin) {
    account = await context.loginWithPIN(username, pin)
  },
  async loginWithKey(username, loginKey) {
    account = await context.loginWithKey(username, loginKey)
  },
  getLoginKey: () => mine().getLoginKey(),
  async logout() {
    await mine().logout()
    account = undefined
  },
  changePassword: password => mine().changePassword(password),
  async changePin(pin) {
    await mine().changePin({ pin })
  },
  async enableOtp() {
    await mine().enableOtp()
    return mine().otpKey ?? ''
  },
  async createWallet({ name, fiatCurrencyCode, keys }) {
    const options = { name, fiatCurrencyCode, keyOptions: keys }
    return (await mine().createCurrencyWallet('wallet:bitcoin', options)).id
  },
  wallets: () =>
    Promise.all(
      mine().activeWalletIds.map(async walletId => {
        const { id, type, name, fiatCurrencyCode } = await mine().waitForCurrencyWallet(walletId)
        return { id, type, name, fiatCurrencyCode }
      })
    ),
  rawPrivateKey: walletId => mine().getRawPrivateKey(walletId),
  async renameWallet(walletId, name) {
    await (await mine().waitForCurrencyWallet(walletId)).renameWallet(name)
  },
  async showTransactions(walletId, transactions) {
    const { disklet } = await mine().waitForCurrencyWallet(walletId)
    currency.show(walletId, transactions)
    // It makes a file for each incoming one by itself, which must not come over what a test writes next.
    const incoming = transactions.filter(({ nativeAmount }) => !nativeAmount.startsWith('-'))
    while (Object.keys(await disklet.list('transaction')).length < incoming.length) {
      await new Promise(resolve => setTimeout(resolve, 5))
    }
  },
  async noteOf(walletId, txid) {
    const list = await (await mine().waitForCurrencyWallet(walletId)).getTransactions({})
    const found = list.find(transaction => transaction.txid === txid)
    if (found === undefined) throw new Error(`There is no transaction ${txid}`)
    const { name, category, notes } = found.metadata ?? {}
    return {
      ...(name === undefined ? {} : { name }),
      ...(category === undefined ? {} : { category }),
      ...(notes === undefined ? {} : { notes })
    }
  },
  async writeNote(walletId, txid, note) {
    await (await mine().waitForCurrencyWallet(walletId)).saveTxMetadata(txid, 'BTC', note)
  },
  async sync(walletId) {
    if (walletId === undefined) await mine().sync()
    else await (await mine().waitForCurrencyWallet(walletId)).sync()
  }
}

const answer = async ({ id, call, args }: PeerRequest): Promise<PeerReply> => {
  try {
    const run = calls[call] as (...args: readonly unknown[]) => Promise<unknown>
    return { id, result: await run(...args) }
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error))
    return { id, error: { name, message } }
  }
}

process.on('message', (request: PeerRequest) => {
  void answer(request).then(reply => process.send?.(reply))
})
process.on('disconnect', () => process.exit(0))
process.send?.({ id: 0 } satisfies PeerReply)
