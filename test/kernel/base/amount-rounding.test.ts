import test from 'ava'
import fc from 'fast-check'
import { divideRounded, fromDecimal, isDecimal, rescale } from '../../../kernel/base/amount.ts'

const textOf = (...question: Parameters<typeof fromDecimal>): string => fromDecimal(...question)

test('coins become native units without a float, and what is finer is rounded as the caller says', t => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 10n ** 40n }),
      fc.integer({ min: 0, max: 20 }),
      (amount, decimals) => {
        const digits = String(amount).padStart(decimals + 1, '0')
        const coins = `${digits.slice(0, digits.length - decimals)}.${digits.slice(digits.length - decimals)}0`
        return fromDecimal(coins, `1${'0'.repeat(decimals)}`, 'down') === String(amount)
      }
    )
  )
  t.is(textOf('0.000000019', '100000000', 'down'), '1')
  t.is(textOf('0.000000011', '100000000', 'up'), '2')
  t.is(textOf('1e-8', '100000000', 'up'), '1')
  t.is(textOf('2.5E+3', '100', 'down'), '250000')
  t.is(textOf('0', '100000000', 'up'), '0')
  t.is(textOf('0.1', '100', 'down', '0.2'), '2')
  t.is(textOf('1e-3', '1', 'up', '1.5e5'), '150')
  t.is(textOf('0.11', '10', 'up', '1.1'), '2')
  for (const text of ['', '-1', 'NaN', '1e999', '0x10', ' 1', '1.', '.1', '1e', 'Infinity', '1'.repeat(61)]) {
    t.false(isDecimal(text), text)
    t.throws(() => fromDecimal(text, '1', 'down'), { instanceOf: TypeError })
  }
  t.is(rescale(15n, 1, 0, 'down'), 1n)
  t.is(rescale(15n, 1, 0, 'up'), 2n)
  t.is(rescale(15n, 0, 3, 'up'), 15_000n)
  t.is(divideRounded(10n, 5n, 'up'), 2n)
})
