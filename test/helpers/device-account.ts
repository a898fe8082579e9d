import { type FakeWorld, makeFakeWorld } from '../../fake-server/fake-world.ts'
import type { Json } from '../../kernel/base/json.ts'
import {
  type Account,
  type Context,
  type Disk,
  type Kernel,
  nativeAmount,
  type StoragePlugin
} from '../../kernel/index.ts'
import type { CryptoPort } from '../../kernel/io/io.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { type DeviceOptions, openDevice } from './device.ts'
import { passWalletError } from './drawn-runs.ts'
import { makeFaultDisk } from './fault-disk.ts'
import { quickCrypto } from './quick-crypto.ts'

/** The account of these tests, which no server knows. */
export const HERMIT = { username: 'hermit', password: 'Correct horse 1', isDeviceOnly: true } as const

/** Texts that stand in the account, and nowhere outside it. */
export const SECRETS = {
  wallet: 'canary savings',
  note: 'canary note of the rent',
  item: 'canary item of the application'
} as const

/** A world, and the requests to its servers: `METHOD /path`. */
export interface NotedWorld {
  readonly world: FakeWorld
  readonly requests: string[]
}

/** Makes a world, or goes on with a saved one, that notes the requests to its login and sync servers. */
export const makeNotedWorld = (saved?: Json): NotedWorld => {
  const world = makeFakeWorld({ io: makeNodeIo(), ...(saved === undefined ? {} : { saved }) })
  const requests: string[] = []
  world.server.use(async ({ method, path }, next) => {
    // The list of servers is everyone's.
    if (path !== '/v1/edgeServers') requests.push(`${method} ${path}`)
    return next()
  })
  return { world, requests }
}

/** A kernel over files that outlive it, and how often its password cost was paid. */
export interface HermitDevice {
  readonly kernel: Kernel
  readonly context: Context
  readonly files: Map<string, string>
  readonly derivations: { readonly n: number; readonly r: number; readonly p: number }[]
}

/** Opens a device over a disk, or over files in memory. */
export const openHermitDevice = async (
  world: FakeWorld,
  { files = new Map(), disk = makeFaultDisk(files), ...options }: HermitOptions = {}
): Promise<HermitDevice> => {
  const derivations: HermitDevice['derivations'] = []
  const crypto: CryptoPort = {
    ...quickCrypto,
    scrypt: (data, salt, cost, length) => {
      derivations.push(cost)
      return quickCrypto.scrypt(data, salt, cost, length)
    }
  }
  const storage: StoragePlugin = {
    kind: 'storage',
    id: 'files',
    apply: ({ hooks }) => hooks.openDisk.tapPromise('files', async () => disk)
  }
  const io = world.ioFor({ ...makeNodeIo(), crypto })
  const kernel = await openDevice(world, { io, storage, ...options })
  return { kernel, context: kernel.context, files, derivations }
}

interface HermitOptions extends DeviceOptions {
  readonly files?: Map<string, string>
  readonly disk?: Disk
}

/** Puts something of every kind into an account: a wallet with a name, settings, rows of an application, a paid coin with a note. */
export const fillAccount = async (world: FakeWorld, account: Account): Promise<void> => {
  const wallet = await account.createCurrencyWallet('wallet:bitcoin', { name: SECRETS.wallet })
  await account.createCurrencyWallet('wallet:bitcoin', { name: 'archived' })
  const [, archived = ''] = account.getSnapshot().walletIds
  await account.changeWalletStates({ [archived]: { archived: true } })
  await account.dataStore.setItem('notes', 'today', SECRETS.item)
  await account.currencyConfig('bitcoin').changeUserSettings({ disableFetchingServers: true })
  const { publicAddress } = await wallet.getReceiveAddress()
  world.chain.fund(publicAddress, '5000000')
  world.chain.mine(1)
  await wallet.sync()
  const [newest] = await wallet.getTransactions()
  if (newest === undefined) throw new Error('The payment was not seen')
  await wallet.saveTxMetadata(newest.txid, { notes: SECRETS.note })
}

/** Signs a payment that the wallet does not send: an application may have sent it, so its coins stay reserved. */
export const signPayment = async (account: Account): Promise<string> => {
  const [walletId = ''] = account.getSnapshot().activeWalletIds
  const wallet = await account.openWallet(walletId)
  const draft = await wallet.makeSpend({
    tokenId: null,
    spendTargets: [{ publicAddress: SHOP, nativeAmount: nativeAmount('1000000') }]
  })
  return (await wallet.signTx(draft)).txid
}

const SHOP = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'

/** All that a person would miss. */
export const contentsOf = async (account: Account): Promise<unknown> => {
  const wallets = account.listWallets()
  const [walletId = ''] = account.getSnapshot().activeWalletIds
  const wallet = await account.openWallet(walletId)
  await wallet.sync()
  const rows = await wallet.getTransactions()
  return {
    keys: await Promise.all(wallets.map(({ walletId: id }) => account.walletKeys.getRawPrivateKey(id))),
    states: wallets.map(({ archived, deleted, hidden, sortIndex }) => [archived, deleted, hidden, sortIndex]),
    name: wallet.name,
    rows: rows.map(({ txid, nativeAmount, metadata }) => [txid, nativeAmount, metadata.notes]),
    item: await account.dataStore.getItem('notes', 'today').catch(passWalletError),
    settings: account.currencyConfig('bitcoin').getSnapshot().userSettings
  }
}
