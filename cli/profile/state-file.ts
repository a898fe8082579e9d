import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseJsonText, tryJsonText } from '../../kernel/index.ts'
import { makePrivateFolder } from './paths.ts'

/** Reads a small JSON file of the state folder; a file that is absent or damaged counts as none. */
export const readState = (folder: string, name: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value = parseJsonText(readFileSync(join(folder, name), 'utf8'))
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * Reads a JSON file of the state folder that is not to be lost unnoticed; undefined if there is none.
 *
 * @param parse - undefined for what it cannot be: then the file is kept beside, as `<name>.damaged`
 * @param tell - told where it was put
 */
export const readOrSetAside = <T>(
  folder: string,
  name: string,
  { parse, tell }: { parse(value: unknown): T | undefined; tell(path: string): void }
): T | undefined => {
  const path = join(folder, name)
  if (!existsSync(path)) return undefined
  const parsed = parse(tryJsonText(readFileSync(path, 'utf8')))
  if (parsed !== undefined) return parsed
  renameSync(path, `${path}.damaged`)
  tell(`${path}.damaged`)
  return undefined
}

/** Whether a value has fields. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

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
