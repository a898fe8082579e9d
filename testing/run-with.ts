import { type CheckResult, type PlannedCheck, runCheck, type Suite } from './suite.ts'

/** What this needs of the context of a test: that of node:test, AVA and Vitest have some of it. */
export interface TestContextLike {
  /** node:test and Vitest: marks the test as skipped. */
  skip?(reason: string): void
  /** AVA: a note beside the test. */
  log?(text: string): void
  /** AVA: a test without an assertion fails. */
  pass?(): void
}

/**
 * The `test` of node:test, AVA or Vitest.
 *
 * @example
 * ```ts
 * import test from 'node:test'
 * import { rateSuite, testSuite } from 'holdfast/testing'
 * import type { RatePlugin } from 'holdfast/plugin'
 *
 * declare const shop: RatePlugin
 * testSuite(test, rateSuite(shop, { valid: [{ wanted: ['BTC iso:USD'], offers: { 'BTC iso:USD': 64_000 } }] }))
 * ```
 */
// biome-ignore lint/suspicious/noExplicitAny: each runner gives a context of its own type.
export type TestFunction = (title: string, run: (context: any) => Promise<void>) => unknown

/**
 * Declares a test for each check of a suite. It works with the `test` of node:test, AVA and Vitest.
 *
 * @example
 * ```ts
 * import test from 'node:test'
 * import { rateSuite, testSuite } from 'holdfast/testing'
 * import type { RatePlugin } from 'holdfast/plugin'
 *
 * declare const shop: RatePlugin
 * testSuite(test, rateSuite(shop, { valid: [{ wanted: ['BTC iso:USD'], offers: { 'BTC iso:USD': 64_000 } }] }))
 * ```
 */
export const testSuite = (test: TestFunction, { pluginId, checks }: Suite): void => {
  for (const check of checks) {
    test(`${pluginId}: ${check.title}`, (context: TestContextLike) => runAsTest(check, context))
  }
}

const runAsTest = async (check: PlannedCheck, context: TestContextLike): Promise<void> => {
  const result = await runCheck(check)
  if (result.outcome === 'failed') throw new Error(failureText(result))
  if (result.outcome === 'skipped') {
    context.log?.(`does not apply: ${result.message}`)
    // Last: Vitest ends the test by a throw.
    context.skip?.(result.message)
  }
  context.pass?.()
}

/** A failure with everything that its author needs: what was found, why it matters, where it is written and what to do. */
export const failureText = ({ id, message, reason, clause, hint }: CheckResult): string => {
  const fields = Object.entries({ check: id, reason, clause, hint })
  return [message, ...fields.flatMap(([name, text]) => (text === '' ? [] : [`${name}: ${text}`]))].join(
    '\n  '
  )
}
