import { readFileSync, statSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join, resolve } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { compact, tryJsonText } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { isRecord } from '../profile/state-files.ts'
import { packageFolder } from '../terminal/package-folder.ts'
import { type PluginBundle, sha512Of } from './plugin-list.ts'

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
  const refuse = (problem: string, cause?: unknown): CliError =>
    new CliError('PLUGIN_REFUSED', `${entry} cannot be bundled: ${problem}`, { cause })
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
      codeSplitting: false
    })
    await bundle.close()
    const [chunk] = output
    const foreign = isNode ? chunk.imports.filter(name => !isBuiltin(name)) : chunk.imports
    if (foreign.length > 0)
      throw refuse(
        `it imports ${foreign.join(', ')}, which ${isNode ? 'is not installed beside it' : 'a cell does not have'}`
      )
    const { code, map } = chunk
    const files = chunk.moduleIds.filter(
      id => !id.startsWith('\0') && statSync(id, { throwIfNoEntry: false })
    )
    const inputs = Object.fromEntries(files.map(path => [path, sha512Of(readFileSync(path))]))
    return { code, map: map === null ? undefined : JSON.stringify(map), sha512: sha512Of(code), inputs }
  } catch (error) {
    if (error instanceof CliError) throw error
    throw refuse(firstLineOf(error), error)
  }
}

const isBuiltin = (name: string): boolean => name.startsWith('node:') || builtinModules.includes(name)

/** A bundler names the file and the line after its first line; colours are for its own terminal. */
const firstLineOf = (error: unknown): string => {
  const text = error instanceof Error ? error.message : String(error)
  return stripVTControlCharacters(text).trim().slice(0, 2000)
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
