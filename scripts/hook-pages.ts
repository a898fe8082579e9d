import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAst } from 'rolldown/parseAst'
import { compact } from '../kernel/base/compact.ts'
import { type DispatchKind, type HookRow, hookTable } from '../kernel/plugins/hook-table.ts'
import { type PublicDeclaration, publicDeclarations, type SyntaxNode } from './freeze/declarations.ts'

/** How the taps of a kind of hook run, what each may return, and what becomes of one that throws or takes too long. */
const KINDS: Readonly<Record<DispatchKind, { readonly runs: string; readonly fails: string }>> = {
  asked: {
    runs: 'in order; the first answer wins.',
    fails: 'A failing tap fails the question, with the id of the plugin.'
  },
  gathered: {
    runs: 'all at once, each with a context of its own.',
    fails: 'A failing tap is reported; the others count.'
  },
  gated: {
    runs: 'in order; each may object.',
    fails:
      'An objection is the verdict: an error of the catalogue reaches the caller unchanged, any other one as the cause of SIGN_REFUSED, and the answer false is one, too.'
  },
  piped: {
    runs: 'a value passes through.',
    fails: 'A failing tap is reported and the value passes unchanged.'
  },
  observed: {
    runs: 'all are notified.',
    fails: 'A failing tap is reported; the others are still notified.'
  }
}

/** Where the example of a hook stands: a file of `examples`, and the name of the declaration that is quoted. */
const EXAMPLES: Readonly<Record<string, readonly [file: string, name: string]>> = {
  openDisk: ['map-storage', 'mapStorage'],
  openStore: ['map-store', 'mapStoreStorage'],
  makeTools: ['toy-currency', 'makeTools'],
  makeEngine: ['toy-currency', 'makeEngine'],
  fetchRates: ['price-shop', 'priceShop'],
  fetchHistoricRates: ['cookbook/own-prices', 'ownPrices'],
  fetchQuotes: ['rates-and-swaps', 'cornerShop'],
  watchOrder: ['rates-and-swaps', 'watchedShop'],
  judgeRules: ['cookbook/payments-a-day', 'paymentsADay'],
  beforeSign: ['cookbook/fee-guard', 'feeGuard'],
  rankQuotes: ['cookbook/trusted-first', 'trustedFirst']
}

const rows: readonly (readonly [string, HookRow])[] = Object.entries(hookTable)

/**
 * The pages about hooks: `docs/hooks.md` with the table of all, and one page for each, with its moment, its arguments, its answer
 * and an example. The types come from the declarations that `npm run build` has emitted.
 *
 * @throws Error for a hook without types or an example
 */
export const hookPages = (root: string): ReadonlyMap<string, string> => {
  const types = hookTypes(readFileSync(join(root, 'kernel/plugins/hook-types.ts'), 'utf8'))
  const declared = new Map(
    publicDeclarations(join(root, 'dist/kernel/plugin-api.d.ts')).map(each => [each.name, each])
  )
  const pages = rows.map(([name, row]): [string, string] => {
    const type = types.get(name)
    if (type === undefined) throw new Error(`the types of the hook ${name} are not found`)
    const [file, subject] = EXAMPLES[name] ?? ['hook-taps', name]
    const path = `examples/${file}.ts`
    const example = declarationText(readFileSync(join(root, path), 'utf8'), subject)
    if (example === undefined) throw new Error(`${path} has no ${subject}, the example of ${name}`)
    return [`docs/hooks/${name}.md`, pageOf({ name, row, type, declared, path, example })]
  })
  return new Map([['docs/hooks.md', hookTablePage()], ...pages])
}

