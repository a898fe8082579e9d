import { WalletError } from '../../base/errors.ts'
import type { LoginStash } from '../../types/login.ts'
import { findStashById, isWhole } from '../stash/stash-tree.ts'

/**
 * Puts a login that another device handed over into what this device knows of the account (protocol §4.7; pure).
 *
 * What this device can open stays; the rest of what was sent is of no use here, and nothing of it is believed but
 * the names on the way down to the login.
 *
 * @param known - this device's stash of the account, if it has one
 * @param sent - the whole tree as it was sent
 * @param loginId - base64; of the login within `sent` that was handed over
 * @throws KEY_INTEGRITY if the way down leads through a login that an account whose key opens here does not have
 */
export const graftLogin = (known: LoginStash | undefined, sent: LoginStash, loginId: string): LoginStash => {
  if (sent.loginId === loginId) return mergeLogin(known, sent)
  const base = known === undefined ? nameOf(sent) : renamed(known, sent)
  const next = sent.children?.find(child => findStashById(child, loginId) !== undefined)
  if (next === undefined) return base
  const { children = [] } = base
  const place = children.find(child => child.loginId === next.loginId)
  const grafted = graftLogin(place, next, loginId)
  const isThere = place !== undefined
  if (!isThere && isWhole(base) && next.loginId !== loginId) {
    throw new WalletError('KEY_INTEGRITY', { rule: 'a login is below one that this account does not have' })
  }
  return {
    ...base,
    children: isThere ? children.map(child => (child === place ? grafted : child)) : [...children, grafted]
  }
}

/**
 * What other devices may see of a login that is not handed over: who it is, and where (protocol §4.7; pure).
 *
 * @param shown - the base64 id of the login that is handed over, whole, with everything below it
 */
export const sharedStashOf = (stash: LoginStash, shown: string): LoginStash => {
  if (stash.loginId === shown) return withoutDevice(stash)
  const children = (stash.children ?? []).map(child => sharedStashOf(child, shown))
  return { ...nameOf(stash), children }
}

const nameOf = ({ appId, loginId, username }: LoginStash): LoginStash => ({
  appId,
  loginId,
  ...(username === undefined ? {} : { username }),
  pendingVouchers: [],
  children: []
})

/** Who holds no key of a login learns of its new name by being told. */
const renamed = (known: LoginStash, { username }: LoginStash): LoginStash =>
  isWhole(known) || username === undefined ? known : { ...known, username }

/** A login that can be opened is kept as it is: the server has its newest state, and the other device may not. */
const mergeLogin = (known: LoginStash | undefined, sent: LoginStash): LoginStash => {
  if (known !== undefined && isWhole(known)) return known
  const knownChildren = known?.children ?? []
  const children = (sent.children ?? []).map(child => {
    const place = knownChildren.find(({ loginId }) => loginId === child.loginId)
    return mergeLogin(place, child)
  })
  const rest = knownChildren.filter(({ loginId }) => !children.some(child => child.loginId === loginId))
  const { voucherId, voucherAuth } = known ?? {}
  return {
    ...withoutDevice(sent),
    ...(voucherId === undefined ? {} : { voucherId }),
    ...(voucherAuth === undefined ? {} : { voucherAuth }),
    children: [...children, ...rest]
  }
}

/** Vouchers, tokens and changes that are under way are one device's own. */
const withoutDevice = ({ children, ...stash }: LoginStash): LoginStash => {
  const { voucherId: _, voucherAuth: __, syncToken: ___, nextUsername: ____, ...shared } = stash
  return children === undefined ? shared : { ...shared, children: children.map(withoutDevice) }
}
