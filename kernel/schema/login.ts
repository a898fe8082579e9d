import type { Schema } from 'yup'
import { compact } from '../base/compact.ts'
import { WalletError } from '../base/errors.ts'
import { checkNesting, isRecord, isShortText } from '../base/json.ts'
import type { LoginId } from '../types/ids.ts'
import type { Box, WalletInfo } from '../types/keys.ts'
import type {
  LoginMessage,
  LoginPayload,
  LoginStash,
  PendingVoucher,
  RecoveryQuestionChoice
} from '../types/login.ts'
import {
  finite,
  isoDate,
  type Leaf,
  leaf,
  listOf,
  type OptionalLeaf,
  objectOf,
  optional,
  optionalBox,
  optionalBoxes,
  optionalBoxOrTrue,
  optionalBytes64,
  optionalFinite,
  optionalIsoDate,
  optionalListOf,
  optionalShortText,
  optionalSnrp,
  optionalText,
  parse,
  shortText,
  text
} from './shape.ts'

/** More logins than this never wait for one owner. */
const MAX_VOUCHERS = 1000

const LOGIN_ID =
  /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/]{4})$/

const BYTES32 = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/

// The guards stand first: the schemas below are made while the module loads.
const isBytes32 = (value: unknown): value is string => typeof value === 'string' && BYTES32.test(value)

const isLoginId = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= 88 && LOGIN_ID.test(value)

const isList = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && value.length <= MAX_LOGINS

const isTextOrTrue = (value: unknown): value is string | true =>
  value === true || (typeof value === 'string' && value.length <= 1000)

const isDeviceOnly = (value: unknown): value is 'yes' | 'moving' => value === 'yes' || value === 'moving'

const isDigestList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length <= 10_000 && value.every(isShortText)

/** The login server's envelope (protocol §2.2). `results` is unchecked. */
export interface Envelope {
  readonly status_code: number
  readonly message: string
  readonly results: unknown
}

/** Details of a refused one-time code, as the server spells them (protocol §2.2). */
export interface OtpResults {
  readonly login_id: string | undefined
  readonly otp_reset_auth: string | undefined
  readonly otp_timeout_date: string | undefined
  readonly reason: string | undefined
  readonly voucher_activates: string | undefined
  readonly voucher_auth: string | undefined
  readonly voucher_id: string | undefined
}

/** The CAPTCHA that the server asks for. */
export interface ChallengeResults {
  readonly challengeId: string
  readonly challengeUri: string
}

/** The time for which the server refuses further tries. */
export interface PasswordResults {
  readonly wait_seconds: number | undefined
}

/** Checks if text is base64 of exactly 32 bytes, as the ids of root logins are. */
export const isRootId = (value: unknown): value is string => isBytes32(value)

/** Base64 of exactly 32 bytes. */
export const bytes32 = (): Leaf<string> => leaf('32 bytes of base64', isBytes32)

/**
 * The id of a login: base64 of 1 to 64 bytes. Root logins have 32 (specification §3); the logins of apps below them
 * may have 31, as old clients made some.
 */
const loginIdLeaf = (): Leaf<string> => leaf('base64 of 1 to 64 bytes', isLoginId)

/** Base64 of exactly 32 bytes, or absent. */
const optionalBytes32 = (): OptionalLeaf<string> => optional('32 bytes of base64', isBytes32)

/** A list of anything, or absent; its items are checked one by one elsewhere. */
const optionalList = (): OptionalLeaf<readonly unknown[]> => optional('list', isList)

/** The envelope's schema. */
export const asEnvelope: Schema<Envelope> = objectOf<Envelope>({
  status_code: finite(),
  message: text(),
  results: optional('anything', (value): value is unknown => value !== undefined)
})

/** The schema of {@link OtpResults}. */
export const asOtpResults: Schema<OtpResults> = objectOf<OtpResults>({
  login_id: optionalBytes32(),
  otp_reset_auth: optionalShortText(),
  otp_timeout_date: optionalIsoDate(),
  reason: optionalShortText(),
  voucher_activates: optionalIsoDate(),
  voucher_auth: optionalBytes64(),
  voucher_id: optionalShortText()
})

/** The schema of {@link ChallengeResults}. */
export const asChallengeResults: Schema<ChallengeResults> = objectOf<ChallengeResults>({
  challengeId: shortText(),
  challengeUri: shortText()
})