/** The page with the table of all hooks. */
export const hookTablePage = (): string =>
  `${[
    '# Hooks',
    '',
    'Generated from `kernel/plugins/hook-table.ts` by `npm run docs`. Do not edit.',
    '',
    'Only the kernel calls hooks; plugins tap them, each kind the ones that its host shows. Hooks are windows,',
    'not corridors: no part of the kernel talks to another through one. Each has a page with its arguments, its answer and an',
    'example.',
    '',
    '## How a hook runs',
    '',
    '| kind | behaviour |',
    '|---|---|',
    ...Object.entries(KINDS).map(([kind, { runs, fails }]) => `| ${kind} | ${runs} ${fails} |`),
    '',
    `## The ${rows.length} hooks`,
    '',
    '| hook | kind | keyed by | fires | carries | tapped by | time limit |',
    '|---|---|---|---|---|---|---|',
    ...rows.map(([name, row]) =>
      tableRow(
        ...[`[\`${name}\`](hooks/${name}.md)`, row.dispatch, row.key ?? '', row.fires, row.carries],
        ...[row.tappedBy, limitOf(row)]
      )
    )
  ].join('\n')}\n`

const limitOf = ({ deadlineMs }: HookRow): string =>
  deadlineMs === undefined ? '' : `${deadlineMs / 1000} s`

const tableRow = (...cells: readonly string[]): string =>
  `| ${cells.map(text => text.replaceAll('|', '\\|')).join(' | ')} |`

/** The types of the arguments and the answer of a hook. */
interface HookType {
  readonly args: readonly string[]
  /** Absent where a tap answers nothing. */
  readonly answer?: string
}

/** Reads the interface `HookTypes`: one line for each hook. */
const hookTypes = (source: string): ReadonlyMap<string, HookType> => {
  const types = new Map<string, HookType>()
  for (const [, name = '', kind = '', given = ''] of source.matchAll(
    /^ {4}readonly (\w+): (\w+)(?:<(.+)>)?$/gm
  )) {
    const [, list, answer] = /^\[(.*)\], (.+)$/.exec(given) ?? []
    const args = (list ?? given).split(', ').filter(arg => arg !== '')
    if (kind === 'Piped') types.set(name, { args, answer: `${args[0]} | undefined` })
    else types.set(name, { args, ...compact({ answer }) })
  }
  return types
}

interface HookPage {
  readonly name: string
  readonly row: HookRow
  readonly type: HookType
  readonly declared: ReadonlyMap<string, PublicDeclaration>
  /** The file of the example, and the text that is quoted from it. */
  readonly path: string
  readonly example: string
}

const pageOf = ({ name, row, type, declared, path, example }: HookPage): string => {
  const isSync = row.dispatch === 'piped' || row.dispatch === 'observed'
  const call = isSync
    ? `hooks.${name}.tap(id, (${type.args.map(variableOf).join(', ')}) => …)`
    : `hooks.${name}.tapPromise(id, async (${type.args.map(variableOf).join(', ')}) => …)`
  const { runs, fails } = KINDS[row.dispatch]
  const tapped =
    row.tappedBy === 'all' ? 'Plugins of every kind tap it' : `Plugins of the kind ${row.tappedBy} tap it`
  const own = row.key === undefined ? '' : ' The kernel calls the taps of one plugin alone, whose turn it is.'
  const limit =
    row.deadlineMs === undefined
      ? 'A tap answers at once; the kernel does not wait for a promise.'
      : `A tap may take ${limitOf(row)}; later it counts as failed, with DEADLINE.`
  return `${[
    `# ${name}`,
    '',
    'Generated by `npm run docs` from `kernel/plugins/hook-table.ts` and the types of `holdfast/plugin`. Do not edit.',
    'All hooks: [hooks.md](../hooks.md).',
    '',
    `${tapped}, in \`apply\`: \`${call}\``,
    '',
    '## When',
    '',
    `${capital(row.fires)}. The hook is *${row.dispatch}*: ${runs}${own}`,
    '',
    '## Arguments',
    '',
    ...(type.args.length === 0
      ? ['None.']
      : [`${capital(row.carries)}.`, ...type.args.flatMap(arg => fieldsOf(arg, declared))]),
    '',
    '## May return',
    '',
    ...answerOf(row, type, declared),
    '',
    '## Time limit and failure',
    '',
    `${limit} ${failureOf(row, fails)}`,
    '',
    '## Example',
    '',
    `From \`${path}\`, which the tests run:`,
    '',
    `\`\`\`ts file=${path}`,
    example,
    '```'
  ].join('\n')}\n`
}

const capital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`

const typeName = (type: string): string =>
  type
    .replace(/^readonly /, '')
    .replace(/\[\]$/, '')
    .replace(/ \| undefined$/, '')

const variableOf = (type: string): string => {
  const name = typeName(type).replace(/Snapshot$/, '')
  const word = `${name.slice(0, 1).toLowerCase()}${name.slice(1)}`
  if (name.endsWith('Context')) return 'context'
  return type.endsWith('[]') ? `${word}s` : word
}

