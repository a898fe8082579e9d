import type { ExecutionContext } from 'ava'
import type { Device } from './device.ts'

/** Asserts that two devices show the same account. */
export const seesTheSame = async (t: ExecutionContext, one: Device, other: Device): Promise<void> => {
  t.deepEqual(differences(await one.picture(), await other.picture()), [])
}

/**
 * Where two pictures differ, a line each: the path and what stands there on either side; none if they are equal.
 *
 * Lists are compared in order. A field that is undefined counts as absent.
 */
export const differences = (one: unknown, other: unknown, path: readonly string[] = []): string[] => {
  if (Object.is(one, other)) return []
  if (!isTree(one) || !isTree(other) || Array.isArray(one) !== Array.isArray(other))
    return [`${path.join('/')}: ${textOf(one)} | ${textOf(other)}`]
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].flatMap(name => differences(one[name], other[name], [...path, name]))
}

const isTree = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

const textOf = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value))
