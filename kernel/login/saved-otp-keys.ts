import type { Schema } from 'yup'
import { isRecord, parseJson } from '../base/json.ts'
import { Mutex } from '../base/mutex.ts'
import { openBox, openJson, sealBox, sealJson } from '../crypto/box.ts'
import { base58Of, equalBytes } from '../crypto/encoding.ts'
import type { Services } from '../plugins/services.ts'
import { box, objectOf, optionalBox, optionalSnrp, parse } from '../schema/shape.ts'
import { type CredentialFiles, openCredentialFiles } from '../sync/credential-files.ts'
import type { LoginId } from '../types/ids.ts'
import type { Box, Snrp } from '../types/keys.ts'

/** A login of this device. Ids are base64. */
export interface LoginIds {
  readonly rootId: LoginId
  /** Of the login within the account that logs in. */
  readonly loginId: LoginId
}

/** The keys that a login method has before the server accepts it; each opens the texts that were sealed with it. */
export interface OtpKeyOpeners {
  readonly loginKey?: Uint8Array | undefined
  readonly pin2Key?: Uint8Array | undefined
  readonly recovery2Key?: Uint8Array | undefined
  /** The dear derivation of the password, with the parameters that it had. */
  readonly passwordKeyOf?: ((snrp: Snrp) => Promise<Uint8Array>) | undefined
}

/** A password that has just logged in: the parameters of its key, and the key. */
export interface VerifiedPassword {
  readonly snrp: Snrp
  readonly key: Uint8Array
}

type OtpKeyServices = Pick<Services, 'io' | 'disk' | 'report'>

/**
 * The two-factor keys that have worked on this device, sealed, apart from the stash: a login reply that lacks the key
 * or brings another one changes the stash, and must not shut the owner out when the server asks for a code again.
 *
 * `otpKeys/<root login id>.json` holds for each login a few keys, newest first, under a key of their own. That one
 * is sealed with the login key, and so that it opens before the login does, with the PIN key and the recovery key of the
 * stash and the dear derivation of the password. None of these gives a guesser more than the stash does.
 */
export class SavedOtpKeys {
  readonly #services: OtpKeyServices
  readonly #files: CredentialFiles
  readonly #mutex = new Mutex()
  /** Keys that the server refused in this process, so that a refresh does not ask with them for ever. */
  readonly #refused = new Map<string, Set<string>>()

