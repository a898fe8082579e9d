import type { Account } from '../../kernel/index.ts'
import { isWalletError, type JsonObject, parseJsonText } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { CliError } from '../errors/cli-error.ts'
import { PARTIAL } from '../errors/exit-codes.ts'
import { openExportSink } from '../export/export-sink.ts'
import type { Tone } from '../output/paint.ts'
import { refreshedAccount } from '../session/refreshed-account.ts'
import { upload } from '../session/upload.ts'
import { readTextFile } from '../session/value-input.ts'
import type { Session } from '../session.ts'
import { noStore } from './data.ts'

/** Writes stores with all their items, item by item, as one JSON object. */
export const dataExport: CommandRun = async (session, ...texts) => {
  const sink = await openExportSink(session)
  try {
    const { account, warnings } = await refreshedAccount(session)
    const { dataStore } = account
    const wanted = new Set(texts.filter(text => text !== undefined))
    const known = await dataStore.listStoreIds()
    for (const store of wanted) if (!known.includes(store)) throw noStore(store)
    const stores = wanted.size > 0 ? [...wanted] : known
    let count = 0
    await sink.write(`{"schema":"${SCHEMA}","stores":{`)
    for (const [index, store] of stores.entries()) {
      await sink.write(`${index === 0 ? '\n' : ',\n'}${JSON.stringify(store)}:{`)
      for (const [place, item] of (await dataStore.listItemIds(store)).entries()) {
        session.signal.throwIfAborted()
        const value = await dataStore.getItem(store, item)
        await sink.write(`${place === 0 ? '\n' : ',\n'}${JSON.stringify(item)}:${JSON.stringify(value)}`)
        count += 1
        session.talk.step(`${count} items…`)
      }
      await sink.write('}')
    }
    await sink.write('\n}}\n')
    return await sink.end({ stores: stores.length, items: count }, warnings)
  } finally {
    await sink.discard()
  }
}

/** Takes an export in; nothing that is there is replaced unasked. */
export const dataImport: CommandRun = async (session, path = '') => {
  const items = parseExport(await readTextFile(path), path)
  const { account, warnings } = await refreshedAccount(session)
  const results: ItemResult[] = []
  for (const item of items) {
    session.signal.throwIfAborted()
    results.push({ ...item, status: await importItem(session, account, item) })
    session.talk.step(`${results.length} of ${items.length} items…`)
  }
  const { dryRun } = session.globals
  const hasNews = results.some(({ status }) => status === 'applied') && !dryRun
  const hasConflict = results.some(({ status }) => status === 'conflict')
  return {
    data: {
      dryRun,
      results: results.map(({ store, id, status }) => ({
        ok: status !== 'conflict',
        store,
        item: id,
        status
      }))
    },
    exitCode: hasConflict ? PARTIAL : 0,
    warnings: [...warnings, ...(hasNews ? await upload(session) : [])],
    view: {
      kind: 'table',
      columns: [{ title: 'STATUS' }, { title: 'STORE', canShrink: true }, { title: 'ITEM', canShrink: true }],
      rows: results.map(({ store, id, status }) => [{ text: status, tone: TONES[status] }, store, id]),
      empty: 'There is no item in this file.'
    },
    advice: hasConflict ? ['Where another text is kept, it stays; --overwrite lets the file win'] : []
  }
}

const SCHEMA = 'data.export/1'

interface Item {
  readonly store: string
  readonly id: string
  readonly value: string
}

interface ItemResult extends Item {
  readonly status: ItemStatus
}

type ItemStatus = 'applied' | 'conflict' | 'same'

const TONES: Readonly<Record<ItemStatus, Tone>> = { applied: 'good', same: 'plain', conflict: 'warn' }

const importItem = async (
  session: Session,
  { dataStore }: Account,
  { store, id, value }: Item
): Promise<ItemStatus> => {
  const present = await dataStore.getItem(store, id).catch((error: unknown) => {
    if (isWalletError(error, 'ITEM_NOT_FOUND')) return undefined
    throw error
  })
  if (present === value) return 'same'
  if (present !== undefined && !session.isOn('overwrite')) return 'conflict'
  if (!session.globals.dryRun) await dataStore.setItem(store, id, value)
  return 'applied'
}

const parseExport = (text: string, path: string): readonly Item[] => {
  const refuse = (cause?: unknown): CliError =>
    new CliError('USAGE', `The file ${path} is no export of data`, { cause })
  let value: unknown
  try {
    value = parseJsonText(text)
  } catch (error) {
    throw refuse(error)
  }
  if (!isObject(value) || value.schema !== SCHEMA || !isObject(value.stores)) throw refuse()
  return Object.entries(value.stores).flatMap(([store, items]) => {
    if (!isObject(items)) throw refuse()
    return Object.entries(items).map(([id, data]) => {
      if (typeof data !== 'string') throw refuse()
      return { store, id, value: data }
    })
  })
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
