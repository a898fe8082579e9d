import test from 'node:test'
import {
  type ObserverSuiteOptions,
  observerSuite,
  type Suite,
  type SuiteOptions,
  testSuite
} from 'holdfast/testing'
import { watch } from '../src/index.ts'

const cases: ObserverSuiteOptions = {
  valid: [
    {
      name: 'a payment',
      events: [
        ['spendChanged', { correlationId: 's1', walletId: 'w1', stage: 'signed' }],
        ['spendChanged', { correlationId: 's1', walletId: 'w1', stage: 'broadcast' }]
      ],
      seen: ['payment of w1: signed', 'payment of w1: broadcast']
    },
    {
      name: 'new transactions, but no old ones',
      events: [
        ['transactionsChanged', { walletId: 'w1', created: ['a', 'b'], changed: [] }],
        ['transactionsChanged', { walletId: 'w1', created: [], changed: ['a'] }]
      ],
      seen: ['w1 has 2 new: a, b']
    }
  ]
}

/** The checks of this plugin, for `holdfast plugins test`. Each check gets an observer that has seen nothing. */
export const suite = (options: SuiteOptions = {}): Suite =>
  observerSuite(
    () => {
      const lines: string[] = []
      return { plugin: watch(line => lines.push(line)), seen: () => lines }
    },
    { ...cases, ...options }
  )

testSuite(test, suite())
