import { WalletError } from '../base/errors.ts'
import { isRecord, type Json, type JsonObject, parseJson } from '../base/json.ts'
import type { Services } from '../plugins/services.ts'
import { type FieldEdit, JsonFile } from '../sync/json-file.ts'
import type { Repo } from '../sync/repo.ts'
import type { EngineStore } from '../types/engine.ts'
import type { PendingRuleChange, PolicyListing, SpendRule } from '../types/policy.ts'

/** The file of the account's repo that holds its rules; not part of the deployed layout. */
export const RULES_PATH = 'Policies.json'

/** The kinds that the kernel reads by itself: they concern no payment. */
export const LOOSENING_DELAY = 'loosening-delay'
export const KEY_USES = 'uses'

/** The kind of an entry that is no rule; no plugin judges it, so that it refuses. */
const UNREADABLE = 'unreadable'

/** A change to be written: `rule: null` removes. */
export interface RuleChange {
  readonly ruleId: string
  readonly rule: SpendRule | null
}

/**
 * The rules of an account in its synced repo, and a local mark that there are some: if the file goes missing or cannot be
 * read, that is a fault and never an account without rules.
 */
export class RuleFile {
  readonly #repo: Repo
  readonly #file: JsonFile
  /** Never synced. */
  readonly #local: EngineStore
  readonly #onChange: () => void

  /** @param onChange - called when the file has changed, here or by a sync */
  constructor({ disk, io, report }: Services, repo: Repo, local: EngineStore, onChange: () => void) {
    this.#repo = repo
    this.#local = local
    this.#onChange = onChange
    repo.onServerChange(paths => {
      if (paths.includes(RULES_PATH)) onChange()
    })
    const onError = (error: unknown): void => report('account rules', error)
    this.#file = new JsonFile({ repo, disk, clock: io.clock, report: onError }, RULES_PATH)
  }

  /** Returns the rules in effect at a time, and the changes that wait. An unreadable file is a fault in the result. */
  async read(now: () => number): Promise<PolicyListing> {
    let text: string | undefined
    try {
      text = await this.#repo.getText(RULES_PATH)
      if (text === undefined)
        return this.#local.get(SEEN) === undefined ? NO_RULES : faulty('the file with the rules is missing')
      const content = parseJson(text, RULES_PATH)
      if (!isRecord(content) || !isRecord(content.rules)) return faulty('the file with the rules is damaged')
      const listing = listingOf(content, now)
      await this.#mark(listing)
      return listing
    } catch (error) {
      if (text === undefined && !(error instanceof WalletError)) throw error
      return faulty('the file with the rules is damaged')
    }
  }

