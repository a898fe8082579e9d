import test, { type ExecutionContext } from 'ava'
import { makeHome } from '../helpers/command-line.ts'
import { runInProcess } from '../helpers/in-process.ts'

// One account with everything but a PIN, one that is light; no rule changes either of them.
const { home, remove } = makeHome()
const password = 'Correct Horse 1'
const pin = '4815'
let light = ''

const run = (args: readonly string[], secrets?: object) =>
  secrets === undefined
    ? runInProcess(args, { home })
    : runInProcess([...args, '--secrets-stdin'], { home, input: JSON.stringify(secrets) })

test.before(async t => {
  const made = await run(['account', 'create', '--light', '--json'], { pin })
  light = made.json.data.loginId
  t.is((await run(['account', 'create', 'alice'], { password })).code, 0)
})
test.after.always(remove)

interface Refusal {
  readonly args: readonly string[]
  readonly secrets?: object
  readonly exitCode: number
  /** Everything on standard error, as a person reads it. */
  readonly says: readonly string[]
}

const isRefused = test.macro(async (t: ExecutionContext, of: () => Refusal) => {
  const { args, secrets, exitCode, says } = of()
  const { code, stdout, stderr } = await run(args, secrets)
  t.is(stderr, says.map(line => `${line}\n`).join(''))
  t.is(stdout, '')
  t.is(code, exitCode)
})

const LIST = 'next: holdfast account list   # see the accounts on this device'

test.serial('a username with other letters than ASCII ends with 11', isRefused, () => ({
  args: ['account', 'create', 'ünïcode'],
  secrets: { password },
  exitCode: 11,
  says: [
    'error: Bad characters in username (BAD_USERNAME)',
    'hint: Use letters, digits, spaces and the punctuation of plain ASCII.'
  ]
}))

test.serial('a light account without a PIN, which nothing could open again, ends with 5', isRefused, () => ({
  args: ['account', 'create', '--light'],
  exitCode: 5,
  says: [
    'error: The PIN is needed, but there is no terminal for a prompt (PROMPT_IMPOSSIBLE)',
    'next: holdfast account create --light --pin-stdin   # give the PIN on standard input',
    'next: holdfast account create --light --secrets-stdin   # give secrets as one JSON object, such as {"pin": "…"}'
  ]
}))

test.serial('a weak password ends with 16, with everything that it lacks', isRefused, () => ({
  args: ['account', 'password', 'set', '-a', 'alice'],
  secrets: { password, 'new-password': 'SHORT' },
  exitCode: 16,
  says: [
    'error: The password has fewer than 10 characters, has no digit, has no lower-case letter (PASSWORD_TOO_WEAK)',
    'hint: Use 16 characters or more, or 10 with a digit, a lower-case and an upper-case letter.'
  ]
}))

test.serial('a password for an account without a username ends with 16', isRefused, () => ({
  args: ['account', 'password', 'set', '-a', light],
  secrets: { pin, 'new-password': password },
  exitCode: 16,
  says: ['error: Password login requires a username (USERNAME_REQUIRED)']
}))

test.serial('another username without the right password ends with 10', isRefused, () => ({
  args: ['account', 'username', 'set', 'bob', '-a', 'alice'],
  secrets: { password: 'Correct Horse 2' },
  exitCode: 10,
  says: ['error: Invalid password (PASSWORD)', 'hint: Type the password again; upper and lower case matter.']
}))

test.serial('PIN login for an account without a PIN ends with 16', isRefused, () => ({
  args: ['account', 'pin', 'enable', '-a', 'alice'],
  secrets: { password },
  exitCode: 16,
  says: ['error: Please change your PIN in the settings area above before enabling. (PIN_MISSING)']
}))

test.serial('a PIN where PIN login is off ends with 15', isRefused, () => ({
  args: ['login', 'alice'],
  secrets: { pin },
  exitCode: 15,
  says: [
    'error: PIN login is not enabled for this account on this device (PIN_NOT_ENABLED)',
    'hint: Log in with the password and enable PIN login.'
  ]
}))

for (const [what, secrets] of [
  ['PIN', { pin }],
  ['login key', { 'login-key': '11111111111111111111111111111111' }]
] as const) {
  test.serial(`a ${what} of a user who is not on this device ends with 15`, isRefused, () => ({
    args: ['login', 'stranger'],
    secrets,
    exitCode: 15,
    says: [
      'error: User does not exist on this device (USER_NOT_ON_DEVICE)',
      'hint: Log in with the password once; the device then knows the account.'
    ]
  }))
}

test.serial('a username that the server does not know ends with 11', isRefused, () => ({
  args: ['login', 'stranger'],
  secrets: { password },
  exitCode: 11,
  says: [
    'error: Account does not exist on server (ACCOUNT_NOT_FOUND)',
    'hint: Check the spelling of the username.',
    LIST
  ]
}))

