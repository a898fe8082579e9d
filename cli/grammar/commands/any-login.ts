/** The secrets of a command that logs in: a password or a PIN, and the code of a second factor. */
export const ANY_LOGIN = ['password', 'pin', 'otp'] as const
