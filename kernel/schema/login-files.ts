import type { Schema } from 'yup'
import { WalletError } from '../base/errors.ts'
import { checkNesting, isRecord, isShortText } from '../base/json.ts'
import type { WalletInfo } from '../types/keys.ts'
import type { LoginStash } from '../types/login.ts'
import { type LoginNode, parseLogins, type WholeLogin } from './login-nodes.ts'
import { asPendingVoucher, loginIdLeaf, optionalList } from './login-server.ts'
import {
  objectOf,
  optionalBox,
  optionalBoxes,
  optionalBytes64,
  optionalFinite,
  optionalIsoDate,
  optionalListOf,
  optionalSnrp,
  optionalText,
  text
} from './shape.ts'

/**
 * Checks the content of a stash file with all its children (protocol §3.2). Usernames and PIN keys are as written.
 *
 * @throws BAD_REPLY
 */
export const parseLoginStash = (value: unknown): LoginStash =>
  withoutMarks(parseLogins(asStashNode, value, 'login stash'))

/** Of an odd child what names it is a stash, too. */
const withoutMarks = ({ isOdd: _, children, ...stash }: WholeLogin<StashNode>): LoginStash =>
  children === undefined ? stash : { ...stash, children: children.map(withoutMarks) }

/**
 * Checks what a key box holds; the id is checked where infos are merged. A guard by hand: an account has hundreds.
 *
 * @throws BAD_REPLY
 */
export const parseWalletInfo = (value: unknown): WalletInfo => {
  checkNesting(value, 'key box')
  if (isWalletInfo(value)) return { id: value.id, type: value.type, keys: value.keys }
  throw new WalletError('BAD_REPLY', {
    source: 'key box',
    path: '',
    rule: 'is no wallet with id, type and keys'
  })
}

type StashNode = Omit<LoginStash, keyof LoginNode | 'syncToken'> & LoginNode

const asStashNode: Schema<StashNode> = objectOf<StashNode>({
  appId: text(),
  created: optionalIsoDate(),
  lastLogin: optionalIsoDate(),
  loginId: loginIdLeaf(),
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
  nextUsername: optionalText(),
  children: optionalList(),
  keyBoxes: optionalBoxes(),
  mnemonicBox: optionalBox(),
  rootKeyBox: optionalBox(),
  syncKeyBox: optionalBox()
} as never)

const isWalletInfo = (value: unknown): value is WalletInfo =>
  isRecord(value) && isShortText(value.id) && isShortText(value.type) && isRecord(value.keys)
