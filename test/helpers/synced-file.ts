import { WHOLE } from './edit-history.ts'

/** What somebody does to a file: fields with their new values, undefined to remove one. */
export interface FileEdit {
  readonly path: string
  readonly fields: Readonly<Record<string, string | undefined>>
}

/** How the fields of a file are told apart: text files are one field, JSON files have two levels. */
export const fieldsOf = (path: string, text: string | undefined): Map<string, string> => {
  if (text === undefined) return new Map()
  if (!path.endsWith('.json')) return new Map([[WHOLE, text]])
  const { n = {}, ...flat } = JSON.parse(text) as Record<string, string> & { n?: Record<string, string> }
  return new Map([
    ...Object.entries(flat),
    ...Object.entries(n).map(([key, value]) => [`n.${key}`, value] as const)
  ])
}

const textOf = (path: string, fields: ReadonlyMap<string, string>): string => {
  if (!path.endsWith('.json')) return fields.get(WHOLE) ?? ''
  const flat = [...fields].filter(([field]) => !field.startsWith('n.'))
  const nested = [...fields].filter(([field]) => field.startsWith('n.'))
  const n = Object.fromEntries(nested.map(([field, value]) => [field.slice(2), value]))
  return JSON.stringify({ ...Object.fromEntries(flat), n })
}

/** The text of a file after an edit. */
export const edited = (text: string | undefined, { path, fields }: FileEdit): string => {
  const all = fieldsOf(path, text)
  for (const [field, value] of Object.entries(fields)) {
    if (value === undefined) all.delete(field)
    else all.set(field, value)
  }
  return textOf(path, all)
}

/** The fields that an edit changes; to remove what is not there changes nothing. */
export const changedFields = (
  text: string | undefined,
  { path, fields }: FileEdit
): (readonly [field: string, value: string | undefined])[] => {
  const present = fieldsOf(path, text)
  return Object.entries(fields).filter(([field, value]) => value !== undefined || present.has(field))
}