const answerOf = (
  { dispatch, carries }: HookRow,
  { args, answer }: HookType,
  declared: HookPage['declared']
): readonly string[] => {
  if (dispatch === 'observed') return ['Nothing: what a tap returns is ignored.']
  if (dispatch === 'gated')
    return ['Nothing, if it has no objection. To object it throws a `WalletError`, such as `SIGN_REFUSED`.']
  if (dispatch === 'piped')
    return [
      `A value of the type \`${args[0]}\`, in place of the one that it was given; \`undefined\` leaves that as it is.`
    ]
  if (answer === undefined)
    return args.length === 0
      ? ['Nothing.']
      : ['Nothing: it calls methods of the context, as often as it likes until it ends.']
  const first = args.length === 0 ? `${capital(carries.replace(/^nothing; /, ''))}. ` : ''
  return [
    `${first}A promise of \`${answer}\`; \`undefined\` counts as no answer.`,
    ...answer.split(' | ').flatMap(each => fieldsOf(each, declared))
  ]
}

const failureOf = ({ dispatch, key }: HookRow, fails: string): string => {
  const reported = 'A fault is written to the log and told on [pluginFault](pluginFault.md).'
  if (dispatch === 'asked')
    return `${fails} The caller gets \`PLUGIN_FAILED\`, ${key === undefined ? 'and nothing is opened' : 'and no other plugin is concerned'}.`
  return dispatch === 'gated'
    ? `${fails} A tap that takes too long or breaks objects, too: nothing is signed.`
    : `${fails} ${reported}`
}

/** A table of the fields and methods of a type, with their comments; nothing for a type without any. */
const fieldsOf = (type: string, declared: HookPage['declared']): readonly string[] => {
  const name = typeName(type)
  const found = declared.get(name)
  const node = found?.nodes.find(({ type: kind }) => kind === 'TSInterfaceDeclaration')
  if (found === undefined || node === undefined) return []
  const { start, body } = node.body as SyntaxNode & { readonly body: readonly SyntaxNode[] }
  const parents = (node.extends ?? []) as readonly { readonly expression: { readonly name: string } }[]
  let from = start + 1
  const lines = body.map(member => {
    const comment = /\/\*\*([\s\S]*?)\*\/\s*$/.exec(found.text.slice(from, member.start))?.[1] ?? ''
    from = member.end
    const [head = '', rest = ''] = splitMember(oneLine(found.text.slice(member.start, member.end)))
    return tableRow(`\`${head}\``, rest === '' ? '' : `\`${rest}\``, commentText(comment))
  })
  const about = commentText(TYPE_COMMENT.exec(found.text.slice(0, node.start))?.[1] ?? '')
  return [
    '',
    `\`${name}\`${parents.length === 0 ? '' : `, with the fields of ${parents.map(({ expression }) => `\`${expression.name}\``).join(', ')}`}:`,
    ...(about === '' ? [] : ['', about]),
    '',
    '| field | type | meaning |',
    '|---|---|---|',
    ...lines
  ]
}

const TYPE_COMMENT = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*(?:export\s+)?(?:declare\s+)?$/

/** The name of a member, and its type: of a method its parameters and its answer. */
const splitMember = (text: string): readonly [string, string] => {
  const plain = text.replace(/;$/, '').replace(/^readonly /, '')
  const [, name = plain, rest = ''] = /^((?:\[[^\]]*\]|[\w$]+)\??)(.*)$/.exec(plain) ?? []
  return [name, rest.replace(/^: /, '')]
}

const oneLine = (text: string): string =>
  text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .trim()

const commentText = (comment: string): string =>
  oneLine(
    comment
      .split('\n')
      .map(line => line.replace(/^\s*\* ?/, ''))
      .join('\n')
      .split(/@example\b/)[0] ?? ''
  )
    .replace(/\{@link ([^}]+)\}/g, '`$1`')
    .replace(/@(throws|returns|param)\b/g, (_, tag: string) => (tag === 'throws' ? 'Throws' : ''))
    .trim()

/** The text of a declaration of a source file with the comment before it, exactly as it stands there. */
const declarationText = (source: string, name: string): string | undefined => {
  for (const node of parseAst(source, { lang: 'ts' }).body as unknown as readonly SyntaxNode[]) {
    const inner = (node.declaration ?? node) as SyntaxNode
    const names = ((inner.declarations ?? []) as readonly { readonly id: { readonly name?: string } }[]).map(
      ({ id }) => id.name
    )
    if (!names.includes(name)) continue
    const comment = /\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*$/.exec(source.slice(0, node.start))?.[0] ?? ''
    return source.slice(node.start - comment.length, node.end)
  }
  return undefined
}