/** The schema of {@link PasswordResults}. */
export const asPasswordResults: Schema<PasswordResults> = objectOf<PasswordResults>({
  wait_seconds: optionalFinite()
})

/** The schema of a login that waits for approval (protocol §2.5). */
const asPendingVoucher: Schema<PendingVoucher> = objectOf<PendingVoucher>({
  voucherId: shortText(),
  activates: isoDate(),
  created: isoDate(),
  ip: shortText(),
  ipDescription: shortText(),
  deviceDescription: optionalShortText()
} as never)

/**
 * Checks a login as the server sends it, with all its children (protocol §2.6).
 *
 * @throws BAD_REPLY, also for a root login without ids of 32 bytes, and for children deeper than 8 levels or more than
 * 1000 in all
 */
export const parseLoginPayload = (value: unknown): LoginPayload => {
  const source = 'login reply'
  const payload = parseLogins(asPayloadNode, value, source)
  for (const path of ['loginId', 'userId'] as const) {
    if (payload.appId === '' && payload[path] !== undefined && !isBytes32(payload[path]))
      throw new WalletError('BAD_REPLY', { source, path, rule: 'is not 32 bytes of base64' })
  }
  return payload
}

/** One login of a reply, its children not yet checked. */
type PayloadNode = Omit<LoginPayload, keyof LoginNode> & LoginNode

const asPayloadNode: Schema<PayloadNode> = objectOf<PayloadNode>({
  appId: shortText(),
  created: isoDate(),
  loginId: loginIdLeaf(),
  syncToken: optionalShortText(),
  children: optionalList(),
  parentBox: optionalBox(),
  passwordAuthBox: optionalBox(),
  passwordAuthSnrp: optionalSnrp(),
  passwordBox: optionalBoxOrTrue(),
  passwordKeySnrp: optionalSnrp(),
  pin2Box: optionalBoxOrTrue(),
  pin2KeyBox: optionalBox(),
  pin2TextBox: optionalBox(),
  question2Box: optionalBox(),
  recovery2Box: optionalBoxOrTrue(),
  recovery2KeyBox: optionalBox(),
  loginAuthBox: optionalBox(),
  userId: optionalBytes64(),
  userTextBox: optionalBox(),
  otpKey: optional('base32', isTextOrTrue),
  otpResetDate: optionalIsoDate(),
  otpTimeout: optionalFinite(),
  pendingVouchers: optionalListOf(asPendingVoucher).max(MAX_VOUCHERS) as never,
  keyBoxes: optionalBoxes(),
  mnemonicBox: optionalBox(),
  rootKeyBox: optionalBox(),
  syncKeyBox: optionalBox()
} as never)

/** The most logins that one tree may have. */
const MAX_LOGINS = 1000

const MAX_DEPTH = 8

/** One login of a tree, its children not yet checked. */
interface LoginNode {
  readonly children?: readonly unknown[]
  readonly pendingVouchers?: readonly PendingVoucher[]
}

/** A checked login with all its children. */
type WholeLogin<Node extends LoginNode> = Omit<Node, keyof LoginNode> & {
  readonly pendingVouchers: readonly PendingVoucher[]
  readonly children?: readonly WholeLogin<Node>[]
  /** It is a child of which only the names and the box with its key make sense. */
  readonly isOdd?: true
}

/**
 * Checks a login and its children, each against the schema of one login.
 *
 * A child that does not fit never stops its root: it is reduced to what names it, and left out if even that makes no
 * sense.
 *
 * @throws BAD_REPLY for the login itself, and for children deeper than 8 levels or more than 1000 in all
 */
const parseLogins = <Node extends LoginNode>(
  schema: Schema<Node>,
  value: unknown,
  source: string
): WholeLogin<Node> => {
  checkSize(value, source)
  const parseNode = (node: unknown): WholeLogin<Node> => {
    const { children, pendingVouchers = [], ...fields } = parse(schema, node, source)
    const parsed = children?.flatMap(parseChild)
    return { ...fields, pendingVouchers, ...compact({ children: parsed }) }
  }
  const parseChild = (node: unknown): WholeLogin<Node>[] => {
    try {
      return [parseNode(node)]
    } catch {
      return oddChild(node)
    }
  }
  const oddChild = (node: unknown): WholeLogin<Node>[] => {
    const { appId, created, loginId, parentBox } = isRecord(node) ? node : {}
    for (const named of [
      { appId, created, loginId, parentBox },
      { appId, created, loginId }
    ]) {
      try {
        return [{ ...parseNode(named), isOdd: true }]
      } catch {}
    }
    return []
  }
  return parseNode(value)
}

