import { isWalletError } from '../../kernel/index.ts'
import type { LoginStash } from '../../kernel/types/login.ts'
import { memoryStorage } from '../../plugins/storage/memory.ts'
import { ANSWERS, type CredentialAction, NAMES, PASSWORDS, PINS } from './credential-actions.ts'
import type { CredentialDevice } from './credential-device.ts'
import { type CredentialState, isLost, isUsable, type NamedSecret } from './credential-model.ts'
import type { CredentialWorld } from './credential-world.ts'
import { openDevice } from './device.ts'
import { listedWallets } from './listed-wallets.ts'

/** Fails unless two things are equal. */
export const same = (actual: unknown, expected: unknown, what: string): void => {
  const [left, right] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (left !== right) throw new Error(`${what}: ${left} instead of ${right}`)
}

/** The outcome of a login: `in`, or the code of the refusal. */
const tryIn = async (login: () => Promise<{ logout(): Promise<void> }>): Promise<string> => {
  try {
    const account = await login()
    await account.logout()
    return 'in'
  } catch (error) {
    if (isWalletError(error)) return error.code
    throw error
  }
}

/** The PIN that logs in on a device; a change that was cut off between the two leaves the app's PIN as it was. */
const pinOf = ({ appId }: CredentialDevice, { pin, childPin }: CredentialState): NamedSecret | undefined =>
  pin ?? (appId === '' ? undefined : childPin)

const wantedOfPin = (state: CredentialState, known: NamedSecret | undefined, pin: string): string => {
  if (known === undefined) return 'PIN_NOT_ENABLED'
  if (!isUsable(state, known)) return 'ACCOUNT_NOT_FOUND'
  return known.text === pin ? 'in' : 'PASSWORD'
}

/** A device that has made a change shows it before it hears of anything else. */
export const checkDone = async (device: CredentialDevice, action: CredentialAction): Promise<void> => {
  const { credentials, twoFactor } = device.account
  switch (action.kind) {
    case 'change password':
      return same(await credentials.checkPassword(action.password), true, 'new password')
    case 'delete password':
      for (const password of PASSWORDS) same(await credentials.checkPassword(password), false, 'no password')
      return same(device.stash.passwordBox, undefined, 'no password box')
    case 'change pin':
      if (action.pin !== undefined) same(device.pin, action.pin, 'new PIN')
      if (action.enableLogin !== undefined)
        same(credentials.isPinLoginEnabled, action.enableLogin, 'new PIN login')
      return
    case 'delete pin':
      same(device.pin, undefined, 'no PIN')
      return same(credentials.isPinLoginEnabled, false, 'no PIN login')
    case 'change recovery':
    case 'delete recovery':
      return same(credentials.hasRecovery, action.kind === 'change recovery', 'recovery')
    case 'enable otp':
    case 'disable otp':
      return same(twoFactor.status.isEnabled, action.kind === 'enable otp', 'two-factor')
    case 'change username':
      return same(device.account.username, action.username, 'new username')
  }
}

/** What a logged-in device says is enabled is what the changes left. */
export const checkDevice = async (device: CredentialDevice, state: CredentialState): Promise<void> => {
  const { account } = device
  const { credentials, twoFactor } = account
  same(account.username, state.username, 'username')
  same(credentials.isPinLoginEnabled, pinOf(device, state) !== undefined, 'PIN login')
  same(device.pin, state.pinText, 'PIN')
  same(twoFactor.getOtpKey(), state.otpKey, 'code key')
  for (const password of PASSWORDS) {
    if (isLost(state, state.password)) continue
    const isIt = isUsable(state, state.password) && state.password.text === password
    same(await credentials.checkPassword(password), isIt, `checkPassword ${password}`)
  }
  same(listedWallets(account).length, device.appId === '' ? 1 : 0, 'wallets')
}

