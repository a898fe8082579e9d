import { requireTexts } from '../base/arguments.ts'
import { WalletError } from '../base/errors.ts'
import { isRecord, tryJsonText } from '../base/json.ts'
import { base58Of, utf8Of } from '../crypto/encoding.ts'
import type { Disk } from '../io/disk.ts'
import type { Services } from '../plugins/services.ts'
import type { Repo } from '../sync/repo.ts'
import type { WalletId } from '../types/ids.ts'
import type { OpenRepos } from './repos.ts'
import { RULES_PATH } from './rule-file.ts'
import type { SpendRules } from './spend-rules.ts'

/** A text of the account or of one of its wallets that is kept for 30 days after it was deleted or replaced. */
export interface KeptFileListing {
  /** Names it; for {@link KeptFiles.restore}. */
  readonly id: string
  /** The wallet that it belongs to; absent for the account's own files. */
  readonly walletId?: WalletId
  readonly repoId: string
  readonly path: string
  /** The kind of the file: `data item`, `transaction`, `wallet name`, … */
  readonly kind: string
  /** The subject of the file, if its text names one: the id of an item, a name, a txid. */
  readonly title?: string
  /** `damaged`: it could not be read, and was put aside before something else took its place. */
  readonly reason: 'deleted' | 'replaced' | 'damaged'
  /** Milliseconds since 1970. */
  readonly keptAt: number
  /** False for a text that does not open; it stays where it is. */
  readonly canRestore: boolean
}

/** The repos of an account, and the test whether it is still logged in. */
export interface KeptFilesOptions {
  readonly services: Services
  readonly repos: Pick<OpenRepos, 'entries'>
  readonly rules: Pick<SpendRules, 'changed' | 'read'>
  /** @throws LOGGED_OUT */
  check(): void
}

interface Found {
  readonly listing: KeptFileListing
  readonly repo: Repo
  restore(): Promise<unknown>
}

/**
 * The texts of an account and its open wallets that were deleted, replaced or damaged in the last 30 days.
 *
 * @example
 * ```ts
 * const [newest] = await account.keptFiles.list()
 * if (newest?.canRestore === true) await account.keptFiles.restore(newest.id)
 * ```
 */
export class KeptFiles {
  readonly #options: KeptFilesOptions

  constructor(options: KeptFilesOptions) {
    this.#options = options
  }

