import { parseAst } from 'rolldown/parseAst'
import type { FileTexts } from './project-files.ts'

/** Tests may build their objects as they like. */
const FOLDERS =
  /^(?:kernel|plugins|platform|app|cells|cli|devtools|fake-server|testing|bench|examples|scripts)\//

/** What a file must hold to be worth parsing. */
const SPREAD = /\.\.\.\s*\(/

/**
 * Finds spreads that only leave a field out, such as `...(name === undefined ? {} : { name })` or `...(name && { name })` (pure):
 * `compact` does that, and is easier to read.
 *
 * A spread may still add a group of fields under one condition, or a field that is undefined on purpose.
 *
 * @returns one sentence for each spread
 */
export const checkSpreads = (files: FileTexts): readonly string[] => {
  const problems: string[] = []
  for (const [path, text] of files) {
    if (!FOLDERS.test(path) || !SPREAD.test(text)) continue
    const lang = path.endsWith('x') ? 'tsx' : 'ts'
    for (const node of nodesOf(parseAst(text, { lang }, path))) {
      if (node.type !== 'ObjectExpression') continue
      for (const part of listOf(node.properties)) {
        if (part.type !== 'SpreadElement' || !leavesOut(text, part)) continue
        const line = text.slice(0, part.start).split('\n').length
        problems.push(`${path}:${line}: use compact instead of a spread to leave the field out`)
      }
    }
  }
  return problems
}

/** A node of the syntax tree: its kind, its place in the text, and its parts. */
interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [part: string]: unknown
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

const listOf = (value: unknown): readonly Node[] => (Array.isArray(value) ? value.filter(isNode) : [])

function* nodesOf(value: unknown): Generator<Node> {
  if (Array.isArray(value)) for (const item of value) yield* nodesOf(item)
  if (!isNode(value)) return
  yield value
  for (const part of Object.values(value)) if (typeof part === 'object') yield* nodesOf(part)
}

/** Tells whether a spread adds either nothing or one field, or several that all have the value that is tested. */
const leavesOut = (text: string, spread: Node): boolean => {
  const found = choiceOf(bare(spread.argument))
  if (found === undefined) return false
  const fields = listOf(found.object?.properties)
  if (fields.length === 0 || fields.some(({ type }) => type !== 'Property')) return false
  const sourceOf = (node: Node | undefined): string => text.slice(node?.start, node?.end)
  const values = fields.map(({ value }) => sourceOf(bare(value)))
  if (values.length === 1) return values[0] !== 'undefined'
  const test = bare(found.test)
  const tested = [test, bare(test?.left), bare(test?.right)].flatMap(node => node ?? []).map(sourceOf)
  return values.every(value => value === values[0] && tested.includes(value))
}

/** The test of a spread that adds an object or nothing, and the object. */
const choiceOf = (
  argument: Node | undefined
): { readonly test: unknown; readonly object: Node | undefined } | undefined => {
  if (argument?.type === 'LogicalExpression' && argument.operator === '&&')
    return { test: argument.left, object: bare(argument.right) }
  if (argument?.type !== 'ConditionalExpression') return undefined
  const [first, second] = [bare(argument.consequent), bare(argument.alternate)]
  if (isNothing(first)) return { test: argument.test, object: second }
  return isNothing(second) ? { test: argument.test, object: first } : undefined
}

const isNothing = (node: Node | undefined): boolean =>
  node?.type === 'ObjectExpression'
    ? listOf(node.properties).length === 0
    : node?.name === 'undefined' || (node?.type === 'Literal' && node.value === null)

/** A node without the brackets and types around it. */
const bare = (value: unknown): Node | undefined => {
  let node = isNode(value) ? value : undefined
  while (node !== undefined && WRAPPERS.has(node.type) && isNode(node.expression)) node = node.expression
  return node
}

const WRAPPERS: ReadonlySet<string> = new Set([
  'ParenthesizedExpression',
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSNonNullExpression'
])
