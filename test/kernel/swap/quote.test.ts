import test from 'ava'
import { PaymentGate } from '../../../kernel/swap/quote.ts'

const one = { pluginId: 'one' }
const two = { pluginId: 'two' }

/** True once the gate has told that a payment left. */
const isPaid = (gate: PaymentGate): Promise<boolean> =>
  Promise.race([gate.paid.then(() => true), Promise.resolve().then(() => Promise.resolve(false))])

test('one quote of a round is paid at a time, and the next one if nothing was sent', async t => {
  const gate = new PaymentGate()
  gate.begin(one)
  for (const quote of [one, two]) {
    t.throws(() => gate.begin(quote), {
      code: 'QUOTE_ENDED',
      message: /already closed/
    })
  }
  gate.end(one, false)
  t.false(await isPaid(gate))
  t.notThrows(() => gate.begin(two))
})

test('no quote of a round is paid after a payment that was or may have been sent', async t => {
  const gate = new PaymentGate()
  gate.begin(one)
  gate.end(one, true)
  // Before anything that waits for the payment has run.
  t.throws(() => gate.begin(two), { code: 'QUOTE_ENDED' })
  t.true(await isPaid(gate))
  t.throws(() => gate.begin(two), { code: 'QUOTE_ENDED' })
})

test('a quote that the gate rejected does not open it for others', async t => {
  const gate = new PaymentGate()
  gate.begin(one)
  for (const hasLeft of [false, true]) gate.end(two, hasLeft)
  t.false(await isPaid(gate))
  t.throws(() => gate.begin(two), { code: 'QUOTE_ENDED' })
})