/** Counts before anything is parsed, so that no child is parsed for nothing. */
const checkSize = (value: unknown, source: string): void => {
  let level: unknown[] = [value]
  let count = 0
  for (let depth = 1; level.length > 0; depth += 1) {
    count += level.length
    if (depth > MAX_DEPTH || count > MAX_LOGINS) {
      const rule = `has logins deeper than ${MAX_DEPTH} or more than ${MAX_LOGINS}`
      throw new WalletError('BAD_REPLY', { source, path: 'children', rule })
    }
    const below: unknown[] = []
    for (const node of level) {
      const children = isRecord(node) ? node.children : undefined
      if (!Array.isArray(children)) continue
      // One login that names a million is not copied.
      for (const child of children.slice(0, MAX_LOGINS + 1)) below.push(child)
      if (below.length > MAX_LOGINS) break
    }
    level = below
  }
}

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
  deviceOnly: optional('yes or moving', isDeviceOnly),
  sentValues: optional('a list of digests', isDigestList),
  children: optionalList(),
  keyBoxes: optionalBoxes(),
  mnemonicBox: optionalBox(),
  rootKeyBox: optionalBox(),
  syncKeyBox: optionalBox()
} as never)

const isWalletInfo = (value: unknown): value is WalletInfo =>
  isRecord(value) && isShortText(value.id) && isShortText(value.type) && isRecord(value.keys)

const MAX_MESSAGES = 10_000

// The guards stand first: the schemas below are made while the module loads.
const isMessageList = (value: unknown): value is readonly unknown[] =>
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
  readonly loginId: LoginId
  readonly otpResetPending: boolean | undefined
  readonly pendingVouchers: PendingVoucher[] | undefined
  readonly recovery2Corrupt: boolean | undefined
}

const asList: Schema<readonly unknown[]> = leaf('list', isMessageList)

const asMessage: Schema<WireMessage> = objectOf<WireMessage>({
  loginId: loginIdLeaf(),
  otpResetPending: optional('true or false', isBoolean),
  pendingVouchers: optionalListOf<PendingVoucher>(asPendingVoucher),
  recovery2Corrupt: optional('true or false', isBoolean)
})

const asReset: Schema<{ otpResetDate: string }> = objectOf<{ otpResetDate: string }>({
  otpResetDate: isoDate()
})

const CATEGORIES = ['address', 'must', 'numeric', 'recovery2', 'string'] as const

const isCategory = (value: unknown): value is RecoveryQuestionChoice['category'] =>
  CATEGORIES.some(category => category === value)

/** Gives the box with the questions of an account, if it has any (protocol §2.4). @throws BAD_REPLY */
export const parseQuestionBox = (results: unknown): Box | undefined =>
  parse(asQuestionReply, results, 'recovery reply').question2Box

/** Checks what a box of questions holds. @throws BAD_REPLY */
export const parseQuestions = (value: unknown): readonly string[] =>
  parse(asQuestions, value, 'recovery questions')

/**
 * Checks the questions that the server suggests (protocol §2.4). One of a category that this version does not know is
 * left out.
 *
 * @throws BAD_REPLY
 */
export const parseQuestionChoices = (results: unknown): readonly RecoveryQuestionChoice[] =>
  parse(asChoices, results, 'recovery question choices').flatMap(({ category, min_length, question }) =>
    isCategory(category) ? { category, minLength: min_length, question } : []
  )

/** A suggestion as the server spells it. */
interface WireChoice {
  readonly category: string
  readonly min_length: number
  readonly question: string
}

const asQuestionReply: Schema<{ question2Box: Box | undefined }> = objectOf<{
  question2Box: Box | undefined
}>({ question2Box: optionalBox() })

const asQuestions: Schema<string[]> = listOf<string>(text())

const asChoices: Schema<WireChoice[]> = listOf<WireChoice>(
  objectOf<WireChoice>({ category: text(), min_length: finite(), question: text() })
)
