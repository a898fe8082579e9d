import type { Moment } from '../measure.ts'
import type { StallCost } from '../stall.ts'
import type { FixtureUser } from './fixture.ts'
import type { OwnPlace } from './own-kernel.ts'
import type { PeerPlace } from './peer-side.ts'
import type { SideDevice } from './side.ts'

/** The works that are measured; each has a file in `works`. */
export type WorkName =
  | 'startup'
  | 'discover'
  | 'first-view'
  | 'list'
  | 'search'
  | 'change'
  | 'new-device'
  | 'upload'

/** One work of one side, to be done in a fresh process. */
export interface Job extends WorkOptions {
  readonly work: WorkName
  /** A folder for a profile of each step. */
  readonly profileFolder?: string
  readonly place: ({ readonly side: 'own' } & OwnPlace) | ({ readonly side: 'peer' } & PeerPlace)
}

/** What some works want to know besides. */
export interface WorkOptions {
  /** How many transactions or files are new, besides those of the fixture. */
  readonly newCount: number
  /** How long to idle at the end; 0 for not at all. */
  readonly idleMs: number
  /** Of the rounds of one work: what is seen once, because it takes long, is seen then. */
  readonly isLast: boolean
}

/** What a job came to. */
export interface JobResult {
  readonly steps: Readonly<Record<string, StallCost>>
  /** Further figures by name. */
  readonly facts: Readonly<Record<string, number>>
}

/** What a work is given. */
export interface WorkContext extends WorkOptions {
  readonly user: FixtureUser
  readonly device: SideDevice
  /** The folder of our device; undefined for the peer. */
  readonly folder: string | undefined
  /** Measures a step; of one that is measured again, the median counts. */
  step<T>(name: string, work: () => Promise<T>): Promise<T>
  /** The same for work that tells the moment when it was done. */
  stepUntil(name: string, work: () => Promise<Moment>): Promise<void>
  /** Keeps a figure under a name. */
  fact(name: string, value: number): void
}

/** Does one work and checks that the results are right. @throws Error if one is wrong */
export type Work = (context: WorkContext) => Promise<void>
