import type { ErrorEntry, NoDetails } from './entry.ts'

/** Details of the failures of logins, credentials and the auth server (specification §5, §7, §8). */
export interface LoginErrorDetails {
  /** Reply code 2: the login, app or username is taken. */
  ACCOUNT_EXISTS: NoDetails
  /** Reply code 3. */
  ACCOUNT_NOT_FOUND: NoDetails
  /** The username has characters outside codes 32 to 126. */
  BAD_USERNAME: NoDetails
  USERNAME_INVALID: NoDetails
  /** Reply codes 4 and 5. `waitSeconds`: how long the server refuses further tries. */
  PASSWORD: { waitSeconds?: number }
  PASSWORD_TOO_WEAK: { problems: readonly string[] }
  PIN_INVALID: NoDetails
  USERNAME_REQUIRED: NoDetails
  USERNAME_WITHOUT_PASSWORD: NoDetails
  API_KEY_MISSING: NoDetails
  API_KEY_INVALID: NoDetails
  /** Reply code 8. Base64 ids; ISO dates. */
  /** `resetToken` and `voucherAuth` are secrets: they are read by name, and are no part of what is printed. */
  OTP: {
    reason: 'ip' | 'otp'
    loginId?: string
    resetToken?: string
    resetDate?: string
    voucherActivates?: string
    voucherAuth?: string
    voucherId?: string
  }
  OBSOLETE_API: NoDetails
  CHALLENGE: { challengeId: string; challengeUri: string }
  SERVER: { message: string }
  /** Reply code 10: a username, an id or an app is taken, or a secret is set already. */
  CONFLICT: { message: string }
  /** The server did not answer within 30 s, or at all. `path`: the route without the host. */
  /** `server` and `reason`: of a server of a chain, which is asked by an engine; without them, the auth server. */
  NETWORK: { path: string; server?: string; reason?: string }
  CONNECTION_LOST: { server: string; reason: string }
  /** `refused`: which kind of chain the server shows; `reason`: in words. */
  CHAIN_REFUSED: { server: string; reason: string; refused: 'clock' | 'forged' | 'stale' | 'weaker' }
  /** `limit`: how many addresses the server watches for one device. `failing`: the others that failed within the last minute. */
  SERVER_FULL: { server: string; limit: number; failing?: string }
  /** The body was no JSON. */
  INVALID_JSON: { status: number }
  /** The JSON has another shape than the protocol says. `path` names the field, `rule` what it broke. */
  BAD_REPLY: { source: string; path: string; rule: string }
  LOGIN_DOMAIN: { host: string }
  PIN_NOT_ENABLED: NoDetails
  PIN_MISSING: NoDetails
  PIN_NOT_LOCAL: NoDetails
  USER_NOT_ON_DEVICE: NoDetails
  USER_LOGGED_IN: NoDetails
  RECOVERY_USERNAME_REQUIRED: NoDetails
  LOGIN_DATA_MISSING: { method: 'offline password' | 'online password' | 'PIN v2' | 'recovery v2' }
  NO_AUTH_METHODS: NoDetails
  INCOMPLETE_LOGIN: NoDetails
  STASH_NOT_FOUND: NoDetails
  OTP_RESET_WITHOUT_OTP: NoDetails
  OTP_REPAIR_WITHOUT_PASSWORD: NoDetails
  RECOVERY_KEY_MISSING: NoDetails
  RECOVERY_QUESTIONS_MISSING: NoDetails
  HIDDEN_KEYS: NoDetails
  APP_ID_NOT_FOUND: { appId: string }
  LOBBY_NOT_FOUND: { lobbyId: string }
  /** A login request was not approved before its time was over. */
  EDGE_LOGIN_EXPIRED: NoDetails
  /** A login request was closed, by the caller that made it or at the end of the context. */
  EDGE_LOGIN_CLOSED: NoDetails
  CHILD_USERNAME: NoDetails
  /** A fake user is a whole account. */
  DUMP_OF_CHILD: NoDetails
  /** The account is on this device only; `what` needs a login server. */
  DEVICE_ONLY: { what: string }
  /** `reason`: it is the account itself, another one of its name, or itself and moved to a server since. */
  ACCOUNT_ON_DEVICE: { reason: 'account' | 'name' | 'moved' }
  /** A backup is sealed with the password of its account. */
  BACKUP_WITHOUT_PASSWORD: NoDetails
  /** The text is no whole, unchanged backup. */
  BACKUP_INVALID: { rule: string }
}

