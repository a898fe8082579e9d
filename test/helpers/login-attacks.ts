import type { Box } from '../../kernel/types/keys.ts'
import type { Untyped } from './login-device.ts'

/** What a lying server makes of an honest login reply. */
export interface Attack {
  readonly name: string
  /** The kind of hostile server that does this; the name where each is a kind of its own. */
  readonly kind?: string
  /** The results of the reply; text replaces the whole body. */
  readonly change: (results: Untyped) => unknown
}

/** What the liar has besides the reply. */
export interface Loot {
  /** The login of another user. */
  readonly stranger: Untyped
  /** A well-formed box that no key of the account opens. */
  readonly box: Box
}

const BOXES = [
  'loginAuthBox',
  'passwordAuthBox',
  'passwordBox',
  'pin2Box',
  'pin2KeyBox',
  'pin2TextBox',
  'recovery2Box',
  'recovery2KeyBox',
  'question2Box',
  'userTextBox'
]

/** Every field of a login reply that this device keeps or reads (specification §3 "Login (server form)"). */
const REPLY_FIELDS: readonly string[] = [
  ...BOXES,
  ...['appId', 'created', 'loginId', 'syncToken', 'children', 'parentBox', 'otpKey', 'otpResetDate'],
  ...['otpTimeout', 'passwordAuthSnrp', 'passwordKeySnrp', 'userId', 'pendingVouchers', 'keyBoxes'],
  ...['mnemonicBox', 'rootKeyBox', 'syncKeyBox']
]

const ID = `${'A'.repeat(43)}=`

/** Replies that are no login at all. */
const nonsense = (): Attack[] => {
  const raw = (name: string, text: string): Attack => ({ name, change: () => text })
  const results = (text: string): string => `{"status_code":0,"message":"","results":${text}}`
  return [
    raw('text', 'I am a teapot'),
    raw('an empty body', ''),
    raw('a list', '[]'),
    raw('no code', '{"message":"hello"}'),
    raw('no results', '{"status_code":0,"message":""}'),
    raw('text for a code', '{"status_code":"0","message":"","results":{}}'),
    raw('an error within an error', results('{"status_code":8,"message":"","results":{}}')),
    raw('100,000 levels of lists', results('['.repeat(100_000) + ']'.repeat(100_000))),
    raw('100,000 levels of children', results(`${'{"children":['.repeat(100_000)}{}${']}'.repeat(100_000)}`)),
    raw('a half reply', results('{"appId":"').slice(0, -3)),
    ...['__proto__', 'constructor', 'prototype'].flatMap(key => [
      raw(`${key} in the results`, results(`{"${key}":{"isRoot":true,"appId":""}}`)),
      raw(`${key} beside the results`, `{"${key}":{"isRoot":true},"status_code":0,"message":"","results":{}}`)
    ])
  ]
}

/** Values of the wrong type, in each field of the root and of a child. */
const wrongTypes = (): Attack[] =>
  REPLY_FIELDS.flatMap(field =>
    [7, 'ÿ\u0000', {}, ['x'], false].flatMap(value => [
      {
        kind: `values of other types for ${field}`,
        name: `${JSON.stringify(value)} for ${field}`,
        change: r => ({ ...r, [field]: value })
      },
      {
        kind: `values of other types for ${field}`,
        name: `${JSON.stringify(value)} for ${field} of a child`,
        change: r => withChild(r, { [field]: value })
      }
    ])
  )

