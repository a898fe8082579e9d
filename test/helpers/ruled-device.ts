import type { ExecutionContext } from 'ava'
import { type FakeWorld, makeFakeWorld } from '../../fake-server/fake-world.ts'
import { Secret } from '../../kernel/base/secret.ts'
import {
  type Account,
  type CurrencyWallet,
  isWalletError,
  type Kernel,
  nativeAmount,
  type Plugin,
  type SpendInfo,
  type SpendRule,
  type Transaction,
  type WalletError
} from '../../kernel/index.ts'
import type { Disk } from '../../kernel/io/disk.ts'
import { repoIdOf } from '../../kernel/keys/ids.ts'
import { openRepo } from '../../kernel/sync/open-repo.ts'
import type { Repo } from '../../kernel/sync/repo.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { spendRules } from '../../plugins/policy/spend-rules.ts'
import { openDevice, waitFor } from './device.ts'
import { makeFaultDisk } from './fault-disk.ts'
import { LedgerChain, makeLedgerCoin } from './ledger-coin.ts'

/** An hour in milliseconds. */
export const HOUR = 3_600_000
/** The password of Alice, whose account has rules. */
export const PASSWORD = 'Correct horse 1'
/** At most 100 native units a day. */
export const DAILY: SpendRule = {
  ...{ id: 'daily', kind: 'rolling', asset: 'ledger', max: '100', windowHours: 24 }
}

/** A device of Alice with a wallet of the ledger, and the time that a test moves. */
export interface RuledDevice {
  readonly world: FakeWorld
  readonly kernel: Kernel
  readonly account: Account
  readonly wallet: CurrencyWallet
  readonly chain: LedgerChain
  /** The files of its disk, which outlive its process. */
  readonly files: Map<string, string>
  /** Milliseconds that are added to the calendar of the device. */
  skew: number
  /** Replies of the server about lobbies that this device has read. */
  lobbyReplies: number
  /** Milliseconds that have really passed beside the test's own. */
  passed: number
  /** Ends the process and begins another over the same files, with the wallet open. */
  restart(change?: () => Promise<void>): Promise<void>
  /** Opens another device of the account. */
  another(): Promise<RuledDevice>
}

/** Options of {@link openRuledDevice}. */
export interface RuledDeviceOptions {
  readonly plugins?: readonly Plugin[]
  readonly rules?: readonly SpendRule[]
}

/** Makes the account of Alice on a new device, with rules. */
export const openRuledDevice = async (
  t: ExecutionContext,
  { plugins = [spendRules], rules = [] }: RuledDeviceOptions = {}
): Promise<RuledDevice> => {
  // The timers of the io never keep a process alive, and here nothing else does.
  const alive = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(alive))
  const world = makeFakeWorld({ io: makeNodeIo() })
  const time = { passed: 0 }
  const trueNow = (): number => world.clock.now() + time.passed
  const chain = new LedgerChain(trueNow)
  const openOne = async (walletId?: string): Promise<RuledDevice> => {
    const files = new Map<string, string>()
    const device = {
      ...{ world, chain, files, skew: 0, lobbyReplies: 0 },
      get passed() {
        return time.passed
      },
      set passed(milliseconds: number) {
        time.passed = milliseconds
      }
    } as { -readonly [K in keyof RuledDevice]: RuledDevice[K] }
    const start = async (): Promise<void> => {
      const io = world.ioFor(makeNodeIo())
      const startedAt = time.passed
      const clock = {
        ...{ after: io.clock.after.bind(io.clock), turn: () => io.clock.turn() },
        now: () => trueNow() + device.skew,
        monotonic: () => io.clock.monotonic() + time.passed - startedAt
      }
      device.kernel = await openDevice(world, {
        io: {
          ...io,
          clock,
          fetch: async (url, options) => {
            const reply = await io.fetch(url, options)
            if (url.includes('/v2/lobby/')) device.lobbyReplies += 1
            return reply
          }
        },
        storage: {
          kind: 'storage',
          id: 'kept',
          apply: ({ hooks }) => hooks.openDisk.tapPromise('kept', async () => makeFaultDisk(files))
        },
        plugins: [makeLedgerCoin(chain), ...plugins],
        logLevel: 'silent',
        onError: () => {}
      })
    }
    const openWallet = async (id: string): Promise<void> => {
      device.account = await device.kernel.context.loginWithPassword('alice', PASSWORD)
      device.wallet = await device.account.openWallet(id)
      await waitFor(() => device.wallet.engine.getSnapshot().syncRatio === 1)
    }
    device.restart = async change => {
      await device.kernel.close()
      await change?.()
      await start()
      await openWallet(device.wallet.id)
    }
    device.another = () => openOne(device.wallet.id)
    t.teardown(() => device.kernel.close())
    await start()
    if (walletId !== undefined) {
      await openWallet(walletId)
      return device
    }
    device.account = await device.kernel.context.createAccount({ username: 'alice', password: PASSWORD })
    device.wallet = await device.account.createCurrencyWallet('wallet:ledger')
    await waitFor(() => device.wallet.engine.getSnapshot().syncRatio === 1)
    for (const rule of rules) await device.account.policies.add(rule, { password: PASSWORD })
    await device.account.sync()
    return device
  }
  return openOne()
}

