import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makePrivateFolder } from './paths.ts'

/** Reads a small JSON file of the state folder; a file that is absent or damaged counts as none. */
export const readState = (folder: string, name: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(readFileSync(join(folder, name), 'utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** Replaces a small JSON file of the state folder, whole or not at all, readable by its owner alone. */
export const writeState = (folder: string, name: string, value: object): void => {
  makePrivateFolder(folder)
  const path = join(folder, name)
  const draft = `${path}.${process.pid}.tmp`
  writeFileSync(draft, `${JSON.stringify(value)}\n`, { mode: 0o600 })
  renameSync(draft, path)
}

/** Removes a file of the state folder, if it is there. */
export const removeState = (folder: string, name: string): void => {
  rmSync(join(folder, name), { force: true })
}
