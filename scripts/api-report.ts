import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseAst } from 'rolldown/parseAst'
import { reachableDeclarations, type SyntaxNode } from './freeze/declarations.ts'

/** One declaration of an entry of the package, as the report prints it. */
export interface ApiDeclaration {
  readonly name: string
  /** False for one that only other declarations use. */
  readonly isPublic: boolean
  /** The declaration up to its members; the whole of one without members. */
  readonly head: string
  /** The members of an interface or a class, by name; overloads of one name are one text. */
  readonly members: ReadonlyMap<string, string>
  /** The names of the exports that reach it; of an export its own. */
  readonly reachedFrom: readonly string[]
}

/** The entries that are reported, each with its declaration file below `dist`. */
const ENTRIES: ReadonlyMap<string, string> = new Map([
  ['holdfast', 'kernel/index'],
  ['holdfast/plugin', 'kernel/plugin-api'],
  ['holdfast/observer', 'kernel/observer-api'],
  ['holdfast/testing', 'testing/index'],
  ['holdfast/node', 'platform/node/index'],
  ['holdfast/node/cells', 'cells/node/open-cells'],
  ['holdfast/browser', 'platform/browser/index'],
  ['holdfast/browser/cells', 'cells/browser/open-page-cells']
])

/** The file with the tags of the API as it was at the last version. */
export const RELEASED_API = 'scripts/released-api.txt'

/**
 * Reads what the entries of the package export from the declarations that `npm run build` has emitted. What an earlier entry has
 * already is named and not repeated.
 *
 * @returns the declarations of each entry, in the order of the report
 */
export const readApi = (root: string): ReadonlyMap<string, readonly ApiDeclaration[]> => {
  const known = new Map<string, string>()
  const api = new Map<string, readonly ApiDeclaration[]>()
  for (const [entry, path] of ENTRIES) {
    const found = reachableDeclarations(join(root, `dist/${path}.d.ts`))
    const reach = reachOf(found)
    const declarations: ApiDeclaration[] = []
    for (const { name, isPublic, file, local, body } of found) {
      const place = `${relative(root, file)} ${local}`
      const reachedFrom = isPublic ? [name] : [...(reach.get(name) ?? [])].sort()
      const earlier = known.get(place)
      if (!isPublic && earlier !== undefined) continue
      if (earlier === undefined || earlier === USED) {
        declarations.push({ name, isPublic, ...partsOf(body), reachedFrom })
        known.set(place, isPublic ? entry : USED)
      } else if (earlier !== entry)
        declarations.push({ name, isPublic, head: `as in ${earlier}`, members: new Map(), reachedFrom })
    }
    api.set(
      entry,
      declarations.sort((a, b) => Number(b.isPublic) - Number(a.isPublic) || (a.name < b.name ? -1 : 1))
    )
  }
  return api
}

/** In place of the entry that exports a declaration: none so far. */
const USED = ''

/** The exports that use each other declaration, directly or through others that are not exported. */
const reachOf = (
  found: readonly { readonly name: string; readonly isPublic: boolean; readonly body: string }[]
): ReadonlyMap<string, ReadonlySet<string>> => {
  const users = new Map<string, string[]>()
  const inner = new Map(found.filter(({ isPublic }) => !isPublic).map(({ name, body }) => [name, body]))
  for (const { name, body } of found)
    for (const word of new Set(body.match(/[A-Za-z_$][\w$]*/g)))
      if (inner.has(word) && word !== name) users.set(word, [...(users.get(word) ?? []), name])
  const reach = new Map<string, Set<string>>()
  for (const name of inner.keys()) {
    const seen = new Set([name])
    for (const each of seen) for (const user of users.get(each) ?? []) seen.add(user)
    reach.set(name, new Set([...seen].filter(each => !inner.has(each))))
  }
  return reach
}

/** Separates the members of a declaration from its head. */
const partsOf = (body: string): Pick<ApiDeclaration, 'head' | 'members'> => {
  const members = new Map<string, string>()
  if (body === '') return { head: 'of another package', members }
  let head = body
  for (const node of parseAst(body, { lang: 'dts' }).body as unknown as readonly SyntaxNode[]) {
    if (node.type !== 'TSInterfaceDeclaration' && node.type !== 'ClassDeclaration') continue
    const { start, end, body: list } = node.body as SyntaxNode & { readonly body: readonly SyntaxNode[] }
    head = head.replace(body.slice(start, end), '').trim()
    for (const member of list) {
      const name = memberName(member)
      const text = body.slice(member.start, member.end).replace(/[;,]$/, '')
      members.set(name, members.has(name) ? `${members.get(name)} ${text}` : text)
    }
  }
  return { head, members }
}

