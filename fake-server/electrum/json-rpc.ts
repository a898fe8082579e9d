import { compact } from '../../kernel/base/compact.ts'
import type { Json, JsonObject } from '../../kernel/base/json.ts'

/** A JSON-RPC 2.0 error on its way to the client. */
export class RpcFault extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.name = 'RpcFault'
    this.code = code
  }
}

/** The error codes of JSON-RPC 2.0, and the two that Electrum servers add. */
export const RPC: Readonly<
  Record<'parse' | 'request' | 'method' | 'params' | 'internal' | 'refused' | 'node', number>
> = {
  parse: -32700,
  request: -32600,
  method: -32601,
  params: -32602,
  internal: -32603,
  refused: 1,
  node: 2
}

/** One request or notification. */
export interface RpcRequest {
  /** Absent in a notification, which gets no reply. */
  readonly id?: number | string | null
  readonly method: string
  readonly params: readonly Json[] | JsonObject
}

/**
 * Reads one request object.
 *
 * @throws RpcFault -32600 if it is no request
 */
export const parseRequest = (value: Json | undefined): RpcRequest => {
  if (!isJsonObject(value)) throw new RpcFault(RPC.request, 'the request is no object')
  const { id, method, params = [] } = value
  if (id !== undefined && idOf(value) !== id) throw new RpcFault(RPC.request, 'the id is no number or text')
  if (typeof method !== 'string') throw new RpcFault(RPC.request, 'the method is no text')
  if (!Array.isArray(params) && !isJsonObject(params))
    throw new RpcFault(RPC.request, 'params is no list or object')
  return { ...compact({ id: id as number | string | null | undefined }), method, params }
}

/** The id to answer a request with that may be malformed; null if it has none. */
export const idOf = (value: Json | undefined): number | string | null => {
  const id = isJsonObject(value) && Object.hasOwn(value, 'id') ? value.id : null
  return typeof id === 'number' || (typeof id === 'string' && id.length <= 256) ? id : null
}

/** The text of a successful reply. */
export const resultReply = (id: number | string | null, result: Json): string =>
  JSON.stringify({ jsonrpc: '2.0', result, id })

/** The text of a reply that says what went wrong. */
export const errorReply = (
  id: number | string | null,
  { code, message }: { code: number; message: string }
): string => JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id })

/** The text of a message that wants no reply. */
export const notification = (method: string, params: readonly Json[]): string =>
  JSON.stringify({ jsonrpc: '2.0', method, params })

/** True for a JSON object, not for a list or null. */
const isJsonObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

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
