import type { Hook } from 'tapable'
import { compact } from '../base/compact.ts'
import { describeError, errorOf, isWalletError, WalletError } from '../base/errors.ts'
import type { Clock } from '../io/io.ts'
import type { PluginId } from '../types/ids.ts'
import type { TapSnapshot } from '../types/snapshots.ts'
import type { PluginCalls } from './plugin-calls.ts'

/** The parts that the dispatcher needs from the kernel: a clock, the fault handler and the watcher of single taps. */
export interface DispatchPort {
  readonly clock: Clock
  /** Runs the calls that answer later, and turns what they throw into errors. */
  readonly calls: PluginCalls
  onFault(fault: { pluginId: PluginId; hook: string; error: unknown }): void
  /** Called with each answer of a tap that has no use for it. */
  onIgnored?(ignored: IgnoredAnswer): void
  /** Undefined without an observer; then a tap costs nothing extra. */
  watcher(): ((ran: TapSnapshot) => void) | undefined
}

/** An answer that the kernel does not use. */
export interface IgnoredAnswer {
  readonly pluginId: PluginId
  readonly hook: string
  readonly answer: unknown
  /** What the plugin could do in its place; undefined if there is nothing. */
  readonly hint?: string
}

/** The rules of one hook. `deadlineMs` bounds each tap that answers with a promise; `discard` takes what comes later. */
export interface DispatchRule {
  readonly port: DispatchPort
  readonly deadlineMs: number
  readonly discard?: (answer: unknown) => void
  /** Says what is wrong with an answer, given the value that the kernel has put in. */
  readonly refuse?: (value: unknown, answer: unknown) => string | undefined
}

type Tap = { readonly name: string; readonly type: string; readonly fn: (...args: never[]) => unknown }
// biome-ignore lint/suspicious/noExplicitAny: tapable's own type parameters are open here.
type AnyHook = Hook<any, any>
type Run = (taps: readonly Tap[], args: readonly unknown[]) => unknown

/** In order; the first defined answer wins. A failing tap becomes PLUGIN_FAILED for the caller. */
export const asked = <H extends AnyHook>(hook: H, rule: DispatchRule): H =>
  install(hook, async (taps, args) => {
    for (const tap of taps) {
      const answer = await callTap(hook, { tap, args, rule }).catch((error: unknown) => {
        throw pluginFailed(tap.name, nameOf(hook), error)
      })
      if (answer !== undefined) return answer
    }
    return undefined
  })

/** All at once, each on its own context. One that fails is reported; the others count. */
export const gathered = <H extends AnyHook>(hook: H, rule: DispatchRule): H =>
  install(hook, async (taps, args) => {
    const [contexts] = args
    await Promise.all(
      taps.map(tap =>
        isScoped(contexts)
          ? inContext(hook, { tap, args, rule }, contexts)
          : gather(hook, { tap, args, rule })
      )
    )
  })

const gather = async (hook: AnyHook, call: TapCall): Promise<void> => {
  try {
    ignore(hook, call, await callTap(hook, call))
  } catch (error) {
    call.rule.port.onFault({ pluginId: call.tap.name, hook: nameOf(hook), error })
  }
}

const ignore = (hook: AnyHook, { tap, rule }: TapCall, answer: unknown, hint?: string): void => {
  if (answer === undefined || answer === null) return
  rule.port.onIgnored?.({ pluginId: tap.name, hook: nameOf(hook), answer, ...compact({ hint }) })
}

const inContext = async (hook: AnyHook, call: TapCall, contexts: Scoped<unknown>): Promise<void> => {
  const pluginId = call.tap.name
  const context = contexts.contextFor(pluginId)
  if (context === undefined) return
  try {
    const answer = await callTap(hook, { ...call, args: [context], correlationId: contexts.correlationId })
    ignore(hook, call, answer, 'only what is given to the functions of the context counts')
    contexts.ended?.(pluginId)
  } catch (error) {
    if (contexts.ended?.(pluginId, error) === true) return
    call.rule.port.onFault({ pluginId, hook: nameOf(hook), error })
  }
}

/**
 * In order; each may object by a throw. An error of the catalogue reaches the caller unchanged, any other one as the cause of
 * SIGN_REFUSED. The answer false is no less of an objection.
 */
export const gated = <H extends AnyHook>(hook: H, rule: DispatchRule): H =>
  install(hook, async (taps, args) => {
    for (const tap of taps) {
      const call = { tap, args, rule }
      const answer = await callTap(hook, call).catch((error: unknown) => {
        throw isWalletError(error) ? error : refusal(tap, describeError(error).replace(/^Error: /, ''), error)
      })
      if (answer === false) throw refusal(tap, 'it answered false: throw an error to refuse')
      ignore(hook, call, answer, 'throw an error to refuse')
    }
  })

const refusal = ({ name: pluginId }: Tap, reason: string, cause?: unknown): WalletError =>
  new WalletError('SIGN_REFUSED', { pluginId, reason }, cause)

/** A value passes through every tap; one that fails, or answers wrongly, is reported and passes it unchanged. */
export const piped = <H extends AnyHook>(hook: H, rule: DispatchRule): H =>
  install(hook, (taps, args) => {
    let [value] = args
    for (const tap of taps) {
      const next = callNow(hook, { tap, args: [value, ...args.slice(1)], rule }, refusePromise)
      if (next === undefined) continue
      // The kernel's own value: an earlier answer may be another one each time that it is read.
      const path = rule.refuse?.(args[0], next)
      const [pluginId, name] = [tap.name, nameOf(hook)]
      if (path === undefined) value = next
      else {
        const error = new WalletError('BOGUS_DATA', { pluginId, what: `answer to ${name}`, path })
        rule.port.onFault({ pluginId, hook: name, error })
      }
    }
    return value
  })

