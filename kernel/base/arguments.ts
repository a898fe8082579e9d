import { WalletError } from './errors.ts'

// What an application passes is typed, but JavaScript checks no type: a PIN that is a number, a name that was never
// set. Each is refused by name before anything is made of it, and never repeated.

/** Checks texts that an application gave, by their names. @throws OPTION_INVALID unless each is text */
export const requireTexts = (texts: Readonly<Record<string, unknown>>): void => {
  for (const [option, value] of Object.entries(texts)) {
    if (typeof value !== 'string') throw new WalletError('OPTION_INVALID', { option, rule: 'must be text' })
  }
}

/** Checks texts that may be left out, by their names. @throws OPTION_INVALID unless each is text or undefined */
export const allowTexts = (texts: Readonly<Record<string, unknown>>): void => {
  for (const [option, value] of Object.entries(texts)) {
    if (value !== undefined) requireTexts({ [option]: value })
  }
}

/** Checks flags that may be left out, by their names. @throws OPTION_INVALID unless each is true, false or undefined */
export const allowFlags = (flags: Readonly<Record<string, unknown>>): void => {
  for (const [option, value] of Object.entries(flags)) {
    if (value !== undefined) requireFlags({ [option]: value })
  }
}

/** Checks flags that an application gave, by their names. @throws OPTION_INVALID unless each is true or false */
export const requireFlags = (flags: Readonly<Record<string, unknown>>): void => {
  for (const [option, value] of Object.entries(flags)) {
    if (typeof value !== 'boolean')
      throw new WalletError('OPTION_INVALID', { option, rule: 'must be true or false' })
  }
}

/** Checks the id of a token that an application gave. @throws OPTION_INVALID unless it is text, or null for the coin itself */
export const requireTokenId = (tokenId: unknown): void => {
  if (tokenId !== null) requireTexts({ tokenId })
}

/** Checks an object that an application gave. @throws OPTION_INVALID unless it is one, and no list */
export const requireObject = (option: string, value: unknown): void => {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return
  throw new WalletError('OPTION_INVALID', { option, rule: 'must be an object' })
}

/** Checks a list of objects that an application gave. @throws OPTION_INVALID unless it is one */
export const requireObjects = (option: string, values: unknown): void => {
  if (!Array.isArray(values)) throw new WalletError('OPTION_INVALID', { option, rule: 'must be a list' })
  for (const value of values as unknown[]) requireObject(`item of ${option}`, value)
}

/** Checks a list of texts that an application gave. @throws OPTION_INVALID unless it is one */
export const requireTextList = (option: string, values: unknown): void => {
  if (Array.isArray(values) && values.every(value => typeof value === 'string')) return
  throw new WalletError('OPTION_INVALID', { option, rule: 'must be a list of texts' })
}