/** Messages, exit codes and advice for {@link LoginErrorDetails}. */
export const loginErrors: { readonly [C in keyof LoginErrorDetails]: ErrorEntry<LoginErrorDetails[C]> } = {
  ACCOUNT_EXISTS: {
    name: 'UsernameError',
    exitCode: 12,
    message: () => 'Account already exists on server',
    hint: () => 'Choose another username, or log in to this account.'
  },
  ACCOUNT_NOT_FOUND: {
    name: 'UsernameError',
    exitCode: 11,
    message: () => 'Account does not exist on server',
    hint: () => 'Check the spelling of the username.',
    next: () => ({ command: 'holdfast account list', why: 'see the accounts on this device' })
  },
  BAD_USERNAME: {
    name: 'UsernameError',
    exitCode: 11,
    message: () => 'Bad characters in username',
    hint: () => 'Use letters, digits, spaces and the punctuation of plain ASCII.'
  },
  USERNAME_INVALID: { name: 'UsernameError', exitCode: 11, message: () => 'Invalid username' },
  PASSWORD: {
    name: 'PasswordError',
    exitCode: 10,
    message: () => 'Invalid password',
    hint: ({ waitSeconds }) =>
      waitSeconds === undefined || waitSeconds <= 0
        ? 'Type the password again; upper and lower case matter.'
        : `Wait ${waitSeconds} seconds before the next try.`
  },
  PASSWORD_TOO_WEAK: {
    name: 'PasswordError',
    exitCode: 16,
    message: ({ problems }) => `The password ${problems.join(', ')}`,
    hint: () => 'Use 16 characters or more, or 10 with a digit, a lower-case and an upper-case letter.'
  },
  PIN_INVALID: {
    name: 'PasswordError',
    exitCode: 16,
    message: () => 'A PIN must be text of at least four digits'
  },
  USERNAME_REQUIRED: {
    name: 'Error',
    exitCode: 16,
    message: () => 'Password login requires a username'
  },
  USERNAME_WITHOUT_PASSWORD: {
    name: 'Error',
    exitCode: 16,
    message: () => 'A username needs a password',
    hint: () => 'Give a password with the username, or leave both out for a light account.'
  },
  API_KEY_MISSING: { name: 'Error', exitCode: 4, message: () => 'No API key provided' },
  API_KEY_INVALID: { name: 'Error', exitCode: 22, message: () => 'Invalid API key' },
  OTP: {
    name: 'OtpError',
    exitCode: 13,
    secretDetails: ['resetToken', 'voucherAuth'],
    message: () => 'Invalid OTP token',
    hint: ({ reason, voucherActivates }) =>
      `${reason === 'ip' ? 'This network is new to the account' : 'The account has two-factor on'}: give the ` +
      `six-digit code, or approve this device on another one${
        voucherActivates === undefined ? '.' : `; it is approved automatically at ${voucherActivates}.`
      }`
  },
  OBSOLETE_API: {
    name: 'ObsoleteApiError',
    exitCode: 23,
    message: () => 'The application is too old. Please upgrade.'
  },
  CHALLENGE: {
    name: 'ChallengeError',
    exitCode: 14,
    message: () => 'Login requires a CAPTCHA',
    hint: ({ challengeUri }) => `Open ${challengeUri} and try again with its challenge id.`
  },
  SERVER: {
    name: 'Error',
    exitCode: 21,
    message: ({ message }) => `Server error: ${message}`,
    retryable: true
  },
  CONFLICT: { name: 'Error', exitCode: 21, message: ({ message }) => `Server error: ${message}` },
  NETWORK: {
    name: 'NetworkError',
    exitCode: 20,
    message: ({ path, server, reason = 'no answer' }) =>
      server === undefined
        ? `Could not reach the auth server: ${path}`
        : `Could not reach ${server}: ${reason}`,
    hint: () => 'Check the connection and try again. Nothing was lost.',
    retryable: true
  },
  CONNECTION_LOST: {
    name: 'NetworkError',
    exitCode: 20,
    message: ({ server, reason }) => `The connection to ${server} was lost: ${reason}`,
    hint: () => 'The wallet reconnects automatically. Nothing was lost.',
    retryable: true
  },
  CHAIN_REFUSED: {
    name: 'NetworkError',
    exitCode: 20,
    message: ({ server, reason, refused }) =>
      refused === 'clock'
        ? `The clock of this device does not fit the blocks of ${server}: ${reason}`
        : `${server} shows a ${refused} chain: ${reason}`,
    hint: () =>
      'The wallet asks another server if it knows one. Nothing was lost. If the clock of this device is named, set it.',
    retryable: true
  },
  SERVER_FULL: {
    name: 'NetworkError',
    exitCode: 20,
    message: ({ server, limit, failing }) =>
      `${server} watches no more than ${limit} addresses for this device, and ` +
      (failing === undefined
        ? 'no other server has room for this wallet'
        : `${failing} failed within the last minute, so that no other server is left for this wallet`),
    hint: ({ failing }) =>
      failing === undefined
        ? 'Name one more server of this currency, or pause wallets that you do not need now.'
        : 'Those that failed are tried again in a minute. Name one more server of this currency if they fail again.',
    retryable: true
  },
  INVALID_JSON: {
    name: 'Error',
    exitCode: 21,
    message: ({ status }) => `Invalid reply JSON, HTTP status ${status}`,
    retryable: true
  },
  BAD_REPLY: {
    name: 'Error',
    exitCode: 21,
    message: ({ source, path, rule }) => `Invalid ${source}: ${path === '' ? '' : `${path} `}${rule}`
  },
  LOGIN_DOMAIN: {
    name: 'Error',
    exitCode: 17,
    message: ({ host }) => `Only *.edge.app or localhost are valid login domain names, not ${host}`
  },
  PIN_NOT_ENABLED: {
    name: 'Error',
    exitCode: 15,
    message: () => 'PIN login is not enabled for this account on this device',
    hint: () => 'Log in with the password and enable PIN login.'
  },
  PIN_MISSING: {
    name: 'Error',
    exitCode: 16,
    message: () => 'Please change your PIN in the settings area above before enabling.'
  },
  PIN_NOT_LOCAL: { name: 'Error', exitCode: 15, message: () => 'No PIN set locally for this account' },
  USER_NOT_ON_DEVICE: {
    name: 'Error',
    exitCode: 15,
    message: () => 'User does not exist on this device',
    hint: () => 'Log in with the password once; the device then knows the account.'
  },
  USER_LOGGED_IN: { name: 'Error', exitCode: 17, message: () => 'Cannot remove logged-in user' },
  RECOVERY_USERNAME_REQUIRED: {
    name: 'Error',
    exitCode: 16,
    message: () => 'Recovery login requires a username'
  },
  LOGIN_DATA_MISSING: {
    name: 'Error',
    exitCode: 15,
    message: ({ method }) => `Missing data for ${method} login`
  },
  NO_AUTH_METHODS: {
    name: 'Error',
    exitCode: 15,
    message: () => 'No server authentication methods on login'
  },
  INCOMPLETE_LOGIN: { name: 'Error', exitCode: 15, message: () => 'Incomplete login' },
  STASH_NOT_FOUND: { name: 'Error', exitCode: 6, message: () => 'Cannot find stash' },
  OTP_RESET_WITHOUT_OTP: {
    name: 'Error',
    exitCode: 16,
    message: () => 'Cannot cancel 2FA reset: 2FA is not enabled.'
  },
  OTP_REPAIR_WITHOUT_PASSWORD: {
    name: 'Error',
    exitCode: 15,
    message: () => 'Cannot repair 2FA: this needs a login with a password',
    hint: () => 'Log in with the password of the account, then repair its two-factor key.'
  },
  RECOVERY_KEY_MISSING: { name: 'Error', exitCode: 15, message: () => 'Missing recoveryKey' },
  RECOVERY_QUESTIONS_MISSING: {
    name: 'Error',
    exitCode: 15,
    message: () => 'Login has no recovery questions'
  },
  HIDDEN_KEYS: {
    name: 'Error',
    exitCode: 17,
    message: () => 'Not available when `hideKeys` is enabled'
  },
  APP_ID_NOT_FOUND: {
    name: 'Error',
    exitCode: 17,
    message: ({ appId }) => `Cannot find requested appId: "${appId}"`
  },
  LOBBY_NOT_FOUND: {
    name: 'Error',
    exitCode: 6,
    message: ({ lobbyId }) => `Cannot find lobby ${lobbyId}`,
    hint: () => 'The login request may have expired; ask for a new one.'
  },
  EDGE_LOGIN_EXPIRED: {
    name: 'Error',
    exitCode: 8,
    message: () => 'The login request was not approved in time',
    hint: () => 'Make a new request, and approve it on a logged-in device.'
  },
  EDGE_LOGIN_CLOSED: { name: 'Error', exitCode: 5, message: () => 'The login request was closed' },
  CHILD_USERNAME: {
    name: 'Error',
    exitCode: 16,
    message: () => 'Only top-level logins can have usernames'
  },
  DUMP_OF_CHILD: {
    name: 'Error',
    exitCode: 7,
    message: () => 'Only root logins are dumpable.'
  },
  DEVICE_ONLY: {
    name: 'Error',
    exitCode: 16,
    message: ({ what }) => `This account is on this device only, and ${what} needs a login server`,
    hint: () => 'Move the account to a login server first; everything in it goes along.',
    next: () => ({ command: 'holdfast account move-to-server', why: 'move the account to the login server' })
  },
  ACCOUNT_ON_DEVICE: {
    name: 'UsernameError',
    exitCode: 12,
    message: ({ reason }) =>
      reason === 'name'
        ? 'Another account of this device has this username'
        : reason === 'moved'
          ? 'This account is on this device, and has moved to a login server since the backup was made'
          : 'This account is on this device already',
    hint: ({ reason }) =>
      reason === 'name'
        ? 'Give one of the two another username.'
        : reason === 'moved'
          ? 'Log in to it: the server has what the backup has, and what came later.'
          : 'Log in to it. To go back to the backup, back up what is here now, forget the account, and restore again.'
  },
  BACKUP_WITHOUT_PASSWORD: {
    name: 'Error',
    exitCode: 16,
    message: () => 'A backup is sealed with the password of the account, and this account has none here',
    hint: () => 'Set a password first; an account without a username needs one, too.'
  },
  BACKUP_INVALID: {
    name: 'Error',
    exitCode: 50,
    message: ({ rule }) => `The backup cannot be restored: it ${rule}`,
    hint: () => 'Nothing was changed. Take another copy of the file.'
  }
}
