import { WalletError } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import { Secret } from '../base/secret.ts'
import type { Io } from '../io/io.ts'
import type { WalletId } from '../types/ids.ts'
import type { SecretWalletInfo, WalletInfo, WalletKeys } from '../types/keys.ts'
import { walletIdOf } from './ids.ts'
import type { KeyPass } from './key-gate.ts'
import { fixWalletType } from './quirks.ts'

type KeysIo = Pick<Io, 'crypto' | 'random'>

/**
 * Makes the identity of a new wallet or repo: a fresh data key and sync key, the given keys, and the id that
 * follows from type and data key (protocol §1.7, §5.1). Given keys may replace the fresh ones. A legacy type counts
 * for the id; then it is fixed.
 *
 * @throws KEY_INTEGRITY if a given `dataKey` is no base64 text
 */
export const makeWalletInfo = (io: KeysIo, type: string, keys: WalletKeys = {}): WalletInfo => {
  const { toBase64 } = io.crypto
  const all: WalletKeys = { dataKey: toBase64(io.random(32)), syncKey: toBase64(io.random(20)), ...keys }
  const dataKey = keyBytesOf(io, all.dataKey)
  if (dataKey === undefined) throw violation('the data key of a wallet is no base64 text')
  return fixWalletType({ id: walletIdOf(io, type, dataKey), type, keys: all })
}

/** The type of the repo that keeps the data of one app's account (protocol §1.7). */
export const accountRepoTypeOf = (appId: string): string =>
  appId === '' ? 'account-repo:co.airbitz.wallet' : `account-repo:${appId}`

/**
 * Puts wallet infos of one id together, at the first position, with the union of their keys and apps
 * (protocol §4.3). Equal keys are compared deeply (protocol §8, 21). An info that gains nothing keeps its secret.
 *
 * @param onViolation - gets KEY_INTEGRITY for an id that is not 32 bytes, and for infos of one id that differ in type
 * or in a key; if it does not throw, the later one is left out: one bad wallet never blocks the others
 */
export const mergeWalletInfos = (
  io: Pick<Io, 'crypto'>,
  infos: readonly SecretWalletInfo[],
  onViolation: (error: unknown) => void
): SecretWalletInfo[] => {
  const merged = new Map<WalletId, SecretWalletInfo>()
  for (const info of infos) {
    try {
      if (!isWalletId(io, info.id)) throw violation('a wallet id is not 32 bytes')
      const known = merged.get(info.id)
      merged.set(info.id, known === undefined ? info : mergePair(known, info))
    } catch (error) {
      onViolation(error)
    }
  }
  return [...merged.values()]
}

// Ids are checked by the hundred, whenever the list is rebuilt.
const isWalletId = (io: Pick<Io, 'crypto'>, id: WalletId): boolean =>
  BASE64_OF_32.test(id) || keyBytesOf(io, id)?.length === 32

const BASE64_OF_32 = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/

/** Makes sure that no info contradicts another. @throws KEY_INTEGRITY */
export const checkWalletInfos = (io: Pick<Io, 'crypto'>, infos: readonly SecretWalletInfo[]): void => {
  mergeWalletInfos(io, infos, error => {
    throw error
  })
}

/** The infos that have these ids, in their own order; undefined unless all are there. */
export const findInfos = (
  infos: readonly SecretWalletInfo[],
  wanted: readonly { readonly id: WalletId }[]
): readonly SecretWalletInfo[] | undefined => {
  const ids = new Set(wanted.map(({ id }) => id))
  const found = infos.filter(({ id }) => ids.has(id))
  return found.length === ids.size ? found : undefined
}

/** The bytes of a key as wallet infos have them; undefined if it is no base64 text. */
const keyBytesOf = (io: Pick<Io, 'crypto'>, text: unknown): Uint8Array | undefined => {
  if (typeof text !== 'string') return undefined
  try {
    return io.crypto.fromBase64(text)
  } catch {
    return undefined
  }
}

/** Hides the keys of a wallet info. */
export const hideWalletInfo = (info: WalletInfo, appId: string): SecretWalletInfo => ({
  id: info.id,
  type: info.type,
  keys: new Secret(info.keys),
  appIds: [appId]
})

