import test from 'ava'
import fc from 'fast-check'
import { isWalletError, type ParsedUri } from '../../../kernel/plugin-api.ts'
import { encodeUri, parseUri } from '../../../plugins/currency/utxo/chain/payment-link.ts'
import { bitcoinRow } from '../../../plugins/currency/utxo/params/bitcoin.ts'

const [mainnet, testnet] = bitcoinRow.networks
const parsed = (text: string): ParsedUri => parseUri(bitcoinRow, mainnet, text)

/** The code and the reason of a refusal. */
const refusalOf = (text: string): string => {
  try {
    return `read as ${JSON.stringify(parsed(text))}`
  } catch (error) {
    if (isWalletError(error, 'ADDRESS_INVALID')) return `ADDRESS_INVALID ${error.details.rule}`
    if (isWalletError(error, 'NOT_SUPPORTED')) return `NOT_SUPPORTED ${error.details.what}`
    return isWalletError(error) ? `${error.code} ${error.message}` : `untyped ${error}`
  }
}

// The forms are those of the text of BIP-321, where some addresses are mistyped on purpose; sound ones stand in their place.
const LEGACY = '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2'
const SEGWIT = 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu'
const TAPROOT = 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0'
const TEST = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'

test('a link of BIP-321 pays the newest kind of address that it names', t => {
  t.is(parsed(`bitcoin:?bc=${SEGWIT}&bc=${TAPROOT}`).publicAddress, TAPROOT)
  t.is(parsed(`bitcoin:?bc=${TAPROOT}&bc=${SEGWIT}`).publicAddress, TAPROOT)
  t.is(
    parsed(`BITCOIN:${SEGWIT.toUpperCase()}?BC=${TAPROOT.toUpperCase()}&AMOUNT=0.5&LABEL=Luke`).publicAddress,
    TAPROOT
  )
  t.deepEqual(parsed(`bitcoin:${LEGACY}?bc=${SEGWIT}&amount=20.3&label=Luke-Jr`), {
    publicAddress: SEGWIT,
    nativeAmount: '2030000000' as never,
    currencyCode: 'BTC',
    label: 'Luke-Jr'
  })
  t.is(parsed(`bitcoin:${LEGACY}`).publicAddress, LEGACY)
  t.is(parsed(`bitcoin:?bc=${SEGWIT}&lno=lno1bogusoffer&sp=sp1q&x=1&x=2`).publicAddress, SEGWIT)
  t.is(parseUri(bitcoinRow, testnet as never, `bitcoin:?tb=${TEST}`).publicAddress, TEST)
})

test('an address of a kind of later is left out where another one can be paid', t => {
  // Version 16 of BIP-350's own examples.
  const later = 'bc1sw50qgdz25j'
  t.is(parsed(`bitcoin:?bc=${later}&bc=${SEGWIT}`).publicAddress, SEGWIT)
  t.regex(refusalOf(`bitcoin:?bc=${later}`), /cannot be paid yet/)
  t.regex(refusalOf(`bitcoin:?bc=${later}&bc=${later}`), /cannot be paid yet/)
  // A mistyped one could be meant to be paid.
  t.regex(refusalOf(`bitcoin:?bc=${SEGWIT.replace('fyu', 'fyv')}&bc=${TAPROOT}`), /checksum/)
})

test('a link that BIP-321 calls invalid is refused with the reason', t => {
  const cases: readonly (readonly [parameters: string, rule: RegExp])[] = [
    ['label=Luke-Jr&label=Matt', /names "label" twice/],
    ['amount=42&amount=10', /names "amount" twice/],
    ['amount=42&amount=42', /names "amount" twice/],
    ['AMOUNT=42&amount=42', /names "amount" twice/],
    ['pop=callback%3a&pop=callback%3a', /names "pop" twice/],
    ['pop=callback%3a&req-pop=callback%3a', /needs "req-pop"/],
    ['req-somethingyoudontunderstand=50', /needs "req-somethingyoudontunderstand"/],
    ['REQ-pop=https%3aevilwebsite.com', /needs "req-pop"/],
    ['amount=1e3', /AMOUNT|amount/],
    ['amount=1,5', /AMOUNT|amount/],
    ['amount=0.123456789', /AMOUNT|amount/],
    ['label=%zz', /broken %/],
    [`bc=${TEST}`, /does not begin with bc1/]
  ]
  for (const [parameters, rule] of cases)
    t.regex(refusalOf(`bitcoin:${SEGWIT}?${parameters}`), rule, parameters)
  t.regex(refusalOf(`bitcoin:?bc=${TEST}`), /does not begin with bc1/)
  t.regex(refusalOf(`bitcoin:?tb=${TEST}`), /belongs to testnet/)
  t.is(parsed(`bitcoin:${SEGWIT}?pop=callback%3a`).publicAddress, SEGWIT)
})

test('a link without an address names the way to pay that is not supported', t => {
  t.is(refusalOf('bitcoin:?lno=lno1bogusoffer'), 'NOT_SUPPORTED payments by Lightning')
  t.is(refusalOf('bitcoin:?lightning=lnbc1'), 'NOT_SUPPORTED payments by Lightning')
  t.is(refusalOf('bitcoin:?sp=sp1q'), 'NOT_SUPPORTED silent payments')
  t.regex(refusalOf('bitid://shop.example/login?x=1f'), /^NOT_SUPPORTED .*message sign/)
  t.is(refusalOf('bitcoin:?r=https://shop.example/i/1'), 'NOT_SUPPORTED the payment protocol')
  t.is(parsed(`bitcoin:${SEGWIT}?r=https://shop.example/i/1`).publicAddress, SEGWIT)
  t.regex(refusalOf('bitcoin:?label=nothing'), /empty/)
  t.regex(refusalOf('bitcoin:'), /empty/)
})

test('a link that is written is read again with all that it says, in upper case as a QR code has it too', t => {
  fc.assert(
    fc.property(
      fc.constantFrom(LEGACY, SEGWIT, TAPROOT),
      fc.bigInt({ min: 0n, max: 2_100_000_000_000_000n }),
      fc.string({ maxLength: 30 }),
      (publicAddress, amount, label) => {
        const text = encodeUri(bitcoinRow, mainnet, {
          publicAddress,
          nativeAmount: String(amount) as never,
          label
        })
        const again = parsed(text)
        return (
          again.publicAddress === publicAddress &&
          again.nativeAmount === String(amount) &&
          again.label === label
        )
      }
    )
  )
  t.is(parsed(encodeUri(bitcoinRow, mainnet, { publicAddress: SEGWIT }).toUpperCase()).publicAddress, SEGWIT)
})
