import test from 'ava'
import { catalogue, type ErrorCode, isWalletError, WalletError } from '../../../kernel/base/errors.ts'

/** The messages that specification §8 quotes, by the class that carries them. */
const QUOTED: readonly [ErrorCode, object, string, string][] = [
  ['ACCOUNT_EXISTS', {}, 'UsernameError', 'Account already exists on server'],
  ['ACCOUNT_NOT_FOUND', {}, 'UsernameError', 'Account does not exist on server'],
  ['API_KEY_INVALID', {}, 'Error', 'Invalid API key'],
  ['API_KEY_MISSING', {}, 'Error', 'No API key provided'],
  ['OBSOLETE_API', {}, 'ObsoleteApiError', 'The application is too old. Please upgrade.'],
  ['CHALLENGE', { challengeId: 'a', challengeUri: 'b' }, 'ChallengeError', 'Login requires a CAPTCHA'],
  ['SERVER', { message: 'oops' }, 'Error', 'Server error: oops'],
  ['NETWORK', { path: '/v2/login' }, 'NetworkError', 'Could not reach the auth server: /v2/login'],
  ['INVALID_JSON', { status: 502 }, 'Error', 'Invalid reply JSON, HTTP status 502'],
  ['DUST_SPEND', {}, 'DustSpendError', 'Please send a larger amount'],
  ['INSUFFICIENT_FUNDS', { currencyCode: 'BTC' }, 'InsufficientFundsError', 'Insufficient BTC'],
  ['NO_AMOUNT_SPECIFIED', {}, 'NoAmountSpecifiedError', 'Unable to create zero-amount transaction.'],
  ['PENDING_FUNDS', {}, 'PendingFundsError', 'Not enough confirmed funds'],
  ['SAME_CURRENCY', {}, 'SameCurrencyError', 'Wallets can not be the same currency'],
  ['SPEND_TO_SELF', {}, 'SpendToSelfError', 'Spending to self'],
  ['SWAP_ABOVE_LIMIT', {}, 'SwapAboveLimitError', 'Amount is too high'],
  ['SWAP_BELOW_LIMIT', {}, 'SwapBelowLimitError', 'Amount is too low'],
  [
    'SWAP_CURRENCY',
    { displayName: 'Shop', from: 'BTC', to: 'ETH' },
    'SwapCurrencyError',
    'Shop does not support BTC to ETH'
  ],
  ['SWAP_PERMISSION', {}, 'SwapPermissionError', 'You are not allowed to make this trade'],
  ['PASSWORD', {}, 'PasswordError', 'Invalid password'],
  ['USERNAME_INVALID', {}, 'UsernameError', 'Invalid username'],
  ['OTP', { reason: 'otp' }, 'OtpError', 'Invalid OTP token'],
  [
    'PLUGINS_MISSING',
    { pluginIds: ['a', 'b'] },
    'Error',
    'The following plugins are missing or failed to load: a, b'
  ],
  ['LOGIN_DATA_MISSING', { method: 'offline password' }, 'Error', 'Missing data for offline password login'],
  ['LOGIN_DATA_MISSING', { method: 'online password' }, 'Error', 'Missing data for online password login'],
  ['LOGIN_DATA_MISSING', { method: 'PIN v2' }, 'Error', 'Missing data for PIN v2 login'],
  ['LOGIN_DATA_MISSING', { method: 'recovery v2' }, 'Error', 'Missing data for recovery v2 login'],
  ['RECOVERY_USERNAME_REQUIRED', {}, 'Error', 'Recovery login requires a username'],
  ['NO_AUTH_METHODS', {}, 'Error', 'No server authentication methods on login'],
  ['INCOMPLETE_LOGIN', {}, 'Error', 'Incomplete login'],
  ['STASH_NOT_FOUND', {}, 'Error', 'Cannot find stash'],
  ['INVALID_CHECKSUM', {}, 'Error', 'Invalid checksum'],
  ['INVALID_PADDING', {}, 'Error', 'Invalid PKCS7 padding'],
  ['UNKNOWN_ENCRYPTION', {}, 'Error', 'Unknown encryption type'],
  ['LOBBY_INTEGRITY', {}, 'Error', 'Lobby ECDH integrity error'],
  ['APP_ID_NOT_FOUND', { appId: 'x' }, 'Error', 'Cannot find requested appId: "x"'],
  ['LOST_CHILDREN', {}, 'Error', 'The server has lost children!'],
  ['KEY_INTEGRITY', { rule: 'x' }, 'Error', 'Key integrity violation: x'],
  [
    'PLUGIN_FOR_TYPE',
    { walletType: 'wallet:x' },
    'Error',
    'Cannot find a currency plugin for wallet type wallet:x'
  ],
  ['NO_SWAP_PROVIDERS', {}, 'Error', 'No swap providers enabled'],
  ['WALLET_NOT_LOADED', {}, 'Error', 'Wallet has not yet loaded'],
  ['ENGINE_NO_KEY', {}, 'Error', 'The engine failed to return a key'],
  ['WALLET_ALREADY_SPLIT', {}, 'Error', 'This wallet has already been split'],
  ['WALLET_MISSING', {}, 'Error', 'Missing Wallet'],
  ['RECOVERY_KEY_MISSING', {}, 'Error', 'Missing recoveryKey'],
  ['RECOVERY_QUESTIONS_MISSING', {}, 'Error', 'Login has no recovery questions'],
  ['PIN_NOT_LOCAL', {}, 'Error', 'No PIN set locally for this account'],
  ['BOGUS_TX', { pluginId: 'x', path: '' }, 'Error', 'Plugin sent bogus tx'],
  ['PIN_NOT_ENABLED', {}, 'Error', 'PIN login is not enabled for this account on this device'],
  ['USER_NOT_ON_DEVICE', {}, 'Error', 'User does not exist on this device'],
  ['USER_LOGGED_IN', {}, 'Error', 'Cannot remove logged-in user'],
  ['BAD_USERNAME', {}, 'UsernameError', 'Bad characters in username'],
  ['USERNAME_REQUIRED', {}, 'Error', 'Password login requires a username'],
  ['CHILD_USERNAME', {}, 'Error', 'Only top-level logins can have usernames']
]

