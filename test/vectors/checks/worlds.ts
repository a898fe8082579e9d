import type { ExecutionContext } from 'ava'
import { type FakeWorld, makeFakeWorld } from '../../../fake-server/fake-world.ts'
import { deviceFilesOf } from '../../../fake-server/users/device-files.ts'
import { loadFakeUser } from '../../../fake-server/users/load-user.ts'
import type { Account, Context, Kernel, LocalUser } from '../../../kernel/index.ts'
import { memoryStorage } from '../../../plugins/storage/memory.ts'
import { openDevice } from '../../helpers/device.ts'
import type { Untyped } from '../../helpers/login-device.ts'
import { makeToy } from '../../helpers/toy-currency.ts'
import type { Vector } from '../vector.ts'
import { eachVector, type GroupCheck, io } from './check.ts'

/** The currency of the users' tokens and settings. */
const LABCOIN = [makeToy({ id: 'labcoin' }).plugin]

/** Whole users that were made by hand: each way in works, on a device that knows them and on one that does not. */
export const checkWorld: GroupCheck = eachVector(async (t, vector) => {
  const world = makeFakeWorld({ io })
  const { db } = world.server
  loadFakeUser({ db, crypto: io.crypto, clock: world.clock }, vector.inputs.fakeUser)
  await checkKnownDevice(t, world, vector)
  await checkNewDevice(t, world, vector)
  await world.close()
})

const checkKnownDevice = async (t: ExecutionContext, world: FakeWorld, vector: Vector): Promise<void> => {
  const { username, pin, loginKey_base58: loginKey } = vector.inputs.credentials
  const files = new Map(deviceFilesOf({ io, clock: world.clock }, [vector.inputs.fakeUser]))
  const open = (): Promise<Kernel> => openDevice(world, { plugins: LABCOIN, storage: memoryStorage(files) })
  const first = await open()
  t.deepEqual(first.context.localUsers.map(jsonOf), [vector.outputs.localUser], vector.id)
  await first.close()
  // A kernel for each, because an account that is open is not opened again.
  const user = { username }
  const ways: readonly ((context: Context) => Promise<Account>)[] = [
    context => context.loginWithKey(user, loginKey),
    context => context.loginWithPIN(user, pin),
    ...waysOf(vector)
  ]
  for (const logIn of ways) await checkLogin(t, { open, logIn, vector })
}

const checkNewDevice = async (t: ExecutionContext, world: FakeWorld, vector: Vector): Promise<void> => {
  const open = (): Promise<Kernel> => openDevice(world, { plugins: LABCOIN })
  for (const logIn of waysOf(vector)) await checkLogin(t, { open, logIn, vector })
}

/** The ways in that need no device. */
const waysOf = ({ inputs: { credentials } }: Vector): ((context: Context) => Promise<Account>)[] => {
  const { username, password, answers, recoveryKey_base58: recoveryKey, otpKey_base32: otpKey } = credentials
  const help = otpKey === undefined ? {} : { otpKey }
  const withPassword = (context: Context): Promise<Account> =>
    context.loginWithPassword(username, password, help)
  const withAnswers = (context: Context): Promise<Account> =>
    context.loginWithRecovery2(recoveryKey, username, answers, help)
  return recoveryKey === undefined ? [withPassword] : [withPassword, withAnswers]
}

interface Way {
  readonly open: () => Promise<Kernel>
  readonly logIn: (context: Context) => Promise<Account>
  readonly vector: Vector
}

const checkLogin = async (t: ExecutionContext, { open, logIn, vector }: Way): Promise<void> => {
  const { inputs, outputs, id } = vector
  const kernel = await open()
  try {
    const account = await logIn(kernel.context)
    t.is(account.username, inputs.credentials.username, id)
    t.is((await account.getLoginKey()), inputs.credentials.loginKey_base58, id)
    t.is(account.rootLoginId, outputs.localUser.loginId, id)
    const expected: Untyped[] = outputs.account.allKeys
    t.deepEqual(
      account.listWallets().map(stateOf),
      expected.map(keyOf).sort((left, right) => left.sortIndex - right.sortIndex),
      id
    )
    const { legacyWalletKeys, customTokens, userSettings = {}, dataStoreItem } = outputs.account
    const labcoin = account.currencyConfig('labcoin').getSnapshot()
    t.deepEqual({ ...labcoin.customTokens }, customTokens, id)
    t.deepEqual(labcoin.userSettings, userSettings, id)
    if (dataStoreItem !== undefined) t.is(await account.dataStore.getItem('shop', 'cart'), dataStoreItem, id)
    if (legacyWalletKeys === undefined) return
    const keys = (await account.walletKeys.getRawPrivateKey(inputs.plaintext.legacyWalletId))
    t.deepEqual(keys, legacyWalletKeys, id)
  } finally {
    await kernel.close()
  }
}

const keyOf = ({ id: walletId, ...rest }: Untyped): Untyped => stateOf({ walletId, ...rest })

const stateOf = ({ currencyInfo: _, isWallet: __, ...listing }: Untyped): Untyped => listing

// A recovery key is not among the fields that are copied or written.
const jsonOf = ({ isKeyLoginEnabled, isPinLoginEnabled, lastLogin, recovery2Key, ...user }: LocalUser): object => ({
  ...user,
  ...(recovery2Key === undefined ? {} : { recovery2Key }),
  keyLoginEnabled: isKeyLoginEnabled,
  pinLoginEnabled: isPinLoginEnabled,
  ...(lastLogin === undefined ? {} : { lastLogin: lastLogin.toISOString() })
})
