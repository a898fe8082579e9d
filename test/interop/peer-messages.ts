import type { FakeUser } from '../../fake-server/users/fake-user.ts'
import type { JsonObject } from '../../kernel/index.ts'
import type { DeviceCalls, DuressCalls } from './device.ts'
import type { PeerVersion } from './peer-package.ts'

/** What the process of a peer is started with. */
export interface PeerPlace {
  readonly version: PeerVersion
  /** The folder that the package was installed in. */
  readonly packageFolder: string
  /** Where the device keeps its files. */
  readonly folder: string
  readonly appId: string
  readonly deviceDescription: string
  /** Base address of all servers. */
  readonly server: string
  /** Users of a test world of its own, in which the device then lives instead (protocol §2.11). */
  readonly users?: readonly FakeUser[]
}

/** What a peer in a test world of its own can do besides. */
export interface TestWorldCalls {
  /** The user that is logged in, in the deployed format of test users. */
  dumpUser(): Promise<FakeUser>
}

/** What version 2 of the published core can note besides. */
export interface ActionCalls {
  /** Notes what a transaction was for. */
  saveAction(walletId: string, txid: string, action: JsonObject): Promise<void>
}

/** All that a peer can be asked to do. */
export type PeerCalls = DeviceCalls & DuressCalls & TestWorldCalls & ActionCalls

/** One call, as it travels to the process. */
export interface PeerRequest {
  readonly id: number
  readonly call: keyof PeerCalls
  readonly args: readonly unknown[]
}

/** Its end, as it travels back. An error keeps its name and its plain fields. */
export interface PeerReply {
  readonly id: number
  readonly result?: unknown
  readonly error?: { readonly message: string } & Readonly<Record<string, unknown>>
}
