import test from 'ava'
import {
  amountText,
  mainDenomination,
  nativeAmount,
  parseAmount,
  WalletError
} from '../../../kernel/index.ts'
import { bitcoin } from '../../../plugins/currency/utxo/plugin.ts'

const codeOf = (text: string, units = bitcoin.info): string => {
  try {
    return parseAmount(text, units)
  } catch (error) {
    return error instanceof WalletError ? error.code : String(error)
  }
}

test('amounts are exact in every unit, and too many decimals are an error, never rounded', t => {
  const cases = {
    '0.01 BTC': '1000000',
    '250 sats': '250',
    '1000000 native': '1000000',
    '21': '2100000000',
    '1.5mBTC': '150000',
    '1000000000000000000000.00000001': '100000000000000000000000000001'
  }
  for (const [text, native] of Object.entries(cases)) t.is(codeOf(text), native)
  for (const text of [
    '0.000000001 BTC',
    '1.5 native',
    '-1 BTC',
    '',
    'BTC',
    '1,5 BTC',
    '0x10',
    '1.5 sats',
    '1e3'
  ])
    t.is(codeOf(text), 'AMOUNT_INVALID', text)
  t.is(amountText(nativeAmount('-1'), bitcoin.info), '-0.00000001 BTC')
  t.is(amountText(nativeAmount('50000000'), bitcoin.info), '0.5 BTC')
})

test('an unknown unit is refused with the known ones', t => {
  const error = t.throws(() => parseAmount('1 XBT', bitcoin.info), { instanceOf: WalletError })
  t.is(
    error?.message,
    'The amount is in "XBT", which is no unit of Bitcoin: use one of BTC, mBTC, bits, sats, native'
  )
})

test('without a denomination that is a power of ten, amounts are written and read in native units', t => {
  for (const denominations of [[], [{ name: 'ODD', multiplier: '12' }]]) {
    const units = { ...bitcoin.info, denominations }
    t.is(mainDenomination(units).name, 'native')
    t.is(amountText(nativeAmount('12'), units), '12 native')
    t.is(codeOf('12', units), '12')
    t.is(codeOf('1 ODD', units), 'AMOUNT_INVALID')
  }
})
