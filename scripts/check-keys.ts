import type { FileTexts } from './project-files.ts'

/** A file, or all files of a folder, that may read a secret; `most`: in how many places. */
interface SecretUse {
  readonly purpose: string
  readonly most?: number
}

/**
 * Where the kernel reads a `Secret`, and what for. The rooms of logins and repos open and seal boxes with their own keys;
 * everywhere else each place counts.
 */
const SECRET_USES: ReadonlyMap<string, SecretUse> = new Map([
  ['kernel/login/', { purpose: 'logs in, opens and seals the boxes of a login, proves who asks' }],
  ['kernel/repo/store/', { purpose: 'seals and opens what lies on the disk, names its keys' }],
  ['kernel/sync/', { purpose: 'opens and seals files, asks for them' }],
  [
    'kernel/keys/wallet-info.ts',
    {
      purpose:
        'opens wallet keys for a pass, joins them, reads those of a repo, and looks if there are only public ones',
      most: 5
    }
  ],
  ['kernel/account/repos.ts', { purpose: 'data and sync keys of repos', most: 5 }],
  ['kernel/account/backup.ts', { purpose: 'makes the key of a backup of the login key', most: 1 }],
  [
    'kernel/account/restore-backup.ts',
    { purpose: 'compares the login key, and names repos by their keys', most: 2 }
  ],
  ['kernel/account/credentials.ts', { purpose: 'PIN, recovery key and login key of its owner', most: 3 }],
  [
    'kernel/account/second-device.ts',
    { purpose: 'seals a payment for the other devices of the account', most: 1 }
  ],
  [
    'kernel/account/two-factor.ts',
    { purpose: 'one-time codes and their key, and the proof that mends it', most: 3 }
  ],
  ['kernel/wallet/dump-wallet.ts', { purpose: 'takes keys out of what an engine says', most: 1 }]
])

/** Which files may call what opens wallet keys. */
const CALLERS: readonly (readonly [call: RegExp, files: readonly string[], what: string])[] = [
  [
    /\bopen(?:Keys|WalletInfo)\(/g,
    [
      'kernel/keys/wallet-info.ts',
      'kernel/account/split-wallet.ts',
      'kernel/account/wallet-keys.ts',
      'kernel/wallet/engine/supervisor.ts',
      'kernel/wallet/engine/make-engine.ts'
    ],
    'opens wallet keys'
  ],
  [
    /\bexemptPass\(/g,
    [
      'kernel/account/split-wallet.ts',
      'kernel/account/wallet-keys.ts',
      'kernel/wallet/engine/make-engine.ts'
    ],
    'opens wallet keys without asking a policy'
  ],
  [/\bas KeyPass\b/g, ['kernel/keys/key-gate.ts'], 'makes a pass of its own'],
  [/\bhooks\.beforeSign\.promise\(/g, ['kernel/keys/key-gate.ts'], 'asks policies past the gate'],
  [/\brootLoginKeyBase58\(/g, ['kernel/account/account.ts', 'kernel/login/login.ts'], 'shows the login key'],
  [
    /\bsealLobbyReply\(/g,
    ['kernel/account/second-device.ts', 'kernel/login/lobby.ts'],
    'hands keys to another device'
  ]
]

/** Those of them that have to ask, with the use that they name. */
const ASKERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['kernel/account/account.ts', ["use: 'login key'"]],
  ['kernel/account/backup.ts', ["use: 'backup'"]],
  ['kernel/account/wallet-keys.ts', ["use: 'show'"]],
  ['kernel/login/lobby.ts', ["use: 'approve login'"]],
  ['kernel/wallet/engine/supervisor.ts', ["use: 'sync'"]],
  ['kernel/wallet/wallet.ts', ["use: 'message'"]],
  ['kernel/wallet/spend/spender.ts', ["'spend'", "'broadcast'"]],
  ['kernel/wallet/spend/draft.ts', ["'draft'"]],
  ['kernel/wallet/spend/sweep.ts', ["'sweep'"]]
])

const KERNEL = /^kernel\//
const COMMENT = /\/\*[\s\S]*?\*\/|(?<!:)\/\/[^\n]*/g
const SECRET_USE = /\??\.use\(/g
const DEFINED = /export const \w+ = /

/**
 * Finds uses of keys in the kernel that are not in the tables above (pure): each either passes the gate that asks
 * policies, or is a named exception.
 *
 * @returns one sentence for each use that is too many, and for each row that nothing needs
 */
export const checkKeys = (files: FileTexts): readonly string[] => {
  const problems: string[] = []
  const counts = new Map<string, number>()
  for (const [path, text] of files) {
    if (!KERNEL.test(path)) continue
    const code = text.replaceAll(COMMENT, '')
    const found = [...code.matchAll(SECRET_USE)].length
    const row = [...SECRET_USES.keys()].find(
      place => path === place || (place.endsWith('/') && path.startsWith(place))
    )
    if (row !== undefined) counts.set(row, (counts.get(row) ?? 0) + found)
    else if (found > 0) problems.push(`${path}: reads a secret; name its purpose in scripts/check-keys.ts`)
    for (const [call, allowed, what] of CALLERS) {
      const calls = code.split('\n').filter(line => line.match(call) !== null && !DEFINED.test(line))
      if (calls.length > 0 && !allowed.includes(path))
        problems.push(`${path}: ${what}; use the gate in kernel/keys/key-gate.ts`)
    }
    for (const use of ASKERS.get(path) ?? [])
      if (!code.includes(use)) problems.push(`${path}: does not ask policies (${use})`)
  }
  for (const [place, { most, purpose }] of SECRET_USES) {
    const found = counts.get(place) ?? 0
    if (found === 0) problems.push(`${place}: needs no row in scripts/check-keys.ts`)
    if (most !== undefined && found > most)
      problems.push(`${place}: reads a secret in ${found} places instead of ${most} (${purpose})`)
  }
  for (const path of ASKERS.keys())
    if (!files.has(path)) problems.push(`${path}: does not exist; see scripts/check-keys.ts`)
  return problems
}
