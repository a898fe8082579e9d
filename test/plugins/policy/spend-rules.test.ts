import test from 'ava'
import { nativeAmount } from '../../../kernel/plugin-api.ts'
import { spendRules } from '../../../plugins/policy/spend-rules.ts'
import type { RuleCase } from '../../../testing/policy-lab.ts'
import { testPolicyPlugin } from '../../../testing/policy-suite.ts'

const NOON = Date.UTC(2026, 0, 1, 12)
const HOUR_MS = 3_600_000
const paid = (amount: string) => ({ pluginId: 'bitcoin', tokenId: null, nativeAmount: nativeAmount(amount) })
const payment = { walletId: 'w1', pluginId: 'bitcoin', amounts: [paid('1001128')], payees: ['shop'] }
const earlier = {
  ...{ walletId: 'w1', txids: ['x'], isOpen: false, at: NOON - HOUR_MS, clients: [], values: {} },
  amounts: [paid('9000000')]
}
const own = { ...earlier, txids: [], isOpen: true, at: NOON, amounts: payment.amounts }
const phone = { name: 'phone', key: 'ab'.repeat(32) }

const perPayment = { id: 'small', kind: 'per-payment', asset: 'bitcoin', max: '2000000' }
const worth = { id: 'worth', kind: 'per-payment', maxFiat: '1000', fiat: 'iso:EUR' }
const rolling = { id: 'daily', kind: 'rolling', asset: 'bitcoin', max: '10000000', windowHours: 24 }
const shops = { id: 'shops', kind: 'allow-list', payees: ['shop'] }
const delay = { id: 'wait', kind: 'new-payee-delay', delayHours: 24, known: ['friend'] }
const hours = { id: 'hours', kind: 'hours', from: '08:00', to: '18:00', zone: 'UTC', days: [1, 2, 3, 4, 5] }
const second = { id: 'second', kind: 'second-device', asset: 'bitcoin', max: '500000', devices: [phone] }

const rules: readonly RuleCase[] = [
  { name: 'a payment below the limit', rules: [perPayment], payment, verdicts: { small: 'allows' } },
  {
    name: 'one above it',
    rules: [{ ...perPayment, max: '1000000' }],
    payment,
    verdicts: { small: 'refuses' }
  },
  { name: 'worth little', rules: [worth], payment, value: '650.10', verdicts: { worth: 'allows' } },
  { name: 'worth too much', rules: [worth], payment, value: '1000.01', verdicts: { worth: 'refuses' } },
  { name: 'without a rate', rules: [worth], payment, verdicts: { worth: 'refuses' } },
  { name: 'a budget with room', rules: [rolling], payment, payments: [own], verdicts: { daily: 'allows' } },
  {
    ...{ name: 'a budget that is used', rules: [rolling], payment, payments: [own, earlier], now: NOON },
    verdicts: { daily: 'refuses' }
  },
  {
    ...{ name: 'a day later', rules: [rolling], payment, payments: [own, earlier], now: NOON + 23 * HOUR_MS },
    verdicts: { daily: 'allows' }
  },
  { name: 'a listed payee', rules: [shops], payment, verdicts: { shops: 'allows' } },
  {
    name: 'another payee',
    rules: [shops],
    payment: { ...payment, payees: ['x'] },
    verdicts: { shops: 'refuses' }
  },
  { name: 'a new payee', rules: [delay], payment, verdicts: { wait: 'refuses' } },
  {
    ...{ name: 'a payee of yesterday', rules: [delay], payment, now: NOON },
    ...{ firstSeen: { shop: NOON - 25 * HOUR_MS }, verdicts: { wait: 'allows' } }
  },
  {
    name: 'a known payee',
    rules: [delay],
    payment: { ...payment, payees: ['friend'] },
    verdicts: { wait: 'allows' }
  },
  { name: 'within the hours', rules: [hours], payment, now: NOON, verdicts: { hours: 'allows' } },
  { name: 'at night', rules: [hours], payment, now: NOON + 8 * HOUR_MS, verdicts: { hours: 'refuses' } },
  {
    name: 'a calendar at night',
    rules: [hours],
    payment,
    now: NOON,
    calendar: NOON + 8 * HOUR_MS,
    verdicts: { hours: 'refuses' }
  },
  { name: 'without the second device', rules: [second], payment, verdicts: { second: 'refuses' } },
  { name: 'with it', rules: [second], payment, approvedBy: phone.key, verdicts: { second: 'allows' } },
  {
    ...{ name: 'the state of all', rules: [perPayment, rolling, shops, delay, hours, second] },
    verdicts: {
      small: 'does not apply',
      shops: 'does not apply',
      hours: 'does not apply',
      second: 'does not apply'
    }
  },
  {
    name: 'an asset that is not known',
    rules: [{ ...perPayment, asset: 'gone' }],
    payment,
    verdicts: { small: 'unreadable' }
  },
  { name: 'rules of others', rules: [{ id: 'x', kind: 'of-others' }], payment, verdicts: { x: null } }
]

testPolicyPlugin(test, spendRules, { rules, valid: [{ name: 'any spend', spend: {} }] })
