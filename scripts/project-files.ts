import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Files by path from the project's root, with `/` between the parts. */
export type FileTexts = ReadonlyMap<string, string>

/** Reads every file under the given folders whose name matches, by walking the disk. */
export const readTree = (root: string, folders: readonly string[], wanted: RegExp): FileTexts => {
  const texts = new Map<string, string>()
  const walk = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = `${folder}/${entry.name}`
      if (entry.isDirectory()) walk(path)
      else if (wanted.test(entry.name)) texts.set(path, readFileSync(join(root, path), 'utf8'))
    }
  }
  for (const folder of folders) if (existsSync(join(root, folder))) walk(folder)
  return texts
}

/** The files of the project as git knows them: tracked ones and new ones, without deleted and ignored ones. */
export const gitFiles = (root: string): readonly string[] => {
  const deleted = new Set(gitList(root, '--deleted'))
  return gitList(root, '--cached', '--others', '--exclude-standard').filter(path => !deleted.has(path))
}

const gitList = (root: string, ...options: readonly string[]): readonly string[] =>
  execFileSync('git', ['ls-files', '-z', ...options], { cwd: root, encoding: 'utf8' })
    .split('\0')
    .filter(path => path !== '')
