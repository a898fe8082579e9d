import { isWalletError, WalletError } from '../base/errors.ts'
import { isRecord, parseJson } from '../base/json.ts'
import { makeYielder } from '../base/yielder.ts'
import type { Services } from '../plugins/services.ts'
import type { RepoChanges } from '../sync/write-plan.ts'
import type { WalletStates, WalletStatesChange } from '../types/keys.ts'
import type { OpenRepo } from './open-repos.ts'

/** What an account's repo says of one wallet; absent fields have their defaults elsewhere. */
export type StoredWalletStates = Partial<WalletStates>

/** What a wallet is until somebody says otherwise. */
export const DEFAULT_STATES: Pick<WalletStates, 'archived' | 'deleted' | 'hidden'> = {
  archived: false,
  deleted: false,
  hidden: false
}

/** The folder of the account's repo that holds a file for each wallet. */
export const STATES_FOLDER = 'Keys'

/**
 * Reads what the account remembers of its wallets, by wallet id (protocol §3.4 `Keys/`).
 *
 * A file that cannot be read is kept and handed to `report`. Where two files are about one wallet, the one that bears
 * its name counts.
 */
export const readWalletStates = async (
  { io, report }: Pick<Services, 'io' | 'report'>,
  { repo, hashOf }: OpenRepo
): Promise<Map<string, StoredWalletStates>> => {
  const states = new Map<string, StoredWalletStates>()
  const breathe = makeYielder(io.clock)
  for (const path of await repo.list(STATES_FOLDER)) {
    try {
      const file = await readFile(repo, path)
      if (file === undefined) continue
      // A hash for each of many files would take longer than reading them.
      const isFirst = !states.has(file.id)
      if (isFirst || path === pathOf(hashOf, file.id)) states.set(file.id, knownFieldsOf(file))
    } catch (error) {
      report('account', error)
    }
    await breathe()
  }
  return states
}

/** A wallet, what the account knows of it, and what is to change. */
export interface WalletChange {
  readonly walletId: string
  readonly known: StoredWalletStates
  readonly change: WalletStatesChange
}

/**
 * Writes the changes that change something, all or nothing; what other clients keep in the files stays.
 *
 * @returns what the account now knows of the wallets that changed
 * @throws OPTION_INVALID, STORAGE_FULL, STORAGE_FAILED
 */
export const writeWalletStates = async (
  { repo, hashOf }: OpenRepo,
  changes: readonly WalletChange[]
): Promise<ReadonlyMap<string, StoredWalletStates>> => {
  const wanted = changes
    .map(({ walletId, known, change }) => ({ walletId, known, news: newsOf(known, change) }))
    .filter(({ news }) => news.length > 0)
    .map(each => ({ ...each, path: pathOf(hashOf, each.walletId) }))
  const states = new Map<string, StoredWalletStates>()
  if (wanted.length === 0) return states
  const paths = wanted.map(({ path }) => path)
  await editReadable(repo, paths, present => {
    const texts = wanted.map(({ walletId, known, news, path }): [string, string] => {
      // The file may be newer than what is known: a sync has just brought it.
      const fields = { ...(present.get(path) ?? known), ...Object.fromEntries(news), id: walletId }
      const file = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
      states.set(walletId, knownFieldsOf(file))
      return [path, JSON.stringify(file)]
    })
    return { texts: new Map(texts) }
  })
  return states
}

/** Edits files in one go; those that cannot be read, which was reported when the account opened, are made anew. */
const editReadable = async (
  repo: OpenRepo['repo'],
  paths: readonly string[],
  edit: (present: ReadonlyMap<string, StatesFile | undefined>) => RepoChanges
): Promise<void> => {
  const readable = new Set(paths)
  for (;;) {
    const list = [...readable]
    try {
      await repo.editTexts(list, texts => edit(new Map(list.map((path, at) => [path, fileIn(texts[at])]))))
      return
    } catch (error) {
      if (!isWalletError(error, 'CORRUPT_FILE') || !readable.delete(error.details.path)) throw error
    }
  }
}

const pathOf = (hashOf: OpenRepo['hashOf'], walletId: string): string =>
  `${STATES_FOLDER}/${hashOf(walletId)}.json`

type StatesFile = Record<string, unknown> & { readonly id: string }

const readFile = async (repo: OpenRepo['repo'], path: string): Promise<StatesFile | undefined> => {
  const text = await repo.getText(path)
  return text === undefined ? undefined : parseFile(text)
}

const parseFile = (text: string): StatesFile => {
  const value = parseJson(text, 'wallet states')
  if (isRecord(value) && typeof value.id === 'string') return value as StatesFile
  throw new WalletError('BAD_REPLY', { source: 'wallet states', path: 'id', rule: 'is missing' })
}

const fileIn = (text: string | undefined): StatesFile | undefined => {
  try {
    return text === undefined ? undefined : parseFile(text)
  } catch {
    return undefined
  }
}

const isBoolean = (value: unknown): boolean => typeof value === 'boolean'

const FIELDS: readonly (readonly [keyof WalletStates, (value: unknown) => boolean, string])[] = [
  ['archived', isBoolean, 'must be true or false'],
  ['deleted', isBoolean, 'must be true or false'],
  ['hidden', isBoolean, 'must be true or false'],
  ['sortIndex', Number.isFinite, 'must be a number'],
  ['migratedFromWalletId', value => typeof value === 'string', 'must be a wallet id or null']
]

const knownFieldsOf = (file: Record<string, unknown>): StoredWalletStates =>
  Object.fromEntries(
    FIELDS.filter(([name, isValid]) => isValid(file[name])).map(([name]) => [name, file[name]])
  )

/** Checks what somebody wants of a wallet. @throws OPTION_INVALID */
export const checkStatesChange = (change: WalletStatesChange): void => {
  for (const [name, isValid, rule] of FIELDS) {
    const value = change[name]
    const isForgotten = name === 'migratedFromWalletId' && value === null
    if (value !== undefined && !isForgotten && !isValid(value))
      throw new WalletError('OPTION_INVALID', { option: name, rule })
  }
}

/** The fields that a change makes another. @throws OPTION_INVALID */
const newsOf = (known: StoredWalletStates, change: WalletStatesChange): [string, unknown][] => {
  checkStatesChange(change)
  const present = { ...DEFAULT_STATES, ...known }
  return FIELDS.map(([name]): [keyof WalletStates, unknown] => [name, change[name]]).filter(
    ([name, value]) => value !== undefined && (present[name] ?? null) !== value
  )
}
