import test from 'ava'
import { makeDevtools } from '../../devtools/core/devtools.ts'
import { makeFakeClock } from '../../testing/fake-clock.ts'
import { testObserverPlugin } from '../../testing/observer-suite.ts'

testObserverPlugin(test, () => ({ plugin: makeDevtools({ clock: makeFakeClock() }).plugin }))
testObserverPlugin(
  (title, run) => test(`${title}, without addresses`, run),
  () => ({ plugin: makeDevtools({ clock: makeFakeClock(), hideAddresses: true, hooks: false }).plugin })
)
