import { parseAst } from 'rolldown/parseAst'

/** One change of one place in a file. */
export interface Mutant {
  readonly file: string
  /** Where the changed code begins, in characters from 0, and in lines from 1. */
  readonly start: number
  readonly row: number
  /** The line of the place as it is, without its indent. */
  readonly line: string
  /** Such as `<` → `<=`; numbered where the file has the same change of the same line again. */
  readonly change: string
  /** The whole file with the change in it. */
  readonly text: string
}

/** The parts of a syntax tree (ESTree) that are looked at. */
interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

interface Change {
  readonly start: number
  readonly end: number
  readonly by: string
  /** A place that runs if the change matters, where that is not its start. */
  readonly at?: number
}

/** Every mutant of a JavaScript module, in the order of its text (pure). */
export const findMutants = (file: string, source: string): Mutant[] => {
  const changes: Change[] = []
  visit(parseAst(source) as unknown as Node, undefined, (node, parent) =>
    changes.push(...changesOf(node, parent, { file, source }))
  )
  const lines = source.split('\n')
  const times = new Map<string, number>()
  return changes
    .filter(({ start, end, by }) => source.slice(start, end) !== by)
    .sort((a, b) => a.start - b.start)
    .map(({ start, end, by, at = start }) => {
      const row = source.slice(0, start).split('\n').length
      const line = (lines[row - 1] ?? '').trim()
      const short = (text: string): string => (text.length > 60 ? `${text.slice(0, 57)}…` : text)
      const words = `${short(source.slice(start, end))} → ${short(by) || 'nothing'}`
      const time = (times.get(`${line}\n${words}`) ?? 0) + 1
      times.set(`${line}\n${words}`, time)
      const change = time === 1 ? words : `${words} (${time})`
      return { file, start: at, row, line, change, text: source.slice(0, start) + by + source.slice(end) }
    })
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'

const visit = (
  node: Node,
  parent: Node | undefined,
  look: (node: Node, parent: Node | undefined) => void
): void => {
  // A log line or an error's text in another form is no fault that a test should see.
  if (node.type.startsWith('Import') || node.type.startsWith('ExportAll')) return
  look(node, parent)
  // What stands behind `=` in `[a = 0]` is there for the compiler.
  const parts =
    node.type === 'ArrayPattern' ? [(node.elements as (Node | null)[]).map(leftOf)] : Object.values(node)
  for (const value of parts) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child, node, look)
  }
}

const leftOf = (element: Node | null): unknown =>
  element?.type === 'AssignmentPattern' ? element.left : element

const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '&': ['|'],
  '|': ['&'],
  '^': ['&'],
  '<<': ['>>'],
  '>>': ['<<'],
  '>>>': ['<<'],
  '&&': ['||'],
  '||': ['&&'],
  '??': ['&&'],
  '++': ['--'],
  '--': ['++'],
  '+=': ['-='],
  '-=': ['+='],
  '??=': ['=']
}

/** The module that is broken. */
interface Module {
  readonly file: string
  readonly source: string
}

/** Replaces the operator that stands between two operands. */
const swapped = (node: Node, parent: Node | undefined, { file, source }: Module): Change[] => {
  const operator = String(node.operator)
  const left = node.left as Node
  const right = node.right as Node
  const at = source.indexOf(operator, left.end)
  if (at < 0 || at >= right.start) return []
  const isEdge = isWorkBound(file, left, right) || isOrderOfTwo(parent, left, right)
  const others = (OPERATORS[operator] ?? []).filter(by => !isEdge || !isOtherEdge(operator, by))
  // What stands right of `??` may never run, also in a test that sees the difference.
  return others.map(by => ({
    start: at,
    end: at + operator.length,
    by,
    at: node.start
  }))
}

/** Whether two comparisons differ for equal operands alone. */
const isOtherEdge = (operator: string, by: string): boolean => operator === `${by}=` || by === `${operator}=`

const isMoney = (file: string): boolean => /^dist\/(?:kernel\/wallet|kernel\/swap|plugins)\//.test(file)

const BOUND = /^(?:MAX_\w+|\w+_MS)$/

/** Tells whether a comparison is with a bound of sizes, counts or times, which may as well be one higher or lower. */
const isWorkBound = (file: string, ...operands: readonly Node[]): boolean =>
  !isMoney(file) && operands.some(({ type, name }) => type === 'Identifier' && BOUND.test(String(name)))

/** Tells whether it is the test of `a < b ? -1 : 1`, an order that is never asked about two equal things. */
const isOrderOfTwo = (parent: Node | undefined, ...operands: readonly Node[]): boolean =>
  parent?.type === 'ConditionalExpression' &&
  isSign(parent.consequent as Node) &&
  isSign(parent.alternate as Node) &&
  operands.every(({ type }) => type !== 'Literal')

const isSign = ({ type, value, operator, argument }: Node): boolean =>
  (type === 'Literal' && value === 1) ||
  (type === 'UnaryExpression' && operator === '-' && isSign(argument as Node))

