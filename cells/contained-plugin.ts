import {
  compact,
  type DatedPair,
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
import { hooksOf, observerHookNames } from '../kernel/plugins/hook-table.ts'
import type { Cell } from './cell.ts'
import type { ContextFunctions } from './cell-call.ts'
import { currencyPlugin } from './contained-currency.ts'
import { hostFunctions } from './host-functions.ts'
import type { CellGrants } from './platform.ts'
import {
  type ContainedOptions,
  callHook,
  checkOptions,
  tapLifecycle,
  tapsOf,
  writeStore
} from './plugin-calls.ts'
import { type CellTap, decoded, encoded, functionOf, standIn } from './protocol.ts'

/** The hooks that a contained plugin of a kind may tap, and the parts of its host. */
export interface KindShape {
  readonly hooks: Readonly<Record<string, 'tap' | 'tapPromise'>>
  readonly parts: readonly string[]
}

/** The parts of the host of each kind, which are the requests that its cell may make. A kind that is not here cannot be contained. */
const PARTS: Readonly<Partial<Record<CellGrants['kind'], readonly string[]>>> = {
  rates: ['io', 'disk', 'log', 'options'],
  swap: ['io', 'hashes', 'disk', 'log', 'options'],
  currency: ['io', 'crypto', 'connect', 'webSocket', 'disk', 'log', 'options'],
  policy: ['clock', 'disk', 'log', 'options', 'fail'],
  observer: []
}

/** Answered at once, which a cell cannot. */
const AT_ONCE = 'rankQuotes'

/** @throws PLUGIN_INVALID for a kind that cannot be contained, and for one that is to see keys and is no currency */
export const shapeOf = (pluginId: PluginId, { kind, keys }: CellGrants): KindShape => {
  const parts = PARTS[kind]
  if (parts === undefined)
    throw new WalletError('PLUGIN_INVALID', {
      ...{ pluginId, field: 'kind', found: `"${kind}"` },
      expected: `one of ${Object.keys(PARTS).join(', ')} in a cell`,
      hint: 'A cell has no place to keep files in. A storage plugin is part of an application.'
    })
  if (keys && kind !== 'currency') throw wrongKeys(pluginId, true)
  return { hooks: Object.fromEntries([...hooksOf(kind)].filter(([name]) => name !== AT_ONCE)), parts }
}

const wrongKeys = (pluginId: PluginId, found: boolean): WalletError =>
  new WalletError('PLUGIN_INVALID', {
    ...{ pluginId, field: 'asks.keys', found: String(found), expected: String(!found) },
    hint: found
      ? 'A currency makes keys and signs with them; no other plugin sees any.'
      : 'A currency makes keys and signs with them, unless its info has signing.'
  })

/** True for a currency that gets no private key: the kernel makes its keys and signs with them. */
export const isSignedFor = (plugin: Plugin): boolean =>
  plugin.kind === 'currency' && plugin.info.signing !== undefined

/** True for a kind whose host has a network: only that can reach servers. */
export const canFetch = (kind: CellGrants['kind']): boolean => PARTS[kind]?.includes('io') === true

/** The plugin that the kernel applies in place of one in a cell: every function of it calls the cell. */
export const containedPlugin = (options: ContainedOptions): Plugin => {
  const plugin = pluginOf(options)
  const isLate = options.head.answers.field('isLate').isTrue()
  if (!isLate) checkTaps(options)
  // The kernel waits for what an asynchronous `apply` throws.
  const apply = (host: never): unknown => {
    plugin.apply(host)
    return isLate ? options.cell.late.then(() => checkTaps(options)) : undefined
  }
  return { ...plugin, apply } as Plugin
}

/** @throws PLUGIN_INVALID for a policy that can refuse nothing */
const checkTaps = ({ cell: { pluginId }, head, grants: { kind } }: ContainedOptions): void => {
  if (kind !== 'policy' || ['beforeSign', 'judgeRules'].some(hook => tapsOf(head, hook).length > 0)) return
  throw new WalletError('PLUGIN_INVALID', {
    ...{ pluginId, field: 'hooks.beforeSign', found: 'not tapped, and neither is hooks.judgeRules' },
    expected: 'one of them tapped in apply, before it returns',
    hint: 'A policy in a cell without them refuses nothing.'
  })
}

const pluginOf = (options: ContainedOptions): Plugin => {
  switch (options.grants.kind) {
    case 'rates':
      return ratePlugin(options)
    case 'swap':
      return swapPlugin(options)
    case 'policy':
      return policyPlugin(options)
    case 'currency':
      if (!options.grants.keys && !isSignedFor(options.head.given))
        throw wrongKeys(options.cell.pluginId, false)
      return currencyPlugin(options)
    default:
      return observerPlugin(options)
  }
}

const ratePlugin = ({ cell, head, grants: { hosts }, options }: ContainedOptions): RatePlugin => {
  const { given, answers } = head
  const leftOut = standIn(answers.field('leftOutReason')) as string | undefined
  const { pluginId: id } = cell
  return {
    ...(given as RatePlugin),
    ...{ kind: 'rates', id },
    ...compact({ checkOptions: 'checkOptions' in given ? () => leftOut : undefined }),
    apply(host) {
      checkOptions(cell, options, host)
      cell.attach(hostFunctions(cell, { ...host, hosts }), host.io.clock)
      const { hooks } = host
      tapLifecycle(cell, head, hooks)
      const offers = (context: RateContext | HistoricRateContext): ContextFunctions => ({
        notes: {
          offer: (pair, rate) => context.offer(decoded(pair) as DatedPair & RatePair, decoded(rate) as number)
        }
      })
      for (const name of ['fetchRates', 'fetchHistoricRates'] as const)
        for (const { target, order } of tapsOf(head, name)) {
          const answer = async (context: RateContext | HistoricRateContext): Promise<void> => {
            const { wanted, signal } = context
            await callHook(cell, target, { data: { wanted }, signal, functions: offers(context) })
          }
          hooks[name].tapPromise(id, answer, order)
        }
    }
  }
}

const swapPlugin = ({ cell, head, grants: { hosts }, options }: ContainedOptions): SwapPlugin => {
  const { given, answers: first } = head
  const { pluginId: id } = cell
  const answers = new Map<string, boolean>([['{}', first.field('needsActivation').isTrue()]])
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
    ...(given as SwapPlugin),
    ...{ kind: 'swap', id },
    ...compact({ checkSettings: 'checkSettings' in given ? checkSettings : undefined }),
    apply(host) {
      checkOptions(cell, options, host)
      cell.attach(hostFunctions(cell, { ...host, hosts }), host.io.clock)
      tapLifecycle(cell, head, host.hooks)
      const { fetchQuotes, watchOrder } = host.hooks
      for (const { target, order } of tapsOf(head, 'fetchQuotes'))
        fetchQuotes.tapPromise(id, context => quote(cell, target, context), order)
      for (const { target, order } of tapsOf(head, 'watchOrder'))
        watchOrder.tapPromise(
          id,
          async ({ signal, ...data }) =>
            decoded(await callHook(cell, target, { data, signal, functions: {} })) as OrderReport,
          order
        )
    }
  }
}

