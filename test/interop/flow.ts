import type { ExecutionContext } from 'ava'
import type { Device } from './device.ts'
import type { DeviceChoice, InteropWorld } from './interop-world.ts'
import type { PeerVersion } from './peer-package.ts'

/** `→`: made or changed by Holdfast and used by the published core; `←`: the reverse. */
export type Direction = '→' | '←'

/** What {@link Flow.mayReport} is where a flow goes on without a server. */
export const OFFLINE: RegExp = /^sync: NetworkError/

/** Both directions, in the order of the table. */
export const DIRECTIONS: readonly Direction[] = ['→', '←']

/** One story, told of two devices that run different cores and share nothing but servers and, at times, a folder. */
export interface Flow {
  /** Its row of the table; several stories may share one. */
  readonly row: string
  /** A sentence, in which MAKER and USER stand for the two cores. */
  readonly title: string
  /** It mostly waits, so it has a world of its own and goes on beside the others. */
  readonly isSlow?: true
  /** Why this cannot be told of a version in a direction; undefined where it can. */
  lacking?(cell: Cell): string | undefined
  /** What Holdfast may report outside of any call; nothing when left out. */
  readonly mayReport?: RegExp
  run(t: ExecutionContext, pair: Pair): Promise<void>
}

/** A version of the published core and a direction: a column of the table. */
export interface Cell {
  readonly version: PeerVersion
  readonly direction: Direction
}

/** The credentials of an account, as its owner knows them. */
export interface Credentials {
  /** As typed: it is not normalised. */
  readonly username: string
  /** As stored. */
  readonly name: string
  readonly password: string
  readonly pin: string
}

/** The two sides of a story. */
export interface Pair extends Cell {
  readonly world: InteropWorld
  /** Starts a device of the core that makes or changes. */
  openMaker(choice?: DeviceChoice): Promise<Device>
  /** Starts a device of the core that uses. */
  openUser(choice?: DeviceChoice): Promise<Device>
  /** Credentials that no other story has. */
  newCredentials(): Credentials
}

/** An account and the device that it was made on. */
export interface Made extends Credentials {
  readonly device: Device
}

/** Makes an account on a new device of the maker. */
export const makeAccount = async (pair: Pair, choice?: DeviceChoice): Promise<Made> => {
  const credentials = pair.newCredentials()
  const { username, password, pin } = credentials
  const device = await pair.openMaker(choice)
  await device.createAccount({ username, password, pin })
  return { ...credentials, device }
}

/** A new online login of the maker, who then knows what others did. */
export const logInAgain = async ({ device, name, pin }: Made): Promise<void> => {
  await device.logout()
  await device.loginWithPIN({ username: name }, pin)
}

/** A new device of the user, logged in by password. */
export const openKnown = async (
  pair: Pair,
  { username, password }: Credentials,
  choice?: DeviceChoice
): Promise<Device> => {
  const device = await pair.openUser(choice)
  await device.loginWithPassword(username, password)
  return device
}

/** The pair of a version and a direction in a world. */
export const pairOf = (world: InteropWorld, { version, direction }: Cell, nextNumber: () => number): Pair => {
  const { openHoldfast, openPeer } = world
  const [openMaker, openUser] = direction === '→' ? [openHoldfast, openPeer] : [openPeer, openHoldfast]
  return {
    version,
    direction,
    world,
    openMaker,
    openUser,
    newCredentials() {
      const count = nextNumber()
      return {
        username: `Person  No. ${count}`,
        name: `person no. ${count}`,
        password: `correct horse ${count}`,
        pin: '1234'
      }
    }
  }
}

/** The title of a story's test. */
export const titleOf = ({ title }: Flow, { version, direction }: Cell): string => {
  const peer = `edge-core-js ${version}`
  const [maker, user] = direction === '→' ? ['Holdfast', peer] : [peer, 'Holdfast']
  return title.replaceAll('MAKER', maker).replaceAll('USER', user)
}