test.serial('a username that is taken ends with 12', isRefused, () => ({
  args: ['account', 'create', 'Alice'],
  secrets: { password },
  exitCode: 12,
  says: [
    'Guessing this password would take more than a trillion years.',
    'error: Account already exists on server (ACCOUNT_EXISTS)',
    'hint: Choose another username, or log in to this account.'
  ]
}))

test.serial('forgetting a logged-in user ends with 17', isRefused, () => ({
  args: ['account', 'forget', 'alice', '--yes'],
  exitCode: 17,
  says: ['error: Cannot remove logged-in user (USER_LOGGED_IN)']
}))

test.serial('recovery of an account without a username ends with 16', isRefused, () => ({
  args: ['account', 'recovery', 'setup', '-a', light, '--question', 'Colour?'],
  secrets: { pin, answers: ['blue'] },
  exitCode: 16,
  says: ['error: Recovery login requires a username (RECOVERY_USERNAME_REQUIRED)']
}))

test.serial('recovery answers that are no list of texts end with 2', isRefused, () => ({
  args: ['account', 'recovery', 'setup', '-a', 'alice', '--question', 'Colour?'],
  secrets: { password, answers: [7] },
  exitCode: 2,
  says: ['error: The answers must be a JSON list of texts, such as ["…", "…"] (SECRET_SOURCE)']
}))

test.serial('cancelling a reset while two-factor is off ends with 16', isRefused, () => ({
  args: ['2fa', 'reset', 'cancel', '-a', 'alice'],
  secrets: { password },
  exitCode: 16,
  says: ['error: Cannot cancel 2FA reset: 2FA is not enabled. (OTP_RESET_WITHOUT_OTP)']
}))

test.serial('repairing two-factor without the password ends with 5', isRefused, () => ({
  args: ['2fa', 'repair', '-a', light],
  secrets: { pin, 'otp-key': 'AAAAAAAAAAAAAAAA' },
  exitCode: 5,
  says: [
    'error: The password is needed, but there is no terminal for a prompt (PROMPT_IMPOSSIBLE)',
    `next: holdfast 2fa repair -a ${light} --secrets-stdin   # give secrets as one JSON object, such as {"password": "…"}`
  ]
}))

test.serial('a fiat currency without "iso:" ends with 2', isRefused, () => ({
  args: ['wallets', 'create', 'bitcoin', '--fiat', 'USD', '-a', 'alice'],
  secrets: { password },
  exitCode: 2,
  says: ['error: Fiat currency codes must start with "iso:" (FIAT_CODE)']
}))

test.serial('a type of wallet that no plugin knows ends with 4', isRefused, () => ({
  args: ['wallets', 'create', 'nocoin', '-a', 'alice'],
  secrets: { password },
  exitCode: 4,
  says: [
    'error: Cannot find a currency plugin for wallet type wallet:nocoin (PLUGIN_FOR_TYPE)',
    'next: holdfast wallets types   # see the wallet types'
  ]
}))

test.serial('a wallet that is not there ends with 6', isRefused, () => ({
  args: ['wallets', 'show', 'Nowhere', '-a', 'alice'],
  secrets: { password },
  exitCode: 6,
  says: [
    'error: There is no wallet "Nowhere" in this account (NOT_FOUND)',
    'hint: Use the name of a wallet, its id, or the first letters of its id.',
    'next: holdfast wallets list --all   # see the wallets, archived and deleted ones too'
  ]
}))

test.serial('an import without a key and without a prompt ends with 5', isRefused, () => ({
  args: ['wallets', 'import', 'bitcoin', '-a', 'alice'],
  secrets: { password },
  exitCode: 5,
  says: [
    'error: The private key is needed, but there is no terminal for a prompt (PROMPT_IMPOSSIBLE)',
    'next: holdfast wallets import bitcoin -a alice --secrets-stdin   # give secrets as one JSON object, such as {"private-key": "…"}'
  ]
}))

test.serial('an import of an invalid key ends with 2 and advice, and does not repeat it', isRefused, () => ({
  args: ['wallets', 'import', 'bitcoin', '-a', 'alice'],
  secrets: { password, 'private-key': 'hunter2' },
  exitCode: 2,
  says: [
    'error: This cannot be imported: the text is no valid BIP-39 phrase, Electrum seed or extended private key (IMPORT_INVALID)',
    'hint: Compare each word and their order with your note. No wallet was created.'
  ]
}))

test.serial('a token of a currency that has none ends with 7', isRefused, () => ({
  args: ['tokens', 'add', 'bitcoin', '--code', 'USDX', '--decimals', '6', '-a', 'alice'],
  secrets: { password },
  exitCode: 7,
  says: ['error: This wallet does not support tokens (NOT_SUPPORTED)']
}))

test.serial('a private key on the command line ends with 2, and is not repeated', isRefused, () => ({
  args: ['wallets', 'import', 'bitcoin', '--private-key', 'hunter2'],
  exitCode: 2,
  says: [
    'error: There is no --private-key: a command line never contains a secret (SECRET_SOURCE)',
    'hint: Other programs can read a command line. Use --private-key-stdin, --private-key-file <path>, or leave it out and type it at the prompt.'
  ]
}))
