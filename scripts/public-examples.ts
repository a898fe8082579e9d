import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { exampleNames, withoutExample, withoutTestingExample } from './example-names.ts'
import { type PublicDeclaration, publicDeclarations, type SyntaxNode } from './freeze/declarations.ts'

/** What is checked, and what examples may take for granted. */
export interface ExamplesOptions {
  /** The folder of the package: examples import it by its name. */
  readonly root: string
  /** Paths of the emitted declaration files whose exports need examples. */
  readonly entries: readonly string[]
  /** Types by name: an example may use these names without declaring them. */
  readonly names: Readonly<Record<string, string>>
  /** Exports that are called or implemented but need no example, with the reason. */
  readonly exempt: Readonly<Record<string, string>>
  /** Packages whose types examples may take for granted; none if left out. */
  readonly types?: readonly string[]
  /** The compiler. */
  readonly tsc: string
}

/** One `@example` of a public export. */
export interface Example {
  /** The path of the declaration file. */
  readonly file: string
  /** `Account.createWallets`, or `add` for an export itself. */
  readonly subject: string
  readonly code: string
}

/**
 * Compiles every `@example` of the public exports against the emitted declarations, in one run of the compiler, and looks for
 * exports that a user calls or implements and that have none: functions, classes, interfaces with methods, plugin kinds.
 *
 * @returns a line for each problem
 */
export const checkExamples = async (options: ExamplesOptions): Promise<readonly string[]> => {
  const declarations = options.entries.flatMap(publicDeclarations)
  const examples = examplesOf(declarations)
  return [...missingExamples(declarations, options.exempt), ...(await compileExamples(examples, options))]
}

/** Checks the examples of `holdfast`, `holdfast/plugin`, `holdfast/observer` and `holdfast/testing` as {@link checkExamples} does. */
export const checkPublicExamples = async (root: string): Promise<readonly string[]> => {
  const given = { root, tsc: join(root, 'node_modules/typescript/bin/tsc'), names: exampleNames }
  const kernel = ['index', 'plugin-api', 'observer-api'].map(name => join(root, `dist/kernel/${name}.d.ts`))
  return [
    ...(await checkExamples({ ...given, entries: kernel, exempt: withoutExample })),
    ...(await checkExamples({
      ...given,
      entries: [join(root, 'dist/testing/index.d.ts')],
      exempt: withoutTestingExample,
      types: ['node']
    }))
  ]
}

/** Reads the examples in the comments of some declarations; an export of several entries is read once (pure). */
export const examplesOf = (declarations: readonly PublicDeclaration[]): readonly Example[] => {
  const examples = new Map<string, Example>()
  for (const { name, file, text, nodes } of declarations)
    for (const node of nodes)
      for (const { subject, comment } of commentsOf(name, text, node))
        for (const [index, code] of exampleTexts(comment).entries())
          examples.set(`${file} ${subject} ${index}`, { file, subject, code })
  return [...examples.values()]
}

/** The comment of a declaration, and those of its members. */
const commentsOf = (
  name: string,
  text: string,
  { start, end }: SyntaxNode
): readonly { readonly subject: string; readonly comment: string }[] => {
  const own = COMMENT_BEFORE.exec(text.slice(0, start))?.[1]
  const members = [...text.slice(start, end).matchAll(MEMBER)].map(([, comment = '', member = '']) => ({
    subject: `${name}.${member}`,
    comment
  }))
  return own === undefined ? members : [{ subject: name, comment: own }, ...members]
}

