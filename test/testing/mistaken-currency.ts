import {
  type CurrencyEngine,
  type CurrencyHost,
  type CurrencyPlugin,
  type CurrencyTools,
  compact,
  type EngineRequest,
  type JsonObject
} from '../../kernel/plugin-api.ts'

/** What a mistake changes of the Bitcoin plugin, or of one with tokens, stakes and more. */
export interface Mistake {
  readonly of?: 'gems'
  /** Options of the plugin besides those of its network. */
  readonly options?: JsonObject
  readonly hosts?: readonly string[]
  apply?(host: CurrencyHost): void
  readonly info?: Partial<CurrencyPlugin['info']>
  tools?(tools: CurrencyTools): Partial<CurrencyTools>
  engine?(engine: CurrencyEngine, request: EngineRequest): Partial<CurrencyEngine>
  request?(request: EngineRequest): EngineRequest
}

/** An object whose methods come from another one, but for those that are given. */
const altered = <T extends object>(original: T, changes: Partial<T>): T =>
  new Proxy(original, {
    get(target, name) {
      const value: unknown = Reflect.get(name in changes ? changes : target, name)
      return typeof value === 'function' ? value.bind(name in changes ? changes : target) : value
    }
  })

/** A plugin with a mistake. */
export const mistaken = (
  plugin: CurrencyPlugin,
  { info, tools, engine, apply, hosts, request = given => given }: Mistake
): CurrencyPlugin => ({
  ...plugin,
  ...compact({ hosts: hosts ?? plugin.hosts }),
  info: { ...plugin.info, ...info },
  apply(host) {
    const { hooks } = host
    const tap = <Args extends readonly unknown[], T>(fn: (...args: Args) => Promise<T>) => fn
    apply?.(host)
    plugin.apply({
      ...host,
      hooks: {
        ready: hooks.ready,
        closing: hooks.closing,
        builtinTokens: hooks.builtinTokens,
        makeTools: {
          tapPromise: (name, fn) =>
            hooks.makeTools.tapPromise(
              name,
              tap(async () => {
                const made = (await fn()) as CurrencyTools
                return altered(made, tools?.(made) ?? {})
              })
            )
        },
        makeEngine: {
          tapPromise: (name, fn) =>
            hooks.makeEngine.tapPromise(
              name,
              tap(async (given: EngineRequest) => {
                const made = (await fn(request(given))) as CurrencyEngine
                return altered(made, engine?.(made, given) ?? {})
              })
            )
        }
      }
    })
  }
})
