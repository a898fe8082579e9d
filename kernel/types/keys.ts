import type { Json, JsonObject } from '../base/json.ts'
import type { Secret } from '../base/secret.ts'
import type { WalletId } from './ids.ts'

/** An encrypted box, as on the wire and on disk (specification §3). */
export interface Box {
  readonly encryptionType: number
  readonly data_base64: string
  readonly iv_hex: string
}

/** Checks if a value has the shape of an encrypted box; opening it checks the rest. A guard by hand: boxes are hot. */
export const isBox = (value: unknown): value is Box => {
  if (typeof value !== 'object' || value === null) return false
  const box = value as Partial<Box>
  return (
    typeof box.encryptionType === 'number' &&
    typeof box.iv_hex === 'string' &&
    typeof box.data_base64 === 'string'
  )
}

/** Scrypt parameters, as on the wire and on disk. */
export interface Snrp {
  readonly salt_hex: string
  readonly n: number
  readonly r: number
  readonly p: number
}

/**
 * The keys of a wallet as stored (protocol §1.7, §5.1): those of its repo, and under names of their own those that its plugin
 * made. A plugin reads its own fields by name and checks them, since an older version or another program may have written them.
 */
export type WalletKeys = RepoKeys & Readonly<Record<string, Json>>

// The fields with types of their own stand apart: beside a signature of all names they compile only for users who set
// `exactOptionalPropertyTypes`.
interface RepoKeys {
  /** Encrypts the repo of the wallet: base64 of 32 bytes. The wallet id follows from it. */
  readonly dataKey?: string
  /** Names the repo of the wallet to the sync servers: base64 of 20 bytes. */
  readonly syncKey?: string
  /** False for keys that were created, true for imported ones; absent where they were given as they are. */
  readonly imported?: boolean
  /** True for a wallet that only watches: its plugin's fields hold public keys alone. The kernel then signs nothing with it. */
  readonly isWatchOnly?: boolean
}

/** The content of a key box: the identity of a wallet or of an account repo, with all its keys. */
export interface WalletInfo {
  /** base64 of 32 bytes, derived from type and data key. */
  readonly id: WalletId
  readonly type: string
  readonly keys: WalletKeys
}

/** A wallet info whose keys cannot be read by accident. */
export interface SecretWalletInfo {
  readonly id: WalletId
  readonly type: string
  readonly keys: Secret<WalletKeys>
  /** Every app of the login tree that holds this wallet; the last one owns it. */
  readonly appIds: readonly string[]
}

/** A wallet info with public keys only; safe to pass to an engine and to keep on disk inside a box. */
export interface PublicWalletInfo {
  readonly id: WalletId
  readonly type: string
  readonly keys: JsonObject
}

/** The states of a wallet that an account stores besides its keys. */
export interface WalletStates {
  readonly archived: boolean
  readonly deleted: boolean
  readonly hidden: boolean
  readonly sortIndex: number
  readonly migratedFromWalletId?: WalletId
}

/** A change of the states that an account stores for a wallet; absent fields stay, and null deletes the origin. */
export interface WalletStatesChange {
  readonly archived?: boolean
  readonly deleted?: boolean
  readonly hidden?: boolean
  readonly sortIndex?: number
  readonly migratedFromWalletId?: WalletId | null
}
