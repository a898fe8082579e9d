import { failureText } from './run-with.ts'
import type { CheckResult, Suite } from './suite.ts'

/** How a report is written: for people, as TAP 14, as JUnit's XML or as JSON. */
export type ReportFormat = 'text' | 'tap' | 'junit' | 'json'

/**
 * Writes the results of a suite as a report (pure); each line ends with a line break.
 *
 * @example
 * ```ts
 * import { writeFile } from 'node:fs/promises'
 * import { formatResults, rateSuite, runSuite } from 'holdfast/testing'
 * import type { RatePlugin } from 'holdfast/plugin'
 *
 * declare const shop: RatePlugin
 * const suite = rateSuite(shop, { valid: [{ wanted: ['BTC iso:USD'], offers: { 'BTC iso:USD': 64_000 } }] })
 * await writeFile('conformance.xml', formatResults(suite, await runSuite(suite), 'junit'))
 * ```
 */
export const formatResults = (
  suite: Suite,
  results: readonly CheckResult[],
  format: ReportFormat = 'text'
): string => formats[format](suite, results)

interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

const countsOf = (results: readonly CheckResult[]): Counts => {
  const count = (wanted: CheckResult['outcome']): number =>
    results.filter(({ outcome }) => outcome === wanted).length
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped') }
}

const MARKS = { passed: '✔', failed: '✘', skipped: '-' } as const

const asText = ({ pluginId, kind, level }: Suite, results: readonly CheckResult[]): string => {
  const { passed, failed, skipped } = countsOf(results)
  const lines = results.map(result => {
    const head = `${MARKS[result.outcome]} ${result.title}`
    if (result.outcome === 'passed') return head
    return `${head}: ${result.outcome === 'failed' ? failureText(result) : result.message}`
  })
  const parts = [`conformance ${passed}/${passed + failed}`, `${skipped} skipped`, level]
  return [...lines, `${pluginId} (${kind}): ${parts.join(', ')}`].map(line => `${line}\n`).join('')
}

const asTap = (_suite: Suite, results: readonly CheckResult[]): string => {
  const lines = results.flatMap(({ title, outcome, message, clause, reason, hint }, index) => {
    const head = `${outcome === 'failed' ? 'not ok' : 'ok'} ${index + 1} - ${tapText(title)}`
    if (outcome === 'passed') return [head]
    if (outcome === 'skipped') return [`${head} # SKIP ${tapText(message)}`]
    const fields = Object.entries({ message, reason, clause, hint })
    return [head, '  ---', ...fields.map(([name, text]) => `  ${name}: ${JSON.stringify(text)}`), '  ...']
  })
  return ['TAP version 14', `1..${results.length}`, ...lines].map(line => `${line}\n`).join('')
}

/** A line of TAP: `#` begins a directive, and a line break a new line. */
const tapText = (text: string): string => text.replace(/[\\#]/g, '\\$&').replace(/\s+/g, ' ')

const asJunit = ({ pluginId, kind }: Suite, results: readonly CheckResult[]): string => {
  const { failed, skipped } = countsOf(results)
  const name = xmlText(`holdfast ${kind} ${pluginId}`)
  const seconds = (milliseconds: number): string => (milliseconds / 1000).toFixed(3)
  const total = results.reduce((sum, { durationMs }) => sum + durationMs, 0)
  const cases = results.map(result => {
    const { title, outcome, message, durationMs } = result
    const head = `    <testcase classname="${name}" name="${xmlText(title)}" time="${seconds(durationMs)}"`
    if (outcome === 'passed') return `${head}/>`
    const inner =
      outcome === 'skipped'
        ? `<skipped message="${xmlText(message)}"/>`
        : `<failure message="${xmlText(message)}">${xmlText(failureText(result))}</failure>`
    return `${head}>${inner}</testcase>`
  })
  const counts = `tests="${results.length}" failures="${failed}" skipped="${skipped}" time="${seconds(total)}"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    `  <testsuite name="${name}" ${counts}>`,
    ...cases,
    '  </testsuite>',
    '</testsuites>'
  ]
    .map(line => `${line}\n`)
    .join('')
}

const MAX_XML_TEXT = 10_000

// XML 1.0 forbids most control characters, also as references, and lone surrogates.
const xmlText = (text: string): string =>
  text
    .slice(0, MAX_XML_TEXT)
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replace(/[<>&"']/g, character => `&#${character.charCodeAt(0)};`)

const asJson = (suite: Suite, results: readonly CheckResult[]): string => {
  const { pluginId, kind, level } = suite
  return `${JSON.stringify({ pluginId, kind, level, ...countsOf(results), results }, undefined, 2)}\n`
}

const formats: Readonly<Record<ReportFormat, (suite: Suite, results: readonly CheckResult[]) => string>> = {
  text: asText,
  tap: asTap,
  junit: asJunit,
  json: asJson
}
