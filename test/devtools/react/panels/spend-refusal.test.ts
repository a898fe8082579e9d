import test from 'ava'
import { actionFailureOf } from '../../../../app/actions/action-error.ts'
import { spendRefusalOf } from '../../../../devtools/react/panels/send-form.tsx'
import { type AmountUnits, WalletError } from '../../../../kernel/index.ts'

const unitsOf = (currencyCode: string, decimals: number): AmountUnits => ({
  currencyCode,
  displayName: currencyCode,
  denominations: [{ name: currencyCode, multiplier: `1${'0'.repeat(decimals)}` }]
})
const ASSETS = [unitsOf('USDX', 6), unitsOf('ETH', 18)]

for (const [error, field, text] of [
  [
    new WalletError('INSUFFICIENT_FUNDS', { currencyCode: 'USDX', needed: '2500001', available: '2500000' }),
    'amount',
    'Insufficient USDX: it needs 2.500001 USDX, and there is 2.5 USDX. Send less, or press Max.'
  ],
  [
    new WalletError('INSUFFICIENT_FUNDS', {
      currencyCode: 'ETH',
      needed: '1000000000000000000',
      available: '0'
    }),
    'amount',
    'Insufficient ETH: it needs 1 ETH, and there is 0 ETH. Send less, or press Max.'
  ],
  [
    new WalletError('OPTION_INVALID', { option: 'coins', rule: 'must not name one that is frozen' }),
    'coins',
    'The coins must not name one that is frozen. List them again, and choose others.'
  ],
  [
    new WalletError('INSUFFICIENT_FUNDS', { currencyCode: 'USDX' }),
    'amount',
    'Insufficient USDX. Send less, or press Max.'
  ],
  [
    new WalletError('PENDING_FUNDS', { currencyCode: 'ETH', incoming: '2000000000000000000', reserved: '0' }),
    'amount',
    'Not enough confirmed funds: 2 ETH is incoming. Send less, or wait until it is confirmed.'
  ],
  [
    new WalletError('PENDING_FUNDS', { currencyCode: 'ETH', incoming: '0', reserved: '5' }),
    'amount',
    'Not enough confirmed funds. 5 native units are reserved for an open payment: wait until it is confirmed, replaced or forgotten.'
  ],
  [
    new WalletError('DUST_SPEND', { minimum: '546' }),
    'amount',
    'Please send a larger amount, at least 0.000546 USDX.'
  ],
  [
    new WalletError('ADDRESS_INVALID', { rule: 'is of another network' }),
    'address',
    'The address is of another network. Copy the address again, and check that it belongs to the same network as the wallet.'
  ],
  [new WalletError('SPEND_TO_SELF', {}), 'address', 'Spending to self']
] as const) {
  test(`the message of ${error.code} appears below the ${field}: ${text}`, t => {
    t.deepEqual(spendRefusalOf(actionFailureOf(error), ASSETS), { field, text })
  })
}

test('a failure that no field can fix is shown elsewhere', t => {
  t.is(
    spendRefusalOf(actionFailureOf(new WalletError('ENGINE_FAILED', { walletId: 'w' } as never)), ASSETS),
    undefined
  )
})
