import test from 'ava'
import type { CredentialAction, CredentialRound, RequestFate } from '../helpers/credential-actions.ts'
import { makeCredentialStart, runPlan } from '../helpers/credential-run.ts'

// Each was found by test/proofs/credential-changes.test.ts.

const NOTHING: CredentialAction = { kind: 'nothing' }
const UNSEEN: RequestFate = { kind: 'unseen' }

const round = (
  first: CredentialAction,
  second: CredentialAction,
  more: Partial<CredentialRound> = {}
): CredentialRound => ({ actions: [first, second], fates: [[], []], seconds: 0, ...more })

const passes = test.macro(async (t, rounds: readonly CredentialRound[]) => {
  await t.notThrowsAsync(runPlan(await makeCredentialStart(), { seed: 1, rounds }))
})

test(
  'a device learns of a PIN that another device deleted, although the login equals an earlier state again',
  passes,
  [
    round(NOTHING, { kind: 'delete pin' }, { seconds: 61 }),
    round(NOTHING, { kind: 'change pin', pin: '1111' }),
    round({ kind: 'delete pin' }, NOTHING)
  ]
)

test('a device without a refresh for a minute makes a new password from the present username', passes, [
  round({ kind: 'change username', username: 'carol' }, NOTHING, {
    fates: [[], [UNSEEN, UNSEEN]],
    seconds: 61
  }),
  round(NOTHING, { kind: 'change password', password: 'second secret' })
])

test('an account that another device renamed shows the new name', passes, [
  round({ kind: 'change username', username: 'bob' }, NOTHING),
  round(NOTHING, { kind: 'refresh' })
])

test('a lost reply to switching two-factor on locks out neither this device nor another', passes, [
  round({ kind: 'enable otp' }, NOTHING, { fates: [[{ kind: 'reply lost' }], []], seconds: 31 })
])

test('two-factor that is switched on long after its device gave up ends with a reset', passes, [
  round({ kind: 'enable otp' }, NOTHING, { fates: [[{ kind: 'late', rounds: 2 }], []] }),
  round(NOTHING, { kind: 'change pin', pin: '2222' }, { seconds: 61 }),
  round(NOTHING, NOTHING)
])

const RENAME: CredentialAction = { kind: 'change username', username: 'bob' }
const SECRETS: readonly CredentialAction[] = [
  { kind: 'change password', password: 'second secret' },
  { kind: 'change pin', pin: '2222' },
  { kind: 'change pin', pin: '2222', enableLogin: true },
  { kind: 'change recovery', answer: 'red' }
]

test('a secret that is set right after a rename on another device logs in', async t => {
  const start = await makeCredentialStart()
  for (const secret of SECRETS) {
    await t.notThrowsAsync(
      runPlan(start, { seed: 1, rounds: [round(RENAME, NOTHING), round(NOTHING, secret)] })
    )
  }
})

test('a secret that is set while another device renames the account logs in, whichever request is slow', async t => {
  const start = await makeCredentialStart()
  const slow = (mutex: number): RequestFate => ({ kind: 'slow request', mutex })
  const late: RequestFate[][] = [[], [{ kind: 'served' }, slow(4)], [{ kind: 'served' }, slow(12)]]
  for (const secret of SECRETS.slice(0, 2)) {
    for (const fates of late) {
      const rounds = [round(RENAME, secret, { fates: [[], fates] }), round(NOTHING, NOTHING)]
      await t.notThrowsAsync(runPlan(start, { seed: 1, rounds }), JSON.stringify([secret, fates]))
    }
  }
})
