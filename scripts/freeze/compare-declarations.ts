import { parseAst } from 'rolldown/parseAst'

/** A change of a declaration that is meant, and that `CHANGELOG.md` explains. */
export interface AcceptedChange {
  /** The declaration that changed. */
  readonly in: string
  /** A part of the old declaration. */
  readonly before: string
  /** What stands there now. */
  readonly now: string
  readonly why: string
}

/** What differs between two records of the declarations of one export path. */
export interface DeclarationChanges {
  /** Declarations that changed or went, with the text of the old one and of the new one, if there is one. */
  readonly changed: readonly { readonly name: string; readonly before: string; readonly now?: string }[]
  /** The names of new exports. */
  readonly added: readonly string[]
}

/**
 * Compares two records that {@link declarationsOf} made, the old one with new names. These say the same:
 *
 * - a type for ids (`Flavoured<'Txid'>`) and `string`, which fit for each other
 * - parameters of other names
 * - a declaration that was used alone and is exported now, and one that nothing uses any longer
 */
export const compareDeclarations = (
  before: string,
  now: string,
  accepted: readonly AcceptedChange[]
): DeclarationChanges => {
  const ids = new Set(linesOf(now).flatMap(({ name, body }) => (ID_TYPE.test(body) ? [name] : [])))
  const current = linesOf(now).filter(({ name }) => !ids.has(name))
  const plain = (body: string): string => withoutParameterNames(withoutIds(body, ids))
  const bodies = new Set(current.map(({ body }) => plain(body)))
  const exports = new Map(current.filter(({ isPublic }) => isPublic).map(line => [line.name, line]))
  const old = linesOf(before)
  const changed = old.flatMap(({ name, isPublic, body: text }) => {
    const body = withAccepted(text, name, accepted)
    if (isPublic ? plain(exports.get(name)?.body ?? '') === plain(body) : bodies.has(plain(body))) return []
    const next = exports.get(name) ?? current.find(line => line.name === name)
    if (next === undefined) return isPublic ? [{ name, before: body }] : []
    return [{ name, before: body, now: next.body }]
  })
  const had = new Set(old.map(({ name, isPublic }) => (isPublic ? name : '')))
  return { changed, added: [...exports.keys()].filter(name => !had.has(name)) }
}

/** Lists the accepted changes that no declaration of today shows; `records` are those of all export paths. */
export const staleAcceptedChanges = (
  accepted: readonly AcceptedChange[],
  records: readonly string[]
): readonly string[] => {
  const lines = records.flatMap(linesOf)
  return accepted
    .filter(change => !lines.some(({ name, body }) => name === change.in && body.includes(change.now)))
    .map(({ in: name, now }) => `accepted.json: ${name} has no "${now}"`)
}

interface RecordLine {
  readonly name: string
  readonly isPublic: boolean
  readonly body: string
}

const linesOf = (record: string): readonly RecordLine[] =>
  record.split('\n').flatMap(line => {
    const [, kind, name = '', body = ''] = /^(export|uses) ([\w$]+): (.*)$/.exec(line) ?? []
    return kind === undefined ? [] : [{ name, isPublic: kind === 'export', body }]
  })

const ID_TYPE = /^type \w+ = Flavoured<'\w+'>;$/

const withoutIds = (body: string, ids: ReadonlySet<string>): string =>
  body.replace(/[A-Za-z_$][\w$]*/g, word => (ids.has(word) ? 'string' : word))

const withAccepted = (body: string, name: string, accepted: readonly AcceptedChange[]): string =>
  accepted
    .filter(change => change.in === name)
    .reduce((text, { before, now }) => text.replace(before, () => now), body)

/** Replaces the names of parameters with their places. */
const withoutParameterNames = (body: string): string => {
  if (body === '' || body === 'another package') return body
  const places = new Map<number, readonly [end: number, name: string]>()
  visit(parseAst(body, { lang: 'dts' }).body, node => {
    if (!Array.isArray(node.params) || node.type === 'TSTypeParameterInstantiation') return
    for (const [index, param] of (node.params as readonly Node[]).entries()) {
      const start = param.type === 'RestElement' ? param.start + 3 : param.start
      const type = (param.typeAnnotation as Node | null | undefined)?.start
      const mark = param.optional === true ? '?' : ''
      if (type !== undefined) places.set(start, [type, `_${index}${mark}`])
    }
  })
  let text = ''
  let at = 0
  for (const [start, [end, name]] of [...places].sort(([a], [b]) => a - b)) {
    text += body.slice(at, start) + name
    at = end
  }
  return text + body.slice(at)
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

const visit = (value: unknown, each: (node: Node) => void): void => {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value) && typeof (value as Node).type === 'string') each(value as Node)
  for (const item of Object.values(value)) visit(item, each)
}
