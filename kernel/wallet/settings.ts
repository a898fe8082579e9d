import { WalletError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import { JsonFile, type JsonFileOptions } from '../sync/json-file.ts'

/** The name and fiat currency of a wallet, as its repo has them. */
export interface WalletSettings {
  /** Null for a wallet without a name; undefined where no file says whether it has one. */
  readonly name: string | null | undefined
  /** Such as `iso:USD`, the default (specification §9). */
  readonly fiatCurrencyCode: string
}

/** The files of the name and of the fiat currency. */
export const NAME_PATH = 'WalletName.json'
export const FIAT_PATH = 'Currency.json'
/** The fiat currency of a wallet that names none (specification §9). */
export const DEFAULT_FIAT = 'iso:USD'

/** The files that {@link readWalletSettings} reads. */
export const WALLET_SETTINGS_PATHS: readonly string[] = [NAME_PATH, FIAT_PATH]

/**
 * Reads name and fiat code; a file that cannot be read is kept, reported, and counts as missing.
 *
 * @see protocol §3.5
 */
export const readWalletSettings = async (files: JsonFileOptions): Promise<WalletSettings> => {
  const read = async (path: string): Promise<JsonObject> => (await new JsonFile(files, path).read()) ?? {}
  const { walletName } = await read(NAME_PATH)
  const { fiat, num } = await read(FIAT_PATH)
  const code = typeof num === 'number' ? fiatCodeOfNumber(num) : undefined
  return {
    name: typeof walletName === 'string' || walletName === null ? walletName : undefined,
    fiatCurrencyCode: typeof fiat === 'string' && fiat.startsWith('iso:') ? fiat : (code ?? DEFAULT_FIAT)
  }
}

/** Writes the name of a wallet, or that it has none. */
export const writeWalletName = (files: JsonFileOptions, walletName: string | null): Promise<void> =>
  new JsonFile(files, NAME_PATH).edit(() => [{ path: ['walletName'], value: walletName }])

/** Checks a fiat currency that a user chose. @throws FIAT_CODE unless it is `iso:` and three capitals */
export const checkFiatCode = (fiat: string): void => {
  if (!/^iso:[A-Z]{3}$/.test(fiat)) throw new WalletError('FIAT_CODE', {})
}

/** Writes the fiat currency of a wallet; the number that older clients wrote goes. @throws FIAT_CODE */
export const writeFiatCode = async (files: JsonFileOptions, fiat: string): Promise<void> => {
  checkFiatCode(fiat)
  await new JsonFile(files, FIAT_PATH).edit(() => [
    { path: ['fiat'], value: fiat },
    { path: ['num'], value: undefined }
  ])
}

/**
 * The fiat currency of an ISO 4217 number, as older clients stored it (protocol §3.5 `Currency.json`).
 *
 * @param number - such as 840
 * @returns such as `iso:USD`; undefined for a number that ISO never gave to a currency
 */
export const fiatCodeOfNumber = (number: number): string | undefined => {
  const digits = String(number).padStart(3, '0')
  const at = NUMBERED.indexOf(` ${digits} `)
  return digits.length === 3 && at >= 0 ? `iso:${NUMBERED.slice(at + 5, at + 8)}` : undefined
}

// Withdrawn ones too, since files may be old.
const NUMBERED =
  ' 008 ALL 012 DZD 032 ARS 036 AUD 044 BSD 048 BHD 050 BDT 051 AMD 052 BBD 060 BMD 064 BTN 068 BOB 072 BWP ' +
  '084 BZD 090 SBD 096 BND 104 MMK 108 BIF 116 KHR 124 CAD 132 CVE 136 KYD 144 LKR 152 CLP 156 CNY 170 COP ' +
  '174 KMF 188 CRC 191 HRK 192 CUP 203 CZK 208 DKK 214 DOP 222 SVC 230 ETB 232 ERN 233 EEK 238 FKP 242 FJD ' +
  '262 DJF 270 GMD 292 GIP 320 GTQ 324 GNF 328 GYD 332 HTG 340 HNL 344 HKD 348 HUF 352 ISK 356 INR 360 IDR ' +
  '364 IRR 368 IQD 376 ILS 388 JMD 392 JPY 398 KZT 400 JOD 404 KES 408 KPW 410 KRW 414 KWD 417 KGS 418 LAK ' +
  '422 LBP 426 LSL 428 LVL 430 LRD 434 LYD 440 LTL 446 MOP 454 MWK 458 MYR 462 MVR 478 MRO 480 MUR 484 MXN ' +
  '496 MNT 498 MDL 504 MAD 512 OMR 516 NAD 524 NPR 532 ANG 533 AWG 548 VUV 554 NZD 558 NIO 566 NGN 578 NOK ' +
  '586 PKR 590 PAB 598 PGK 600 PYG 604 PEN 608 PHP 634 QAR 643 RUB 646 RWF 654 SHP 678 STD 682 SAR 690 SCR ' +
  '694 SLL 702 SGD 704 VND 706 SOS 710 ZAR 716 ZWD 728 SSP 748 SZL 752 SEK 756 CHF 760 SYP 764 THB 776 TOP ' +
  '780 TTD 784 AED 788 TND 800 UGX 807 MKD 818 EGP 826 GBP 834 TZS 840 USD 858 UYU 860 UZS 882 WST 886 YER ' +
  '894 ZMK 901 TWD 925 SLE 928 VES 929 MRU 930 STN 931 CUC 932 ZWL 933 BYN 934 TMT 936 GHS 937 VEF 938 SDG ' +
  '941 RSD 943 MZN 944 AZN 946 RON 949 TRY 950 XAF 951 XCD 952 XOF 953 XPF 960 XDR 967 ZMW 968 SRD 969 MGA ' +
  '971 AFN 972 TJS 973 AOA 974 BYR 975 BGN 976 CDF 977 BAM 978 EUR 980 UAH 981 GEL 985 PLN 986 BRL '
