import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { parseAst } from 'rolldown/parseAst'
import type { Plugin } from 'vite'
import { storeRefusal } from '../cells/bundle-exports.ts'
import { readGlobalOptions } from '../cli/grammar/options.ts'
import {
  allowedConfig,
  configsOf,
  hiddenConfigs,
  optionsOf,
  placedCode,
  TERMS
} from '../cli/plugins/load-plugins.ts'
import {
  type AddedPlugin,
  type PluginList,
  pluginFolder,
  readBundle,
  readPluginList
} from '../cli/plugins/plugin-list.ts'
import { type ProfilePaths, profilePaths } from '../cli/profile/paths.ts'
import type { ServedConfig, ServedPlugin, ServedPlugins } from '../devtools/standalone/profile-plugins.ts'

/** The profile of a development server, and who may read its plugins. */
export interface PageProfile {
  readonly paths: ProfilePaths
  /** A folder whose `holdfast.config` is used besides that of the profile. */
  readonly configFolder: string | undefined
  /** The page gets it in its address and shows it: whoever opens a port of this machine shall not read the options of plugins. */
  readonly token: string
}

/** The profile that the arguments name with `--profile` and `-C`. @throws CliError PROFILE_INVALID */
export const pageProfile = (args: readonly string[]): PageProfile => {
  const { values } = parseArgs({
    args: [...args],
    options: { profile: { type: 'string' }, 'config-folder': { type: 'string', short: 'C' } }
  })
  const { env: environment } = process
  const { profile, configFolder } = readGlobalOptions(
    { ...values, configFolder: values['config-folder'] },
    { environment }
  )
  const token = randomBytes(24).toString('base64url')
  return { paths: profilePaths(profile, environment), configFolder, token }
}

/**
 * A part of the development server: it serves the plugins of a profile to the page with the wallet inside, and reloads the
 * page when their list or a file of a config changes. The hash of each bundle is compared when it is read.
 *
 * @param root - the folder of this project
 */
export const profilePlugins = (root: string, profile: PageProfile): Plugin => {
  const { token } = profile
  return {
    name: 'profile-plugins',
    apply: 'serve',
    configureServer({ middlewares, watcher, ws }) {
      const watched = new Set<string>()
      const watch = (): void => {
        for (const path of filesOf(profile)) {
          if (!watched.has(path)) watcher.add(path)
          watched.add(path)
        }
      }
      watch()
      watcher.on('all', (_event, path) => {
        if (watched.has(path)) ws.send({ type: 'full-reload' })
      })
      middlewares.use('/profile-plugins.json', (request, reply) => {
        reply.setHeader('content-type', 'application/json')
        reply.setHeader('cache-control', 'no-store')
        if (request.headers.authorization === `Bearer ${token}`) {
          watch()
          reply.end(JSON.stringify(servedPlugins(profile)))
          return
        }
        reply.statusCode = 401
        reply.end('{}')
      })
      middlewares.use('/cell-frame.html', (_request, reply) => {
        reply.setHeader('content-type', 'text/html')
        reply.end(readFileSync(join(root, 'dist/lib/browser/cell-frame.html'), 'utf8'))
      })
    }
  }
}

/** The files whose change means other plugins: the list, the configs that may be there, and what they import. */
const filesOf = ({ paths, configFolder }: PageProfile): readonly string[] => {
  const possible = [paths.config, ...(configFolder === undefined ? [] : [configFolder])].flatMap(folder =>
    ['ts', 'mts', 'js', 'mjs'].map(ending => join(folder, `holdfast.config.${ending}`))
  )
  let inputs: readonly string[] = []
  try {
    inputs = readPluginList(paths).configs.flatMap(config => Object.keys(config.inputs))
  } catch {
    // A damaged list has no configs; its change is seen, too.
  }
  return [join(pluginFolder(paths), 'plugins.json'), ...possible, ...inputs]
}

/** The plugins of a profile that are used; in place of what cannot run in a page, its reason. */
const servedPlugins = (profile: PageProfile): ServedPlugins => {
  const { paths, configFolder } = profile
  let list: PluginList
  try {
    list = readPluginList(paths)
  } catch (error) {
    // It may have named policies.
    return { plugins: [], configs: [], guards: [{ source: 'plugins.json', problem: textOf(error) }] }
  }
  const hidden = hiddenConfigs(paths, list, configFolder)
  return {
    plugins: list.plugins.filter(({ isEnabled }) => isEnabled).map(added => servedPlugin(paths, added)),
    configs: configsOf(paths, configFolder).map(path => servedConfig(profile, list, path)),
    guards: hidden.map(({ path }) => ({
      source: basename(path),
      problem: 'another config in its folder takes its place'
    }))
  }
}

const servedPlugin = (paths: ProfilePaths, added: AddedPlugin): ServedPlugin => {
  const { id, kind, hosts, seesKeys, sha512, isContained } = added
  const { code, problem } = readCode(() => {
    if (kind === 'storage') throw storeRefusal(id, { ...TERMS, keeper: 'this page' })
    const bundle = readBundle(paths, added)
    return isContained ? bundle.code : codeForPage(bundle)
  })
  return { id, kind, hosts, seesKeys, sha512, isContained, options: optionsOf(added) ?? {}, code, problem }
}

const servedConfig = ({ paths }: PageProfile, list: PluginList, path: string): ServedConfig => {
  const { code, problem } = readCode(() => codeForPage(allowedConfig(paths, list, path).bundle))
  const hasPolicy = list.configs.some(each => each.path === path && each.hasPolicy)
  return { path, hasPolicy, code, problem }
}

const readCode = (read: () => string): { readonly code: string; readonly problem: string } => {
  try {
    return { code: read(), problem: '' }
  } catch (error) {
    return { code: '', problem: textOf(error) }
  }
}

/** The code of a module that a page can import. @throws Error for one that imports modules of Node, which no page has */
const codeForPage = (bundle: { readonly code: string; readonly path: string }): string => {
  const names = new Set(importsIn(parseAst(bundle.code)))
  if (names.size === 0) return placedCode(bundle)
  throw new Error(
    `it imports ${[...names].join(', ')}, which no page has. The command line and holdfast devtools run it`
  )
}

/** What code imports by name, also what it loads only once it runs. */
const importsIn = (node: unknown): readonly string[] => {
  if (typeof node !== 'object' || node === null) return []
  if (Array.isArray(node)) return node.flatMap(importsIn)
  const { type, source, ...parts } = node as { readonly type?: string; readonly source?: unknown }
  const { value } = (source ?? {}) as { readonly value?: unknown }
  const isImport = type === 'ImportExpression' || /^(?:Import|Export)\w*Declaration$/.test(type ?? '')
  const own = isImport && typeof value === 'string' ? [value] : importsIn(source)
  return [...own, ...Object.values(parts).flatMap(importsIn)]
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
