import type { Schema } from 'yup'
import type { LoginMessage, PendingVoucher } from '../types/login.ts'
import { asPendingVoucher, loginIdLeaf } from './login-server.ts'
import { isoDate, leaf, objectOf, optional, optionalListOf, parse } from './shape.ts'

const MAX_MESSAGES = 10_000

// The guards stand first: the schemas below are made while the module loads.
const isList = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && value.length <= MAX_MESSAGES

const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean'

/** Gives the entries of a reply with news, not yet checked one by one (protocol §2.4). @throws BAD_REPLY */
export const parseMessageList = (results: unknown): readonly unknown[] => parse(asList, results, SOURCE)

/** Checks the news of one login; what is not said is no news (protocol §2.4). @throws BAD_REPLY */
export const parseMessage = (entry: unknown): LoginMessage => {
  const { loginId, otpResetPending, pendingVouchers, recovery2Corrupt } = parse(asMessage, entry, SOURCE)
  return {
    loginId,
    otpResetPending: otpResetPending === true,
    pendingVouchers: pendingVouchers ?? [],
    recovery2Corrupt: recovery2Corrupt === true
  }
}

/** Gives the date on which a reset takes effect (protocol §2.4). @throws BAD_REPLY */
export const parseResetDate = (results: unknown): string =>
  parse(asReset, results, 'reset reply').otpResetDate

const SOURCE = 'login messages'

interface WireMessage {
  readonly loginId: string
  readonly otpResetPending: boolean | undefined
  readonly pendingVouchers: PendingVoucher[] | undefined
  readonly recovery2Corrupt: boolean | undefined
}

const asList: Schema<readonly unknown[]> = leaf('list', isList)

const asMessage: Schema<WireMessage> = objectOf<WireMessage>({
  loginId: loginIdLeaf(),
  otpResetPending: optional('true or false', isBoolean),
  pendingVouchers: optionalListOf<PendingVoucher>(asPendingVoucher),
  recovery2Corrupt: optional('true or false', isBoolean)
})

const asReset: Schema<{ otpResetDate: string }> = objectOf<{ otpResetDate: string }>({
  otpResetDate: isoDate()
})