const replaced = (node: Node, ...by: readonly string[]): Change[] =>
  by.map(text => ({ start: node.start, end: node.end, by: text }))

const changesOf = (node: Node, parent: Node | undefined, module: Module): Change[] => {
  const { source } = module
  switch (node.type) {
    case 'BinaryExpression':
    case 'AssignmentExpression':
    case 'LogicalExpression':
      return swapped(node, parent, module)
    case 'IfStatement':
      return replaced(node.test as Node, 'true', 'false')
    case 'ConditionalExpression':
      return replaced(node.test as Node, 'true', ...(isFieldLeftOut(node, source) ? [] : ['false']))
    case 'WhileStatement':
      return replaced(node.test as Node, 'false')
    case 'UnaryExpression': {
      const inner = source.slice((node.argument as Node).start, (node.argument as Node).end)
      return node.operator === '!' || node.operator === '-' ? replaced(node, `(${inner})`) : []
    }
    case 'UpdateExpression':
      return replaced(
        node,
        source.slice(node.start, node.end).replace(/\+\+|--/, at => (at === '++' ? '--' : '++'))
      )
    case 'Literal':
      return parent?.type === 'CallExpression' && isWipe(parent, source)
        ? []
        : literalChanges(node, parent, module)
    case 'ReturnStatement':
      // Nearly all that asks takes undefined for false.
      return isNode(node.argument) && node.argument.value !== false ? replaced(node, 'return undefined;') : []
    case 'ThrowStatement':
      return replaced(node, ';')
    case 'ExpressionStatement': {
      const expression = node.expression as Node
      const isCall = expression.type === 'CallExpression' || expression.type === 'AwaitExpression'
      const isSuper = isCall && isNode(expression.callee) && expression.callee.type === 'Super'
      const isUnseen = isWipe(expression, source) || isPause(expression, source)
      return isCall && !isSuper && !isUnseen ? replaced(node, ';') : []
    }
    case 'ArrayExpression':
      return (node.elements as unknown[]).length > 0 ? replaced(node, '[]') : []
    default:
      return []
  }
}

/** Tells whether it is `a === undefined ? {} : …`: a field that is there as undefined is as good as none. */
const isFieldLeftOut = ({ test, consequent }: Node, source: string): boolean => {
  const [requested, left] = [test, consequent].map(node =>
    source.slice((node as Node).start, (node as Node).end)
  )
  return left === '{}' && requested?.endsWith(' === undefined') === true
}

/** No test can read the memory that a secret stood in. */
const isWipe = (expression: Node, source: string): boolean =>
  source.slice(expression.start, expression.end).endsWith('.fill(0)')

/** Tells whether it only gives other work a turn of the event loop; what is done before and after is the same. */
const isPause = ({ start, end }: Node, source: string): boolean =>
  /^await (?:breathe|pause|this\.#pause|[\w.#]*clock\.turn)\(\)$/.test(source.slice(start, end))

/** What stands before the value of a constant, on the line of one of its numbers. */
const constantAt = (node: Node, source: string): string => {
  const line = source.slice(source.lastIndexOf('\n', node.start) + 1, node.start)
  return line.slice(0, line.indexOf('=') + 2)
}

/** A constant in kibibytes, or named after a group or a batch: how much is read, kept or written at once. */
const WORK_SIZE = /^(?:export )?const (?:\w+ = [\d* ]*\b1024\b[\d* ]*|(?:\w+_)?(?:GROUP|BATCH) = \d+);$/

const lineOf = (node: Node, source: string): string =>
  source.slice(source.lastIndexOf('\n', node.start) + 1).split('\n', 1)[0] ?? ''

const literalChanges = (node: Node, parent: Node | undefined, { file, source }: Module): Change[] => {
  const isKey = parent?.type === 'Property' && parent.key === node
  // What stands behind `list[i] ??` is there for the compiler.
  const left =
    parent?.type === 'LogicalExpression' && parent.operator === '??' ? (parent.left as Node) : undefined
  if (left?.type === 'MemberExpression' && left.computed === true) return []
  // A bound that is one higher is as good a bound, where it bounds work and no money.
  const isBound = /^(?:export )?const (?:MAX_\w+|\w+_MS) = $/.test(constantAt(node, source))
  if (isBound && !isMoney(file)) return []
  if (WORK_SIZE.test(lineOf(node, source))) return []
  // Of an order, only the sign counts.
  if (/\? -?1 : -?1\b/.test(source.slice(node.start - 8, node.end + 5))) return []
  // The words of an error or a log line are no behaviour.
  if (isKey || parent?.type === 'TemplateLiteral' || parent?.type === 'Directive') return []
  const { value, bigint } = node
  if (typeof bigint === 'string') return replaced(node, `${BigInt(bigint) + 1n}n`)
  if (typeof value === 'number') return replaced(node, String(value + 1))
  if (typeof value === 'boolean') return replaced(node, String(!value))
  return []
}
