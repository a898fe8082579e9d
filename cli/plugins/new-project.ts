import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { compact, type Plugin, tryJsonText } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { isRecord } from '../profile/state-files.ts'
import { type PackageFolder, packageFolder } from '../terminal/package-folder.ts'
import { readPackage } from './bundle.ts'

/** The facts that a project is made from. */
export interface PluginTemplate {
  /** The folder in `templates`. */
  readonly name: string
  readonly kind: Plugin['kind']
  /** What the plugin is, for lists and `package.json`. */
  readonly summary: string
  /** Packages that its code needs, besides holdfast. */
  readonly packages?: readonly string[]
  /** Scripts of its own. */
  readonly scripts?: Readonly<Record<string, string>>
}

/** All templates; the first of a kind is the one that it has by default. */
export const pluginTemplates: readonly PluginTemplate[] = [
  {
    ...{ name: 'account', kind: 'currency', summary: 'a currency of accounts with balances' },
    packages: ['@noble/curves'],
    scripts: { ledger: 'node test/ledger.js' }
  },
  { name: 'utxo', kind: 'currency', summary: 'a currency like Bitcoin' },
  { name: 'exchange', kind: 'swap', summary: 'an exchange that takes orders' },
  { name: 'onchain', kind: 'swap', summary: 'an exchange on a chain, paid with a memo' },
  { name: 'rates', kind: 'rates', summary: 'a source of rates' },
  { name: 'storage', kind: 'storage', summary: 'a store for the files of a wallet' },
  { name: 'policy', kind: 'policy', summary: 'a rule that may refuse payments' },
  { name: 'observer', kind: 'observer', summary: 'an observer of what happens in a wallet' }
]

/** A project to be made. */
export interface ProjectOptions {
  /** The id of the plugin: 1 to 64 letters, digits, - and _, a letter first. */
  readonly id: string
  readonly template: PluginTemplate
  /** The folder of the project. */
  readonly folder: string
  /** Replaces files of a folder that has some, and leaves its others. */
  readonly overwrites: boolean
}

/** A project that may be made. */
export interface PlannedProject {
  /** The paths of its files within the project. */
  readonly paths: readonly string[]
  /** Makes it: first beside the folder, then in its place, so that no half of one is left. */
  write(): void
}

/**
 * Checks that a project may be made, and writes nothing yet.
 *
 * @throws CliError USAGE for a folder that is not empty, unless `overwrites` is set; for one that is a file, always
 */
export const planProject = (options: ProjectOptions): PlannedProject => {
  const { folder, overwrites } = options
  const program = packageFolder()
  const source = join(program?.path ?? '', 'templates', options.template.name)
  if (program === undefined || !existsSync(source))
    throw new CliError('INTERNAL', `The template ${options.template.name} is missing in this installation`)
  checkFolder(folder, overwrites)
  const files = projectFiles(program, source, options)
  const paths = [...files.keys()]
  return {
    paths,
    write() {
      mkdirSync(dirname(folder), { recursive: true })
      const staged = join(dirname(folder), `.${basename(folder)}-${process.pid}-${Date.now()}`)
      mkdirSync(staged)
      try {
        for (const [path, text] of files) {
          mkdirSync(dirname(join(staged, path)), { recursive: true })
          writeFileSync(join(staged, path), text)
        }
        place(staged, folder, paths)
      } finally {
        rmSync(staged, { recursive: true, force: true })
      }
    }
  }
}

const checkFolder = (folder: string, overwrites: boolean): void => {
  const found = statSync(folder, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isDirectory()) throw new CliError('USAGE', `${folder} is a file; nothing was written`)
  if (overwrites || readdirSync(folder).length === 0) return
  throw new CliError('USAGE', `The folder ${folder} is not empty; nothing was written`, {
    hint: 'Choose another name, or replace the files of the template with --overwrite; other files stay.'
  })
}

/** Moves what was made to its folder: as a whole, or file by file into a folder with files of others. */
const place = (staged: string, folder: string, paths: readonly string[]): void => {
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    for (const path of paths) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      renameSync(join(staged, path), join(folder, path))
    }
    return
  }
  if (existsSync(folder)) rmdirSync(folder)
  renameSync(staged, folder)
}