const refusePromise = (answer: unknown): void => {
  if (answer instanceof Promise) throw new TypeError('It answered with a promise, and is not waited for')
}

/** Notifies all; one that fails is reported, the others still run. */
export const observed = <H extends AnyHook>(hook: H, rule: DispatchRule): H =>
  install(hook, (taps, args) => {
    for (const tap of taps) callNow(hook, { tap, args, rule })
    return undefined
  })

/** The argument of a gathered hook that gives each plugin a context of its own. */
export interface Scoped<Context> {
  /** Threads what belongs together through the taps, such as the id of a round. */
  readonly correlationId?: string | undefined
  /** Undefined for a plugin that is not asked. */
  contextFor(pluginId: PluginId): Context | undefined
  /** Called when a plugin has ended, with its error if it failed; returning true keeps it from being reported as a fault. */
  ended?(pluginId: PluginId, error?: unknown): boolean
}

// tapable would build the call from source text, which a page without `unsafe-eval` forbids; setting
// `compile` on the instance keeps its tap methods and replaces only that step.
const install = <H extends AnyHook>(hook: H, run: Run): H => {
  const compile = ({ taps }: { taps: Tap[] }) => {
    const fixed = [...taps]
    return (...args: unknown[]) => run(fixed, args)
  }
  Object.defineProperty(hook, 'compile', { value: compile })
  return hook
}

interface TapCall {
  readonly tap: Tap
  readonly args: readonly unknown[]
  readonly rule: DispatchRule
  /** The correlation id, if the arguments do not carry one. */
  readonly correlationId?: string | undefined
}

const callTap = async (hook: AnyHook, call: TapCall): Promise<unknown> => {
  const { tap, args, rule } = call
  const { clock, calls } = rule.port
  const started = clock.monotonic()
  let outcome: TapSnapshot['outcome'] = 'failed'
  try {
    const call = {
      pluginId: tap.name,
      kind: nameOf(hook),
      what: `The plugin ${tap.name} in ${nameOf(hook)}`,
      milliseconds: rule.deadlineMs,
      discard: rule.discard
    }
    const answer = await calls.call(call, () => tap.fn(...(args as never[])))
    outcome = answer === undefined ? 'done' : 'answered'
    return answer
  } finally {
    notify(hook, call, { started, outcome })
  }
}

/** @param check - throws for an answer of the wrong kind */
const callNow = (hook: AnyHook, call: TapCall, check: (answer: unknown) => void = () => {}): unknown => {
  const started = call.rule.port.watcher() === undefined ? 0 : call.rule.port.clock.monotonic()
  try {
    const given = call.tap.fn(...(call.args as never[]))
    const answer = settled(hook, call, given)
    check(given)
    notify(hook, call, { started, outcome: answer === undefined ? 'done' : 'answered' })
    return answer
  } catch (thrown) {
    notify(hook, call, { started, outcome: 'failed' })
    call.rule.port.onFault({ pluginId: call.tap.name, hook: nameOf(hook), error: errorOf(thrown) })
    return undefined
  }
}

// An async function fits a synchronous tap; it is not awaited, but its failure must not end the process.
const settled = (hook: AnyHook, { tap, rule }: TapCall, answer: unknown): unknown => {
  if (!(answer instanceof Promise)) return answer
  const failed = (thrown: unknown): void =>
    rule.port.onFault({ pluginId: tap.name, hook: nameOf(hook), error: errorOf(thrown) })
  new Promise(resolve => resolve(answer)).catch(failed)
  return undefined
}

const notify = (
  hook: AnyHook,
  { tap, args, rule, correlationId = correlationOf(args[0]) }: TapCall,
  { started, outcome }: { started: number; outcome: TapSnapshot['outcome'] }
): void => {
  const watch = rule.port.watcher()
  if (watch === undefined) return
  watch({
    hook: nameOf(hook),
    pluginId: tap.name,
    ...compact({ correlationId }),
    durationMs: rule.port.clock.monotonic() - started,
    outcome
  })
}

/** The id of the spend, or of the round of quotes, that an argument or the first of a list of them is about. */
const correlationOf = (argument: unknown): string | undefined => {
  if (Array.isArray(argument)) return argument.length === 0 ? undefined : correlationOf(argument[0])
  if (typeof argument !== 'object' || argument === null) return undefined
  const { correlationId, roundId } = argument as { correlationId?: unknown; roundId?: unknown }
  if (typeof correlationId === 'string') return correlationId
  return typeof roundId === 'string' ? roundId : undefined
}

const pluginFailed = (pluginId: PluginId, hook: string, error: unknown): WalletError => {
  if (isWalletError(error) && error.code !== 'DEADLINE') return error
  const reason = isWalletError(error) ? error.message : `it threw ${describeError(error)}`
  return new WalletError('PLUGIN_FAILED', { pluginId, hook, reason }, error)
}

const isScoped = (argument: unknown): argument is Scoped<unknown> =>
  typeof argument === 'object' && argument !== null && 'contextFor' in argument

const nameOf = (hook: AnyHook): string => hook.name ?? 'hook'
