import type { CredentialAction } from './credential-actions.ts'
import type { MadeChange } from './credential-device.ts'

/** A way in that is made from a username: it logs in only while the account has that name. */
export interface NamedSecret {
  readonly text: string
  readonly name: string
  /** What set it; absent for what a run begins with. */
  readonly action?: CredentialAction
}

/** The credentials of an account as the changes that the server made, in their order, must have left them. */
export interface CredentialState {
  readonly username: string
  readonly password: NamedSecret | undefined
  /** The PIN that logs in. */
  readonly pin: NamedSecret | undefined
  /** The PIN that is known, whether it logs in or not. */
  readonly pinText: string | undefined
  /** The name that the child's PIN is made from, if it logs in. */
  readonly childPin: NamedSecret | undefined
  readonly recovery: NamedSecret | undefined
  readonly otpKey: string | undefined
}

/** The credentials that changes leave, made in this order (pure). `rootId`: base64. */
export const stateAfter = (
  beginning: CredentialState,
  changes: readonly MadeChange[],
  rootId: string
): CredentialState => {
  let state = beginning
  for (const [index, change] of changes.entries()) {
    const missed = changes.slice(change.received, index).filter(other => isMissed(change, other))
    state =
      change.body.loginId === rootId
        ? afterChange(state, change, missed)
        : { ...state, childPin: childPinAfter(state, change, missed) }
  }
  return state
}

/** What is made from a name that the account has no longer is lost at birth. */
const nameIn = ({ username }: CredentialState, change: MadeChange): string =>
  change.username === username ? username : LOST

/** A device that changes something has heard of what others changed, but in the last minute. */
const isMissed = (change: MadeChange, other: MadeChange): boolean =>
  other.device !== change.device && other.madeAt >= change.requestedAt - 60_000

const afterChange = (
  state: CredentialState,
  change: MadeChange,
  missed: readonly MadeChange[]
): CredentialState => {
  const { action, route, body, pin } = change
  const name = nameIn(state, change)
  switch (route) {
    case 'POST /v2/login/password':
      return { ...state, password: secretOf('change password', change, name) }
    case 'DELETE /v2/login/password':
      return { ...state, password: undefined }
    case 'POST /v2/login/pin2': {
      const text = (action.kind === 'change pin' ? action.pin : undefined) ?? pin ?? ''
      return {
        ...state,
        pinText: text,
        pin: body.data.pin2Id === undefined ? undefined : { text, name, action }
      }
    }
    case 'DELETE /v2/login/pin2':
      return { ...state, pinText: undefined, pin: undefined }
    case 'POST /v2/login/recovery2':
      return { ...state, recovery: secretOf('change recovery', change, name) }
    case 'DELETE /v2/login/recovery2':
      return { ...state, recovery: undefined }
    case 'POST /v2/login/otp':
      return { ...state, otpKey: body.data.otpKey }
    case 'DELETE /v2/login/otp':
      return { ...state, otpKey: undefined }
    case 'POST /v2/login/username':
      return renamed(state, change, missed)
    default:
      throw new Error(`Nobody asked for ${route}`)
  }
}

/** Whether a way in is made from the name that the account has. */
export const isUsable = (state: CredentialState, secret: NamedSecret | undefined): secret is NamedSecret =>
  secret !== undefined && secret.name === state.username

/** Whether nobody knows if a way in still leads anywhere: its change was never acknowledged. */
export const isLost = (state: CredentialState, secret: NamedSecret | undefined): boolean =>
  secret !== undefined && secret.name !== state.username

const secretOf = (kind: string, { action, route }: MadeChange, name: string): NamedSecret => {
  if (action.kind === 'change password' && kind === action.kind)
    return { text: action.password, name, action }
  if (action.kind === 'change recovery' && kind === action.kind) return { text: action.answer, name, action }
  throw new Error(`${action.kind} asked for ${route}`)
}

const renamed = (
  state: CredentialState,
  { action, body, password }: MadeChange,
  missed: readonly MadeChange[]
): CredentialState => {
  if (action.kind !== 'change username') throw new Error(`${action.kind} changed the username`)
  const { username: name } = action
  const { pin, recovery } = state
  return {
    ...state,
    username: name,
    password: body.data.passwordAuth === undefined ? undefined : { text: password ?? '', name, action },
    pin: pin && { ...pin, name: isMade(missed, body.loginId, 'POST /v2/login/pin2') ? LOST : name },
    recovery: recovery && {
      ...recovery,
      name: isMade(missed, body.loginId, 'POST /v2/login/recovery2') ? LOST : name
    }
  }
}

/**
 * No name: something was made from an earlier one, or a new name was put together with the key of an earlier PIN or
 * recovery, while another device changed it. Nothing finds it.
 */
export const LOST = '(lost)'

const isMade = (changes: readonly MadeChange[], loginId: string, wanted: string): boolean =>
  changes.some(({ body, route }) => body.loginId === loginId && route === wanted)

const childPinAfter = (
  state: CredentialState,
  change: MadeChange,
  missed: readonly MadeChange[]
): NamedSecret | undefined => {
  const { childPin } = state
  const { action, route, body, pin } = change
  const name = nameIn(state, change)
  if (route === 'POST /v2/login/username') {
    return (
      childPin && { ...childPin, name: isMade(missed, body.loginId, 'POST /v2/login/pin2') ? LOST : name }
    )
  }
  if (!route.endsWith('/pin2')) return childPin
  if (body.data?.pin2Id === undefined) return undefined
  return { text: (action.kind === 'change pin' ? action.pin : undefined) ?? pin ?? '', name, action }
}