/** Each box in the place of each other one, copied or moved, and boxes that nothing opens. */
const wrongBoxes = ({ box }: Loot): Attack[] => [
  ...[...BOXES, 'parentBox', 'rootKeyBox', 'syncKeyBox'].flatMap(field => [
    ...BOXES.filter(source => source !== field).flatMap(source => [
      {
        kind: `other boxes in the place of ${field}`,
        name: `${source} as ${field}`,
        change: (r: Untyped) => ({ ...r, [field]: r[source] })
      },
      {
        kind: `other boxes in the place of ${field}`,
        name: `${source} moved to ${field}`,
        change: (r: Untyped) => ({ ...r, [source]: undefined, [field]: r[source] })
      },
      {
        kind: `other boxes in the place of ${field}`,
        name: `${source} of the root as ${field} of a child`,
        change: (r: Untyped) => withChild(r, { [field]: r[source] })
      },
      {
        kind: `other boxes in the place of ${field}`,
        name: `${source} of a child as ${field} of the root`,
        change: (r: Untyped) => ({ ...r, [field]: r.children[0][source] ?? box })
      }
    ]),
    {
      kind: `other boxes in the place of ${field}`,
      name: `a wallet as ${field}`,
      change: (r: Untyped) => ({ ...r, [field]: r.keyBoxes[0] })
    }
  ]),
  ...[...BOXES, 'parentBox'].map(field => ({
    name: `a wrong ${field} of a child`,
    change: (r: Untyped) => withChild(r, { [field]: box })
  })),
  ...[
    'loginAuthBox',
    'passwordAuthBox',
    'passwordBox',
    'pin2KeyBox',
    'pin2TextBox',
    'recovery2KeyBox',
    'userTextBox'
  ].map(field => ({ name: `a wrong ${field}`, change: (r: Untyped) => ({ ...r, [field]: box }) })),
  {
    name: 'boxes of an unknown encryption',
    change: r => ({ ...r, keyBoxes: r.keyBoxes.map((known: Box) => ({ ...known, encryptionType: 9 })) })
  },
  { name: 'no wallets', change: r => ({ ...withChild(r, { keyBoxes: [] }), keyBoxes: [] }) },
  { name: 'wallets twice', change: r => ({ ...r, keyBoxes: [...r.keyBoxes, ...r.keyBoxes] }) },
  {
    name: 'wallets in another spelling',
    change: r => ({
      ...r,
      keyBoxes: [
        ...r.keyBoxes,
        ...r.keyBoxes.map((known: Box) => ({ ...known, iv_hex: known.iv_hex.toUpperCase() }))
      ]
    })
  },
  {
    name: 'dearer parameters for the same box',
    change: r => ({ ...r, passwordKeySnrp: { ...r.passwordKeySnrp, n: 2 ** 20 } })
  },
  {
    name: 'true for a box, with other parameters',
    change: r => ({ ...r, passwordBox: true, passwordKeySnrp: undefined })
  },
  {
    name: 'another box of the password alone',
    change: r => ({ ...r, passwordAuthBox: undefined, passwordBox: box })
  }
]

/** Logins that are not those of the account, or not where they were. */
const wrongLogins = ({ stranger, box }: Loot): Attack[] => [
  { name: 'another user', change: () => stranger },
  { name: 'another user under this id', change: r => ({ ...stranger, loginId: r.loginId }) },
  { name: 'this user under the id of another', change: r => ({ ...r, loginId: stranger.loginId }) },
  { name: 'an id that nobody has', change: r => ({ ...r, loginId: ID }) },
  { name: 'another user id', change: r => ({ ...r, userId: stranger.userId }) },
  { name: 'another app', change: r => ({ ...r, appId: 'other' }) },
  { name: 'a child for the root', change: r => r.children[0] },
  { name: 'the root as a child', change: r => ({ ...r, parentBox: r.children[0].parentBox }) },
  { name: 'no children', change: r => ({ ...r, children: undefined }) },
  { name: 'a lost child', change: r => ({ ...r, children: r.children.slice(1) }) },
  { name: 'a child twice', change: r => ({ ...r, children: [...r.children, r.children[0]] }) },
  {
    name: 'a child under two ids',
    change: r => ({ ...r, children: [...r.children, { ...r.children[0], loginId: ID, appId: 'twin' }] })
  },
  {
    name: 'a child below another',
    change: r => ({ ...r, children: [{ ...r.children[0], children: [r.children[1]] }] })
  },
  {
    name: 'a child in two places',
    change: r => ({ ...r, children: [{ ...r.children[0], children: [r.children[1]] }, r.children[1]] })
  },
  {
    name: 'the account within itself',
    change: r => ({ ...r, children: [...r.children, { ...r, parentBox: box }] })
  },
  { name: 'a child with the id of the root', change: r => withChild(r, { loginId: r.loginId }) },
  { name: 'a child with no id', change: r => withChild(r, { loginId: '' }) },
  { name: 'a child with the app of the root', change: r => withChild(r, { appId: '' }) },
  { name: 'a child without a parent box', change: r => withChild(r, { parentBox: undefined }) },
  { name: 'a child with another app', change: r => withChild(r, { appId: 'stolen' }) },
  {
    name: 'children that changed ids',
    change: ({ children: [a, b], ...r }) => ({
      ...r,
      children: [
        { ...a, loginId: b.loginId },
        { ...b, loginId: a.loginId }
      ]
    })
  },
  {
    name: 'children that changed boxes',
    change: ({ children: [a, b], ...r }) => ({
      ...r,
      children: [
        { ...a, parentBox: b.parentBox },
        { ...b, parentBox: a.parentBox }
      ]
    })
  },
  ...['passwordAuthBox', 'loginAuthBox', 'pin2KeyBox', 'recovery2KeyBox', 'pin2Box'].map(field => ({
    name: `a foreign child whose key is in ${field}`,
    change: (r: Untyped) => foreignChild(r, r[field])
  })),
  {
    name: 'a child of another user',
    change: r => ({ ...r, children: [...r.children, stranger.children[0]] })
  },
  ...[1001, 10_000].map(count => ({
    name: `${count} children`,
    change: (r: Untyped) => ({ ...r, children: Array.from({ length: count }, () => r.children[0]) })
  })),
  {
    name: 'nine levels of children',
    change: r => Array.from({ length: 9 }).reduce((child: Untyped) => ({ ...r, children: [child] }), r)
  }
]

