import { Credentials } from '../../kernel/account/credentials.ts'
import type { Login } from '../../kernel/login/login.ts'
import { createLogin } from '../../kernel/login/methods/create.ts'
import { loginWithPassword } from '../../kernel/login/methods/password.ts'
import { loginWithPin } from '../../kernel/login/methods/pin.ts'
import type { KernelConfig } from '../../kernel/plugins/services.ts'
import type { LoginStash } from '../../kernel/types/login.ts'
import type { FaultDisk } from './fault-disk.ts'
import {
  CHEAP,
  type LoginDevice,
  type LoginWorld,
  makeLoginWorld,
  openDevice,
  settle
} from './login-device.ts'

/** The account of these tests, with an app's login below its root. */
export const ALICE = { username: 'alice', password: 'correct horse', pin: '4711' } as const

/** The app whose login is below the root. */
const APP = 'test.app'

/** A device, a login on it, and its ways in. */
export interface OpenedDevice extends LoginDevice {
  readonly login: Login
  readonly credentials: Credentials
}

/** A world with Alice's account, and the device that made it. */
export const makeAlice = async (
  options: object = {}
): Promise<{ world: LoginWorld; alice: OpenedDevice }> => {
  const world = makeLoginWorld()
  const device = await openAppDevice(world)
  const login = await createLogin(device.services, device.stashes, { ...ALICE, snrp: CHEAP, ...options })
  await login.ensureAccountRepo()
  await login.refresh()
  return { world, alice: withCredentials(device, login) }
}

/** A device of the app. */
export const openAppDevice = (
  world: LoginWorld,
  files?: Map<string, string>,
  options: { config?: Partial<KernelConfig>; disk?: FaultDisk } = {}
): Promise<LoginDevice> =>
  openDevice(world, files, {
    ...options,
    config: { appId: APP, passwordSnrp: CHEAP, ...options.config }
  })

/** Puts the credentials of a login beside it. */
export const withCredentials = (device: LoginDevice, login: Login): OpenedDevice => {
  const { services } = device
  const logout = async (): Promise<void> => login.close()
  return { ...device, login, credentials: new Credentials({ services, login, logout }) }
}

/** Logs in by password on a device of the app, and waits for the refresh. */
export const openByPassword = async (
  world: LoginWorld,
  files?: Map<string, string>,
  given: { readonly username?: string; readonly password?: string } = {}
): Promise<OpenedDevice> => {
  const device = await openAppDevice(world, files)
  const { username, password } = { ...ALICE, ...given }
  const login = await loginWithPassword(device.services, device.stashes, { username, password })
  await settle()
  return withCredentials(device, login)
}

/** Logs in by PIN on a device of the app. */
export const openByPin = async (
  world: LoginWorld,
  files: Map<string, string>,
  { pin = ALICE.pin, ...options }: { readonly pin?: string; readonly disk?: FaultDisk } = {}
): Promise<OpenedDevice> => {
  const device = await openAppDevice(world, files, options)
  const [user] = device.stashes.localUsers()
  const login = await loginWithPin(device.services, device.stashes, { loginId: user?.loginId ?? '', pin })
  return withCredentials(device, login)
}

/** The stash in the one file of a device. */
export const stashIn = (files: Map<string, string>): LoginStash => {
  const found = [...files].find(([path]) => path.startsWith('logins/'))
  return JSON.parse(found?.[1] ?? '{}')
}

/** `METHOD /path` of each request since the last call. */
export const takeRoutes = (world: LoginWorld): string[] =>
  world.requests.splice(0).map(({ route }) => route.replace('/api/v2', ''))
