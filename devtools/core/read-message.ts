import { actionNames } from './actions.ts'
import { isRecord } from './is-record.ts'
import type { ClientMessage } from './protocol.ts'

/** A message that was not understood. `id`: of the call, or 0 if it was none. */
export interface BadMessage {
  readonly type: 'bad'
  readonly id: number
  readonly rule: string
}

/** What a panel said, checked: from outside comes anything. Never throws (pure). */
export const readMessage = (message: unknown): ClientMessage | BadMessage => {
  if (!isRecord(message)) return bad(0, 'A message is an object')
  switch (message.type) {
    case 'subscribe':
      return readSubscribe(message)
    case 'call':
      return readCall(message)
    default:
      return bad(0, 'The type of a message is subscribe or call')
  }
}

type Fields = Readonly<Record<string, unknown>>

const readSubscribe = ({ version, sinceSeq }: Fields): ClientMessage | BadMessage => {
  if (typeof version !== 'number') return bad(0, 'A version is a number')
  if (sinceSeq === undefined) return { type: 'subscribe', version }
  if (!isCount(sinceSeq)) return bad(0, 'A sequence number is a whole number')
  return { type: 'subscribe', version, sinceSeq }
}

const readCall = ({ id, action, input }: Fields): ClientMessage | BadMessage => {
  if (!isCount(id) || id === 0) return bad(0, 'The id of a call is a whole number above 0')
  if (typeof action !== 'string' || !actionNames.has(action)) return bad(id, 'There is no such action')
  if (!isRecord(input)) return bad(id, 'The input of an action is an object')
  if (!isSmallJson(input)) return bad(id, 'The input of an action is JSON of at most 1000 values')
  return { type: 'call', id, action, input } as ClientMessage
}

const bad = (id: number, rule: string): BadMessage => ({ type: 'bad', id, rule })

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** JSON that is small enough to be looked at. Counts as it goes, so that a ring of objects ends, too. */
const isSmallJson = (input: unknown): boolean => {
  const open: unknown[] = [input]
  let left = MAX_VALUES
  while (open.length > 0) {
    const value = open.pop()
    left -= 1
    if (left < 0) return false
    if (typeof value === 'string' && value.length > MAX_TEXT) return false
    if (typeof value === 'object' && value !== null) {
      const items = Array.isArray(value) ? value : Object.values(value)
      if (items.length > left) return false
      open.push(...items)
    } else if (!isScalar(value)) return false
  }
  return true
}

const isScalar = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  typeof value === 'string' ||
  typeof value === 'boolean' ||
  (typeof value === 'number' && Number.isFinite(value))

const MAX_VALUES = 1000
const MAX_TEXT = 10_000