/** A payment of the ledger's coin; its fee is 1. */
export const payment = (amount: number, payee = 'shop'): SpendInfo => ({
  tokenId: null,
  spendTargets: [{ publicAddress: payee, nativeAmount: nativeAmount(String(amount)) }]
})

/** Pays, without a review. */
export const pay = async (
  wallet: CurrencyWallet,
  amount: number,
  payee = 'shop',
  requestedBy?: string
): Promise<Transaction> => wallet.spend(await wallet.makeSpend(payment(amount, payee)), { requestedBy })

/** The details of a refusal. @throws what else comes, or Error if nothing was refused */
export const refusalOf = async (work: Promise<unknown>): Promise<WalletError<'SIGN_REFUSED'>['details']> => {
  try {
    await work
  } catch (error) {
    if (isWalletError(error, 'SIGN_REFUSED')) return error.details
    throw error
  }
  throw new Error('It was not refused')
}

/** Mines a block, with a transaction if it is named, and has the wallet see it. */
export const mine = async ({ chain, wallet }: RuledDevice, txid?: string): Promise<void> => {
  chain.mine(txid)
  await wallet.sync()
  await wallet.lookAtOpenPayments()
}

/** Opens a repo of a device whose process has ended, or a copy of its files, as someone with its keys can. */
export type EditRepo = (edit: (repo: Repo) => Promise<unknown>, files?: Map<string, string>) => Promise<void>

/** Takes the keys of a repo, for a change of its files while no process runs. */
export const editorOf = async ({ account, files }: RuledDevice, ownerId: string): Promise<EditRepo> => {
  const keys = await account.walletKeys.getRawPrivateKey(ownerId)
  return (edit, present = files) => editRepo(keys, makeFaultDisk(present), edit)
}

/** Opens a repo of a disk with its keys while no process runs, for a change. */
export const editRepo = async (
  keys: Readonly<Record<string, unknown>>,
  disk: Disk,
  edit: (repo: Repo) => Promise<unknown>
): Promise<void> => {
  const io = makeNodeIo()
  const bytesOf = (name: string): Uint8Array => io.crypto.fromBase64(String(keys[name]))
  const syncKey = bytesOf('syncKey')
  const repo = await openRepo({
    ...{ io, disk, repoId: repoIdOf(io, syncKey) },
    ...{ syncKey: new Secret(syncKey.slice()), dataKey: new Secret(bytesOf('dataKey')) },
    belongsAt: () => true,
    report: error => {
      throw error
    },
    onState: () => {}
  })
  await edit(repo)
  await repo.close()
}

/** As {@link editorOf} for the account's own repo, which holds the rules. */
export const editorOfRules = async (device: RuledDevice): Promise<EditRepo> => {
  const own = device.account.listRepos().find(({ type }) => !type.startsWith('wallet:'))
  return editorOf(device, own?.ownerId ?? '')
}
