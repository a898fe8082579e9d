import { readFileSync, statSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { compact, tryJsonText } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { isRecord } from '../profile/state-files.ts'
import { packageFolder } from '../terminal/package-folder.ts'
import { type PluginBundle, sha512Of } from './plugin-list.ts'
import { OWN_SOURCES } from './source-places.ts'

/**
 * How a plugin runs. `cell`: one script without any import, for the realm of a contained plugin. `module`: a module of Node's
 * for the process of the wallet, which may import what Node has.
 */
export type BundleForm = 'cell' | 'module'

/**
 * Bundles a plugin with all that it imports into one file. What `holdfast` and its parts export comes from this version of
 * the program, so that a file in an empty folder can import them.
 *
 * @param entry - the file to begin with
 * @throws CliError PLUGIN_REFUSED with the message of the bundler, or for an import that a cell does not have; NOT_NEEDED
 *   without the bundler
 */
export const bundlePlugin = async (entry: string, form: BundleForm): Promise<PluginBundle> => {
  const { rolldown } = await loadBundler()
  const refuse = refusalOf(entry)
  try {
    const isNode = form === 'module'
    const bundle = await rolldown({
      input: entry,
      platform: isNode ? 'node' : 'neutral',
      external: isNode ? [/^node:/, ...builtinModules] : [],
      resolve: { alias: ownExports(), mainFields: ['module', 'main'], conditionNames: ['import', 'default'] },
      logLevel: 'silent'
    })
    const { output } = await bundle.generate({
      format: isNode ? 'esm' : 'iife',
      ...compact({ name: isNode ? undefined : '__plugin' }),
      exports: 'named',
      sourcemap: true,
      sourcemapExcludeSources: true,
      sourcemapPathTransform: sourceNames(entry),
      codeSplitting: false
    })
    await bundle.close()
    const [chunk] = output
    const foreign = isNode
      ? chunk.imports.filter(name => !isBuiltin(name))
      : [...chunk.imports, ...chunk.dynamicImports]
    const missing = foreign.filter(name => !isBuiltin(name))
    if (missing.length > 0) throw refuse(`it imports ${missing.join(', ')}, which is not installed beside it`)
    if (foreign.length > 0) throw refuse(`it imports ${foreign.join(', ')}, which a cell does not have`)
    const { code, map } = chunk
    const inputs = Object.fromEntries(
      filesIn(chunk.moduleIds).map(path => [path, sha512Of(readFileSync(path))])
    )
    return { code, map: map === null ? undefined : JSON.stringify(map), sha512: sha512Of(code), inputs }
  } catch (error) {
    if (error instanceof CliError) throw error
    throw refuse(firstLineOf(error), error)
  }
}

const refusalOf =
  (entry: string) =>
  (problem: string, cause?: unknown): CliError =>
    new CliError('PLUGIN_REFUSED', `${entry} cannot be bundled: ${problem}`, { cause })

/**
 * Bundles the test of a plugin with the plugin, for a process of its own. It exports the file's exports as `tests`, and what
 * runs a suite as `runSuite`. What `holdfast` exports is imported from this program; `node:test` is the
 * collector of the program that runs it.
 *
 * @returns a module of Node's with its source map in it, by which errors name the files of the author, and its files
 * @throws CliError PLUGIN_REFUSED as {@link bundlePlugin}
 */
export const bundleTests = async (
  file: string
): Promise<{ readonly code: string; readonly files: readonly string[] }> => {
  const { rolldown } = await loadBundler()
  const refuse = refusalOf(file)
  const own = new Map(Object.entries(ownExports()).map(([name, path]) => [name.replace('$', ''), path]))
  const texts: Readonly<Record<string, string>> = {
    [TEST_ENTRY]: `export * as tests from ${JSON.stringify(file)}\nexport { runSuite } from 'holdfast/testing'\n`,
    [TEST_MODULE]: NODE_TEST
  }
  try {
    const bundle = await rolldown({
      input: TEST_ENTRY,
      platform: 'node',
      external: name => name !== 'node:test' && isBuiltin(name),
      logLevel: 'silent',
      plugins: [
        {
          name: 'holdfast-tests',
          resolveId(id) {
            if (id === TEST_ENTRY) return id
            if (id === 'node:test') return TEST_MODULE
            const path = own.get(id)
            return path === undefined ? undefined : { id: pathToFileURL(path).href, external: true }
          },
          load: id => texts[id],
          // A test finds its files beside itself, and not beside the bundle.
          transform: (code, id) =>
            code.includes('import.meta.url') && !id.includes('node_modules')
              ? {
                  code: code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href)),
                  map: null
                }
              : undefined
        }
      ]
    })
    const { output } = await bundle.generate({
      ...{ format: 'esm', sourcemap: true, codeSplitting: false },
      sourcemapPathTransform: (source, path) => pathToFileURL(resolve(dirname(path), source)).href
    })
    await bundle.close()
    const [{ code, map, imports, moduleIds }] = output
    const foreign = imports.filter(name => !isBuiltin(name) && !name.startsWith('file:'))
    if (foreign.length > 0) throw refuse(`it imports ${foreign.join(', ')}, which is not installed beside it`)
    const base64 = Buffer.from(JSON.stringify(map)).toString('base64')
    return {
      code: `${code}\n//# sourceMappingURL=data:application/json;base64,${base64}\n`,
      files: filesIn(moduleIds)
    }
  } catch (error) {
    if (error instanceof CliError) throw error
    throw refuse(firstLineOf(error), error)
  }
}

