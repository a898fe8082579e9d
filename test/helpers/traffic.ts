/** One request as a server saw it. */
export interface Sent {
  readonly method: string
  readonly path: string
  readonly request?: unknown
}

/**
 * Tells how the requests of two clients differ, in any order: which are missing or too many, and for those that both
 * sent, which fields one lacks or fills with another kind of value. Secrets and boxes differ in each run, so a value
 * counts as equal if it has the same encoding and length; numbers and plain words must be the same, and so must the
 * `known` values, which follow from a name and a password.
 */
export const differencesOf = (
  theirs: readonly Sent[],
  ours: readonly Sent[],
  known: ReadonlySet<string>
): string[] => {
  const left = theirs.map(sent => sortable(sent, known))
  const right = ours.map(sent => sortable(sent, known))
  const found: string[] = []
  for (const { name } of [...left]) {
    const at = right.findIndex(other => other.name === name)
    const mine = left.splice(
      left.findIndex(other => other.name === name),
      1
    )[0]
    if (at < 0) found.push(`less: ${name}`)
    else found.push(...fieldsOf(name, mine?.fields, right.splice(at, 1)[0]?.fields))
  }
  return [...found, ...right.map(({ name }) => `more: ${name}`)].sort()
}

type Fields = ReadonlyMap<string, string>

const sortable = (
  { method, path, request }: Sent,
  known: ReadonlySet<string>
): { name: string; fields: Fields } => {
  const route = path
    .replace(/^\/api\/v2\//, '')
    .replace(/^store\/.*/, 'store')
    .replace(/^lobby\/.*/, 'lobby')
  const fields = new Map<string, string>()
  collect({ value: request, path: '' }, fields, known)
  return { name: `${method} ${route}`, fields }
}

const fieldsOf = (name: string, theirs: Fields = new Map(), ours: Fields = new Map()): string[] => {
  const found: string[] = []
  for (const [path, value] of theirs) {
    const mine = ours.get(path)
    if (mine === undefined) found.push(`${name}: no ${path}`)
    else if (mine !== value) found.push(`${name}: ${path} is ${mine}, not ${value}`)
  }
  for (const path of ours.keys()) if (!theirs.has(path)) found.push(`${name}: also ${path}`)
  return found
}

const collect = (
  { value, path }: { readonly value: unknown; readonly path: string },
  fields: Map<string, string>,
  known: ReadonlySet<string>
): void => {
  if (typeof value !== 'object' || value === null) {
    if (value !== undefined) fields.set(path, known.has(String(value)) ? String(value) : kindOf(value))
    return
  }
  if ('encryptionType' in value) {
    fields.set(path, `box ${Object.keys(value).sort().join(' ')}`)
    return
  }
  if (Array.isArray(value)) fields.set(path, `list of ${value.length}`)
  for (const [name, item] of Object.entries(value)) {
    // The names of files in a repo are hashes of secrets.
    const part = path.endsWith('changes') ? '*' : name
    const where = path === '' ? part : `${path}.${part}`
    // How costly guessing is depends on the device.
    if (/passwordKeySnrp\.[nrp]$/.test(where)) fields.set(where, typeof item)
    else collect({ value: item, path: where }, fields, known)
  }
}

const kindOf = (value: unknown): string => {
  if (typeof value !== 'string') return JSON.stringify(value)
  if (/^[0-9a-f]{40,}$/.test(value)) return `${value.length / 2} bytes of hex`
  if (/^[A-Za-z0-9+/]{27,}={0,2}$/.test(value) && value.length % 4 === 0) {
    return `${Buffer.from(value, 'base64').length} bytes of base64`
  }
  if (/^[A-Z2-7]{16}$/.test(value)) return 'a key of base32'
  if (/^\d{6}$/.test(value)) return 'six digits'
  return JSON.stringify(value)
}
