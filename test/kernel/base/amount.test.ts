import test from 'ava'
import fc from 'fast-check'
import {
  abs,
  add,
  compare,
  decimalsOf,
  divide,
  fromDenomination,
  isNativeAmount,
  multiply,
  type NativeAmount,
  nativeAmount,
  negate,
  subtract,
  sum,
  toDenomination,
  ZERO
} from '../../../kernel/base/amount.ts'

const amount = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n })
const of = (value: bigint): NativeAmount => nativeAmount(value.toString())

test('arithmetic agrees with exact integers of any size', t => {
  fc.assert(
    fc.property(amount, amount, (a, b) => {
      t.is(add(of(a), of(b)), of(a + b))
      t.is(subtract(of(a), of(b)), of(a - b))
      t.is(multiply(of(a), of(b % 10n ** 20n)), of(a * (b % 10n ** 20n)))
      t.is(Math.sign(compare(of(a), of(b))), a < b ? -1 : a > b ? 1 : 0)
      t.is(negate(of(a)), of(-a))
      t.is(abs(of(a)), of(a < 0n ? -a : a))
      t.is(sum([of(a), of(b), of(a)]), of(a + b + a))
      if (b !== 0n) t.is(divide(of(a), of(b)), of(a / b))
    })
  )
})

test('only an optional minus and 1 to 100 digits are an amount', t => {
  for (const text of ['', '1.5', '1e3', '0x10', ' 7', '7 ', '+7', '--7', 'NaN', '١', '9'.repeat(101)]) {
    t.throws(() => nativeAmount(text), { code: 'AMOUNT_INVALID' }, text)
    t.false(isNativeAmount(text), text)
  }
  t.is(nativeAmount('007'), '7' as NativeAmount)
  t.is(nativeAmount('-0'), ZERO)
  t.true(isNativeAmount('9'.repeat(100)))
  t.throws(() => divide(of(1n), ZERO), { code: 'AMOUNT_INVALID' })
})

test('a typed amount is read exactly, and too many decimals are refused, never rounded', t => {
  t.is(fromDenomination('0.015', '100000000'), '1500000' as NativeAmount)
  t.is(fromDenomination('21000000', '100000000'), '2100000000000000' as NativeAmount)
  t.is(fromDenomination('5', '1'), '5' as NativeAmount)
  t.throws(() => fromDenomination('0.000000001', '100000000'), {
    code: 'AMOUNT_INVALID',
    message: 'The amount has more than 8 decimals'
  })
  for (const text of ['-1', '1,5', '.5', '5.', '1e-8', ' 1', '']) {
    t.throws(() => fromDenomination(text, '100000000'), { code: 'AMOUNT_INVALID' }, text)
  }
})

test('writing and reading an amount in a denomination returns the same amount', t => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), fc.nat(18), (value, decimals) => {
      const multiplier = `1${'0'.repeat(decimals)}`
      t.is(fromDenomination(toDenomination(of(value), multiplier), multiplier), of(value))
    })
  )
  t.is(toDenomination(of(-1500000n), '100000000'), '-0.015')
  t.is(decimalsOf('100000000'), 8)
  t.throws(() => decimalsOf('15'), { code: 'AMOUNT_INVALID' })
})

test('a denomination that is no power of ten is read exactly and written exactly where its quotient ends', t => {
  fc.assert(
    fc.property(amount, fc.nat(24), fc.nat(24), (value, twos, fives) => {
      const multiplier = String(2n ** BigInt(twos) * 5n ** BigInt(fives))
      const text = toDenomination(of(value), multiplier)
      const [whole = '', fraction = ''] = text.replace('-', '').split('.')
      t.is(
        BigInt(whole + fraction) * BigInt(multiplier),
        (value < 0n ? -value : value) * 10n ** BigInt(fraction.length)
      )
      if (value >= 0n) t.is(fromDenomination(text, multiplier), of(value))
    })
  )
  t.is(toDenomination(of(150n), '3'), '50')
  t.is(toDenomination(of(18n), '12'), '1.5')
  t.is(fromDenomination('1.5', '12'), '18' as NativeAmount)
  t.throws(() => fromDenomination('0.1', '12'), {
    code: 'AMOUNT_INVALID',
    message: 'The amount comes to a fraction of the smallest unit'
  })
})

test('a quotient without an end is cut, and less than one native unit is left out', t => {
  t.is(toDenomination(of(100n), '3'), '33.3')
  t.is(toDenomination(of(-1n), '7'), '-0.1')
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 10n ** 40n }),
      fc.bigInt({ min: 1n, max: 10n ** 20n }),
      (value, factor) => {
        const [whole = '', fraction = ''] = toDenomination(of(value), String(factor)).split('.')
        const scale = 10n ** BigInt(fraction.length)
        const missing = value * scale - BigInt(whole + fraction) * factor
        t.true(missing >= 0n && missing < scale, `${value} / ${factor}`)
      }
    )
  )
})

test('a multiplier that is no whole number above zero is a typed error and never a TypeError', t => {
  for (const multiplier of ['0', '', 'abc', '-10', '1.5', '1e3', '010', '1'.repeat(101)]) {
    t.throws(() => toDenomination(of(1n), multiplier), { code: 'AMOUNT_INVALID' }, multiplier)
    t.throws(() => fromDenomination('1', multiplier), { code: 'AMOUNT_INVALID' }, multiplier)
  }
})
