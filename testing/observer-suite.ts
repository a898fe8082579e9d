import type { ObserverPlugin } from '../kernel/plugin-api.ts'
import type { KernelHooks } from '../kernel/plugins/hook-types.ts'
import { openPluginLab, type PluginLab } from './plugin-lab.ts'
import { type TestFunction, testSuite } from './run-with.ts'
import { readOnly, type SampleEvents, sampleEvents } from './sample-events.ts'
import {
  type Check,
  checkDistinct,
  describeError,
  must,
  type PlannedCheck,
  planSuite,
  type Suite,
  type SuiteOptions
} from './suite.ts'

/** One event: the name of a hook, and a snapshot that it carries. */
export type ObserverEvent = {
  readonly [Name in keyof SampleEvents]: readonly [hook: Name, snapshot: SampleEvents[Name][number]]
}[keyof SampleEvents]

/** Events, and what a fresh observer has made of them. */
export interface ObserverCase {
  readonly name: string
  readonly events: readonly ObserverEvent[]
  /** Compared as JSON with what `seen` of the observer gives. */
  readonly seen: unknown
}

/** An observer under test, and a way to look at its work. */
export interface TestedObserver {
  readonly plugin: ObserverPlugin
  /** What it has made of the events, such as the lines that it would print. */
  seen?(): unknown
}

/** What a suite has to know of an observer. */
export interface ObserverSuiteOptions extends SuiteOptions {
  /** What it makes of some events; needs `seen`. */
  readonly valid?: readonly ObserverCase[]
}

/** An observer, for the checks. */
export interface ObserverSubject {
  /** Applies an observer in a lab of its own. */
  open(): OpenObserver
}

interface OpenObserver extends TestedObserver {
  readonly lab: PluginLab
}

/**
 * Plans the checks of an observer: one for each case, and those of every observer.
 *
 * @param make - makes an observer that has seen nothing
 * @throws TypeError for two cases of one name
 *
 * @example
 * ```ts
 * import { observerSuite, runSuite } from 'holdfast/testing'
 * import type { ObserverPlugin } from 'holdfast/observer'
 *
 * declare const watch: (say: (line: string) => void) => ObserverPlugin
 * const suite = observerSuite(
 *   () => {
 *     const lines: string[] = []
 *     return { plugin: watch(line => lines.push(line)), seen: () => lines }
 *   },
 *   {
 *     valid: [
 *       {
 *         name: 'a spend',
 *         events: [['spendChanged', { correlationId: 's1', walletId: 'w1', stage: 'signed' }]],
 *         seen: ['spend: signed']
 *       }
 *     ]
 *   }
 * )
 * const results = await runSuite(suite)
 * console.log(results.every(({ outcome }) => outcome !== 'failed'))
 * ```
 */
export const observerSuite = (make: () => TestedObserver, given: ObserverSuiteOptions = {}): Suite => {
  const { valid = [], level = 'full' } = given
  checkDistinct(valid.map(({ name }) => name))
  const open = (): OpenObserver => {
    const tested = make()
    return { ...tested, lab: openPluginLab(tested.plugin) }
  }
  const cases: readonly PlannedCheck[] = valid.map(each => ({
    ...VALID,
    title: `${VALID.id} ${each.name}`,
    run: () => checkCase(open(), each)
  }))
  const { id } = make().plugin
  return planSuite({ pluginId: id, kind: 'observer', level }, observerChecks, { open }, cases)
}

/**
 * Declares the tests of an observer: those of {@link observerSuite}, with the `test` of node:test, AVA or Vitest.
 *
 * @example
 * ```ts
 * import test from 'node:test'
 * import { testObserverPlugin } from 'holdfast/testing'
 * import type { ObserverPlugin } from 'holdfast/observer'
 *
 * declare const watch: (say: (line: string) => void) => ObserverPlugin
 * testObserverPlugin(test, () => ({ plugin: watch(() => {}) }))
 * ```
 */
export const testObserverPlugin = (
  test: TestFunction,
  make: () => TestedObserver,
  options: ObserverSuiteOptions = {}
): void => testSuite(test, observerSuite(make, options))

const DOCS = 'docs/write-a-plugin.md#an-observer'

const VALID = {
  id: 'observer.valid',
  level: 'quick',
  reason: 'An observer that shows something else misleads the person who looks at it.',
  clause: DOCS,
  hint: 'Compare the snapshots of the case with what the observer makes of them.'
} as const