const memberName = ({ type, key }: SyntaxNode): string => {
  const { name, value } = (key ?? {}) as { readonly name?: string; readonly value?: unknown }
  return name ?? (typeof value === 'string' ? value : `(${type.replace(/^TS/, '')})`)
}

/** The reports as text, by path: `docs/api/holdfast.txt` and one for each other entry. */
export const apiReports = (api: ReturnType<typeof readApi>): ReadonlyMap<string, string> =>
  new Map(
    [...api].map(([entry, declarations]) => [
      `docs/api/${entry.replaceAll('/', '-')}.txt`,
      [
        `What ${entry} exports. Made from the code by npm run docs. Do not edit.`,
        'A change fails npm run check until the section Unreleased of CHANGELOG.md names it.',
        '',
        ...declarations.map(({ name, isPublic, head, members }) =>
          [
            `${isPublic ? 'export' : 'uses'} ${name}: ${head}`,
            ...[...members.values()].map(text => `  ${text}`)
          ].join('\n')
        ),
        ''
      ].join('\n')
    ])
  )

/**
 * A short tag for each export and each member, a line each: what a later report is compared with.
 *
 * @returns the text of `scripts/released-api.txt`
 */
export const apiTags = (api: ReturnType<typeof readApi>): string =>
  `${[...api]
    .flatMap(([entry, declarations]) =>
      declarations.flatMap(({ name, head, members }) => [
        `${entry} ${name} ${tagOf(head)}`,
        ...[...members].map(([member, text]) => `${entry} ${name}.${member} ${tagOf(text)}`)
      ])
    )
    .join('\n')}\n`

const tagOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8)

/**
 * Compares the API with that of the last version, and finds changes that the changelog does not name in its section
 * "Unreleased": `Account` for an export, `Account.id` for a member. What is used and not exported counts as named with one of
 * the exports that reach it, or with the name of the member alone, such as the code of an error (pure).
 *
 * @param released - the tags of the last version
 * @returns a line for each change that is not named
 */
export const unnamedChanges = (
  api: ReturnType<typeof readApi>,
  released: string,
  changelog: string
): readonly string[] => {
  const before = readTags(released)
  const now = readTags(apiTags(api))
  const isNamed = namesIn(changelog)
  const reach = new Map(
    [...api].flatMap(([entry, all]) =>
      all
        .filter(({ isPublic }) => !isPublic)
        .map(({ name, reachedFrom }) => [`${entry} ${name}`, reachedFrom] as const)
    )
  )
  const lines: string[] = []
  for (const key of new Set([...before.keys(), ...now.keys()])) {
    const change = changeOf(before.get(key), now.get(key))
    if (change === undefined) continue
    const entry = key.slice(0, key.indexOf(' '))
    const name = key.slice(entry.length + 1)
    const owner = name.split('.')[0] ?? name
    // With a whole export its members come and go.
    if (owner !== name && before.has(`${entry} ${owner}`) !== now.has(`${entry} ${owner}`)) continue
    const others = reach.get(`${entry} ${owner}`)
    const enough = others === undefined ? [name] : [name, owner, ...others, name.split('.')[1] ?? owner]
    if (enough.some(isNamed)) continue
    const way = others === undefined ? '' : `, or an export that uses it: ${others.slice(0, 5).join(', ')}`
    lines.push(`${name} of ${entry} was ${change}; name \`${name}\` in CHANGELOG.md, Unreleased${way}`)
  }
  return lines
}

const changeOf = (before: string | undefined, now: string | undefined): string | undefined => {
  if (before === now) return undefined
  if (before === undefined) return 'added'
  return now === undefined ? 'removed' : 'changed'
}

const readTags = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text
      .split('\n')
      .filter(line => line !== '')
      .map(line => [line.slice(0, line.lastIndexOf(' ')), line.slice(line.lastIndexOf(' ') + 1)])
  )

/** Asks whether a name stands in a code span of the section about the next version; case does not matter to `account.id`. */
const namesIn = (changelog: string): ((name: string) => boolean) => {
  const section = /^## Unreleased$([\s\S]*?)(?=^## |(?![\s\S]))/m.exec(changelog)?.[1] ?? ''
  const spans = [...section.matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span.toLowerCase())
  return name => {
    const pattern = new RegExp(`(?<![\\w$])${name.toLowerCase().replace(/[^\w]/g, '\\$&')}(?![\\w$])`)
    return spans.some(span => pattern.test(span))
  }
}

/** The changes of this tree since the last version that its changelog does not name. */
export const apiProblems = (root: string): readonly string[] => {
  const read = (path: string): string => readFileSync(join(root, path), 'utf8')
  if (!existsSync(join(root, RELEASED_API))) return [`${RELEASED_API} is missing`]
  return unnamedChanges(readApi(root), read(RELEASED_API), read('CHANGELOG.md'))
}
