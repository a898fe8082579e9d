import type { JsonObject } from '../../../kernel/index.ts'
import { formatResults, type ReportFormat } from '../../../testing/report.ts'
import type { CheckLevel, CheckResult } from '../../../testing/suite.ts'
import type { CellLike, CommandResult } from '../../output/view.ts'
import { findProject } from '../../plugins/plugin-project.ts'
import { type PluginTests, runPluginTests } from '../../plugins/run-tests.ts'
import type { CommandRun } from '../../session/command.ts'

/** Runs the conformance suite of a plugin and the other tests of its file, in a process of their own. */
export const pluginsTest: CommandRun = async (session, path = '.') => {
  const { statusLine, signal, terminal } = session
  const project = findProject(path)
  const level = (session.text('level') ?? 'full') as CheckLevel
  const isList = session.isOn('list')
  let count = 0
  statusLine.step('bundling…')
  const tests = await runPluginTests(project, {
    ...{ signal, level, isList, only: session.texts('only') },
    onOutput: text => void terminal.stderr.write(text),
    onResult: ({ title }) => {
      count += 1
      statusLine.step(`${count} checked, ${title}…`)
    }
  })
  statusLine.clear()
  return isList ? listOf(tests) : reportOf(tests, (session.text('format') ?? 'text') as ReportFormat)
}

const listOf = ({ suite, checks }: PluginTests): CommandResult => {
  const { pluginId, kind, level } = suite
  return {
    data: { pluginId, kind, level, checks: checks.map(check => ({ ...check })) },
    view: {
      kind: 'table',
      columns: [
        { title: 'CHECK' },
        { title: 'LEVEL' },
        { title: 'CLAUSE' },
        { title: 'REASON', canShrink: true }
      ],
      rows: checks.map(check => [check.title, check.level, check.clause, check.reason]),
      empty: 'No check has this text in its title.'
    }
  }
}

const reportOf = ({ suite, results }: PluginTests, format: ReportFormat): CommandResult => {
  const { pluginId, kind, level } = suite
  const count = (wanted: CheckResult['outcome']): number =>
    results.filter(({ outcome }) => outcome === wanted).length
  const [passed, failed, skipped] = [count('passed'), count('failed'), count('skipped')]
  const data: JsonObject = {
    ...{ pluginId, kind, level, passed, failed, skipped },
    results: results.map(result => ({ ...result }))
  }
  const lines = formatResults(suite, results, format).trimEnd().split('\n')
  return {
    data,
    view: { kind: 'text', lines: format === 'text' ? lines.map(toned) : lines },
    // Nothing that was checked is no success either.
    exitCode: failed > 0 || results.length === 0 ? 1 : 0,
    warnings: results.length === 0 ? ['no check has this text in its title'] : []
  }
}

const toned = (line: string): CellLike => {
  if (line.startsWith('✘')) return { text: line, tone: 'bad' }
  return line.startsWith('-') ? { text: line, tone: 'dim' } : line
}
