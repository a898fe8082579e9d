import { copyData } from '../../base/copy-data.ts'
import { WalletError } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import { readValue } from '../../schema/method-schema.ts'
import type { CurrencyInfo, MethodSchema } from '../../types/currency.ts'
import type { EngineSupervisor } from './supervisor.ts'

/** The methods that a currency has beyond those of every currency, by name. */
export type OtherMethods = Readonly<Record<string, (args?: JsonObject) => Promise<Json>>>

/** The functions of a wallet that call the methods which its currency declares. */
export const otherMethodsOf = (
  engine: Pick<EngineSupervisor, 'call'>,
  info: Pick<CurrencyInfo, 'otherMethods' | 'pluginId'>
): OtherMethods => {
  const methods: Record<string, OtherMethods[string]> = Object.create(null)
  for (const [name, schema] of Object.entries(info.otherMethods ?? {}))
    methods[name] = args => callMethod(engine, { ...schema, name, pluginId: info.pluginId }, args)
  return Object.freeze(methods)
}

interface NamedMethod extends MethodSchema {
  readonly name: string
  readonly pluginId: string
}

/** Calls a method with arguments that its schema allows; the answer is copied, and is what the schema says. */
const callMethod = async (
  engine: Pick<EngineSupervisor, 'call'>,
  { name, pluginId, arguments: argsSchema, result }: NamedMethod,
  given: JsonObject = {}
): Promise<Json> => {
  const invalid = (path: string, rule: string): WalletError =>
    new WalletError('OPTION_INVALID', {
      option: path === '' ? `argument of ${name}` : `${path} of ${name}`,
      rule
    })
  const bogus = (path: string): WalletError =>
    new WalletError('BOGUS_DATA', { pluginId, what: `result of ${name}`, path })
  const copied = copyData(given, { maxLength: MAX_LENGTH, refuse: rule => invalid('', rule) })
  const args = readValue(argsSchema, copied, { isStrict: true, fail: invalid }) as JsonObject
  return engine.call(`answering ${name}`, async ({ otherMethods }) => {
    const method = otherMethods?.[name]
    if (method === undefined) throw new WalletError('NOT_SUPPORTED', { what: name })
    const answer = copyData(await method(args), { maxLength: MAX_LENGTH, isFrozen: true, refuse: bogus })
    return readValue(result, answer, { isStrict: false, fail: bogus })
  })
}

const MAX_LENGTH = 1_000_000