/** The files of a project by path: those of the template with its names replaced, and those that every project has. */
const projectFiles = (
  program: PackageFolder,
  source: string,
  { id, template, folder }: ProjectOptions
): ReadonlyMap<string, string> => {
  const files = new Map<string, string>()
  for (const entry of readdirSync(source, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = relative(source, join(entry.parentPath, entry.name))
    files.set(path.replaceAll(sep, '/'), named(readFileSync(join(source, path), 'utf8'), id))
  }
  files.set('package.json', jsonText(manifestOf(program, folder, id, template)))
  files.set('tsconfig.json', jsonText(TSCONFIG))
  files.set('.gitignore', 'node_modules/\n')
  return files
}

const jsonText = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`

/** Replaces the names that stand in every template. A link is written in lower case, with no `_`. */
const named = (text: string, id: string): string => {
  const words = id.split(/[-_]+/).filter(word => word !== '')
  const title = words.map(word => word.slice(0, 1).toUpperCase() + word.slice(1)).join(' ')
  const code = id.replace(/[-_]/g, '').slice(0, 3).toUpperCase()
  const scheme = id.toLowerCase().replaceAll('_', '-')
  // In one pass: a name may have one of these texts in it.
  return text.replace(
    /(my-plugin(?=:\$\{|:ADDRESS|:\/))|(uriSchemes: \['my-plugin'\])|my-plugin|(My Plugin)|(MYP)/g,
    (_found, isLink?: string, isSchemes?: string, isTitle?: string, isCode?: string) => {
      if (isSchemes !== undefined) return `uriSchemes: ['${scheme}']`
      if (isLink !== undefined) return scheme
      if (isTitle !== undefined) return title
      return isCode === undefined ? id : code
    }
  )
}

const manifestOf = (
  program: PackageFolder,
  folder: string,
  id: string,
  { summary, packages = [], scripts }: PluginTemplate
): unknown => {
  const { devDependencies, dependencies } = readPackage(program.path) ?? {}
  const versions = { ...toRecord(dependencies), ...toRecord(devDependencies) }
  const ranges = (names: readonly string[]): object =>
    Object.fromEntries(names.map(name => [name, `^${String(versions[name])}`]))
  return {
    name: `holdfast-${id.toLowerCase()}`,
    version: '0.1.0',
    description: `${summary.slice(0, 1).toUpperCase()}${summary.slice(1)}, as a plugin of holdfast`,
    private: true,
    type: 'module',
    exports: './src/index.ts',
    files: ['src'],
    scripts: { test: 'tsc --noEmit && holdfast plugins test', ...scripts },
    ...compact({ dependencies: packages.length === 0 ? undefined : ranges(packages) }),
    peerDependencies: { holdfast: `^${program.version}` },
    devDependencies: {
      ...ranges(['@types/node']),
      holdfast: sourceOf(program, folder),
      ...ranges(['rolldown', 'typescript'])
    }
  }
}

const toRecord = (value: unknown): Readonly<Record<string, unknown>> => (isRecord(value) ? value : {})

/** Where a project gets this program from: the registry, or what it was installed from, or a checkout. */
const sourceOf = ({ path, version }: PackageFolder, folder: string): string => {
  const fileTo = (target: string): string => `file:${relative(folder, target).replaceAll(sep, '/')}`
  const modules = dirname(path)
  if (basename(modules) !== 'node_modules') return fileTo(path)
  const resolved = installedFrom(join(modules, '.package-lock.json'))
  return resolved?.startsWith('file:') === true
    ? fileTo(join(dirname(modules), resolved.slice('file:'.length)))
    : `^${version}`
}

/** What npm notes about this package beside it; undefined without such a note. */
const installedFrom = (path: string): string | undefined => {
  try {
    const { packages } = toRecord(tryJsonText(readFileSync(path, 'utf8')))
    const { resolved } = toRecord(toRecord(packages)['node_modules/holdfast'])
    return typeof resolved === 'string' ? resolved : undefined
  } catch {
    return undefined
  }
}

const TSCONFIG = {
  compilerOptions: {
    target: 'es2023',
    lib: ['es2023'],
    module: 'nodenext',
    types: ['node'],
    allowImportingTsExtensions: true,
    verbatimModuleSyntax: true,
    erasableSyntaxOnly: true,
    allowJs: true,
    checkJs: true,
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    noEmit: true
  },
  include: ['src', 'test']
}