/** The files among the modules of a bundle. */
const filesIn = (moduleIds: readonly string[]): readonly string[] =>
  moduleIds.filter(id => !id.startsWith('\0') && statSync(id, { throwIfNoEntry: false })?.isFile() === true)

const TEST_ENTRY = '\0holdfast-tests'
const TEST_MODULE = '\0node-test'

// The program that runs the bundle puts there what collects the tests.
const NODE_TEST = `const api = globalThis[Symbol.for('holdfast.test-api')]
export default api.test
export const { test, it, describe, suite, before, after, beforeEach, afterEach, mock } = api
`

/** Names the files in a source map: from the folder of the author's package, and what is ours as such. */
const sourceNames = (entry: string): ((source: string, map: string) => string) => {
  const author = packageAbove(dirname(resolve(entry)))
  const own = packageFolder()?.path
  return (source, map) => {
    const path = resolve(dirname(map), source)
    const isOwn = own !== undefined && path.startsWith(join(own, 'dist'))
    return isOwn ? `${OWN_SOURCES}${relative(own, path)}` : relative(author, path)
  }
}

/** The nearest folder with a package file, or the folder itself. */
export const packageAbove = (folder: string): string => {
  for (let path = folder; ; path = dirname(path)) {
    if (readPackage(path) !== undefined) return path
    if (path === dirname(path)) return folder
  }
}

const isBuiltin = (name: string): boolean => name.startsWith('node:') || builtinModules.includes(name)

/** The first problem of a bundler as a sentence: it says the file and the line where it knows them. */
const firstLineOf = (error: unknown): string => {
  const { errors = [] } = (error ?? {}) as { readonly errors?: readonly BundleProblem[] }
  const [{ message, loc } = error as BundleProblem] = errors
  const text = stripVTControlCharacters(String(message)).trim()
  if (loc?.file === undefined) return text.slice(0, 2000)
  const [sentence = ''] = text.replace(/^\[[A-Z_]+\] /, '').split('\n')
  return `${loc.file}:${loc.line}:${loc.column + 1}: ${sentence}`.slice(0, 2000)
}

interface BundleProblem {
  readonly message: string
  readonly loc?: { readonly file?: string; readonly line: number; readonly column: number }
}

const loadBundler = async (): Promise<typeof import('rolldown')> => {
  try {
    return await import('rolldown')
  } catch (error) {
    throw new CliError('PLUGIN_REFUSED', 'Plugins are bundled by rolldown, which is not installed', {
      hint: 'Install it beside holdfast: npm install rolldown',
      cause: error
    })
  }
}

/** The files behind the exports of this package, by the name that a plugin imports; the longest first. */
const ownExports = (): Record<string, string> => {
  const folder = packageFolder()?.path
  if (folder === undefined) return {}
  const exported = readPackage(folder)?.exports
  return Object.fromEntries(
    Object.entries(isRecord(exported) ? exported : {})
      .flatMap(([name, target]): readonly [string, string][] =>
        isRecord(target) && typeof target.default === 'string'
          ? [[join('holdfast', name), join(folder, target.default)]]
          : []
      )
      .toSorted(([one], [other]) => other.length - one.length)
      .map(([name, path]) => [name === 'holdfast' ? 'holdfast$' : name, path])
  )
}

/** What the file `package.json` of a folder says; undefined without one. */
export const readPackage = (folder: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const found = tryJsonText(readFileSync(join(folder, 'package.json'), 'utf8'))
    return isRecord(found) ? found : undefined
  } catch {
    return undefined
  }
}

/** The file that a plugin begins with: the path itself, or what the package file of a folder names. @throws CliError NOT_FOUND */
export const entryOf = (path: string): string => {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isFile() === true) return resolve(path)
  const { exports: exported, module, main } = readPackage(path) ?? {}
  const root = isRecord(exported) ? (exported['.'] ?? exported) : exported
  const named = [targetOf(root), module, main].filter(each => typeof each === 'string')
  const candidates = [...named, 'src/index.ts', 'src/plugin.ts', 'index.ts', 'index.js']
  const entry = candidates
    .map(name => resolve(path, name))
    .find(file => statSync(file, { throwIfNoEntry: false })?.isFile())
  if (entry !== undefined) return entry
  throw new CliError('NOT_FOUND', `${path} is no file, and no folder with a package`, {
    hint: 'Name the file of the plugin, the folder of its package, or a package of the registry.'
  })
}

const targetOf = (target: unknown): unknown =>
  isRecord(target) ? targetOf(target.import ?? target.default) : target
