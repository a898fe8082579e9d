import type { Json } from '../../kernel/base/json.ts'
import { type Account, isWalletError, type WalletError } from '../../kernel/index.ts'
import { memoryStorage } from '../../plugins/storage/memory.ts'
import {
  type CredentialAction,
  type CredentialPlan,
  type CredentialRound,
  NAMES,
  PASSWORDS,
  PINS,
  type RequestFate
} from './credential-actions.ts'
import {
  CHILD_APP,
  checkApp,
  checkCleanDevice,
  checkDevice,
  checkDone,
  checkRestarted,
  oddReports,
  same
} from './credential-checks.ts'
import { CredentialDevice, type CredentialNet, type SavedDevice } from './credential-device.ts'
import { type CredentialState, isUsable, LOST, type NamedSecret, stateAfter } from './credential-model.ts'
import { makeCredentialWorld, settle } from './credential-world.ts'
import { openDevice } from './device.ts'

/** An account with a wallet, a PIN and the login of one app below it, on three devices; the third has that app. */
export interface CredentialStart {
  readonly world: Json
  readonly devices: readonly [SavedDevice, SavedDevice, SavedDevice]
  /** Base64. */
  readonly rootId: string
}

const [NAME, PASSWORD, PIN] = [NAMES[0], PASSWORDS[0], PINS[0]]

/** Makes what every run begins with. */
export const makeCredentialStart = async (): Promise<CredentialStart> => {
  const place = makeCredentialWorld(0xffff_ffff)
  const save = async (appId: string, isNew = false): Promise<SavedDevice> => {
    const files = new Map<string, string>()
    const kernel = await openDevice(place.world, { io: place.makeIo(), appId, storage: memoryStorage(files) })
    const { context } = kernel
    const account = isNew
      ? await context.createAccount({ username: NAME, password: PASSWORD, pin: PIN })
      : await context.loginWithPassword(NAME, PASSWORD)
    if (isNew) await account.createCurrencyWallet('wallet:bitcoin')
    const loginKey = await account.getLoginKey()
    await account.sync()
    await settle()
    await kernel.close()
    return { appId, loginKey, files }
  }
  const first = await save('', true)
  const child = await save(CHILD_APP)
  // The root's key opens the app's login, too.
  const devices = [first, await save(''), { ...child, loginKey: first.loginKey }] as const
  const stash = [...first.files].find(([path]) => path.startsWith('logins/'))?.[1] ?? '{}'
  return { world: place.world.toJson(), devices, rootId: JSON.parse(stash).loginId }
}

/** Goes through a plan, lets the network be honest, and checks what is left. @throws Error naming the first difference */
export const runPlan = async (start: CredentialStart, { seed, rounds }: CredentialPlan): Promise<void> => {
  const net: CredentialNet = {
    place: makeCredentialWorld(seed, start.world),
    rootId: start.rootId,
    made: [],
    names: [{ name: NAME, since: 0 }],
    late: [],
    acknowledged: new Set()
  }
  const devices = start.devices.map(saved => new CredentialDevice(net, saved))
  const [first, second, child] = devices as [CredentialDevice, CredentialDevice, CredentialDevice]
  for (const device of devices) {
    await device.start()
    await device.logInByKey()
  }
  await settle()
  const keys = new Set<string>()
  for (const round of rounds) {
    await runRound(net, [first, second], round)
    for (const { account } of [first, second]) keepKey(keys, account)
  }
  for (const device of devices) device.makeHonest()
  for (const { deliver } of net.late.splice(0)) await deliver()
  const oldNames = net.made.filter(({ isNameOld, route }) => isNameOld && !route.endsWith('/otp'))
  same(
    oldNames.map(({ route }) => route),
    [],
    'made from a name of long ago'
  )
  const stateNow = (): CredentialState => stateAfter(BEGINNING, net.made, net.rootId)
  await converge(net, devices)
  checkFollowed(stateNow())
  const state = promisedOf(net, stateNow())
  for (const device of devices) await checkDevice(device, state)
  const current = keepKey(keys, first.account)
  same(keepKey(keys, second.account), current, 'recovery keys of both')
  same(current === undefined, state.recovery === undefined, 'recovery is off')
  await checkCleanDevice(net.place, state, { current, all: [...keys] })
  for (const device of devices) await checkRestarted(device, state)
  await checkApp(net.place, child, state)
  await settle()
  for (const device of devices) await device.stop()
  same(oddReports(devices), [], 'reports')
}

const BEGINNING: CredentialState = {
  username: NAME,
  password: { text: PASSWORD, name: NAME },
  pin: { text: PIN, name: NAME },
  pinText: PIN,
  childPin: { text: PIN, name: NAME },
  recovery: undefined,
  otpKey: undefined
}

const runRound = async (
  net: CredentialNet,
  [first, second]: readonly [CredentialDevice, CredentialDevice],
  { actions, fates, seconds }: CredentialRound
): Promise<void> => {
  for (const late of net.late) late.rounds -= 1
  const due = net.late.filter(({ rounds }) => rounds <= 0)
  net.late = net.late.filter(({ rounds }) => rounds > 0)
  const acted = await Promise.allSettled([
    doing(first, actions[0], fates[0]),
    doing(second, actions[1], fates[1]),
    ...due.map(async ({ deliver }) => deliver())
  ])
  await settle()
  if (seconds > 0) await net.place.clock.advance(seconds * 1000)
  acted.forEach((end, index) => {
    const action = actions[index]
    if (action === undefined) return
    if (end.status === 'fulfilled') net.acknowledged.add(action)
    checkEnd(net, action, end)
  })
}

