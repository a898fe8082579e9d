import type { Schema } from 'yup'
import { WalletError } from '../errors/wallet-error.ts'
import type { WalletInfo, WalletKeys } from '../types/keys.ts'
import type { LoginStash, PendingVoucher } from '../types/login.ts'
import {
  box,
  isRecord,
  leaf,
  objectOf,
  optionalBox,
  optionalBytes64,
  optionalFinite,
  optionalIsoDate,
  optionalListOf,
  optionalSnrp,
  optionalText,
  text
} from './fields.ts'
import { asPendingVoucher, bytes32, MAX_LOGIN_DEPTH, MAX_LOGINS, optionalList } from './login-server.ts'
import { parse } from './parse.ts'

/**
 * Checks the content of a stash file with all its children (protocol §3.2). Usernames and PIN keys are as written.
 *
 * @throws BAD_REPLY
 */
export const parseLoginStash = (value: unknown): LoginStash => {
  let count = 0
  const parseNode = (node: unknown, depth: number): LoginStash => {
    count += 1
    if (depth > MAX_LOGIN_DEPTH || count > MAX_LOGINS) {
      throw new WalletError('BAD_REPLY', { source: 'login stash', path: 'children', rule: 'has too many' })
    }
    const { children, pendingVouchers = [], ...fields } = parse(asStashNode, node, 'login stash')
    const parsed = children?.map(child => parseNode(child, depth + 1))
    return { ...fields, pendingVouchers, ...(parsed === undefined ? {} : { children: parsed }) }
  }
  return parseNode(value, 1)
}

/** Checks what a key box holds; the id is checked where infos are merged. @throws BAD_REPLY */
export const parseWalletInfo = (value: unknown): WalletInfo => parse(asWalletInfo, value, 'key box')

type StashNode = Omit<LoginStash, 'children' | 'pendingVouchers' | 'syncToken'> & {
  readonly children?: readonly unknown[]
  readonly pendingVouchers?: readonly PendingVoucher[]
}

const asStashNode: Schema<StashNode> = objectOf<StashNode>({
  appId: text(),
  created: optionalIsoDate(),
  lastLogin: optionalIsoDate(),
  loginId: bytes32(),
  otpKey: optionalText(),
  otpResetDate: optionalIsoDate(),
  otpTimeout: optionalFinite(),
  pendingVouchers: optionalListOf(asPendingVoucher),
  voucherId: optionalText(),
  voucherAuth: optionalBytes64(),
  loginAuthBox: optionalBox(),
  parentBox: optionalBox(),
  passwordAuthBox: optionalBox(),
  passwordAuthSnrp: optionalSnrp(),
  passwordBox: optionalBox(),
  passwordKeySnrp: optionalSnrp(),
  pin2Key: optionalText(),
  pin2TextBox: optionalBox(),
  recovery2Key: optionalBytes64(),
  userId: optionalBytes64(),
  username: optionalText(),
  children: optionalList(),
  keyBoxes: optionalListOf(box()),
  mnemonicBox: optionalBox(),
  rootKeyBox: optionalBox(),
  syncKeyBox: optionalBox()
} as never)

const asWalletInfo: Schema<WalletInfo> = objectOf<WalletInfo>({
  id: text(),
  type: text(),
  keys: leaf<WalletKeys>('keys', (value): value is WalletKeys => isRecord(value))
})
