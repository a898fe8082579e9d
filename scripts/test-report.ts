import { stripVTControlCharacters } from 'node:util'

/** A test that did not run, and why. */
export interface Skip {
  readonly title: string
  readonly reason: string
}

/** What a run of the tests came to. */
export interface TestReport {
  readonly passed: number
  readonly failed: number
  readonly skipped: readonly Skip[]
  /** Tests that are planned (`test.todo`) or known to fail (`test.failing`). */
  readonly pending: readonly string[]
}

/**
 * Reads the output of ava and its exit code (pure).
 *
 * A test says that it could not run by `test.skip`, or while running by a log line `skipped: <reason>`; either
 * way it counts as skipped, not as passed. An exit code that no failed test explains counts as one failure.
 */
export const testReportOf = (output: string, exitCode: number): TestReport => {
  const skipped: Skip[] = []
  const pending: string[] = []
  let ran = 0
  // With a failure among them, ava does not say how many passed, so they are counted by line.
  let ticks = 0
  let failed = 0
  let title = ''
  let late = 0
  for (const line of stripVTControlCharacters(output).split('\n')) {
    const [, kind, rest = ''] =
      /^\s+(?:- \[(skip|todo)\]|[✔√] (?:\[(?:expected fail)\] )?|[✘×] \[fail\]:) ?(.*)$/.exec(line) ?? []
    if (kind === 'skip') skipped.push({ title: rest, reason: 'marked so in its source' })
    if (kind === 'todo' || /^\s+[✔√] \[expected fail\]/.test(line)) pending.push(rest)
    else if (/^\s+[✔√] /.test(line)) ++ticks
    if (rest !== '') title = rest.replace(/ \([\d.]+m?s\)$/, '')

    const reason = /^\s+[ℹi] skipped: (.*)$/.exec(line)?.[1]
    if (reason !== undefined) {
      skipped.push({ title, reason })
      ++late
    }
    ran = countIn(line, /^\s+(\d+) tests? passed$/) ?? ran
    failed = countIn(line, /^\s+(\d+) tests? failed$/) ?? failed
  }
  const passed = Math.max(0, (ran === 0 ? ticks : ran) - late)
  const isEmpty = passed + skipped.length + failed === 0
  return { passed, failed: failed === 0 && (exitCode !== 0 || isEmpty) ? 1 : failed, skipped, pending }
}

const countIn = (line: string, pattern: RegExp): number | undefined => {
  const digits = pattern.exec(line)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/**
 * The last lines of a run: who was skipped and why, then the counts (pure).
 *
 * @param strict - count what was skipped as failed, as a machine does that is meant to have everything
 */
export const summaryOf = (
  report: TestReport,
  strict: boolean
): { lines: readonly string[]; failed: number } => {
  const { passed, skipped, pending } = report
  const failed = report.failed + (strict ? skipped.length : 0)
  const lines = ['']
  if (skipped.length > 0) {
    lines.push(strict ? 'Could not run, which counts as failed here:' : 'Skipped:')
    for (const { title, reason } of skipped) lines.push(`  ${title}: ${reason}`)
  }
  if (pending.length > 0) lines.push('Pending:', ...pending.map(title => `  ${title}`))
  const counts = [`${passed} passed`, `${failed} failed`]
  if (skipped.length > 0 && !strict) counts.push(`${skipped.length} skipped`)
  if (pending.length > 0) counts.push(`${pending.length} pending`)
  return { lines: [...lines, counts.join(', ')], failed }
}
