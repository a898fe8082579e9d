import { openBox } from '../../crypto/box.ts'
import { WalletError } from '../../errors/wallet-error.ts'
import type { Io } from '../../io/io.ts'
import { type Box, isBox } from '../../types/keys.ts'
import type { LoginPayload, LoginStash } from '../../types/login.ts'

type CryptoIo = Pick<Io, 'crypto'>

/**
 * Refuses logins in which one secret has two uses, now or in an earlier version (specification §5).
 *
 * Hazard: a box does not say what it is for. A server could pass off the box of a secret that it knows, such as the
 * loginAuth, as that of a key, or have a key sent to it as a loginAuth.
 *
 * What cannot be opened has no use; whoever opens the login finds it out.
 *
 * @param loginKey - 32 bytes; opens every version
 * @param versions - of one login, with its children
 * @throws KEY_INTEGRITY, also for a secret that has not 32 bytes
 */
export const checkSecretUses = (
  io: CryptoIo,
  loginKey: Uint8Array,
  versions: readonly LoginStash[]
): void => {
  const uses = new Map<string, string>()
  const note = (use: string, secret: Uint8Array): void => {
    if (secret.length !== 32) throw violation('a secret of a login is not 32 bytes')
    const digest = io.crypto.toHex(io.crypto.sha256(secret))
    const known = uses.get(digest)
    if (known !== undefined && known !== use) throw violation('one secret of a login has two uses')
    uses.set(digest, use)
  }
  for (const stash of versions) noteSecrets({ io, note }, stash, loginKey)
}

/**
 * Refuses a reply that has one box in two places, or elsewhere than this device has it beyond doubt (pure).
 *
 * @throws KEY_INTEGRITY
 */
export const checkBoxUses = (stash: LoginStash, payload: LoginPayload): void => {
  const uses = new Map<string, string>()
  const { loginAuthBox, passwordAuthBox, parentBox, keyBoxes } = stash
  for (const login of [{ loginAuthBox, passwordAuthBox, parentBox, keyBoxes }, payload]) {
    for (const [field, value] of Object.entries(login)) {
      for (const box of Array.isArray(value) ? value : [value]) {
        if (!isBox(box)) continue
        const name = nameOfBox(box)
        const known = uses.get(name)
        if (known !== undefined && known !== field) throw violation('one box of a login is in two places')
        uses.set(name, field)
      }
    }
  }
}

/** What tells a box from all others, however its base16 is spelt (pure). */
export const nameOfBox = (box: Box): string => `${box.iv_hex.toLowerCase()} ${box.data_base64}`

interface Notes {
  readonly io: CryptoIo
  readonly note: (use: string, secret: Uint8Array) => void
}

const noteSecrets = (notes: Notes, stash: LoginStash, loginKey: Uint8Array): void => {
  const { io, note } = notes
  const { loginId, loginAuthBox, passwordAuthBox, pin2Key, recovery2Key, children = [] } = stash
  note(`key of ${loginId}`, loginKey)
  withBox(io, { loginKey, box: loginAuthBox }, secret => note(`loginAuth of ${loginId}`, secret))
  // The deployed client gives children the password of the root.
  withBox(io, { loginKey, box: passwordAuthBox }, secret => note('passwordAuth', secret))
  if (pin2Key !== undefined) note('pin2Key', io.crypto.fromBase64(pin2Key))
  if (recovery2Key !== undefined) note('recovery2Key', io.crypto.fromBase64(recovery2Key))
  for (const child of children) {
    withBox(io, { loginKey, box: child.parentBox }, childKey => noteSecrets(notes, child, childKey))
  }
}

const withBox = (
  io: CryptoIo,
  { loginKey, box }: { loginKey: Uint8Array; box: Box | undefined },
  reader: (secret: Uint8Array) => void
): void => {
  const secret = openedOf(io, loginKey, box)
  if (secret === undefined) return
  try {
    reader(secret)
  } finally {
    secret.fill(0)
  }
}

const openedOf = (io: CryptoIo, loginKey: Uint8Array, box: Box | undefined): Uint8Array | undefined => {
  if (box === undefined) return undefined
  try {
    return openBox(io, loginKey, box)
  } catch {
    return undefined
  }
}

const violation = (rule: string): WalletError => new WalletError('KEY_INTEGRITY', { rule })