/** Every check of an observer, but for its cases. */
export const observerChecks: readonly Check<ObserverSubject>[] = [
  {
    id: 'observer.loads',
    level: 'quick',
    reason:
      'The kernel leaves out a plugin that says something wrong of itself, or taps what is not its own.',
    clause: '8.55',
    hint: 'The message names the field; an observer taps the hooks of observerHookNames, with tap.',
    async run({ open }) {
      try {
        open()
      } catch (error) {
        must(false, () => describeError(error))
      }
    }
  },
  {
    id: 'observer.quiet',
    level: 'quick',
    reason: 'What an observer throws is reported as its fault, and it has missed the event.',
    clause: DOCS,
    hint: 'Expect every optional field to be absent, every list to be empty and every state that the types name.',
    async run({ open }) {
      const { lab } = open()
      await callAll(lab)
      mustHaveNoFault(lab, 'on a sample of what the kernel sends')
    }
  },
  {
    id: 'observer.read-only',
    level: 'quick',
    reason: 'All observers are given the same frozen snapshots.',
    clause: DOCS,
    hint: 'Copy what you want to change: { ...snapshot } and [...list].',
    async run({ open }) {
      const { lab } = open()
      const changes = new Set<string>()
      await callAll(lab, snapshot => readOnly(snapshot, what => void changes.add(what)))
      must(changes.size === 0, () => `It ${[...changes][0]} of a snapshot`)
    }
  },
  {
    id: 'observer.repeatable',
    level: 'full',
    reason: 'An application may run several kernels with the same plugin object.',
    clause: 'docs/write-a-plugin.md#what-a-plugin-is',
    hint: 'Keep state in variables of apply, and expect apply to be called again.',
    async run({ open }) {
      const { plugin } = open()
      for (const count of [1, 2]) {
        const lab = openPluginLab(plugin)
        await callAll(lab)
        mustHaveNoFault(lab, `in kernel ${count} of two`)
      }
    }
  },
  {
    id: 'observer.order',
    level: 'full',
    reason: 'Events of different sources come in any order, and an observer may miss the first ones.',
    clause: DOCS,
    hint: 'Look every id up, and expect that it is not known.',
    async run({ open }) {
      const { lab } = open()
      await callAll(lab, undefined, names => [...names].reverse())
      mustHaveNoFault(lab, 'when the events come in another order')
    }
  },
  {
    id: 'observer.closing',
    level: 'full',
    reason: 'Late events come while a kernel closes.',
    clause: DOCS,
    hint: 'Expect events after closing, and closing without any event before.',
    async run({ open }) {
      const { lab } = open()
      await lab.hooks.closing.promise()
      await callAll(lab)
      await lab.hooks.closing.promise()
      mustHaveNoFault(lab, 'after closing')
    }
  }
]

type HookName = keyof SampleEvents

/** Calls the taps of every hook with every sample. */
const callAll = async (
  lab: PluginLab,
  wrap: <T>(snapshot: T) => T = frozen,
  order: (names: readonly HookName[]) => readonly HookName[] = names => names
): Promise<void> => {
  for (const name of order(Object.keys(sampleEvents) as HookName[]))
    for (const snapshot of sampleEvents[name]) callHook(lab.hooks, name, wrap(snapshot))
  // An asynchronous tap fails later.
  await lab.clock.advance(0)
}

const callHook = (hooks: KernelHooks, name: HookName, snapshot: unknown): void =>
  (hooks[name] as { call(snapshot: unknown): void }).call(snapshot)

const frozen = <T>(data: T): T => {
  if (typeof data === 'object' && data !== null) for (const value of Object.values(data)) frozen(value)
  return Object.freeze(data)
}

const mustHaveNoFault = ({ faults }: PluginLab, when: string): void => {
  const [fault] = faults
  must(fault === undefined, () => `It throws ${describeError(fault)} ${when}`)
}

const checkCase = async ({ lab, seen }: OpenObserver, each: ObserverCase): Promise<void> => {
  if (seen === undefined) throw new TypeError('A case needs an observer with seen()')
  for (const [name, snapshot] of each.events) callHook(lab.hooks, name, frozen(snapshot))
  await lab.clock.advance(0)
  mustHaveNoFault(lab, `in the case ${each.name}`)
  const [found, expected] = [JSON.stringify(seen()), JSON.stringify(each.seen)]
  must(found === expected, () => `It has made ${found}, and the case says ${expected}`)
}
