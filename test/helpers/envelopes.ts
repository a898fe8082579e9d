import type { ExecutionContext } from 'ava'
import type { Envelope, Ran } from './command-line.ts'

/** Checks the one object of a run that did what it was asked; `schema`: such as `login/1`. */
export const succeeded = (t: ExecutionContext, ran: Ran, schema: string): Envelope => {
  t.is(ran.code, 0, ran.stdout + ran.stderr)
  const { json, stdout } = ran
  t.is(stdout.indexOf('\n'), stdout.length - 1, 'one line')
  t.deepEqual(Object.keys(json), ['ok', 'data', 'warnings', 'meta'])
  t.true(json.ok)
  t.like(json.meta, { schema, profile: 'default' })
  return json
}

/** Checks the one object of a run that failed, with its code and exit code. */
export const failed = (t: ExecutionContext, ran: Ran, code: string, exitCode: number): Envelope => {
  t.is(ran.code, exitCode, ran.stdout + ran.stderr)
  const { json } = ran
  t.deepEqual(Object.keys(json), ['ok', 'error', 'meta'])
  t.false(json.ok)
  t.like(json.error, { code, exitCode })
  t.is(typeof json.error.message, 'string')
  t.is(typeof json.error.retryable, 'boolean')
  t.true(Array.isArray(json.error.next))
  t.is(json.meta.schema, 'error/1')
  return json
}
