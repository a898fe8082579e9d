import type { Cost } from './measure.ts'

/** A promise of the project, and how it stands. */
export interface Goal {
  /** Such as `at most 20 ms above scrypt`. */
  readonly text: string
  readonly measured: number
  readonly isMet: boolean
}

/** One measured line. */
export interface Row {
  readonly name: string
  readonly cpuMs?: number
  readonly wallMs?: number
  /** Further figures, by name. */
  readonly facts?: Readonly<Record<string, number | string>>
  readonly goals?: readonly Goal[]
}

/** What one section measured. */
export interface SectionResult {
  readonly rows: readonly Row[]
  /** What a reader must know to read the figures rightly. */
  readonly notes: readonly string[]
}

/** What a section may use. */
export interface SectionContext {
  /** Where the published peer is installed; undefined if it could not be had. */
  readonly peerFolder: string | undefined
  /** Every size, also those for which the peer takes minutes. */
  readonly isFull: boolean
  /** A folder that all sections of a run share and that ends with it. */
  readonly folder: string
  /** Where the works of sizes leave their profiles. */
  readonly profileFolder?: string | undefined
}

/** One part of the benchmark. Throws if a result is wrong: a fast wrong answer counts for nothing. */
export type Section = (context: SectionContext) => Promise<SectionResult>

/** What a section prints from when on all that it does is wait: the next one begins then. */
export const WAITS_LINE = 'All that it does now is wait.'

/** A row from a cost, with goals or facts if there are any. */
export const rowOf = (
  name: string,
  { cpuMs, wallMs }: Cost,
  more: Pick<Row, 'facts' | 'goals'> = {}
): Row => ({ name, cpuMs, wallMs, ...more })

/** A goal that is met up to a limit. */
export const atMost = (text: string, measured: number, limit: number): Goal => ({
  text,
  measured,
  isMet: measured <= limit
})

/** A goal that is met from a limit. */
export const atLeast = (text: string, measured: number, limit: number): Goal => ({
  text,
  measured,
  isMet: measured >= limit
})

/** Checks a result. @throws Error if it is wrong */
export const check = (isRight: boolean, what: string): void => {
  if (!isRight) throw new Error(`Wrong result: ${what}`)
}
