import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Plugin } from 'vite'
import { readGlobalOptions } from '../cli/grammar/options.ts'
import { findConfig, pluginFolder, readBundle, readPluginList } from '../cli/plugins/plugin-list.ts'
import { type ProfilePaths, profilePaths } from '../cli/profile/paths.ts'
import type { ServedPlugin } from '../devtools/standalone/profile-plugins.ts'

/**
 * A part of the development server: it serves the plugins of a profile, `--profile` of the arguments, to the page with the
 * wallet inside, and reloads the page when their list changes. The hash of each bundle is compared when it is read.
 *
 * @param root - the folder of this project
 * @throws CliError PROFILE_INVALID
 */
export const profilePlugins = (root: string, args: readonly string[]): Plugin => {
  const { values } = parseArgs({ args: [...args], options: { profile: { type: 'string' } } })
  const { env: environment } = process
  const { profile } = readGlobalOptions(values, { environment })
  const paths = profilePaths(profile, environment)
  return {
    name: 'profile-plugins',
    apply: 'serve',
    configureServer({ middlewares, watcher, ws }) {
      const list = join(pluginFolder(paths), 'plugins.json')
      watcher.add(list)
      watcher.on('all', (_event, path) => {
        if (path === list) ws.send({ type: 'full-reload' })
      })
      const serve = (path: string, type: string, read: () => string): void =>
        void middlewares.use(path, (_request, reply) => {
          reply.setHeader('content-type', type)
          reply.end(read())
        })
      serve('/profile-plugins.json', 'application/json', () => JSON.stringify(servedPlugins(paths)))
      serve('/cell-frame.html', 'text/html', () =>
        readFileSync(join(root, 'dist/lib/browser/cell-frame.html'), 'utf8')
      )
    }
  }
}

/** The plugins of a profile that are used; in place of what cannot run in a page, its reason. */
const servedPlugins = (paths: ProfilePaths): readonly ServedPlugin[] => {
  const missing = (id: string, kind: string, problem: string): ServedPlugin => ({
    ...{ id, kind, hosts: [], seesKeys: false, sha512: '', code: '', options: {} },
    problem
  })
  try {
    const { plugins, configs } = readPluginList(paths)
    const config = findConfig(paths.config)
    const hasPolicy = configs.some(each => each.path === config && each.hasPolicy)
    const reason = `${config} is code for Node, which a page cannot run`
    const unloaded = hasPolicy
      ? missing('missing-policies', 'policy', reason)
      : missing('holdfast-config', 'observer', reason)
    return [
      ...(config === undefined ? [] : [unloaded]),
      ...plugins
        .filter(({ isEnabled }) => isEnabled)
        .map(added => {
          const { id, kind, hosts, seesKeys, sha512, isContained, options = {}, secretOptions } = added
          if (!isContained)
            return missing(id, kind, 'it was added with --no-cell, and a page has no place for it but a cell')
          // Whoever can open a port of this machine can read what this server gives.
          if (secretOptions !== undefined)
            return missing(id, kind, 'it has options of a file, which are not given to a page')
          try {
            const { code } = readBundle(paths, added)
            return { id, kind, hosts, seesKeys, sha512, code, options, problem: '' }
          } catch (error) {
            return missing(id, kind, textOf(error))
          }
        })
    ]
  } catch (error) {
    // A damaged list may have named policies.
    return [missing('missing-policies', 'policy', textOf(error))]
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
