import type { CommandNames, CommandWords } from './command-line.ts'
import type { Field } from './schema.ts'
import type { ActionServices } from './services.ts'

/**
 * What an action does at most. `reads`: changes nothing in the account or on this device, though it may make requests.
 * `changes`: changes something that can be changed back, or drafts what is approved later. `pays`: money can leave.
 * `loses`: something is gone for good.
 */
export type ActionEffect = 'changes' | 'loses' | 'pays' | 'reads'

/** Where a face offers an action, or why it does not. */
export type Face = string | { readonly none: string }

/** A command that does the same as an action by other means, and why. */
export interface OwnCommand {
  readonly command: string
  /** Why it does not run the action. */
  readonly own: string
}

/** The faces of the product. */
export interface Faces {
  /** The command that runs it. */
  readonly cli: Face | OwnCommand
  /** The file below `devtools/react` that has its form or button, without the extension. */
  readonly panel: Face
  /** `tool`: a program may use it, within its scope. */
  readonly mcp: 'tool' | { readonly none: string }
}

/**
 * One action, declared once: CLI, panel and programs derive all they know of it from here. `title` and `summary` are fixed
 * texts, without anything of a user or a server.
 */
export interface ActionDeclaration<In, Out> {
  readonly title: string
  readonly summary: string
  readonly effect: ActionEffect
  /** It is about an address or a txid itself: of no use where these are hidden. */
  readonly isAboutAddresses?: true
  readonly input: Field<In>
  readonly output: Field<Out>
  /** Runs with an input that was checked. @throws ActionError, and what the kernel throws */
  run(services: ActionServices, input: In): Promise<Out>
  /** Reports that its result may be another one, until the returned function is called; left out: it is not watched. @throws as run */
  watch?(services: ActionServices, input: In, onChange: () => void): () => void
  /** When time alone makes its result another one, in milliseconds since 1970. */
  changesAt?(output: Out): number | undefined
  /** The command that does the same with this input. */
  commandLine(input: In, names: CommandNames): CommandWords | undefined
  readonly faces: Faces
}

/** The declarations of a group of actions, whose inputs and results are those of the group. */
export type DeclarationsOf<Group> = {
  readonly [K in keyof Group]: Group[K] extends { readonly in: infer In; readonly out: infer Out }
    ? ActionDeclaration<In, Out>
    : never
}
