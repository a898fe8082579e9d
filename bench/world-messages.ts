import type { DeviceServers } from './bench-device.ts'

/** A chain of the fake world. */
export type BenchChain = 'bitcoin' | 'litecoin'

/** What is in the world at its start: files of a world that was saved, and of a user in the wire format. */
export interface WorldContent {
  readonly saved?: string
  readonly user?: string
}

/** What the process of the fake world is asked: one payment to each address of a chain, some in each block. */
export interface WorldRequest {
  readonly fund: readonly string[]
  readonly chain: BenchChain
}

/** What it says: first where it listens, then that the payments are in blocks and what they sum up to. */
export type WorldReply = { readonly servers: DeviceServers } | { readonly total: string }
