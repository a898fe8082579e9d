import type { ExecutionContext } from 'ava'
import { waitFor } from '../helpers/device.ts'
import type { Device } from './device.ts'
import type { AccountPicture } from './storage-calls.ts'

/** Asserts that two devices show the same account; what they take in by themselves may take a moment. */
export const seesTheSame = async (t: ExecutionContext, one: Device, other: Device): Promise<void> =>
  areAlike(t, async () => differences(await one.picture(), await other.picture()))

/** Asserts that a device shows an account as it is in a picture. */
export const shows = async (t: ExecutionContext, device: Device, picture: AccountPicture): Promise<void> =>
  areAlike(t, async () => differences(picture, await device.picture()))

const areAlike = async (t: ExecutionContext, compare: () => Promise<string[]>): Promise<void> => {
  await waitFor(async () => (await compare()).length === 0, PATIENCE_MS).catch(() => {})
  t.deepEqual(await compare(), [])
}

const PATIENCE_MS = 5000

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
