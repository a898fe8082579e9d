import { observerHookNames } from '../kernel/observer-api.ts'
import {
  type AbortSignalLike,
  compact,
  type DatedPair,
  type EngineLog,
  type EngineStore,
  type HistoricRateContext,
  type Json,
  type JsonObject,
  type ObserverPlugin,
  type OrderReport,
  type PaidAmount,
  type Plugin,
  type PluginId,
  type PolicyPlugin,
  type QuoteContext,
  type RateContext,
  type RatePair,
  type RatePlugin,
  type Reply,
  type RuleContext,
  type RuleVerdict,
  type SpendInfo,
  type SwapOffer,
  type SwapOrder,
  type SwapPlugin,
  WalletError
} from '../kernel/plugin-api.ts'
import type { Cell, CellCall, CellGrants, CellHead, ContextFunctions } from './cell.ts'
import { hostFunctions } from './host-functions.ts'
import { decoded, encoded, functionOf } from './protocol.ts'

/** The hooks that a contained plugin of a kind may tap, and the parts of its host. */
export interface KindShape {
  readonly hooks: Readonly<Record<string, 'tap' | 'tapPromise'>>
  readonly parts: readonly string[]
}

const waiting = (...names: string[]): KindShape['hooks'] =>
  Object.fromEntries([...names, 'ready', 'closing'].map(name => [name, 'tapPromise']))

const SHAPES: Readonly<Partial<Record<CellGrants['kind'], KindShape>>> = {
  rates: { hooks: waiting('fetchRates', 'fetchHistoricRates'), parts: ['io', 'disk', 'log', 'options'] },
  swap: { hooks: waiting('fetchQuotes', 'watchOrder'), parts: ['io', 'hashes', 'disk', 'log', 'options'] },
  policy: { hooks: waiting('judgeRules', 'beforeSign'), parts: ['clock', 'disk', 'log', 'options'] },
  observer: {
    hooks: { ...waiting(), ...Object.fromEntries(observerHookNames.map(name => [name, 'tap' as const])) },
    parts: []
  }
}

/** @throws PLUGIN_INVALID for a kind that cannot be contained */
export const shapeOf = (pluginId: PluginId, { kind }: CellGrants): KindShape => {
  const shape = SHAPES[kind]
  if (shape !== undefined) return shape
  throw new WalletError('PLUGIN_INVALID', {
    ...{
      pluginId,
      field: 'kind',
      found: `"${kind}"`,
      expected: `one of ${Object.keys(SHAPES).join(', ')} in a cell`
    },
    hint:
      kind === 'storage'
        ? 'A cell has no place to keep files in. A storage plugin is part of an application.'
        : 'A plugin of this kind runs with --no-cell only, as code that you trust.'
  })
}

/** What a contained plugin is made of. */
export interface ContainedOptions {
  readonly cell: Cell
  readonly head: CellHead
  readonly grants: CellGrants
  /** Those that it was applied with in the cell. */
  readonly options: JsonObject
  /** For what an observer does, whose host has none. */
  readonly log: EngineLog
}

/** The plugin that the kernel applies in place of one in a cell: every function of it calls the cell. */
export const containedPlugin = (options: ContainedOptions): Plugin => {
  switch (options.grants.kind) {
    case 'rates':
      return ratePlugin(options)
    case 'swap':
      return swapPlugin(options)
    case 'policy':
      return policyPlugin(options)
    default:
      return observerPlugin(options)
  }
}

const ratePlugin = ({
  cell,
  head: { taps, fields },
  grants: { hosts },
  options
}: ContainedOptions): RatePlugin => {
  const leftOut = fieldOf(fields, 'leftOutReason') as string | undefined
  const { pluginId: id } = cell
  return {
    ...{ kind: 'rates', id, displayName: fieldOf(fields, 'displayName') as string },
    ...optional(fields, ['bias', 'retired']),
    checkOptions: () => leftOut,
    apply(host) {
      checkOptions(cell, options, host)
      cell.attach(hostFunctions(cell, { ...host, hosts }), host.io.clock)
      const { hooks } = host
      tapLifecycle(cell, taps, hooks)
      const offers = (context: RateContext | HistoricRateContext): ContextFunctions => ({
        notes: {
          offer: (pair, rate) => context.offer(decoded(pair) as DatedPair & RatePair, decoded(rate) as number)
        }
      })
      const answer = async (hook: string, context: RateContext | HistoricRateContext): Promise<void> => {
        const { wanted, signal } = context
        await callHook(cell, hook, { data: { wanted }, signal, functions: offers(context) })
      }
      if (taps.includes('fetchRates'))
        hooks.fetchRates.tapPromise(id, context => answer('fetchRates', context))
      if (taps.includes('fetchHistoricRates'))
        hooks.fetchHistoricRates.tapPromise(id, context => answer('fetchHistoricRates', context))
    }
  }
}

