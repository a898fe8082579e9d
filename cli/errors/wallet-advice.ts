import { shellWord } from '../../devtools/core/shell-word.ts'
import { isWalletError, type JsonObject, type NextCommand, type WalletError } from '../../kernel/index.ts'
import { strangersText } from '../output/safe-text.ts'

/** What the command line knows to do about a failure of the wallet, beyond the one command of the catalogue. */
export const adviceOf = (error: WalletError): readonly NextCommand[] => {
  if (isWalletError(error, 'OTP')) return waysPastSecondFactor(error)
  if (isWalletError(error, 'CHALLENGE')) {
    const { challengeId } = error.details
    return [
      {
        command: `holdfast login <user> --challenge-id ${shellWord(strangersText(challengeId))}`,
        why: 'once the CAPTCHA is solved'
      }
    ]
  }
  if (isWalletError(error, 'PLUGIN_FOR_TYPE'))
    return [{ command: 'holdfast wallets types', why: 'see the types of wallets that can be made' }]
  if (isWalletError(error, 'NO_RATE')) return waysToRate(error)
  return error.next === undefined ? [] : [error.next]
}

/** A state's money is written with `iso:`, which people forget; else it is up to the providers. */
const waysToRate = ({ details: { from, to } }: WalletError<'NO_RATE'>): readonly NextCommand[] => {
  const meant = [from, to].map(code => (isMoney(code) ? `iso:${code}` : code))
  const words = meant.map(code => shellWord(strangersText(code))).join(' ')
  return [
    ...(meant.join() === [from, to].join()
      ? []
      : [{ command: `holdfast rates get ${words}`, why: 'write the money of a state with iso:' }]),
    { command: 'holdfast rates providers', why: 'ask again, and see how each provider did' }
  ]
}

const isMoney = (code: string): boolean =>
  /^[A-Z]{3}$/.test(code) && Intl.supportedValuesOf('currency').includes(code)

/** The details of a failure as they may be printed: what proves who asks for a voucher or a reset is left out. */
export const printableDetails = (error: WalletError): JsonObject => {
  const details = { ...error.details } as JsonObject
  if (!isWalletError(error, 'OTP')) return details
  const proofs = PROOFS.filter(name => error.details[name] !== undefined)
  return { ...details, ...Object.fromEntries(proofs.map(name => [name, { redacted: true }])) }
}

const PROOFS = ['resetToken', 'voucherAuth'] as const

const waysPastSecondFactor = ({ details }: WalletError<'OTP'>): readonly NextCommand[] => {
  const { voucherId, voucherActivates, resetDate } = details
  return [
    { command: 'holdfast login <user> --otp-stdin', why: 'give the six-digit code' },
    ...(voucherId === undefined
      ? []
      : [
          {
            command: `holdfast voucher approve ${shellWord(strangersText(voucherId))}`,
            why: `approve this device on one that is logged in${voucherActivates === undefined ? '' : `, or wait until ${voucherActivates}`}`
          }
        ]),
    resetDate === undefined
      ? {
          command: 'holdfast 2fa reset request <user>',
          why: 'have two-factor switched off after its waiting time'
        }
      : { command: 'holdfast login <user>', why: `two-factor goes off by itself at ${resetDate}` }
  ]
}
