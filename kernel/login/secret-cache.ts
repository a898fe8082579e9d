import { Secret } from '../base/secret.ts'
import { openBox } from '../crypto/box.ts'
import type { Io } from '../io/io.ts'
import { fixWalletType } from '../keys/quirks.ts'
import type { Box, SecretWalletInfo, WalletKeys } from '../types/keys.ts'

/**
 * The secrets of one logged-in account, by the box or the text that each came from.
 *
 * A box is opened once: when the tree is built again, secrets that are in use stay valid, and nothing is decrypted
 * twice. All die together at logout.
 */
export class SecretCache {
  readonly #io: Pick<Io, 'crypto'>
  readonly #known = new Map<string, unknown>()
  /** The last result for each box object, as a tree that is built again has mostly the same ones. */
  #lastOf = new WeakMap<
    Box,
    { readonly kind: string; readonly key: Secret<Uint8Array>; readonly made: unknown }
  >()
  readonly #keyNames = new Map<Secret<Uint8Array>, number>()
  readonly #fixed = new Map<Secret<WalletKeys>, Secret<WalletKeys>>()
  readonly #secrets = new Set<Secret<unknown>>()

  constructor(io: Pick<Io, 'crypto'>) {
    this.#io = io
  }

  /** The bytes in a box. @throws INVALID_CHECKSUM and the other failures of boxes */
  openBytes(key: Secret<Uint8Array>, box: Box): Secret<Uint8Array> {
    return this.get('bytes', { box, key }, () =>
      this.add(new Secret(key.use(bytes => openBox(this.#io, bytes, box))))
    )
  }

  /** A secret that the stash holds as text; the same one for the same text. */
  fromText<T>(kind: 'key' | 'code key', text: string, read: (text: string) => T): Secret<T> {
    return this.#get(`${kind} ${text}`, () => this.add(new Secret(read(text))))
  }

  /**
   * Returns the result of `make` for a box and the key that opens it; it is called only the first time, and again after a
   * failure.
   *
   * `kind`: one word for each type of result. The cache key includes the kind and the key, so that a box which a server
   * put in two places, or gave to another login, never hits another entry.
   */
  get<T>(
    kind: 'bytes' | 'text' | 'wallet' | 'bitid' | 'legacy repo',
    { box, key }: { readonly box: Box; readonly key: Secret<Uint8Array> },
    make: () => T
  ): T {
    const last = this.#lastOf.get(box)
    if (last?.kind === kind && last.key === key) return last.made as T
    const made = this.#get(`${kind} ${this.#nameOf(key)} ${box.iv_hex} ${box.data_base64}`, make)
    this.#lastOf.set(box, { kind, key, made })
    return made
  }

  /** A wallet info under the type that plugins know (protocol §5.2); the same secret for the same keys. */
  withKnownType(info: SecretWalletInfo): SecretWalletInfo {
    return info.keys.use(keys => {
      const { type, keys: wanted } = fixWalletType({ type: info.type, keys })
      if (wanted === keys) return info
      const secret = this.#fixed.get(info.keys) ?? this.add(new Secret(wanted))
      this.#fixed.set(info.keys, secret)
      return { ...info, type, keys: secret }
    })
  }

  /** Takes a secret in, so that it dies with the others. */
  add<T>(secret: Secret<T>): Secret<T> {
    this.#secrets.add(secret as Secret<unknown>)
    return secret
  }

  /** Destroys every secret. */
  destroy(): void {
    for (const secret of this.#secrets) secret.destroy()
    this.#secrets.clear()
    this.#known.clear()
    this.#lastOf = new WeakMap()
    this.#fixed.clear()
    this.#keyNames.clear()
  }

  #nameOf(key: Secret<Uint8Array>): number {
    const name = this.#keyNames.get(key) ?? this.#keyNames.size
    this.#keyNames.set(key, name)
    return name
  }

  #get<T>(name: string, make: () => T): T {
    const known = this.#known.get(name)
    if (known !== undefined) return known as T
    const made = make()
    this.#known.set(name, made)
    return made
  }
}