test('every quoted message of the specification is that of one catalogue entry, word for word', t => {
  for (const [code, details, name, message] of QUOTED) {
    const error = new WalletError(code, details as never)
    t.is(error.name, name, code)
    t.is(error.message, message, code)
  }
})

test('every entry has an exit code of the documented families', t => {
  for (const [code, { exitCode }] of Object.entries(catalogue)) {
    t.true(Number.isInteger(exitCode) && exitCode >= 2 && exitCode <= 62, code)
  }
})

test('the guard looks at the code, so an error of another copy of the class is recognised', t => {
  const foreign = Object.assign(new Error('x'), { code: 'NETWORK', details: { path: '/' } })
  t.true(isWalletError(foreign, 'NETWORK'))
  t.false(isWalletError(foreign, 'PASSWORD'))
  t.false(isWalletError(Object.assign(new Error('x'), { code: 'ENOENT' })))
  t.false(isWalletError({ code: 'NETWORK' }))
  t.false(isWalletError(Object.assign(new Error('x'), { code: 'toString' })))
})

test('an error serialises without its cause, and gives hint, next and retryable', t => {
  const error = new WalletError('ACCOUNT_NOT_FOUND', {}, new Error('canary'))
  t.false(JSON.stringify(error).includes('canary'))
  t.is((error.cause as Error).message, 'canary')
  t.is(error.next?.command, 'holdfast account list')
  t.truthy(error.hint)
  t.false(error.retryable)
  t.true(new WalletError('NETWORK', { path: '/' }).retryable)
})

test('an error is made of any details, and keeps the words of those that are no JSON', t => {
  const error = new WalletError('TX_NOT_FOUND', { txid: 7n as unknown as string })
  t.is(error.code, 'TX_NOT_FOUND')
  t.deepEqual(error.details, { txid: '7' })
})