  constructor(services: OtpKeyServices) {
    this.#services = services
    const { io, disk } = services
    this.#files = openCredentialFiles({
      io,
      disk,
      report: error => services.report('two-factor keys', error)
    })
  }

  /** The keys of a login that can be tried, newest first; none where nothing in hand opens them. Never throws. */
  async find(login: LoginIds, openers: OtpKeyOpeners): Promise<readonly string[]> {
    try {
      const sealed = (await this.#read(login.rootId)).get(login.loginId)
      const key = sealed && (await this.#open(sealed, openers))
      if (sealed === undefined || key === undefined) return []
      const refused = this.#refused.get(login.loginId)
      const known = keysIn(openJson(this.#services.io, key, sealed.otpKeys))
      return known.map(({ otpKey }) => otpKey).filter(text => refused?.has(text) !== true)
    } catch (error) {
      this.#services.report('two-factor keys', error)
      return []
    }
  }

  /** Notes that the server refused a key, which is kept all the same. */
  refuse({ loginId }: LoginIds, otpKey: string): void {
    const refused = this.#refused.get(loginId) ?? new Set()
    this.#refused.set(loginId, refused.add(otpKey))
  }

  /**
   * Keeps a key that has just let a login in. A failure is reported: the login stands.
   *
   * @param openers - the login key, and what of the rest is known
   */
  save(login: LoginIds, otpKey: string, openers: OtpKeyOpeners): Promise<void> {
    this.#refused.get(login.loginId)?.delete(otpKey)
    const at = Math.floor(this.#services.io.clock.now() / 1000)
    return this.#change(login, { openers }, known =>
      known[0]?.otpKey === otpKey
        ? known
        : shortened([{ otpKey, at }, ...known.filter(one => one.otpKey !== otpKey)])
    )
  }

  /** Lets a password that has just logged in open the keys, where there are any. A failure is reported. */
  async savePassword(login: LoginIds, loginKey: Uint8Array, { snrp, key }: VerifiedPassword): Promise<void> {
    const passwordKeyOf = async (): Promise<Uint8Array> => key
    await this.#change(login, { openers: { loginKey, passwordKeyOf }, snrp }, known => known)
  }

  /** Forgets every key of an account. `rootId`: base64. @throws STORAGE_FAILED */
  async remove(rootId: LoginId): Promise<void> {
    await this.#mutex.run(() => this.#files.delete(this.#pathOf(rootId)))
  }

  async #change(
    { rootId, loginId }: LoginIds,
    sealers: Sealers,
    edit: (known: readonly SavedOtpKey[]) => readonly SavedOtpKey[]
  ): Promise<void> {
    const { io } = this.#services
    try {
      await this.#mutex.run(async () => {
        const logins = await this.#read(rootId)
        const present = logins.get(loginId)
        const key =
          (present && (await this.#open(present, { loginKey: sealers.openers.loginKey }))) ?? io.random(32)
        const known = present === undefined ? [] : keysOf(() => openJson(io, key, present.otpKeys))
        const next = edit(known)
        if (next.length === 0) return
        const isSame = present !== undefined && next === known
        const sealed: SealedKeys = {
          ...(await this.#sealAll(key, present, sealers)),
          otpKeys: isSame
            ? present.otpKeys
            : sealJson(
                io,
                key,
                next.map(({ otpKey, at }) => ({ otpKey, at }))
              )
        }
        if (isSame && JSON.stringify(sealed) === JSON.stringify(present)) return
        const text = JSON.stringify({ logins: Object.fromEntries([...logins, [loginId, sealed]]) })
        await this.#files.setText(this.#pathOf(rootId), text)
      })
    } catch (error) {
      this.#services.report('two-factor keys', error)
    }
  }

  /** Seals with everything in hand that does not open already. */
  async #sealAll(
    key: Uint8Array,
    present: SealedKeys | undefined,
    { openers, snrp }: Sealers
  ): Promise<Omit<SealedKeys, 'otpKeys'>> {
    const { io } = this.#services
    const seal = (known: Box | undefined, sealer: Uint8Array | undefined): Box | undefined => {
      if (sealer === undefined) return known
      const opened = this.#tryBox(known, sealer)
      return known !== undefined && opened !== undefined && equalBytes(opened, key)
        ? known
        : sealBox(io, sealer, key)
    }
    const password = snrp === undefined ? undefined : await openers.passwordKeyOf?.(snrp)
    return {
      loginKeyBox: seal(present?.loginKeyBox, openers.loginKey),
      pin2KeyBox: seal(present?.pin2KeyBox, openers.pin2Key),
      recovery2KeyBox: seal(present?.recovery2KeyBox, openers.recovery2Key),
      passwordBox: seal(present?.passwordBox, password),
      passwordKeySnrp: snrp ?? present?.passwordKeySnrp
    }
  }

  async #open(sealed: SealedKeys, openers: OtpKeyOpeners): Promise<Uint8Array | undefined> {
    const { passwordBox, passwordKeySnrp } = sealed
    return (
      this.#tryBox(sealed.loginKeyBox, openers.loginKey) ??
      this.#tryBox(sealed.pin2KeyBox, openers.pin2Key) ??
      this.#tryBox(sealed.recovery2KeyBox, openers.recovery2Key) ??
      (passwordBox === undefined || passwordKeySnrp === undefined
        ? undefined
        : this.#tryBox(passwordBox, await openers.passwordKeyOf?.(passwordKeySnrp)))
    )
  }

  #tryBox(sealed: Box | undefined, key: Uint8Array | undefined): Uint8Array | undefined {
    if (sealed === undefined || key === undefined) return undefined
    try {
      return openBox(this.#services.io, key, sealed)
    } catch {
      return undefined
    }
  }

  async #read(rootId: LoginId): Promise<ReadonlyMap<string, SealedKeys>> {
    const text = rootId === '' ? undefined : await this.#files.getText(this.#pathOf(rootId))
    if (text === undefined) return new Map()
    const value = parseJson(text, SOURCE)
    if (!isRecord(value) || !isRecord(value.logins)) return new Map()
    return new Map(
      Object.entries(value.logins).map(([id, sealed]) => [id, parse(asSealedKeys, sealed, SOURCE)])
    )
  }

  #pathOf(rootId: LoginId): string {
    return `otpKeys/${base58Of(this.#services.io.crypto.fromBase64(rootId))}.json`
  }
}

interface Sealers {
  readonly openers: OtpKeyOpeners
  /** Of the password; absent where no password is in hand. */
  readonly snrp?: Snrp
}

interface SealedKeys {
  readonly otpKeys: Box
  readonly loginKeyBox?: Box | undefined
  readonly pin2KeyBox?: Box | undefined
  readonly recovery2KeyBox?: Box | undefined
  readonly passwordBox?: Box | undefined
  readonly passwordKeySnrp?: Snrp | undefined
}

const asSealedKeys: Schema<SealedKeys> = objectOf<SealedKeys>({
  otpKeys: box(),
  loginKeyBox: optionalBox(),
  pin2KeyBox: optionalBox(),
  recovery2KeyBox: optionalBox(),
  passwordBox: optionalBox(),
  passwordKeySnrp: optionalSnrp()
} as never)

const SOURCE = 'two-factor keys'

/** A key that has let a login in, and when it became the newest, in Unix seconds. */
interface SavedOtpKey {
  readonly otpKey: string
  readonly at: number
}

const MAX_KEYS = 4

/**
 * Of too many keys drops the one that was the newest for the shortest time: a server that lies may bring many, but each
 * would have to stand for longer than the owner's did.
 */
const shortened = (keys: readonly SavedOtpKey[]): readonly SavedOtpKey[] => {
  if (keys.length <= MAX_KEYS) return keys
  const spans = keys.map(({ at }, i) => spanOf(at, keys[i - 1]?.at))
  const shortest = spans.lastIndexOf(Math.min(...spans))
  return keys.filter((_, i) => i !== shortest)
}

/** Seconds for which a key was the newest; without end if it is, or if the clock was set back: the time is not known then. */
const spanOf = (at: number, end: number | undefined): number =>
  end === undefined || end < at ? Number.POSITIVE_INFINITY : end - at

const keysIn = (value: unknown): SavedOtpKey[] =>
  Array.isArray(value) ? value.filter(isSavedOtpKey).slice(0, MAX_KEYS) : []

const isSavedOtpKey = (value: unknown): value is SavedOtpKey =>
  isRecord(value) && typeof value.otpKey === 'string' && Number.isFinite(value.at)

const keysOf = (open: () => unknown): SavedOtpKey[] => {
  try {
    return keysIn(open())
  } catch {
    return []
  }
}
