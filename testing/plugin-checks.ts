import { isWalletError, type JsonObject } from '../kernel/plugin-api.ts'
import { watchGlobals } from './global-uses.ts'
import type { PluginLab, PluginLabOptions } from './plugin-lab.ts'
import { type Check, describeError, must, skip } from './suite.ts'

/** How the checks for every kind open a plugin and use it. */
export interface PluginSubject {
  readonly options: JsonObject
  /** Applies the plugin in a lab of its own. */
  open(more?: PluginLabOptions): PluginLab
  /** Uses it as the kernel does, on input that works. @returns what it gave, as data */
  use(lab: PluginLab): Promise<unknown>
}

/** The checks that every kind of plugin passes. */
export const pluginChecks: readonly Check<PluginSubject>[] = [
  {
    id: 'plugin.loads',
    level: 'quick',
    reason: 'The kernel leaves out a plugin that says something wrong of itself or taps nothing.',
    clause: '8.55',
    hint: 'The message names the field; give it the expected value.',
    async run(subject) {
      try {
        subject.open()
      } catch (error) {
        must(false, () => describeError(error))
      }
    }
  },
  {
    id: 'plugin.globals',
    level: 'quick',
    reason: 'Time, random numbers and requests come from the host, so that an application controls them.',
    clause: 'docs/write-a-plugin.md#what-a-plugin-is',
    hint: 'Use host.io: io.clock.now(), io.clock.after(…), io.fetch(…), io.random(…).',
    async run(subject) {
      const uses = watchGlobals()
      try {
        await subject.use(subject.open({ uses }))
      } finally {
        uses.end()
      }
      must(uses.names.size === 0, () => `It uses ${[...uses.names].join(', ')}`)
    }
  },
  {
    id: 'plugin.repeatable',
    level: 'full',
    reason: 'An application may run several kernels with the same plugin object.',
    clause: 'docs/write-a-plugin.md#what-a-plugin-is',
    hint: 'Keep state in variables of apply, not of the module.',
    async run(subject) {
      const labs = [subject.open(), subject.open()]
      const texts: string[] = []
      for (const lab of labs) texts.push(JSON.stringify(await subject.use(lab)))
      must(texts[0] === texts[1], () => 'Two kernels with this plugin get different answers to one question')
    }
  },
  {
    id: 'plugin.closing',
    level: 'full',
    reason: 'Nothing of a plugin may go on after its kernel has closed.',
    clause: 'docs/write-a-plugin.md#what-a-plugin-is',
    hint: 'Cancel timers in hooks.closing, which may be called more than once.',
    async run(subject) {
      const lab = subject.open()
      await subject.use(lab)
      await lab.hooks.closing.promise()
      await lab.hooks.closing.promise()
      const [fault] = lab.faults
      must(fault === undefined, () => `A tap of it failed: ${describeError(fault)}`)
      await lab.clock.advance(60_000)
      const { timerCount } = lab.clock
      must(timerCount === 0, () => `${timerCount} of its timers still run a minute after the kernel closed`)
    }
  },
  {
    id: 'plugin.secrets',
    level: 'quick',
    reason: 'A log and an error are shown to people and sent to support.',
    clause: 'docs/write-a-plugin.md#what-a-plugin-is',
    hint: 'Never put an option, a header or an address with a key into a message.',
    async run(subject) {
      const secrets = Object.entries(subject.options)
        .filter(([name]) => /key|secret|token|pass/i.test(name))
        .flatMap(([, value]) => (typeof value === 'string' && value.length > 5 ? [value] : []))
      if (secrets.length === 0) skip('No option of it is called a key, secret, token or password')
      const lab = subject.open()
      const seen: string[] = [JSON.stringify(await subject.use(lab)) ?? '']
      lab.network.use(async () => ({ status: 401, headers: {}, body: '{"error":"refused"}' }))
      await subject.use(lab).catch((error: unknown) => {
        seen.push(describeError(error))
        if (isWalletError(error)) seen.push(JSON.stringify(error.details))
      })
      const all = [...seen, ...lab.lines].join('\n')
      must(
        !secrets.some(secret => all.includes(secret)),
        () => 'A log line or an error contains a secret option'
      )
    }
  }
]