  /**
   * Lists what can be restored, newest first: of the account, and of every open wallet.
   *
   * @throws LOGGED_OUT, STORAGE_FAILED
   */
  async list(): Promise<readonly KeptFileListing[]> {
    return (await this.#find()).map(({ listing }) => listing)
  }

  /**
   * Makes a kept text the present one again, on this device and with the next sync on the others. The present text is kept in
   * its place, so that this can be undone.
   *
   * @returns the restored text's listing
   * @throws OPTION_INVALID for an older state of the account's rules while they can be read; KEPT_FILE_UNKNOWN, CORRUPT_FILE if it does not open, STORAGE_FULL, STORAGE_FAILED, LOGGED_OUT
   */
  async restore(id: string): Promise<KeptFileListing> {
    requireTexts({ id })
    const found = (await this.#find()).find(({ listing }) => listing.id === id)
    if (found === undefined) throw new WalletError('KEPT_FILE_UNKNOWN', { keptId: id })
    await this.#checkRules(found.listing)
    await found.restore()
    if (found.listing.path === RULES_PATH) this.#options.rules.changed()
    return found.listing
  }

  /** An older state of rules that can be read would loosen them past the password. */
  async #checkRules({ path, walletId }: KeptFileListing): Promise<void> {
    if (path !== RULES_PATH || walletId !== undefined) return
    const { rules, pending, fault } = await this.#options.rules.read()
    if (fault === undefined && rules.length + pending.length > 0)
      throw new WalletError('OPTION_INVALID', {
        option: 'id',
        rule: 'is an older state of the rules, which change with policy add and policy remove'
      })
  }

  async #find(): Promise<Found[]> {
    this.#options.check()
    const { services, repos } = this.#options
    const { disk } = services
    const damaged = (await disk.list('quarantine')).filter(path => path.startsWith(DAMAGED_REPO))
    const found: Found[] = []
    for (const [repo, owner] of repos.entries()) {
      const walletId = owner.type.startsWith('wallet:') ? { walletId: owner.id } : {}
      const place = { repoId: repo.id, ...walletId }
      for (const { keptId, path, reason, keptAt } of repo.keptFiles()) {
        const text = textOrNothing(() => repo.keptText(keptId))
        const facts = {
          ...place,
          path,
          reason,
          keptAt,
          ...describe(path, text),
          canRestore: text !== undefined
        }
        const listing = { id: this.#idOf(repo, keptId), ...facts }
        found.push({ listing, repo, restore: () => repo.restoreKept(keptId) })
      }
      const prefix = `${DAMAGED_REPO}${repo.id}+`
      for (const name of damaged.filter(each => each.startsWith(prefix))) {
        const listed = await this.#damaged(repo, { name, prefix, disk })
        if (listed !== undefined)
          found.push({ ...listed, listing: { ...listed.listing, ...place, id: this.#idOf(repo, name) } })
      }
    }
    return found.sort((left, right) => right.listing.keptAt - left.listing.keptAt)
  }

  /** A file that was put aside as the box that it is; undefined for what is no file of a repo, such as a part of its store. */
  async #damaged(
    repo: Repo,
    { name, prefix, disk }: { readonly name: string; readonly prefix: string; readonly disk: Disk }
  ): Promise<Found | undefined> {
    const match = /^(.*)\.(\d{10,15})(?:\.\d+)?$/.exec(name.slice(prefix.length))
    const path = match?.[1]?.replaceAll('+', '/')
    if (match === null || path === undefined || path.startsWith('store/')) return undefined
    const box = await disk.getText(name).catch(() => undefined)
    if (box === undefined) return undefined
    const text = textOrNothing(() => repo.openText(path, box))
    const about = { path, reason: 'damaged' as const, keptAt: Number(match[2]), ...describe(path, text) }
    const listing = { id: '', repoId: repo.id, ...about, canRestore: text !== undefined }
    const restore = async () => repo.write({ texts: new Map([[path, repo.openText(path, box)]]) })
    return { listing, repo, restore }
  }

  #idOf(repo: Repo, keptId: string): string {
    return base58Of(this.#options.services.io.crypto.sha256(utf8Of(`${repo.id} ${keptId}`))).slice(0, 8)
  }
}

const DAMAGED_REPO = 'quarantine/repos+'

const textOrNothing = (read: () => string | undefined): string | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** Paths, what they hold, and the field that says what it is about (protocol §3.4, §3.5). */
const KINDS: readonly (readonly [path: RegExp, kind: string, field?: string])[] = [
  [/^Plugins\/[^/]+\/Name\.json$/, 'data store', 'name'],
  [/^Plugins\//, 'data item', 'key'],
  [/^Keys\//, 'wallet state', 'id'],
  [/^[Tt]ransactions?\//, 'transaction', 'txid'],
  [/^Addresses\//, 'address', 'address'],
  [/^WalletName\.json$/, 'wallet name', 'walletName'],
  [/^Currency\.json$/, 'wallet currency', 'fiat'],
  [/^(?:Enabled)?Tokens\.json$/, 'tokens of a wallet'],
  [/^Policies\.json$/, 'rules of the account'],
  [/^CustomTokens\.json$/, 'custom tokens'],
  [/^PluginSettings\.json$/, 'settings of plugins'],
  [/^Wallets\//, 'keys of an old wallet']
]

const describe = (
  path: string,
  text: string | undefined
): { readonly kind: string; readonly title?: string } => {
  const [, kind = 'file', field] = KINDS.find(([pattern]) => pattern.test(path)) ?? []
  if (field === undefined || text === undefined) return { kind }
  const value = tryJsonText(text)
  const title = isRecord(value) ? value[field] : undefined
  return typeof title === 'string' && title !== '' ? { kind, title: title.slice(0, 200) } : { kind }
}
