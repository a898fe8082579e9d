import type { Moment } from '../measure.ts'
import type { NotedNetwork } from './noted-network.ts'

// What every work is written against; `own-side.ts` and `peer-side.ts` are the only files that know an interface.

/** A device of one implementation in a world that knows the user of a fixture. */
export interface SideDevice {
  /** Logs in on a device that knows the user. */
  loginWithKey(): Promise<SideAccount>
  /** Logs in where that is not so, too. */
  loginWithPassword(): Promise<SideAccount>
  /** Cuts the network, so that nothing in the background disturbs what follows. */
  goOffline(): Promise<void>
  goOnline(): Promise<void>
  /** The requests of ours. */
  readonly network?: NotedNetwork
  close(): Promise<void>
}

/** An open account. */
export interface SideAccount {
  /** Opens every wallet; resolves to the number of those that are usable, with an engine that was started. */
  openAllWallets(): Promise<number>
  /** The first wallet of the fixture, once it is usable. */
  openFirstWallet(): Promise<SideWallet>
}

/** A transaction as far as a work looks at it. */
export interface SideTransaction {
  readonly txid: string
  readonly metadata?: { readonly notes?: string | undefined } | undefined
}

/** An open wallet. */
export interface SideWallet {
  /** `start` counts from 0, the newest. */
  page(start: number, count: number): Promise<readonly SideTransaction[]>
  all(): Promise<readonly SideTransaction[]>
  search(text: string): Promise<readonly SideTransaction[]>
  searchFirst(text: string, count: number): Promise<readonly SideTransaction[]>
  /** Ours: durable when it resolves. */
  setNote(txid: string, notes: string): Promise<void>
  /**
   * Prepares new transactions, from one number up to another; the function lets the plugin report them in one call.
   *
   * It gives the moment when each has its file: ours on the disk, the peer's in its memory.
   */
  discovery(from: number, to: number): () => Promise<Moment>
  /** The same for a few: the moment when ours are durable, and when the peer has taken them in. */
  arrival(from: number, to: number): () => Promise<Moment>
  /** How many transactions with their files a later start would find, if the process ended now. */
  keptCount(): Promise<number>
  /** How many transaction files a new device has fetched. */
  fetchedCount(): Promise<number>
  /** Leaves the files of transactions, from 0 up to a number, changed and not yet uploaded. */
  changeFiles(count: number): Promise<void>
  /** Brings all changed files to the server, one request after another. */
  upload(): Promise<void>
  /** How many transaction files the server has. */
  uploadedCount(): Promise<number>
}
