import type { DevtoolsClient } from '../core/devtools-client.ts'

/** A number for each client: the key of parts whose state belongs to one, such as a dialog that is open. */
export const clientNumber = (client: DevtoolsClient): number => {
  const known = numbers.get(client)
  if (known !== undefined) return known
  count += 1
  numbers.set(client, count)
  return count
}

const numbers = new WeakMap<DevtoolsClient, number>()
let count = 0
