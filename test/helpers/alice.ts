import type { LoginRecord } from '../../fake-server/accounts/login-record.ts'
import { TwoFactor } from '../../kernel/account/two-factor.ts'
import type { Login } from '../../kernel/login/login.ts'
import { createLogin } from '../../kernel/login/methods/create.ts'
import { loginWithPassword } from '../../kernel/login/methods/password.ts'
import type { LoginOptions } from '../../kernel/login/online.ts'
import type { KernelConfig } from '../../kernel/plugins/services.ts'
import { CHEAP, type LoginDevice, type LoginWorld, openDevice } from './login-device.ts'
import { recordsOf } from './login-ids.ts'
import { ALICE, type OpenedDevice, withCredentials } from './login-methods.ts'

/** A device on which Alice is logged in, at the root of her account. */
export interface AliceDevice extends OpenedDevice {
  readonly twoFactor: TwoFactor
}

/** What Alice types or has; the device is new without `device`. */
export interface AliceOptions extends LoginOptions {
  readonly device?: LoginDevice
  readonly config?: Partial<KernelConfig>
}

/** Makes Alice's account on a device of hers. */
export const createAlice = async (world: LoginWorld, options: AliceOptions = {}): Promise<AliceDevice> => {
  const device = await deviceOf(world, options)
  const login = await createLogin(device.services, device.stashes, { ...ALICE, snrp: CHEAP })
  return withLogin(device, login)
}

/** Logs Alice in with her password. @throws as `loginWithPassword` */
export const openAlice = async (world: LoginWorld, options: AliceOptions = {}): Promise<AliceDevice> => {
  const device = await deviceOf(world, options)
  const { otp, otpKey } = options
  return withLogin(
    device,
    await loginWithPassword(device.services, device.stashes, { ...ALICE, otp, otpKey })
  )
}

/** What an account offers of a login that is open. */
export const withLogin = (device: LoginDevice, login: Login): AliceDevice => {
  const { services } = device
  return { ...withCredentials(device, login), twoFactor: new TwoFactor({ services, login }) }
}

/** The first login that was made on the server. */
export const recordOf = (world: LoginWorld): LoginRecord => {
  const [record] = recordsOf(world)
  if (record === undefined) throw new Error('The server has no login')
  return record
}

/** The parsed body of the last request to a route. */
export const lastBody = (world: LoginWorld, route: string): LoginWorld['requests'][number]['body'] =>
  world.requests.findLast(request => request.route === route)?.body

const deviceOf = async (world: LoginWorld, { device, config }: AliceOptions): Promise<LoginDevice> =>
  device ?? (await openDevice(world, new Map(), { config: { passwordSnrp: CHEAP, ...config } }))
