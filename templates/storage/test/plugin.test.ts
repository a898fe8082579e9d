import test from 'node:test'
import { type Suite, type SuiteOptions, storageSuite, testSuite } from 'holdfast/testing'
import { plugin, type TextStore } from '../src/index.ts'

/**
 * The checks of this plugin, for `holdfast plugins test`. A place is a number: a new one is empty, and one that was there
 * before has everything that was written to it, as after a restart.
 */
export const suite = (options: SuiteOptions = {}): Suite => {
  const places = new Map<number, TextStore>()
  const storeOf = (place: number): TextStore => {
    const store = places.get(place) ?? new Map<string, string>()
    places.set(place, store)
    return store
  }
  return storageSuite(place => plugin(storeOf(place)), { pluginId: 'my-plugin', ...options })
}

testSuite(test, suite())