/** Values of the right type that are too long, or break who reads them. */
const wrongSizes = (): Attack[] => [
  { name: 'a sync token of megabytes', change: r => ({ ...r, syncToken: 'x'.repeat(3_000_000) }) },
  {
    name: 'a date of half a megabyte',
    change: r => ({ ...r, created: `2020-01-01 (${'x'.repeat(500_000)})` })
  },
  { name: 'a date that is none', change: r => ({ ...r, created: 'yesterday' }) },
  { name: 'a date after the last one', change: r => ({ ...r, created: '+275760-09-14T00:00:00.000Z' }) },
  { name: 'an endless 2FA key', change: r => ({ ...r, otpKey: 'A'.repeat(100_000) }) },
  { name: 'a 2FA key that is none', change: r => ({ ...r, otpKey: '!' }) },
  { name: 'a number that is none', change: r => ({ ...r, otpTimeout: '1e999' }) },
  {
    name: '10,001 wallets',
    change: r => ({ ...r, keyBoxes: Array.from({ length: 10_001 }, () => r.keyBoxes[0]) })
  },
  {
    name: 'a name for the device',
    change: r => ({ ...r, username: 'mallory', lastLogin: '2999-01-01T00:00:00.000Z' })
  },
  {
    name: 'keys for the device',
    change: r => ({ ...r, pin2Key: ID, recovery2Key: ID, voucherAuth: ID, voucherId: 'x' })
  }
]

/** Servers that answer every question, and take away what they alone decide. */
const wrongWords = (): Attack[] => {
  const refusal = (name: string, code: number, results: unknown = {}): Attack => ({
    name,
    change: () => JSON.stringify({ status_code: code, message: 'no', results })
  })
  return [
    refusal('a login that is gone', 3),
    refusal('a password that is wrong', 4, { wait_seconds: 1e9 }),
    refusal('a key of the application that is none', 6),
    refusal('a code that is asked for again and again', 8, {
      reason: 'otp',
      login_id: ID,
      voucher_id: 'v',
      voucher_auth: 'AAAA'
    }),
    refusal('an application that is too old', 1000),
    refusal('a CAPTCHA for everything', 1, { challengeId: 'x', challengeUri: 'https://example.com' }),
    refusal('a conflict', 10),
    refusal('a code of an error that nobody knows', 77),
    { name: 'a reset of two-factor', change: r => ({ ...r, otpResetDate: '2999-01-01T00:00:00.000Z' }) },
    { name: 'no password', change: r => ({ ...r, passwordBox: undefined, passwordAuthBox: undefined }) },
    {
      name: 'no PIN',
      change: r => ({ ...r, pin2KeyBox: undefined, pin2TextBox: undefined, pin2Box: undefined })
    },
    { name: 'no recovery', change: r => ({ ...r, recovery2KeyBox: undefined, recovery2Box: undefined }) },
    {
      name: 'devices that nobody sees waiting',
      change: r => ({ ...r, pendingVouchers: Array.from({ length: 500 }, voucherAt) })
    },
    { name: 'another name of the account', change: r => ({ ...r, userTextBox: r.pin2TextBox }) }
  ]
}

const voucherAt = (_: unknown, at: number): object => ({
  voucherId: `voucher-${at}`,
  activates: '2020-01-01T00:00:00.000Z',
  created: '2020-01-01T00:00:00.000Z',
  ip: '::1',
  ipDescription: 'here'
})

/** Whole replies, logins and sizes: what a lying server may try at every door. */
export const makeAttacks = (loot: Loot): readonly Attack[] => [
  ...nonsense(),
  ...wrongLogins(loot),
  ...wrongSizes(),
  ...wrongWords()
]

/** Every field with values of other types, and every box in the place of every other. */
export const makeFieldAttacks = (loot: Loot): readonly Attack[] => [...wrongTypes(), ...wrongBoxes(loot)]

const withChild = (results: Untyped, fields: object): Untyped => {
  const [first, ...others] = results.children
  return { ...results, children: [{ ...first, ...fields }, ...others] }
}

/** A login that the server made up, older than all others. */
const foreignChild = (results: Untyped, parentBox: Box): Untyped => {
  const child = {
    appId: 'mallory',
    created: '2001-01-01T00:00:00.000Z',
    loginId: ID,
    loginAuthBox: results.pin2Box,
    parentBox,
    keyBoxes: []
  }
  return { ...results, children: [child, ...results.children] }
}