const quote = async (cell: Cell, target: CellTap['target'], context: QuoteContext): Promise<void> => {
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
  await callHook(cell, target, { data: { request, userSettings, promoCode }, signal, functions })
}

/** An offer whose order is a call of the cell, as long as the plugin lives. The kernel checks the figures of both. */
const offerOf = (cell: Cell, given: Reply): SwapOffer => {
  const offer = decoded(given) as SwapOffer
  const fn = functionOf(given.field('payment').field('order').value)
  if (fn === undefined) return offer
  const { life, pluginId } = cell
  const order = async (): Promise<SwapOrder> => {
    const reason = 'its cell has ended since it made the offer'
    if (life.aborted) throw new WalletError('PLUGIN_FAILED', { pluginId, hook: 'order', reason })
    return decoded(await cell.call({ target: { fn }, isRepeatable: false })) as SwapOrder
  }
  return { ...offer, payment: { order } }
}

const policyPlugin = ({ cell, head, grants: { hosts }, options }: ContainedOptions): PolicyPlugin => ({
  ...(head.given as PolicyPlugin),
  ...{ kind: 'policy', id: cell.pluginId },
  apply(host) {
    const { hooks, clock, fail, ...parts } = host
    checkOptions(cell, options, host)
    cell.attach(hostFunctions(cell, { ...parts, hosts }), clock)
    tapLifecycle(cell, head, hooks)
    cell.onFailure(fail)
    const { pluginId: id } = cell
    for (const { target, order } of tapsOf(head, 'beforeSign'))
      hooks.beforeSign.tapPromise(
        id,
        async spend => {
          await cell.call({ target, args: [spend], isRepeatable: true })
        },
        order
      )
    for (const { target, order } of tapsOf(head, 'judgeRules'))
      hooks.judgeRules.tapPromise(id, context => judgeRules(cell, target, context), order)
  }
})