  /** Puts a change into effect, durable when it resolves. @throws CORRUPT_FILE, STORAGE_FULL, STORAGE_FAILED */
  async apply({ ruleId, rule }: RuleChange, now: () => number): Promise<void> {
    const { due } = await this.#readable(now)
    await this.#edit([
      ...due.flatMap(change => [...editsOf(change), { path: ['pending', change.id], value: undefined }]),
      ...editsOf({ ruleId, rule })
    ])
  }

  /** Keeps a change that takes effect later. @throws as {@link apply} */
  async defer(change: PendingRuleChange, now: () => number): Promise<void> {
    await this.#readable(now)
    const { id, ruleId, rule, effectiveAt } = change
    await this.#edit([{ path: ['pending', id], value: { ruleId, rule: rule as Json, effectiveAt } }])
  }

  /** Drops a change that waits. @throws OPTION_INVALID if there is none; as {@link apply} */
  async cancel(id: string, now: () => number): Promise<void> {
    const { waiting } = await this.#readable(now)
    if (!waiting.some(change => change.id === id))
      throw new WalletError('OPTION_INVALID', { option: 'id', rule: 'is of no change that waits' })
    await this.#edit([{ path: ['pending', id], value: undefined }])
  }

  /** Begins anew without rules, whatever the file has; durable when it resolves. @throws STORAGE_FULL, STORAGE_FAILED */
  async reset(): Promise<void> {
    const text = JSON.stringify({ rules: {}, pending: {} })
    await this.#repo.write({ texts: new Map([[RULES_PATH, text]]) })
    await this.#local.write(new Map([[SEEN, null]]))
    this.#onChange()
  }

  async #readable(
    now: () => number
  ): Promise<{ due: readonly PendingRuleChange[]; waiting: readonly PendingRuleChange[] }> {
    const { fault } = await this.read(now)
    if (fault !== undefined) throw new WalletError('CORRUPT_FILE', { path: RULES_PATH, rule: fault })
    const text = await this.#repo.getText(RULES_PATH)
    const content = text === undefined ? {} : parseJson(text, RULES_PATH)
    const pending = isRecord(content) ? pendingIn(content) : []
    const at = now()
    return {
      due: pending.filter(({ effectiveAt }) => effectiveAt <= at),
      waiting: pending.filter(({ effectiveAt }) => effectiveAt > at)
    }
  }

  async #edit(edits: readonly FieldEdit[]): Promise<void> {
    // Durable first: a crash in between makes the account refuse, and never forget its rules.
    await this.#local.write(new Map([[SEEN, '1']]))
    await this.#file.edit(present =>
      present === undefined ? [{ path: ['rules'], value: {} }, ...edits] : edits
    )
    this.#onChange()
  }

  async #mark({ rules, pending }: PolicyListing): Promise<void> {
    const isMarked = this.#local.get(SEEN) !== undefined
    const isWanted = rules.length > 0 || pending.length > 0
    if (isMarked !== isWanted) await this.#local.write(new Map([[SEEN, isWanted ? '1' : null]]))
  }
}

const SEEN = 'seen'
const NO_RULES: PolicyListing = Object.freeze({ rules: [], pending: [] })

const faulty = (fault: string): PolicyListing => ({ rules: [], pending: [], fault })

const editsOf = ({ ruleId, rule }: RuleChange): readonly FieldEdit[] => [
  { path: ['rules', ruleId], value: rule === null ? undefined : fieldsOf(rule) }
]

const fieldsOf = ({ id: _id, ...fields }: SpendRule): JsonObject => fields as JsonObject

const listingOf = (content: Readonly<Record<string, unknown>>, now: () => number): PolicyListing => {
  const rules = new Map(
    Object.entries(isRecord(content.rules) ? content.rules : {}).map(([id, fields]) => [
      id,
      ruleOf(id, fields)
    ])
  )
  const all = pendingIn(content)
  const at = all.length === 0 ? 0 : now()
  const pending: PendingRuleChange[] = []
  for (const change of all) {
    if (change.effectiveAt > at) pending.push(change)
    else if (change.rule === null) rules.delete(change.ruleId)
    else rules.set(change.ruleId, change.rule)
  }
  return { rules: [...rules.values()], pending }
}

/** The changes that can be read, by time; one that cannot be read never takes effect. */
const pendingIn = (content: Readonly<Record<string, unknown>>): readonly PendingRuleChange[] =>
  Object.entries(isRecord(content.pending) ? content.pending : {})
    .flatMap(([id, value]) => {
      const { ruleId, rule, effectiveAt } = isRecord(value) ? value : {}
      if (typeof ruleId !== 'string' || typeof effectiveAt !== 'number') return []
      if (rule !== null && !isRecord(rule)) return []
      return [{ id, ruleId, rule: rule === null ? null : ruleOf(ruleId, rule), effectiveAt }]
    })
    .sort((left, right) => left.effectiveAt - right.effectiveAt)

const ruleOf = (id: string, fields: unknown): SpendRule => {
  const { kind, asset, client } = isRecord(fields) ? fields : {}
  const isText = (value: unknown): boolean =>
    value === undefined || (typeof value === 'string' && value !== '')
  if (typeof kind !== 'string' || !isText(asset) || !isText(client)) return { id, kind: UNREADABLE }
  return Object.freeze({ ...(fields as JsonObject), id, kind }) as SpendRule
}
