import type { CommandResult } from './command-result.ts'
import { packageFolder } from './package-folder.ts'

/** The version of the package; for scripts also those of Node and of the plugins, which ship with it. */
export const versionResult = async (wantsMore: boolean): Promise<CommandResult> => {
  const version = packageFolder()?.version ?? 'unknown'
  const data = { holdfast: version, node: process.versions.node }
  const view = { kind: 'text', lines: [version] } as const
  if (!wantsMore) return { data, view }
  const { defaultPlugins } = await import('../plugins/default-plugins.ts')
  return { data: { ...data, plugins: defaultPlugins.map(({ id, kind }) => ({ id, kind, version })) }, view }
}
