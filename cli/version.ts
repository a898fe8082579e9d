import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { CommandResult } from './command-result.ts'

/** The version of the package; for scripts also those of Node and of the plugins, which ship with it. */
export const versionResult = async (wantsMore: boolean): Promise<CommandResult> => {
  const version = packageVersion()
  const data = { holdfast: version, node: process.versions.node }
  const view = { kind: 'text', lines: [version] } as const
  if (!wantsMore) return { data, view }
  const { defaultPlugins } = await import('../plugins/default-plugins.ts')
  return { data: { ...data, plugins: defaultPlugins.map(({ id, kind }) => ({ id, kind, version })) }, view }
}

/** Reads `package.json`, which is above this file wherever it was built to. */
const packageVersion = (): string => {
  let folder = dirname(fileURLToPath(import.meta.url))
  for (;;) {
    try {
      const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      if (name === 'holdfast') return String(version)
    } catch {
      // Not in this folder.
    }
    const parent = dirname(folder)
    if (parent === folder) return 'unknown'
    folder = parent
  }
}