const doing = async (
  device: CredentialDevice,
  action: CredentialAction,
  fates: readonly RequestFate[]
): Promise<void> => {
  const { made } = device.net
  const before = made.length
  await device.runAction(action, fates)
  // A change that asks afterwards shows what the other device has changed since.
  if (made.slice(before).every(change => change.device === device)) await checkDone(device, action)
}

/** Who hears that a change is made can rely on it; who hears nothing of the server, on nothing. */
const checkEnd = (
  net: CredentialNet,
  action: CredentialRound['actions'][number],
  end: PromiseSettledResult<void>
): void => {
  if (end.status === 'rejected') {
    if (!isWalletError(end.reason)) throw end.reason
    if (!FAULT_CODES.has(end.reason.code))
      throw new Error(`${action.kind}: ${end.reason.code}`, { cause: end.reason })
    if (REFUSED_HERE.has(end.reason.code))
      same(isMade(net, action), false, `${action.kind} refused, but made`)
    return
  }
  if (['refresh', 'restart', 'nothing', 'change username'].includes(action.kind)) return
  same(isMade(net, action), true, `${action.kind} made`)
}

/** Below the root, a device may have finished what another one began. */
const isMade = ({ made, rootId }: CredentialNet, action: CredentialAction): boolean =>
  made.some(change => change.action === action && change.body.loginId === rootId)

const REFUSED_HERE: ReadonlySet<string> = new Set(['PIN_MISSING', 'PASSWORD', 'USERNAME_WITHOUT_PASSWORD'])
// A PIN that was made from the name while another device had just changed it holds the ids of that name.
const FAULT_CODES: ReadonlySet<string> = new Set([
  ...REFUSED_HERE,
  'NETWORK',
  'OTP',
  'SERVER',
  'CONFLICT',
  'ACCOUNT_EXISTS'
])

/** Every device hears of everything; one that another has shut out is let in by it. */
const converge = async (net: CredentialNet, devices: readonly CredentialDevice[]): Promise<void> => {
  const refusals = new Map<CredentialDevice, WalletError<'OTP'>>()
  for (const device of devices) {
    await device.account.sync().catch((error: unknown) => {
      if (!isWalletError(error, 'OTP')) throw error
      refusals.set(device, error)
    })
  }
  const holder = devices.find(device => !refusals.has(device))
  if (holder === undefined) await resetOtp(net, [...refusals])
  else for (const { account } of refusals.keys()) await letIn(holder.account, account)
}

const letIn = async (holder: Account, shutOut: Account): Promise<void> => {
  await holder.sync()
  for (const { voucherId } of holder.twoFactor.status.pendingVouchers) {
    await holder.twoFactor.approveVoucher(voucherId)
  }
  await shutOut.sync()
}

/** Two-factor that came to be long after its device gave it up: nobody has the key, so the owner waits a week. */
const resetOtp = async (
  { made, names, place }: CredentialNet,
  refusals: readonly (readonly [CredentialDevice, WalletError<'OTP'>])[]
): Promise<void> => {
  const [first] = refusals
  const enabled = made.findLast(({ route }) => route === 'POST /v2/login/otp')
  if (first === undefined || enabled?.fate !== 'late') throw new Error('Everybody is shut out')
  const [{ kernel }, { details }] = first
  await kernel.context.requestOtpReset(names.at(-1)?.name ?? '', details.resetToken ?? '')
  place.world.clock.skip(WEEK_MS)
  made.push({ ...enabled, route: 'DELETE /v2/login/otp', madeAt: place.clock.now() })
  for (const [device] of refusals) await device.account.sync()
}

const WEEK_MS = 7 * 86_400_000

/** What hangs on the username has followed it, however often the change was cut off. */
const checkFollowed = (state: CredentialState): void => {
  for (const secret of [state.password, state.pin, state.childPin, state.recovery]) {
    const isExpected = secret === undefined || secret.name === LOST || isUsable(state, secret)
    same(isExpected, true, `what is made from ${secret?.name} has followed to ${state.username}`)
  }
}

/**
 * A secret whose change was acknowledged must let its owner in, whatever came in between; one whose call failed may be
 * made from an earlier name, and then nobody knows whether it does.
 */
const promisedOf = ({ acknowledged }: CredentialNet, state: CredentialState): CredentialState => {
  const { username: name, password, pin, childPin, recovery } = state
  const keep = (secret: NamedSecret | undefined): NamedSecret | undefined => {
    if (secret === undefined) return undefined
    const isPromised = secret.action === undefined || acknowledged.has(secret.action)
    return isPromised ? { ...secret, name } : secret
  }
  return {
    ...state,
    password: keep(password),
    pin: keep(pin),
    childPin: keep(childPin),
    recovery: keep(recovery)
  }
}

const keepKey = (keys: Set<string>, account: CredentialDevice['account']): string | undefined => {
  try {
    const key = account.credentials.getRecoveryKey()
    keys.add(key)
    return key
  } catch (error) {
    if (isWalletError(error, 'RECOVERY_KEY_MISSING')) return undefined
    throw error
  }
}
