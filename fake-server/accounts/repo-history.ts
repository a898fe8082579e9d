import { hex, utf8 } from '@scure/base'
import { compact } from '../../kernel/base/compact.ts'
import type { CryptoPort } from '../../kernel/io/io.ts'
import type { Box } from '../../kernel/types/keys.ts'
import type { RepoChanges } from './shapes.ts'

/** A file of a repo as it is now; null stands for a deletion that is remembered. */
export interface RepoFile {
  readonly content: Box | null
  /** The revision that wrote it, from 1. */
  readonly revision: number
}

/** The reply of a repo to a reader. `hash` is absent while nothing was ever written. */
export interface RepoAnswer {
  readonly changes: RepoChanges
  readonly hash?: string
}

/** The limits of one repo. */
export interface RepoLimits {
  /** Files and remembered deletions. */
  readonly files: number
  /** Letters of base64, over all files. */
  readonly letters: number
  /** The number of old hashes that are still understood. */
  readonly hashes: number
}

/** Enough for the largest wallets that the targets name, 100,000 transactions, and a bound for everything else. */
const REPO_LIMITS: RepoLimits = { files: 120_000, letters: 256_000_000, hashes: 10_000 }

/**
 * A synced repo that knows its past: which file changed in which revision, and the hash of each revision.
 *
 * A hash names the content of the whole history, so that a hash of another life of the same repo is unknown here.
 * Readers with a known hash get what changed since; readers with an unknown one get everything, deletions
 * included, because their content is unknown (protocol §2.9).
 */
export class RepoHistory {
  readonly #crypto: Pick<CryptoPort, 'sha256'>
  readonly #limits: RepoLimits
  readonly #files = new Map<string, RepoFile>()
  readonly #revisionOf = new Map<string, number>()
  #hash: string
  #revision = 0
  #letters = 0

  constructor(key: string, crypto: Pick<CryptoPort, 'sha256'>, limits: RepoLimits = REPO_LIMITS) {
    this.#crypto = crypto
    this.#limits = limits
    this.#hash = this.#digest(key)
    this.#revisionOf.set(this.#hash, 0)
  }

  /** The hash of the newest revision: 40 hex digits. */
  get hash(): string {
    return this.#hash
  }

  /** The number of the newest revision; 0 if nothing was written. */
  get revision(): number {
    return this.#revision
  }

  /** The hashes that are still understood, oldest first, with their revisions. */
  get hashes(): readonly (readonly [hash: string, revision: number])[] {
    return [...this.#revisionOf]
  }

  /** All files and remembered deletions, in the order of their last change. */
  get files(): ReadonlyMap<string, RepoFile> {
    return this.#files
  }

  /** The part of `changes` that would change anything; undefined if there is no room for them. */
  novelties(changes: RepoChanges): RepoChanges | undefined {
    const news: [string, Box | null][] = []
    let letters = this.#letters
    let count = this.#files.size
    for (const [path, content] of Object.entries(changes)) {
      const old = this.#files.get(path)
      if (old === undefined && content === null) continue
      if (old !== undefined && isSame(old.content, content)) continue
      if (old === undefined) count += 1
      letters += sizeOf(content) - sizeOf(old?.content ?? null)
      news.push([path, content])
    }
    if (count > this.#limits.files || letters > this.#limits.letters) return undefined
    return Object.fromEntries(news)
  }

  /** Writes changes as one new revision and returns its hash. */
  commit(changes: RepoChanges): string {
    this.#revision += 1
    for (const [path, content] of Object.entries(changes)) this.#place(path, content, this.#revision)
    this.#hash = this.#digest(this.#hash + JSON.stringify(Object.entries(changes)))
    this.#revisionOf.set(this.#hash, this.#revision)
    for (const old of this.#revisionOf.keys()) {
      if (this.#revisionOf.size <= this.#limits.hashes) break
      this.#revisionOf.delete(old)
    }
    return this.#hash
  }

  /** Takes the revisions of a saved repo, before its files are put back. */
  restoreHashes(hashes: readonly (readonly [string, number])[]): void {
    const newest = hashes.at(-1)
    if (newest === undefined) return
    this.#revisionOf.clear()
    for (const [hash, revision] of hashes) this.#revisionOf.set(hash, revision)
    this.#hash = newest[0]
    this.#revision = newest[1]
  }

  /** Puts back a file of a saved repo. */
  restoreFile(path: string, file: RepoFile): void {
    this.#place(path, file.content, file.revision)
  }

  /** The reply to a reader that last got `hash`; undefined or '' for a new reader. */
  since(hash: string | undefined): RepoAnswer {
    const known = hash === undefined || hash === '' ? undefined : this.#revisionOf.get(hash)
    const isLost = known === undefined && hash !== undefined && hash !== ''
    const changes: [string, Box | null][] = []
    for (const [path, { content, revision }] of this.#files) {
      if (known === undefined ? content !== null || isLost : revision > known) changes.push([path, content])
    }
    return {
      changes: Object.fromEntries(changes),
      ...compact({ hash: this.#revision > 0 ? this.#hash : undefined })
    }
  }

  #place(path: string, content: Box | null, revision: number): void {
    const old = this.#files.get(path)
    this.#letters += sizeOf(content) - sizeOf(old?.content ?? null)
    this.#files.delete(path)
    this.#files.set(path, { content, revision })
  }

  #digest(text: string): string {
    return hex.encode(this.#crypto.sha256(utf8.decode(text)).subarray(0, 20))
  }
}

const sizeOf = (content: Box | null): number => content?.data_base64.length ?? 0

const isSame = (left: Box | null, right: Box | null): boolean =>
  left === right ||
  (left !== null &&
    right !== null &&
    left.data_base64 === right.data_base64 &&
    left.iv_hex === right.iv_hex &&
    left.encryptionType === right.encryptionType)
