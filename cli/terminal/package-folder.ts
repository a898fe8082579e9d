import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of this package, and its version. */
export interface PackageFolder {
  readonly path: string
  readonly version: string
}

/** Finds the folder of `package.json`, which is above this file wherever it was built to; undefined if it is not. */
export const packageFolder = (): PackageFolder | undefined => {
  let path = dirname(fileURLToPath(import.meta.url))
  for (;;) {
    try {
      const { name, version } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
      if (name === 'holdfast') return { path, version: String(version) }
    } catch {
      // Not in this folder.
    }
    const parent = dirname(path)
    if (parent === path) return undefined
    path = parent
  }
}