/** On a device that never saw the account, exactly what is enabled logs in. */
export const checkCleanDevice = async (
  place: CredentialWorld,
  state: CredentialState,
  { current, all }: { readonly current: string | undefined; readonly all: readonly string[] }
): Promise<void> => {
  const kernel = await openDevice(place.world, { io: place.makeIo(), storage: memoryStorage() })
  const { context } = kernel
  const { otpKey } = state
  const help = otpKey === undefined ? {} : { otpKey }
  const forget = async (): Promise<void> => {
    for (const { loginId } of context.localUsers) await context.forgetAccount({ loginId })
  }
  for (const name of NAMES) {
    for (const password of isLost(state, state.password) ? [] : PASSWORDS) {
      const isIt =
        name === state.username && isUsable(state, state.password) && state.password.text === password
      if (isIt && otpKey !== undefined) {
        same(await tryIn(() => context.loginWithPassword(name, password)), 'OTP', 'password without a code')
        await forget()
      }
      const outcome = await tryIn(() => context.loginWithPassword(name, password, help))
      const refusal = name === state.username ? 'PASSWORD' : 'ACCOUNT_NOT_FOUND'
      same(outcome, isIt ? 'in' : refusal, `${name} with ${password}`)
      await forget()
    }
    for (const key of all) {
      if (key === current && isLost(state, state.recovery)) continue
      for (const answer of ANSWERS) {
        const isKey = key === current && isUsable(state, state.recovery) && name === state.username
        const isIt = isKey && state.recovery?.text === answer
        const outcome = await tryIn(() => context.loginWithRecovery2(key, name, [answer], help))
        const wanted = isIt ? 'in' : isKey ? 'PASSWORD' : 'ACCOUNT_NOT_FOUND'
        same(outcome, wanted, `recovery of ${name} with ${answer}`)
        await forget()
      }
    }
  }
  await kernel.close()
}

/** After a start, exactly what is enabled logs in on this device, too. */
export const checkRestarted = async (device: CredentialDevice, state: CredentialState): Promise<void> => {
  await device.stop()
  await device.start()
  const { context } = device.kernel
  const { user } = device
  const { world } = device.net.place
  const known = pinOf(device, state)
  same(context.localUsers[0]?.isPinLoginEnabled, known !== undefined, 'PIN login of a user')
  for (const pin of isLost(state, known) ? [] : PINS) {
    const wanted = wantedOfPin(state, known, pin)
    same(await tryIn(() => context.loginWithPIN(user, pin)), wanted, `PIN ${pin}`)
  }
  for (const name of NAMES) {
    for (const password of isLost(state, state.password) ? [] : PASSWORDS) {
      const isIt =
        name === state.username && isUsable(state, state.password) && state.password.text === password
      world.setOnline(false)
      const offline = await tryIn(() => context.loginWithPassword(name, password))
      world.setOnline(true)
      same(offline, isIt ? 'in' : 'NETWORK', `offline ${name} with ${password}`)
      if (isIt) continue
      const refusal = name === state.username ? 'PASSWORD' : 'ACCOUNT_NOT_FOUND'
      same(await tryIn(() => context.loginWithPassword(name, password)), refusal, `${name} with ${password}`)
    }
  }
  await device.logInByKey()
}

/** A device that holds the app's login and nothing of the root, as an approved one does, logs in by the app's PIN. */
export const checkApp = async (
  place: CredentialWorld,
  device: CredentialDevice,
  state: CredentialState
): Promise<void> => {
  const files = new Map([[device.stashPath, JSON.stringify(withoutRoot(device.stash))]])
  const kernel = await openDevice(place.world, {
    io: place.makeIo(),
    appId: CHILD_APP,
    storage: memoryStorage(files)
  })
  const [user] = kernel.context.localUsers
  const { childPin } = state
  for (const pin of isLost(state, childPin) ? [] : PINS) {
    const outcome = await tryIn(() => kernel.context.loginWithPIN({ loginId: user?.loginId ?? '' }, pin))
    same(outcome, wantedOfPin(state, childPin, pin), `PIN ${pin} of the app`)
  }
  await kernel.close()
}

export const CHILD_APP = 'com.example.child'

/** What a device is given that is let in to an app alone (protocol §4.7). */
const withoutRoot = ({ appId, loginId, username, children }: LoginStash): LoginStash => ({
  appId,
  loginId,
  pendingVouchers: [],
  ...(username === undefined ? {} : { username }),
  ...(children === undefined ? {} : { children })
})

/** Reports of a run, but what trouble on the way explains. */
export const oddReports = (devices: readonly CredentialDevice[]): unknown[] =>
  devices
    .flatMap(({ reports }) => reports)
    .filter(error => !isWalletError(error, 'OTP') && !isWalletError(error, 'NETWORK'))
    .map(error => (isWalletError(error) ? error.code : error))
