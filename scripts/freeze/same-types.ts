import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { isAbsolute, join, relative } from 'node:path'
import type { ReachableDeclaration } from './declarations.ts'

/** An old interface or type, with new names. */
export interface OldType {
  readonly name: string
  readonly before: string
}

/**
 * Finds old types that are written in another way today and that the compiler reads as the same type, such as the hooks of
 * a host that derive from a table now. An old type is compiled with the present declarations of what it uses.
 *
 * @param known - the present declarations, where the names in the old types are looked up
 * @param folder - where the sources for the compiler go; a folder of the project, so that its packages are found
 * @returns the old types that did not change; never a class, a value, or a type with parameters
 */
export const sameTypes = (
  old: readonly OldType[],
  known: readonly ReachableDeclaration[],
  folder: string
): readonly OldType[] => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const places = new Map<string, ReachableDeclaration>()
  for (const item of known) if (item.isPublic || !places.has(item.name)) places.set(item.name, item)
  const judged = old.filter(({ name, before }) => TYPE.test(before) && places.has(name))
  for (const [index, { name, before }] of judged.entries()) {
    const words = new Set([name, ...(before.match(/[A-Za-z_$][\w$]*/g) ?? [])])
    const imports = [...words].flatMap(word => importOf(word, places.get(word), folder))
    const source = [
      ...imports,
      before.replace(TYPE, '$1 OldDeclaration'),
      'type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false',
      `export const isSame: Same<OldDeclaration, ${name}> = true`
    ]
    writeFileSync(join(folder, `${fileNameOf(index)}.ts`), `${source.join('\n')}\n`)
  }
  if (judged.length === 0) return []
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: OPTIONS }))
  const { status, stdout } = spawnSync('npx', ['tsc', '-p', folder, '--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8'
  })
  const isBroken = status !== 0 && !/^type\d+\.ts\(/m.test(stdout)
  if (isBroken) throw new Error(`The compiler could not compare the types:\n${stdout}`)
  return judged.filter((_, index) => !stdout.includes(`${fileNameOf(index)}.ts(`))
}

const TYPE = /^(interface|type) [\w$]+(?![\w$<])/

const OPTIONS = {
  noEmit: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  module: 'nodenext',
  target: 'esnext',
  types: ['node']
}

const fileNameOf = (index: number): string => `type${index}`

const importOf = (
  word: string,
  place: ReachableDeclaration | undefined,
  folder: string
): readonly string[] => {
  if (place === undefined) return []
  const { file, local } = place
  const path = isAbsolute(file) ? `./${relative(folder, file).replace(/\.d\.ts$/, '.js')}` : file
  return [`import type { ${local === word ? word : `${local} as ${word}`} } from '${path}'`]
}
