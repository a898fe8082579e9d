import type { ActionName } from '../core/actions.ts'
import type { ClientMessage } from '../core/protocol.ts'

/**
 * Reads what a panel sent; undefined if it is none of the messages that there are.
 *
 * The input of an action is only known to be an object: what does the action looks at its fields.
 */
export const parseClientMessage = (text: string): ClientMessage | undefined => {
  const value = parseJson(text)
  if (!isObject(value)) return undefined
  if (value.type === 'subscribe') return parseSubscribe(value)
  if (value.type === 'call') return parseCall(value)
  return undefined
}

const parseSubscribe = ({ version, sinceSeq }: Fields): ClientMessage | undefined => {
  if (!isCount(version)) return undefined
  if (sinceSeq === undefined) return { type: 'subscribe', version }
  return isCount(sinceSeq) ? { type: 'subscribe', version, sinceSeq } : undefined
}

const parseCall = ({ id, action, input }: Fields): ClientMessage | undefined =>
  isCount(id) && typeof action === 'string' && isObject(input)
    ? // Of a name that is unknown, the side that does actions says so.
      { type: 'call', id, action: action as ActionName, input: input as never }
    : undefined

type Fields = Readonly<Record<string, unknown>>

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0
