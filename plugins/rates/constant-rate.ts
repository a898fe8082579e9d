import type { RatePlugin } from '../../kernel/plugin-api.ts'
import type { PricedPair } from './kit/rate-source.ts'

/**
 * Rates that stand still by law or by construction: wrapped coins, coins of test networks, and moneys that are tied to
 * another one at a figure in force. It sends no request.
 *
 * Promises of a price that a market can break, such as stable coins, are none of it: its bias would hide the day on
 * which they break.
 */
export const constantRate: RatePlugin = {
  kind: 'rates',
  id: 'constantRate',
  displayName: 'Constant rates',
  bias: -0.25,
  apply({ hooks }) {
    hooks.fetchRates.tapPromise('constantRate', async context => {
      for (const [fromCurrency, toCurrency, rate] of PEGS) context.offer({ fromCurrency, toCurrency }, rate)
    })
  }
}

/** One of the first is so many of the second. */
const PEGS: readonly PricedPair[] = [
  // Worth nothing; the deployed system shows a cent (specification §9 has its bias).
  ['TESTBTC', 'iso:USD', 0.01],
  ['WETH', 'ETH', 1],
  ['WBNB', 'BNB', 1],
  ['WPOL', 'POL', 1],
  ['WAVAX', 'AVAX', 1],
  // The conversion rates of moneys that joined the euro, and those that France and Portugal guarantee.
  ['iso:EUR', 'iso:BGN', 1.95583],
  ['iso:EUR', 'iso:BAM', 1.95583],
  ['iso:EUR', 'iso:HRK', 7.5345],
  ['iso:EUR', 'iso:XOF', 655.957],
  ['iso:EUR', 'iso:XAF', 655.957],
  ['iso:EUR', 'iso:XPF', 119.331742],
  ['iso:EUR', 'iso:KMF', 491.96775],
  ['iso:EUR', 'iso:CVE', 110.265],
  // The pound under other names.
  ['iso:GBP', 'iso:GGP', 1],
  ['iso:GBP', 'iso:JEP', 1],
  ['iso:GBP', 'iso:IMP', 1],
  ['iso:GBP', 'iso:GIP', 1],
  ['iso:GBP', 'iso:FKP', 1],
  ['iso:GBP', 'iso:SHP', 1],
  // Tied to the dollar.
  ['iso:USD', 'iso:AED', 3.6725],
  ['iso:USD', 'iso:SAR', 3.75],
  ['iso:USD', 'iso:QAR', 3.64],
  ['iso:USD', 'iso:BHD', 0.376],
  ['iso:USD', 'iso:OMR', 0.3845],
  ['iso:USD', 'iso:JOD', 0.709],
  ['iso:USD', 'iso:BSD', 1],
  ['iso:USD', 'iso:BMD', 1],
  ['iso:USD', 'iso:PAB', 1],
  ['iso:USD', 'iso:BBD', 2],
  ['iso:USD', 'iso:BZD', 2],
  ['iso:USD', 'iso:XCD', 2.7],
  ['iso:USD', 'iso:AWG', 1.79],
  ['iso:USD', 'iso:ANG', 1.79],
  ['iso:USD', 'iso:DJF', 177.721],
  ['iso:USD', 'iso:ERN', 15],
  // Tied to a neighbour's.
  ['iso:ZAR', 'iso:LSL', 1],
  ['iso:ZAR', 'iso:SZL', 1],
  ['iso:ZAR', 'iso:NAD', 1],
  ['iso:SGD', 'iso:BND', 1],
  ['iso:INR', 'iso:BTN', 1],
  ['iso:INR', 'iso:NPR', 1.6],
  ['iso:AUD', 'iso:TVD', 1],
  ['iso:HKD', 'iso:MOP', 1.03],
  // A new money with fewer zeros.
  ['iso:MRU', 'iso:MRO', 10]
]
