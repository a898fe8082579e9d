import { parseAst } from 'rolldown/parseAst'
import type { FileTexts } from '../project-files.ts'
import { namesBelow } from './renames.ts'

/**
 * Lists every assertion of the tests, in whichever file it stands: the call as it is written, with the renamed names of
 * the old tree replaced. Two trees assert the same if nothing of the first list is missing in the second.
 *
 * @param renames - new names by old ones; a name with a dot before it is that of a member alone, one after the start of a
 * path and a colon is that of the tests below it (`test/cli/:film`; the longest start counts), and a whole call, without blanks
 * and with the other names replaced, stands for another call
 * @returns how often each assertion stands there
 */
export const assertionsOf = (
  files: FileTexts,
  renames: ReadonlyMap<string, string>
): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const [path, text] of files) {
    const names = namesBelow(path, renames)
    const lang = path.endsWith('x') ? 'tsx' : 'ts'
    walk(parseAst(text, { lang }), node => {
      if (!isAssertion(node)) return
      const written = normal(withNames(text, node, names), renames)
      const call = renames.get(written) ?? written
      counts.set(call, (counts.get(call) ?? 0) + 1)
    })
  }
  return counts
}

/** Lists the assertions of `before` that `after` has fewer times. */
export const lostAssertions = (
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>
): readonly string[] =>
  [...before].flatMap(([call, count]) => {
    const missing = count - (after.get(call) ?? 0)
    return missing > 0 ? [`${missing} × ${call}`] : []
  })

/** The text of a node with its identifiers renamed; what stands in texts stays. */
const withNames = (
  text: string,
  node: Record<string, unknown>,
  names: ReadonlyMap<string, string>
): string => {
  const found = new Map<number, readonly [name: string, now: string]>()
  walk(node, ({ type, name, start }) => {
    const now = /Identifier$/.test(type as string) ? names.get(name as string) : undefined
    if (now === undefined) return
    found.set((start as number) + (type === 'PrivateIdentifier' ? 1 : 0), [name as string, now])
  })
  let renamed = ''
  let at = node.start as number
  for (const [from, [name, now]] of [...found].sort(([a], [b]) => a - b)) {
    renamed += text.slice(at, from) + now
    at = from + name.length
  }
  return renamed + text.slice(at, node.end as number)
}

/** `t.is(…)`, and the same of a part of `t` or of a helper that is called with `t` first. */
const isAssertion = (node: Record<string, unknown>): boolean => {
  if (node.type !== 'CallExpression') return false
  const { callee, arguments: args } = node as unknown as {
    readonly callee: { readonly type: string; readonly object?: { readonly name?: string } }
    readonly arguments: readonly { readonly name?: string }[]
  }
  return (callee.type === 'MemberExpression' && callee.object?.name === 't') || args[0]?.name === 't'
}

const walk = (value: unknown, visit: (node: Record<string, unknown>) => void): void => {
  if (Array.isArray(value)) {
    for (const item of value) walk(item, visit)
    return
  }
  if (typeof value !== 'object' || value === null) return
  const node = value as Record<string, unknown>
  if (typeof node.type === 'string') visit(node)
  for (const item of Object.values(node)) walk(item, visit)
}

const normal = (text: string, renames: ReadonlyMap<string, string>): string =>
  text
    .replace(/\/\*[\s\S]*?\*\/|(^|[^:])\/\/[^\n]*/g, '$1')
    .replace(/\.?[A-Za-z_$][\w$]*/g, word => renamed(word, renames))
    .replace(/\s+/g, '')
    .replace(/,(?=[)\]}])/g, '')

/** A member goes by its own rename, or by the one of its word. */
const renamed = (word: string, renames: ReadonlyMap<string, string>): string => {
  if (!word.startsWith('.')) return renames.get(word) ?? word
  const name = word.slice(1)
  return renames.get(word) ?? `.${renames.get(name) ?? name}`
}
