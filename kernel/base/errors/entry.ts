/** One row of the error catalogue: everything that a person or a script learns about a failure. */
export interface ErrorEntry<Details> {
  /** The class name that interfaces of the deployed system recognise, such as `PasswordError`. */
  readonly name: string
  /** The exit code of the command line for this failure; `docs/errors.md` lists them. */
  readonly exitCode: number
  /** One sentence; a quoted message of specification §8 stands here word for word. */
  readonly message: (details: Details) => string
  /** The next step for the user, in one sentence. */
  readonly hint?: (details: Details) => string | undefined
  /** A command that helps, and why. */
  readonly next?: (details: Details) => NextCommand
  /** True if the same call may succeed later without a change by the user. */
  readonly retryable?: boolean
  /** Details that prove something: read by name only, never printed, listed or copied. */
  readonly secretDetails?: readonly (keyof Details & string)[]
}

/** A command line to run after a failure, with the reason to run it. */
export interface NextCommand {
  readonly command: string
  readonly why: string
}

/** Details of an error that carries none. */
export type NoDetails = Record<never, never>
