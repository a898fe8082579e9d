import type { Json, JsonObject } from '../../kernel/base/json.ts'
import { RPC, RpcFault } from './json-rpc.ts'

/** The parameters of one call, by position, each checked when it is taken. Every method throws RpcFault -32602. */
export interface ElectrumParams {
  readonly count: number
  /** An Electrum script hash, in lower case. */
  scriptHash(index: number): string
  txid(index: number): string
  /** An integer from 0 to 2^31. */
  count32(index: number, ifAbsent?: number): number
  flag(index: number): boolean
  text(index: number): string
  raw(index: number): Json | undefined
}

/**
 * Reads parameters given as a list or by name.
 *
 * @param names - of the parameters in their order; those that end in `?` may be left out
 * @throws RpcFault -32602 if there are too many, too few or unknown ones
 */
export const parseParams = (
  given: readonly Json[] | JsonObject,
  names: readonly string[]
): ElectrumParams => {
  const values = Array.isArray(given) ? (given as readonly Json[]) : byName(given as JsonObject, names)
  const needed = names.filter(name => !name.endsWith('?')).length
  if (
    values.length > names.length ||
    values.slice(0, needed).filter(value => value !== undefined).length < needed
  ) {
    throw invalid(`expected ${needed === names.length ? needed : `${needed} to ${names.length}`} parameters`)
  }
  const hash = (index: number, what: string): string => {
    const value = values[index]
    if (typeof value !== 'string' || !HASH.test(value))
      throw invalid(`${String(value).slice(0, 80)} is no ${what}`)
    return value.toLowerCase()
  }
  return {
    count: values.length,
    scriptHash: index => hash(index, 'valid script hash'),
    txid: index => hash(index, 'transaction hash'),
    count32: (index, ifAbsent) => {
      const value = values[index] ?? ifAbsent
      if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 0x7fffffff)
        return value
      throw invalid('expected a non-negative integer')
    },
    flag: index => {
      const value = values[index] ?? false
      if (typeof value === 'boolean') return value
      throw invalid('expected true or false')
    },
    text: index => {
      const value = values[index]
      if (typeof value === 'string') return value
      throw invalid('expected text')
    },
    raw: index => values[index]
  }
}

const HASH = /^[0-9a-f]{64}$/i

const byName = (given: JsonObject, names: readonly string[]): readonly (Json | undefined)[] => {
  const bare = names.map(name => name.replace('?', ''))
  if (Object.keys(given).some(name => !bare.includes(name))) throw invalid('unknown parameter')
  return bare.map(name => (Object.hasOwn(given, name) ? given[name] : undefined))
}

const invalid = (message: string): RpcFault => new RpcFault(RPC.params, message)