/** Checks if a wallet has public keys alone. */
export const isWatchOnly = ({ keys }: Pick<SecretWalletInfo, 'keys'>): boolean =>
  keys.use(all => all.isWatchOnly === true)

/** A wallet info with its keys in the open, as {@link openKeys} gives them. */
export const openWalletInfo = ({ id, type, keys }: SecretWalletInfo, pass: KeyPass): WalletInfo => ({
  id,
  type,
  keys: openKeys(keys, pass)
})

/** Keys in the open: a frozen copy, since plugins get it. `pass`: shows that policies were asked, or need not be. */
export const openKeys = (keys: Secret<WalletKeys>, _pass: KeyPass): WalletKeys =>
  keys.use(all => JSON.parse(JSON.stringify(all), (_, value: unknown) => Object.freeze(value)))

/** The keys of a repo: one encrypts its files, the other names it to the sync servers. */
export interface RepoKeys {
  readonly syncKey: Secret<Uint8Array>
  readonly dataKey: Secret<Uint8Array>
}

/** Reads the keys of the repo that a wallet info names. @throws KEY_INTEGRITY for keys of another length */
export const repoKeysOf = (io: Pick<Io, 'crypto'>, { keys }: SecretWalletInfo): RepoKeys =>
  keys.use(all => {
    const [dataKey, syncKey] = [repoKeyOf(io, all, 'dataKey'), repoKeyOf(io, all, 'syncKey')]
    return { dataKey: new Secret(dataKey), syncKey: new Secret(syncKey) }
  })

/** Destroys both keys of a repo. */
export const destroyRepoKeys = ({ dataKey, syncKey }: RepoKeys): void => {
  for (const secret of [dataKey, syncKey]) secret.destroy()
}

/** Checks that keys can name and encrypt a repo. @throws KEY_INTEGRITY for keys of another length */
export const checkRepoKeys = (io: Pick<Io, 'crypto'>, keys: WalletKeys): void => {
  repoKeyOf(io, keys, 'dataKey')
  repoKeyOf(io, keys, 'syncKey')
}

/** A repo needs keys of these lengths (protocol §1.7). */
const REPO_KEY_BYTES = { dataKey: 32, syncKey: 20 } as const

const repoKeyOf = (io: Pick<Io, 'crypto'>, keys: WalletKeys, name: keyof RepoKeys): Uint8Array => {
  const bytes = keyBytesOf(io, keys[name])
  if (bytes?.length === REPO_KEY_BYTES[name]) return bytes
  throw violation(`the ${name} of a wallet is not ${REPO_KEY_BYTES[name]} bytes`)
}

const mergePair = (first: SecretWalletInfo, second: SecretWalletInfo): SecretWalletInfo => {
  if (first.type !== second.type) throw violation('one wallet id has two types')
  // The last app owns the wallet, so a repeated one moves to the end.
  const appIds = [...first.appIds.filter(appId => !second.appIds.includes(appId)), ...second.appIds]
  return { id: first.id, type: first.type, keys: mergeKeys(first.keys, second.keys), appIds }
}

const mergeKeys = (first: Secret<WalletKeys>, second: Secret<WalletKeys>): Secret<WalletKeys> => {
  if (first === second) return first
  return first.use(left =>
    second.use(right => {
      const keys = new Map<string, Json>(Object.entries(left))
      for (const [name, value] of Object.entries(right)) {
        const known = keys.get(name)
        if (known !== undefined && !isEqualJson(known, value)) throw violation('one wallet id has two keys')
        keys.set(name, value)
      }
      return keys.size === Object.keys(left).length ? first : new Secret(Object.fromEntries(keys))
    })
  )
}

const isEqualJson = (left: Json | undefined, right: Json | undefined): boolean => {
  if (left === right) return true
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false
  if (Array.isArray(left) !== Array.isArray(right)) return false
  const names = Object.keys(left)
  return (
    names.length === Object.keys(right).length &&
    names.every(
      name => Object.hasOwn(right, name) && isEqualJson(Reflect.get(left, name), Reflect.get(right, name))
    )
  )
}

const violation = (rule: string): WalletError => new WalletError('KEY_INTEGRITY', { rule })
