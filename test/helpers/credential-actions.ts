import fc from 'fast-check'

/** Few of each, so that they meet again. */
export const NAMES: readonly [string, ...string[]] = ['alice', 'bob', 'carol']
export const PASSWORDS: readonly [string, ...string[]] = ['first secret', 'second secret', 'third secret']
export const PINS: readonly [string, ...string[]] = ['1111', '2222', '3333']
export const ANSWERS: readonly [string, ...string[]] = ['red', 'green']

/** What somebody does on a device. */
export type CredentialAction =
  | { readonly kind: 'change password'; readonly password: string }
  | { readonly kind: 'delete password' }
  | { readonly kind: 'change pin'; readonly pin?: string; readonly enableLogin?: boolean }
  | { readonly kind: 'delete pin' }
  | { readonly kind: 'change recovery'; readonly answer: string }
  | { readonly kind: 'delete recovery' }
  | { readonly kind: 'enable otp' }
  | { readonly kind: 'disable otp' }
  | { readonly kind: 'change username'; readonly username: string }
  | { readonly kind: 'refresh' }
  | { readonly kind: 'restart'; readonly by: 'password' | 'pin' | 'key' }
  | { readonly kind: 'nothing' }

/**
 * What becomes of one request of a device.
 *
 * `late`: the device hears of no answer, and the server gets the request when so many rounds have passed.
 * `slow`: the request, or the reply, takes so many turns of the event loop.
 */
export type RequestFate =
  | { readonly kind: 'served' | 'unseen' | 'reply lost' | 'twice' }
  | { readonly kind: 'late'; readonly rounds: number }
  | { readonly kind: 'slow request' | 'slow reply'; readonly mutex: number }

/** What both devices do at one time, and what becomes of their requests, in order; later ones are served. */
export interface CredentialRound {
  readonly actions: readonly [CredentialAction, CredentialAction]
  readonly fates: readonly [readonly RequestFate[], readonly RequestFate[]]
  /** How much time passes afterwards. */
  readonly seconds: number
}

/** One run: where chance begins, and its rounds. */
export interface CredentialPlan {
  readonly seed: number
  readonly rounds: readonly CredentialRound[]
}

const anyAction: fc.Arbitrary<CredentialAction> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('change password'), password: fc.constantFrom(...PASSWORDS) })
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'delete password' }) },
  {
    weight: 4,
    arbitrary: fc.record(
      { kind: fc.constant('change pin'), pin: fc.constantFrom(...PINS), enableLogin: fc.boolean() },
      { requiredKeys: ['kind'] }
    )
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'delete pin' }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('change recovery'), answer: fc.constantFrom(...ANSWERS) })
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'delete recovery' }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'enable otp' }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'disable otp' }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('change username'), username: fc.constantFrom(...NAMES) })
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'refresh' }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('restart'), by: fc.constantFrom('password', 'pin', 'key') })
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'nothing' }) }
) as fc.Arbitrary<CredentialAction>

const anyFate: fc.Arbitrary<RequestFate> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: 'served' }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'unseen' }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'reply lost' }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'twice' }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('late'), rounds: fc.integer({ min: 1, max: 3 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('slow request', 'slow reply'),
      mutex: fc.integer({ min: 1, max: 12 })
    })
  }
) as fc.Arbitrary<RequestFate>

const anyFates = fc.array(anyFate, { maxLength: 4 })

/** Any run of a few rounds. */
export const anyPlan: fc.Arbitrary<CredentialPlan> = fc.record({
  seed: fc.nat(),
  rounds: fc.array(
    fc.record({
      actions: fc.tuple(anyAction, anyAction),
      fates: fc.tuple(anyFates, anyFates),
      seconds: fc.constantFrom(0, 31, 61)
    }),
    { minLength: 1, maxLength: 6 }
  )
})