const swapPlugin = ({
  cell,
  head: { taps, fields },
  grants: { hosts },
  options
}: ContainedOptions): SwapPlugin => {
  const { pluginId: id } = cell
  const checks = fields.field('needsActivation').isThere
  const answers = new Map<string, boolean>([['{}', fields.field('needsActivation').isTrue()]])
  // It answers at once: of settings that it has not seen yet, only after the cell has answered.
  const checkSettings = (settings: JsonObject): { readonly needsActivation: boolean } => {
    const text = JSON.stringify(settings)
    const known = answers.get(text)
    if (known !== undefined) return { needsActivation: known }
    cell
      .call({ target: { hook: 'checkSettings' }, args: [settings], isRepeatable: true })
      .then(answer => answers.set(text, answer.isTrue()))
      .catch(() => {})
    return { needsActivation: false }
  }
  return {
    ...{ kind: 'swap', id, displayName: fieldOf(fields, 'displayName') as string },
    ...optional(fields, ['isDex', 'supportEmail']),
    ...compact({ checkSettings: checks ? checkSettings : undefined }),
    apply(host) {
      checkOptions(cell, options, host)
      cell.attach(hostFunctions(cell, { ...host, hosts }), host.io.clock)
      tapLifecycle(cell, taps, host.hooks)
      if (taps.includes('fetchQuotes'))
        host.hooks.fetchQuotes.tapPromise(id, context => fetchQuotes(cell, context))
      if (taps.includes('watchOrder'))
        host.hooks.watchOrder.tapPromise(id, async order => {
          const answer = await cell.call({
            target: { hook: 'watchOrder' },
            args: [order],
            isRepeatable: true
          })
          return decoded(answer.object()) as unknown as OrderReport
        })
    }
  }
}

const fetchQuotes = async (cell: Cell, context: QuoteContext): Promise<void> => {
  const { request, userSettings, promoCode, signal } = context
  const functions: ContextFunctions = {
    notes: { offer: given => context.offer(offerOf(cell, given)) },
    requests: {
      depositTo: () => context.depositTo(),
      refundTo: () => context.refundTo(),
      feeFor: spends => context.feeFor(decoded(spends) as SpendInfo[]),
      maxFrom: spend => context.maxFrom(decoded(spend) as SpendInfo)
    }
  }
  await callHook(cell, 'fetchQuotes', { data: { request, userSettings, promoCode }, signal, functions })
}

/** An offer whose order is a call of the cell, as long as the plugin lives. The kernel checks the figures of both. */
const offerOf = (cell: Cell, given: Reply): SwapOffer => {
  const offer = decoded(given.object()) as SwapOffer
  const fn = functionOf(given.field('payment').object().field('order').value)
  if (fn === undefined) return offer
  const { life, pluginId } = cell
  const order = async (): Promise<SwapOrder> => {
    const reason = 'its cell has ended since it made the offer'
    if (life.aborted) throw new WalletError('PLUGIN_FAILED', { pluginId, hook: 'order', reason })
    return decoded(await cell.call({ target: { fn }, isRepeatable: false })) as SwapOrder
  }
  return { ...offer, payment: { order } }
}

const policyPlugin = ({
  cell,
  head: { taps },
  grants: { hosts },
  options
}: ContainedOptions): PolicyPlugin => ({
  ...{ kind: 'policy', id: cell.pluginId },
  apply(host) {
    const { hooks, clock, ...parts } = host
    checkOptions(cell, options, host)
    cell.attach(hostFunctions(cell, { ...parts, hosts }), clock)
    tapLifecycle(cell, taps, hooks)
    const { pluginId: id } = cell
    if (taps.includes('beforeSign'))
      hooks.beforeSign.tapPromise(id, async spend => {
        await cell.call({ target: { hook: 'beforeSign' }, args: [spend], isRepeatable: true })
      })
    if (taps.includes('judgeRules')) hooks.judgeRules.tapPromise(id, context => judgeRules(cell, context))
  }
})

const judgeRules = async (cell: Cell, context: RuleContext): Promise<void> => {
  const { rules, payment, approvedBy, payments, now, calendar, isTrial, store } = context
  const functions: ContextFunctions = {
    notes: {
      judge: (ruleId, verdict) => context.judge(ruleId.text(), decoded(verdict.object()) as RuleVerdict)
    },
    requests: {
      valueOf: (amounts: Reply, fiatCode: Reply) =>
        context.valueOf(decoded(amounts) as PaidAmount[], fiatCode.text()),
      payeeOf: (pluginId, address) => context.payeeOf(pluginId.text(), address.text()),
      firstSeen: (ruleId, what) => context.firstSeen(ruleId.text(), what.text()),
      'store.write': changes => writeStore(store, changes)
    }
  }
  const data = { rules, payment, approvedBy, payments, now, calendar, isTrial }
  await callHook(cell, 'judgeRules', { data, functions, store, units: unitsFor(context) })
}

