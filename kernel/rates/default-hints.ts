import type { RatePair } from '../types/rates.ts'

/** What is asked for while nothing is known of what anybody wants: three coins in 159 fiat currencies (protocol §6.2). */
export const defaultHints = (): readonly RatePair[] =>
  COINS.flatMap(fromCurrency => FIATS.map(code => ({ fromCurrency, toCurrency: `iso:${code}` })))

const COINS = ['BTC', 'BCH', 'ETH']

const FIATS = (
  'AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP CNY ' +
  'COP CRC CUC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GGP GHS GIP GMD GNF GTQ GYD HKD HNL HRK HTG ' +
  'HUF IDR ILS IMP INR IQD IRR ISK JEP JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL ' +
  'MGA MKD MMK MNT MOP MRO MRU MUR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PRB PYG QAR RON ' +
  'RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLL SOS SRD SSP STD SYP SZL THB TJS TMT TND TOP TRY TTD TVD TWD TZS UAH UGX ' +
  'USD UYU UZS VEF VND VUV WST XAF XCD XOF XPF YER ZAR ZMW'
).split(' ')
