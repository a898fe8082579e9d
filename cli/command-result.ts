import type { JsonObject } from '../kernel/index.ts'
import type { View } from './output/view.ts'

/** What a command gives back: facts for scripts, and a view of them for people. */
export interface CommandResult {
  readonly data: JsonObject
  readonly view: View
  /** What went wrong beside the result, one sentence each. */
  readonly warnings?: readonly string[]
  /** What a person may want to do now, one sentence each; said after the result. */
  readonly advice?: readonly string[]
}
