import type { JsonObject } from '../kernel/index.ts'
import type { View } from './output/view.ts'

/** What a command gives back: facts for scripts, and a view of them for people. */
export interface CommandResult {
  readonly data: JsonObject
  readonly view: View
  /** 0 if left out; 9 for a batch of which some parts failed, each told in the data. */
  readonly exitCode?: number
  /** What went wrong beside the result, one sentence each. */
  readonly warnings?: readonly string[]
  /** What a person may want to do now, one sentence each; said after the result. */
  readonly advice?: readonly string[]
}
