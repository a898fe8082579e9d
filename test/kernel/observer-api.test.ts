import test from 'ava'
import { type ObserverPlugin, observerHookNames, type PluginSnapshot } from 'holdfast/observer'
import { makeKernelHooks } from '../../kernel/plugins/hooks.ts'
import { observerHost } from '../../kernel/plugins/plugin.ts'
import { declarationsOf } from '../../scripts/freeze/declarations.ts'
import { makeFakeClock } from '../../testing/fake-clock.ts'

test('an observer needs nothing but holdfast/observer, and can tap each of its hooks by name', t => {
  const states: PluginSnapshot['state'][] = []
  const called: string[] = []
  const observer: ObserverPlugin = {
    kind: 'observer',
    id: 'watch',
    apply({ hooks }) {
      hooks.pluginChanged.tap('watch', ({ state }) => states.push(state))
      for (const name of observerHookNames) hooks[name].tap('watch', () => called.push(name))
    }
  }
  const hooks = makeKernelHooks({ clock: makeFakeClock(), onFault: ({ error }) => t.fail(String(error)) })
  observer.apply(observerHost(observer.id, hooks))

  hooks.pluginChanged.call({ pluginId: 'memory', kind: 'storage', state: 'applied', needsKeysTo: [] })
  t.deepEqual(states, ['applied'])
  t.true(called.includes('pluginChanged'))
  for (const name of observerHookNames) t.is(hooks[name].taps.length, name === 'pluginChanged' ? 2 : 1, name)
})

const namesIn = (path: string, kind: 'export' | 'uses'): readonly string[] =>
  declarationsOf(path)
    .split('\n')
    .filter(line => line.startsWith(`${kind} `))
    .map(line => line.slice(kind.length + 1, line.indexOf(':')))

test('holdfast/observer exports every type that a snapshot is made of', t => {
  const exported = new Set(namesIn('dist/kernel/observer-api.d.ts', 'export'))
  const parts = ['export', 'uses'] as const
  const needed = parts.flatMap(kind => namesIn('dist/kernel/types/snapshots.d.ts', kind))
  t.true(needed.includes('WalletSnapshot') && needed.includes('BalanceDetails'))
  const forTheCompiler = ['brand', 'flavour', 'Flavoured']
  t.deepEqual(
    needed.filter(name => !exported.has(name) && !forTheCompiler.includes(name)),
    []
  )
})
