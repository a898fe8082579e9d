import { base58 } from '@scure/base'
import type { FakeWorld } from '../../fake-server/fake-world.ts'
import type { TrafficLine } from '../../fake-server/traffic.ts'
import type { FakeUser } from '../../fake-server/users/fake-user.ts'
import { type ChainId, chainIds } from '../../fake-server/world-chain.ts'
import { steerWorld, type WorldSteering } from '../../fake-server/world-driver.ts'
import type { Io } from '../../kernel/index.ts'

/** A user as the servers of a world see it: they do not know its name. Dates are ISO text. */
export interface WorldUser {
  /** Base58. */
  readonly loginId: string
  readonly created: string
  readonly lastLogin: string | null
  /** The root's and those of its apps. */
  readonly logins: number
  readonly hasName: boolean
  readonly hasTwoFactor: boolean
}

/** Which user to take out of a world. The key is base58 and a secret. */
export interface WorldUserKey {
  readonly loginId: string
  readonly loginKey: string
  readonly username?: string | undefined
}

/** What can be done to a fake world from the command line; arguments and results are JSON. */
export interface WorldControl extends WorldSteering {
  /** The chains whose network an address is of. */
  chainsOf(address: string): Promise<readonly ChainId[]>
  /** The time of the world, in milliseconds since 1970. */
  now(): Promise<number>
  /** Moves the time forward by milliseconds; gives the new time. */
  skip(milliseconds: number): Promise<number>
  users(): Promise<readonly WorldUser[]>
  /** Takes a user in the deployed format in; gives its base58 login id. @throws BAD_REPLY, ACCOUNT_EXISTS */
  loadUser(user: unknown): Promise<string>
  /** @throws ACCOUNT_NOT_FOUND, DUMP_OF_CHILD, INVALID_CHECKSUM */
  dumpUser(key: WorldUserKey): Promise<FakeUser>
  /** The requests that are remembered, later than a sequence number. */
  requests(after: number): Promise<readonly TrafficLine[]>
}

/** The control of a world in this process; what it does is saved when it answers. */
export const localControl = (world: FakeWorld): WorldControl => {
  const { chains, clock, server, saved } = world
  return {
    chainsOf: async address => chainIds.filter(id => chains[id].takes(address)),
    ...steerWorld(world),
    now: async () => clock.now(),
    async skip(milliseconds) {
      clock.skip(milliseconds)
      await saved()
      return clock.now()
    },
    users: async () => usersOf(world),
    async loadUser(user) {
      const { loadFakeUser } = await import('../../fake-server/users/load-user.ts')
      const { crypto } = await nodeIo()
      const { loginId } = loadFakeUser({ db: server.db, crypto, clock }, user)
      await saved()
      return base58Of(loginId)
    },
    async dumpUser({ loginId, loginKey, username }) {
      const { dumpFakeUser } = await import('../../fake-server/users/dump-user.ts')
      const io = await nodeIo()
      const key = { loginId: io.crypto.toBase64(base58.decode(loginId)), loginKey: base58.decode(loginKey) }
      return dumpFakeUser({ io, db: server.db, clock }, { ...key, username })
    },
    requests: async after => server.traffic.lines.filter(({ sequence }) => sequence > after)
  }
}

const nodeIo = async (): Promise<Io> => (await import('../../platform/node/index.ts')).makeNodeIo()

const base58Of = (base64: string): string => base58.encode(Buffer.from(base64, 'base64'))

const usersOf = ({ server: { db } }: FakeWorld): WorldUser[] => {
  const countOf = (loginId: string): number =>
    db.childrenOf(loginId).reduce((count, child) => count + countOf(child.loginId), 1)
  return db.roots().map(({ loginId, created, lastLogin, userTextBox, otpKey }) => ({
    loginId: base58Of(loginId),
    created,
    lastLogin: lastLogin ?? null,
    logins: countOf(loginId),
    hasName: userTextBox !== undefined,
    hasTwoFactor: otpKey !== undefined
  }))
}
