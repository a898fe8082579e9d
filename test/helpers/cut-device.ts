import type { Json } from '../../kernel/base/json.ts'
import type { Account, CurrencyWallet, Kernel, NewAccount, Plugin, SwapPlugin } from '../../kernel/index.ts'
import type { Io } from '../../kernel/io/io.ts'
import { type CredentialWorld, makeCredentialWorld, settle } from './credential-world.ts'
import { openDevice } from './device.ts'
import type { Fault, FaultDisk } from './fault-disk.ts'
import { type MemoryKind, makeFaultMedium } from './fault-store.ts'
import { storageOn } from './media.ts'
import { makeToy, toyTransaction } from './toy-currency.ts'

/** How the account of these tests is opened. */
export const CUT_USER = { username: 'alice', password: 'Correct horse 1' } as const

/** The world and the disk that every case of a story begins with. */
export interface CutStart {
  readonly world: Json
  readonly files: ReadonlyMap<string, string>
  /** How a login without username is opened, on the device that has it; undefined for one with a password. */
  readonly loginKey?: string
  /** What the files are on; a disk if it is left out. */
  readonly medium?: MemoryKind
}

/** A device whose power may be cut at a write. */
export interface CutDevice {
  readonly place: CredentialWorld
  readonly files: Map<string, string>
  readonly disk: FaultDisk
  /** What was reported. */
  readonly reports: unknown[]
  /** Starts and logs in; online, if the device does not know the account. */
  logIn(): Promise<Account>
  /** Starts and makes the account. */
  signUp(account: NewAccount): Promise<Account>
  /** Lets time pass until a promise is settled, or the power is off; undefined if it is. */
  until<T>(promise: Promise<T>): Promise<T | undefined>
  /** Ends the process in order. */
  close(): Promise<void>
}

/** Starts the time of a world again. */
export const openCutPlace = (start?: Json): CredentialWorld => makeCredentialWorld(0xc0ffee, start)

/** What may differ between devices. */
export interface CutDeviceOptions {
  readonly fault?: Fault | undefined
  readonly loginKey?: string | undefined
  readonly medium?: MemoryKind | undefined
}

/** Prepares a device over `files`; without power it is not heard of any more. */
export const makeCutDevice = (
  place: CredentialWorld,
  files: Map<string, string>,
  { fault, loginKey, medium = 'disk' }: CutDeviceOptions = {}
): CutDevice => {
  const disk = makeFaultMedium(medium, files, fault)
  const reports: unknown[] = []
  let kernel: Kernel | undefined
  const storage = storageOn(medium, async () => disk)
  const start = async (): Promise<Kernel['context']> => {
    kernel = await openDevice(place.world, {
      io: mutedWith(place.makeIo(), disk),
      storage,
      plugins: cutPlugins(),
      onError: (_, error) => void reports.push(error)
    })
    return kernel.context
  }
  const until = <T>(promise: Promise<T>): Promise<T | undefined> => passTime(place, disk, promise)
  return {
    place,
    files,
    disk,
    reports,
    async logIn() {
      const context = await start()
      if (loginKey === undefined) return context.loginWithPassword(CUT_USER.username, CUT_USER.password)
      const [user] = context.localUsers
      if (user === undefined) throw new Error('The device knows nobody')
      return context.loginWithKey({ loginId: user.loginId }, loginKey)
    },
    signUp: async account => (await start()).createAccount(account),
    until,
    async close() {
      if (kernel !== undefined) await until(kernel.close())
    }
  }
}

/** Opens a wallet once its engine has told its transactions. */
export const openSynced = async (account: Account, walletId: string): Promise<CurrencyWallet> => {
  const wallet = await account.openWallet(walletId)
  const { engine } = wallet
  const isSynced = (): boolean => engine.getSnapshot().syncRatio === 1
  if (!isSynced()) {
    await new Promise<void>(resolve => {
      const stop = engine.subscribe(() => {
        if (!isSynced()) return
        stop()
        resolve()
      })
    })
  }
  return wallet
}

const currency = (id: string, splitTypes: readonly string[]): (() => Plugin) => {
  return () =>
    makeToy({
      id,
      tools: {
        getSplittableTypes: async () => splitTypes,
        getTokenId: async ({ currencyCode }) => currencyCode.toLowerCase()
      },
      engine: (good, { callbacks }) => ({
        async syncNetwork(...parts) {
          callbacks.onTransactionsChanged([toyTransaction('in-1'), toyTransaction('in-2')])
          return (await good.syncNetwork?.(...parts)) ?? 1000
        }
      })
    }).plugin
}

const SHOP: SwapPlugin = {
  ...{ kind: 'swap', id: 'shop', displayName: 'Shop' },
  apply: ({ hooks }) => hooks.fetchQuotes.tapPromise('shop', async () => {})
}
/** The plugins of these accounts besides bitcoin and the storage. */
export const cutPlugins = (): Plugin[] => [...CURRENCIES.map(make => make()), SHOP]

const CURRENCIES = [currency('sourcecoin', ['wallet:sidecoin']), currency('sidecoin', ['wallet:sourcecoin'])]

/** Nothing that a dead device does may reach anybody. */
const mutedWith = (io: Io, disk: FaultDisk): Io => ({
  ...io,
  fetch: (...request) => (disk.isDown ? new Promise(() => {}) : io.fetch(...request))
})

const STEP_MS = 100
const MAX_STEPS = 900

const passTime = async <T>(
  { clock }: CredentialWorld,
  disk: FaultDisk,
  promise: Promise<T>
): Promise<T | undefined> => {
  let end: { readonly value: T } | { readonly error: unknown } | undefined
  promise.then(
    value => {
      end = { value }
    },
    (error: unknown) => {
      end = { error }
    }
  )
  await settle(5)
  for (let step = 0; end === undefined; step += 1) {
    if (disk.isDown) return undefined
    if (step > MAX_STEPS) throw new Error('It does not come to an end')
    await clock.advance(STEP_MS)
  }
  if (disk.isDown) return undefined
  if ('error' in end) throw end.error
  return end.value
}