const judgeRules = async (cell: Cell, target: CellTap['target'], context: RuleContext): Promise<void> => {
  const { rules, payment, approvedBy, payments, lostPayments, now, calendar, isTrial, store } = context
  const functions: ContextFunctions = {
    notes: {
      // What is no verdict refuses, as the kernel has it for a policy in its own process.
      judge: (ruleId, verdict) =>
        context.judge(decoded(ruleId) as string, (decoded(verdict) ?? {}) as RuleVerdict)
    },
    requests: {
      valueOf: (amounts: Reply, fiatCode: Reply) =>
        context.valueOf(amountsOf(payment, amounts), fiatCode.text()),
      payeeOf: (pluginId, address) => context.payeeOf(pluginId.text(), address.text()),
      firstSeen: (ruleId, what) => context.firstSeen(ruleId.text(), what.text()),
      'store.write': changes => writeStore(store, changes)
    }
  }
  const data = { rules, payment, approvedBy, payments, lostPayments, now, calendar, isTrial }
  await callHook(cell, target, { data, functions, store, units: unitsFor(context) })
}

/** The amounts that a policy names: those of the payment themselves, by which the kernel knows what it is worth. */
const amountsOf = (payment: RuleContext['payment'], given: Reply): readonly PaidAmount[] => {
  const amounts = decoded(given) as PaidAmount[]
  const isPayment = payment !== undefined && JSON.stringify(payment.amounts) === JSON.stringify(amounts)
  return isPayment ? payment.amounts : amounts
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

const observerPlugin = ({ cell, head, log }: ContainedOptions): ObserverPlugin => ({
  ...(head.given as ObserverPlugin),
  ...{ kind: 'observer', id: cell.pluginId },
  apply({ hooks }) {
    const { pluginId: id } = cell
    cell.attach(hostFunctions(cell, { log, hosts: [] }))
    tapLifecycle(cell, head, hooks)
    let inFlight = 0
    let dropped = 0
    const notify = async (target: CellTap['target'], snapshot: unknown): Promise<void> => {
      if (inFlight >= MAX_NOTICES) {
        if (dropped++ === 0) log.warn(`The plugin ${id} is too slow: it does not get every notice`)
        return
      }
      inFlight += 1
      try {
        await cell.call({ target, args: [snapshot], isRepeatable: false })
        dropped = 0
      } catch (error) {
        log.debug(`The plugin ${id} failed in ${target.hook}: ${error instanceof Error ? error.message : ''}`)
      } finally {
        inFlight -= 1
      }
    }
    for (const name of observerHookNames)
      for (const { target, order } of tapsOf(head, name))
        hooks[name].tap(id, (snapshot: unknown) => void notify(target, snapshot), order)
  }
})

const MAX_NOTICES = 200