const COMMENT_BEFORE = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*(?:export\s+)?$/
const MEMBER =
  /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*(?:(?:static|readonly|abstract|get|set)\s+)*(?:\[\w+\.)?(\w+)/g

/** The code of each `@example`; one without a fence is its own first problem, since it is taken as it stands. */
const exampleTexts = (comment: string): readonly string[] =>
  comment
    .split('\n')
    .map(line => line.replace(/^\s*\* ?/, ''))
    .join('\n')
    .split(/@example\b/)
    .slice(1)
    .map(text => /```ts\n([\s\S]*?)```/.exec(text)?.[1] ?? text)

/** Exports that are called or implemented, have no example and no reason for it; and reasons in vain (pure). */
const missingExamples = (
  declarations: readonly PublicDeclaration[],
  exempt: Readonly<Record<string, string>>
): readonly string[] => {
  const shown = new Set(examplesOf(declarations).flatMap(({ subject }) => [subject, subject.split('.')[0]]))
  const needed = new Map(
    declarations
      .filter(({ name, nodes }) => nodes.some(node => isCallable(name, node)))
      .map(({ name, file }) => [name, file])
  )
  const missing = [...needed]
    .filter(([name]) => !shown.has(name) && !Object.hasOwn(exempt, name))
    .map(([name, file]) => `${sourceOf(file)}: ${name} has no @example`)
  const vain = Object.keys(exempt)
    .filter(name => !needed.has(name) || shown.has(name))
    .map(name => `${name} needs no exception from the examples`)
  return [...missing, ...vain]
}

const sourceOf = (file: string): string =>
  relative(process.cwd(), file)
    .replace(/^dist\//, '')
    .replace(/\.d\.ts$/, '.ts')

/** A thing that a user calls or implements: not data alone. */
const isCallable = (name: string, node: SyntaxNode): boolean => {
  if (/Function|Class/.test(node.type) || name.endsWith('Plugin')) return true
  if (node.type === 'TSInterfaceDeclaration') {
    const { body } = node.body as { readonly body: readonly SyntaxNode[] }
    return body.some(member => member.type === 'TSMethodSignature' || isFunction(member.typeAnnotation))
  }
  if (node.type === 'TSTypeAliasDeclaration') return isFunction({ typeAnnotation: node.typeAnnotation })
  if (node.type !== 'VariableDeclaration') return false
  return (node.declarations as readonly { readonly id: SyntaxNode }[]).some(({ id }) =>
    isFunction(id.typeAnnotation)
  )
}

const isFunction = (annotation: unknown): boolean =>
  (annotation as { readonly typeAnnotation?: SyntaxNode } | undefined)?.typeAnnotation?.type ===
  'TSFunctionType'

const compileExamples = async (
  examples: readonly Example[],
  { root, names, tsc, types = [] }: ExamplesOptions
): Promise<readonly string[]> => {
  const folder = join(root, '.build', `examples-${process.pid}`)
  const files = new Map(examples.map((example, index) => [`${index}.ts`, example]))
  mkdirSync(folder, { recursive: true })
  try {
    for (const [path, { code }] of files) writeFileSync(join(folder, path), `${code}\nexport {}\n`)
    const ambient = Object.entries(names).map(([name, type]) => `declare const ${name}: ${type}\n`)
    writeFileSync(join(folder, 'names.d.ts'), ambient.join(''))
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(configOf(types)))
    const output = await run(tsc, ['-p', folder, '--pretty', 'false'], folder)
    return output.map(line => {
      const [path = '', ...rest] = line.split(/(?=\()/)
      const example = files.get(path)
      return example === undefined
        ? line
        : `${sourceOf(example.file)}: the example of ${example.subject} does not compile: ${rest.join('')}`
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** As strict as the package itself, and without the types of a platform but for those given. */
const configOf = (types: readonly string[]): object => ({
  compilerOptions: {
    target: 'es2023',
    lib: ['es2023'],
    module: 'nodenext',
    types,
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    verbatimModuleSyntax: true,
    skipLibCheck: true,
    noEmit: true
  },
  include: ['*.ts']
})

const run = (tsc: string, args: readonly string[], cwd: string): Promise<readonly string[]> =>
  new Promise(resolve => {
    execFile(process.execPath, [tsc, ...args], { cwd, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      resolve(error === null ? [] : `${stdout}${stderr}`.trim().split('\n'))
    })
  })
