import { WalletError } from '../../kernel/base/errors.ts'
import { finite, leaf, objectOf, parse } from '../../kernel/schema/shape.ts'
import { type FaultPort, loseRequests, slowDown } from './faults.ts'
import type { Middleware } from './replies.ts'

/** The quality of the network between the devices and the servers of a world. */
export interface NetworkConditions {
  readonly isOnline: boolean
  /** The delay of replies in milliseconds: a random one between the two. */
  readonly latency: { readonly from: number; readonly to: number }
  /** The share of requests that are lost on their way: 0 none, 1 all. */
  readonly failRate: number
}

/** Nothing is ever late or lost. */
export const GOOD_NETWORK: NetworkConditions = { isOnline: true, latency: { from: 0, to: 0 }, failRate: 0 }

/** The longest that an answer can be late: five minutes. */
const MAX_LATENCY = 300_000

/**
 * Checks conditions.
 *
 * @throws BAD_REPLY for a latency below 0, above five minutes or backwards, or a rate outside 0 to 1
 */
export const parseConditions = (value: unknown): NetworkConditions => {
  const conditions = parse(conditionsShape, value, SOURCE)
  const { latency, failRate } = conditions
  if (latency.from < 0 || latency.to < latency.from || latency.to > MAX_LATENCY) {
    throw misfit('latency', `is no range of 0 to ${MAX_LATENCY} ms`)
  }
  if (failRate < 0 || failRate > 1) throw misfit('failRate', 'is not from 0 to 1')
  return conditions
}

/** The conditions of a world. */
export interface WorldConditions {
  readonly current: NetworkConditions
  /** Holds until the next change, also in a world that is saved. @throws BAD_REPLY, and then nothing changed */
  change(change: Partial<NetworkConditions>): void
  /** Calls the listener after each later change, until the returned function is called. */
  onChange(listener: (conditions: NetworkConditions) => void): () => void
}

/** Makes the conditions of a world. */
export const makeWorldConditions = (start: NetworkConditions): WorldConditions => {
  let current = start
  const listeners = new Set<(conditions: NetworkConditions) => void>()
  return {
    get current() {
      return current
    },
    change(change) {
      current = parseConditions({ ...current, ...change })
      for (const listener of [...listeners]) listener(current)
    },
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    }
  }
}

/** Lets requests meet the conditions of the moment. Being offline is the business of the server itself. */
export const applyConditions =
  (port: FaultPort, world: Pick<WorldConditions, 'current'>): Middleware =>
  (request, next) => {
    const { latency, failRate } = world.current
    const lossy = loseRequests(port, { rate: failRate })
    return lossy(request, () => (latency.to > 0 ? slowDown(port, latency)(request, next) : next()))
  }

const SOURCE = 'network conditions'

const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean'

const conditionsShape = objectOf<NetworkConditions>({
  isOnline: leaf('boolean', isBoolean),
  latency: objectOf<NetworkConditions['latency']>({ from: finite(), to: finite() }),
  failRate: finite()
})

const misfit = (path: string, rule: string): WalletError =>
  new WalletError('BAD_REPLY', { source: SOURCE, path, rule })
