import { readFileSync } from 'node:fs'
import test from 'ava'
import { FakeServer } from '../../fake-server/routes/fake-server.ts'
import { makeNobleCrypto } from '../../kernel/crypto/noble-crypto.ts'

interface Exchange {
  readonly method: string
  readonly path: string
  readonly request?: unknown
  readonly status: number
  readonly response?: unknown
}

interface Step {
  readonly label: string
  readonly exchanges?: readonly Exchange[]
}

const { steps } = JSON.parse(readFileSync('test/fixtures/transcripts.json', 'utf8')) as { steps: Step[] }

/** A field in which we answer otherwise than the recorded server. */
interface Mended {
  /** The field, with its place in the answer. */
  readonly field: RegExp
  /** The steps where it differs; all of them when absent. */
  readonly steps?: RegExp
  readonly why: string
  readonly isOurs: (value: unknown, now: number) => boolean
}

const WEEK = 604_800_000
const isHex = (length: number) => (value: unknown) => new RegExp(`^[0-9a-f]{${length}}$`).test(String(value))
// The clock of the test stands between the times it knows, so a voucher is dated with the last of them.
const isTime = (delay: number) => (value: unknown, now: number) =>
  value === new Date(now + delay).toISOString()

/** Where we answer otherwise, and why. Nothing else may differ, and each must be met. */
const MENDED: readonly Mended[] = [
  {
    field: /^\/hash$/,
    steps: /^(?:repo write .*: POST|login with (?:approved voucher|2FA key supplied): GET) /,
    why: 'the recorded server has the constant 1111… for an upload and none for a download, and does not know the hash it gave (protocol §8, 12); ours names each revision and says so in both directions',
    isOurs: isHex(40)
  },
  {
    field: /^\/results(?:\/children\/\d+)*\/syncToken$/,
    why: 'the recorded server has no /v2/sync and so gives no token; production does (protocol §2.6)',
    isOurs: isHex(64)
  },
  {
    field: /^\/results\/(?:voucher_activates|0\/pendingVouchers\/0\/activates)$/,
    why: 'the recorded server has a constant of 2020; ours is seven days from now, so that it can come true (protocol §8, 27)',
    isOurs: isTime(WEEK)
  },
  {
    field: /^\/results\/0\/pendingVouchers\/0\/created$/,
    why: 'as for the date before it',
    isOurs: isTime(0)
  }
]

/** When the recorded server did what its answers date; the codes of two-factor fit these times, too. */
const TIMES: readonly (readonly [label: string, path: string, time: string])[] = [
  ['create account (username, password, PIN)', '/api/v2/login/create', '2026-11-20T10:35:25.596Z'],
  ['request 2FA reset', '/api/v2/login/otp', '2026-11-20T10:35:28.976Z'],
  [
    'edge login: approver refreshes, creates the child, replies',
    '/api/v2/login/create',
    '2026-11-20T10:35:32.102Z'
  ]
]

test('all 52 recorded exchanges of the published client replay, from an empty server on [7.2] [7.3] [7.5] [7.6] [7.8] [7.9] [7.10] [7.11] [7.12] [7.13] [7.14] [7.16] [7.17] [7.18] [7.19] [7.22] [7.23] [7.24] [7.25] [7.33]', async t => {
  let now = Date.parse('2026-11-20T10:35:25.000Z')
  const clock = {
    now: () => now,
    monotonic: () => now,
    after: () => () => {},
    turn: async () => {}
  }
  const server = new FakeServer({ crypto: makeNobleCrypto(clock), clock })
  const mended = new Set<Mended>()
  let replayed = 0
  for (const { label, exchanges = [] } of steps) {
    for (const { method, path, request, status, response } of exchanges) {
      const time = TIMES.find(([step, route]) => step === label && route === path)?.[2]
      if (time !== undefined) now = Date.parse(time)
      const body = request === undefined ? '' : JSON.stringify(request)
      const reply = await server.handle({ method, path, headers: {}, body })
      const step = `${label}: ${method} ${path}`
      t.is(reply.status, status, step)
      const ours = leavesOf(JSON.parse(reply.body))
      const theirs = leavesOf(response)
      for (const [field, value] of ours) {
        if (JSON.stringify(theirs.get(field)) === JSON.stringify(value)) continue
        const item = MENDED.find(row => row.field.test(field) && (row.steps?.test(step) ?? true))
        if (item === undefined || !item.isOurs(value, now)) continue
        mended.add(item)
        ours.delete(field)
        theirs.delete(field)
      }
      t.deepEqual(Object.fromEntries(ours), Object.fromEntries(theirs), step)
      replayed += 1
    }
  }
  t.is(replayed, 52)
  for (const { field, why } of MENDED.filter(item => !mended.has(item)))
    t.fail(`${field} did not show: ${why}`)
  t.log(`${replayed} of 52 recorded exchanges replayed, ${MENDED.length} fields mended`)
})

/** Every text, number and empty list of a JSON value, by its place; the order of fields does not count. */
const leavesOf = (value: unknown, place = ''): Map<string, unknown> => {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : []
  if (entries.length === 0) return new Map([[place, value]])
  return new Map(entries.flatMap(([name, item]) => [...leavesOf(item, `${place}/${name}`)]))
}