/** The units of every asset that the payments and the rules name: a policy reads them without waiting. */
const unitsFor = ({
  rules,
  payment,
  payments,
  unitsOf
}: RuleContext): readonly (readonly [string, Json])[] => {
  const amounts = [...(payment?.amounts ?? []), ...payments.flatMap(paid => paid.amounts)]
  type Asset = Pick<PaidAmount, 'pluginId' | 'tokenId'>
  const named = rules.flatMap(({ asset }): Asset[] => {
    if (asset === undefined) return []
    const at = asset.indexOf('/')
    return at < 0
      ? [{ pluginId: asset, tokenId: null }]
      : [{ pluginId: asset.slice(0, at), tokenId: asset.slice(at + 1) }]
  })
  const assets: Asset[] = [...amounts, ...named].map(({ pluginId, tokenId }) => ({ pluginId, tokenId }))
  const byKey = new Map(assets.map(asset => [JSON.stringify([asset.pluginId, asset.tokenId]), asset]))
  return [...byKey].flatMap(([key, asset]) => {
    const units = unitsOf(asset)
    return units === undefined ? [] : [[key, encoded(units)] as const]
  })
}

/** Writes what a cell wants to keep: pairs of a key with a text, or with null. */
const writeStore = async (store: EngineStore, changes: Reply): Promise<null> => {
  const pairs = changes.list().map(pair => {
    const [key, text] = pair.list(2)
    if (key === undefined || text === undefined) return pair.fail('is no change of a store')
    if (text.value !== null && typeof text.value !== 'string') return text.fail('is no text')
    return [key.text(), text.value] as const
  })
  await store.write(new Map(pairs))
  return null
}

const observerPlugin = ({ cell, head: { taps }, log }: ContainedOptions): ObserverPlugin => ({
  ...{ kind: 'observer', id: cell.pluginId },
  apply({ hooks }) {
    const { pluginId: id } = cell
    cell.attach(hostFunctions(cell, { log, hosts: [] }))
    tapLifecycle(cell, taps, hooks)
    let inFlight = 0
    let dropped = 0
    const notify = async (hook: string, snapshot: unknown): Promise<void> => {
      if (inFlight >= MAX_NOTICES) {
        if (dropped++ === 0) log.warn(`The plugin ${id} is too slow: it does not get every notice`)
        return
      }
      inFlight += 1
      try {
        await cell.call({ target: { hook }, args: [snapshot], isRepeatable: false })
        dropped = 0
      } catch (error) {
        log.debug(`The plugin ${id} failed in ${hook}: ${error instanceof Error ? error.message : ''}`)
      } finally {
        inFlight -= 1
      }
    }
    for (const name of observerHookNames)
      if (taps.includes(name)) hooks[name].tap(id, (snapshot: unknown) => void notify(name, snapshot))
  }
})

/** @throws PLUGIN_INVALID if the kernel gives other options than those that the plugin was applied with in its cell */
const checkOptions = (
  { pluginId }: Cell,
  given: JsonObject,
  { options }: { readonly options: JsonObject }
): void => {
  if (isSameText(given, options)) return
  const expected = 'those that its cell was opened with'
  throw new WalletError('PLUGIN_INVALID', { pluginId, field: 'options', found: 'others', expected })
}

const isSameText = (left: JsonObject, right: JsonObject): boolean => {
  const text = (options: JsonObject): string =>
    JSON.stringify(Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1)))
  return text(left) === text(right)
}

const MAX_NOTICES = 200

interface LifecycleTaps {
  readonly ready: { tapPromise(name: string, fn: () => Promise<void>): void }
  readonly closing: { tapPromise(name: string, fn: () => Promise<void>): void }
}

const tapLifecycle = (cell: Cell, taps: readonly string[], hooks: LifecycleTaps): void => {
  for (const name of ['ready', 'closing'] as const)
    if (taps.includes(name))
      hooks[name].tapPromise(cell.pluginId, async () => {
        await cell.call({ target: { hook: name }, isRepeatable: true })
      })
}

interface HookCall {
  readonly data: object
  readonly functions: ContextFunctions
  readonly signal?: AbortSignalLike
  readonly store?: EngineStore
  readonly units?: readonly (readonly [string, Json])[]
}

/** Calls a tap with a context, and passes an abort of the kernel on. */
const callHook = async (
  cell: Cell,
  hook: string,
  { data, functions, signal, store, units }: HookCall
): Promise<Reply> => {
  let abort = (): void => {}
  const call: CellCall = {
    ...{ target: { hook }, args: [data], isRepeatable: true },
    context: {
      ...{ ...functions, at: 0, signal: signal !== undefined },
      store: store === undefined ? null : [...store.entries('')],
      units: units ?? null
    },
    onStart(id) {
      abort = () => cell.emit({ type: 'abort', id })
      signal?.addEventListener('abort', abort)
    }
  }
  try {
    return await cell.call(call)
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}

const fieldOf = (fields: Reply, name: string): unknown => {
  const field = fields.field(name)
  return field.isThere ? decoded(field) : undefined
}

/** The fields that the plugin has, of the types that the kernel is to check. */
const optional = (fields: Reply, names: readonly string[]): object =>
  Object.fromEntries(
    names.map(name => [name, fieldOf(fields, name)] as const).filter(([, value]) => value !== undefined)
  )
