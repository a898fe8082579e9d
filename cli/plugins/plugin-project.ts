import { readdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { CliError } from '../errors/cli-error.ts'
import { packageAbove } from './bundle.ts'

/** The folder of a plugin's author: a package with a plugin and a test. */
export interface PluginProject {
  readonly folder: string
  /** The absolute path of the test file. */
  readonly test: string
}

/**
 * Finds the test of a plugin: the file itself, or `test/plugin.test.ts` or the only test file in the folder of a project.
 *
 * @throws CliError NOT_FOUND without one, and for several
 */
export const findProject = (path: string): PluginProject => {
  const given = resolve(path)
  const found = statSync(given, { throwIfNoEntry: false })
  if (found?.isFile() === true) return { folder: packageAbove(dirname(given)), test: given }
  if (found === undefined)
    throw new CliError('NOT_FOUND', `There is no folder ${given}`, {
      hint: 'Name the folder of the project of a plugin, or its test file.'
    })
  const tests = ['test', '.'].flatMap(name => testsIn(join(given, name)))
  const [only, another] = tests
  const usual = tests.find(file => USUAL.test(file)) ?? (another === undefined ? only : undefined)
  if (usual !== undefined) return { folder: given, test: usual }
  throw new CliError(
    'NOT_FOUND',
    only === undefined
      ? `${given} has no test file: there is no test/plugin.test.ts`
      : `${given} has several test files, and none is called plugin.test.ts`,
    {
      hint:
        only === undefined
          ? 'Write one that exports suite: a function that returns the suite of the plugin.'
          : 'Name one of the files.'
    }
  )
}

const USUAL = /[\\/]plugin\.test\.[cm]?[jt]s$/
const TEST = /\.test\.[cm]?[jt]s$/

const testsIn = (folder: string): readonly string[] => {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return []
  return readdirSync(folder)
    .filter(name => TEST.test(name))
    .toSorted()
    .map(name => join(folder, name))
}
