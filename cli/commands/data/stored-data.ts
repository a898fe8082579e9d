import { type Account, isWalletError, parseJsonText } from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import { PARTIAL } from '../../errors/failure.ts'
import { openExportSink } from '../../export/sink.ts'
import { writeOutputFile } from '../../output/output-file.ts'
import type { CommandResult } from '../../output/view.ts'
import type { CommandRun } from '../../session/command.ts'
import { confirm } from '../../session/confirm.ts'
import { isJsonObject, readTextFile, readValue } from '../../session/input.ts'
import { refreshedAccount, upload } from '../../session/make-change.ts'
import type { Session } from '../../session/session.ts'
import type { Tone } from '../../terminal/terminal.ts'

/** Lists the stores that apps keep in the account. */
export const dataStores: CommandRun = async session => {
  const { account, warnings } = await refreshedAccount(session)
  const stores: { readonly id: string; readonly items: number }[] = []
  for (const id of await account.dataStore.listStoreIds()) {
    stores.push({ id, items: (await account.dataStore.listItemIds(id)).length })
  }
  return {
    data: { stores },
    warnings,
    view: {
      kind: 'table',
      columns: [
        { title: 'STORE', canShrink: true },
        { title: 'ITEMS', align: 'right' }
      ],
      rows: stores.map(({ id, items }) => [id, String(items)]),
      empty: 'No app has stored data in this account yet.'
    }
  }
}

/** Lists the items of a store. */
export const dataList: CommandRun = async (session, store = '') => {
  const { account, warnings } = await refreshedAccount(session)
  const items = await account.dataStore.listItemIds(store)
  if (items.length === 0 && !(await account.dataStore.listStoreIds()).includes(store)) throw noStore(store)
  return {
    data: { store, items },
    warnings,
    view: {
      kind: 'table',
      columns: [{ title: 'ITEM', canShrink: true }],
      rows: items.map(id => [id]),
      empty: 'This store is empty.'
    }
  }
}

/** Prints an item, or writes it into a file exactly. */
export const dataGet: CommandRun = async (session, store = '', item = '') => {
  const { account, warnings } = await refreshedAccount(session)
  const value = await account.dataStore.getItem(store, item)
  const path = session.text('output')
  if (path === undefined) {
    return { data: { store, item, value }, warnings, view: { kind: 'text', lines: value.split('\n') } }
  }
  await writeOutputFile(path, value, session.isOn('force'))
  return {
    data: { store, item, file: path },
    warnings,
    view: { kind: 'record', fields: [['file', path]] }
  }
}

/** Writes an item, on all devices. */
export const dataSet: CommandRun = async (session, store = '', item = '') => {
  const value = await readValue(session)
  const account = await session.account()
  return changeData(session, {
    data: { store, item, length: value.length },
    done: `${item} is written`,
    call: () => account.dataStore.setItem(store, item, value)
  })
}

/** Deletes an item, or a whole store, on all devices. */
export const dataRemove: CommandRun = async (session, store = '', item = undefined) => {
  const { account } = await refreshedAccount(session)
  const { dataStore } = account
  const items = await dataStore.listItemIds(store)
  if (item === undefined ? !(await dataStore.listStoreIds()).includes(store) : items.length === 0)
    throw noStore(store)
  // A missing item is an error here: reading it throws ITEM_NOT_FOUND.
  if (item !== undefined && !items.includes(item)) await dataStore.getItem(store, item)
  const what = item === undefined ? `the store ${store} with ${items.length} items` : `${item} of ${store}`
  const summary = { store, ...(item === undefined ? { items: items.length } : { item }) }
  if (!session.globals.dryRun) {
    await confirm(session, { question: `Delete ${what}, on every device?`, summary })
  }
  return changeData(session, {
    data: { ...summary, deleted: true },
    done: `Deleted: ${what}`,
    call: () => (item === undefined ? dataStore.deleteStore(store) : dataStore.deleteItem(store, item))
  })
}

/** A change of the account's own data. */
interface DataChange {
  readonly data: CommandResult['data']
  readonly done: string
  call(): Promise<void>
}

const changeData = async (session: Session, { data, done, call }: DataChange): Promise<CommandResult> => {
  if (session.globals.dryRun) {
    return {
      data: { ...data, dryRun: true },
      view: { kind: 'text', lines: [`Nothing was changed; without --dry-run: ${done}`] }
    }
  }
  await call()
  return { data, warnings: await upload(session), view: { kind: 'text', lines: [done] } }
}

/** The error for a store that does not exist. */
export const noStore = (store: string): CliError =>
  new CliError('NOT_FOUND', `There is no store "${store}" in this account`, {
    next: [{ command: 'holdfast data stores', why: 'see the stores' }]
  })

/** Exports stores with all their items as one JSON object, item by item. */
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
        session.statusLine.step(`${count} items…`)
      }
      await sink.write('}')
    }
    await sink.write('\n}}\n')
    return await sink.end({ stores: stores.length, items: count }, warnings)
  } finally {
    await sink.discard()
  }
}

/** Imports an export; existing items are replaced with `--overwrite` only. */
export const dataImport: CommandRun = async (session, path = '') => {
  const items = parseExport(await readTextFile(path), path)
  const { account, warnings } = await refreshedAccount(session)
  const results: ItemResult[] = []
  for (const item of items) {
    session.signal.throwIfAborted()
    results.push({ ...item, status: await importItem(session, account, item) })
    session.statusLine.step(`${results.length} of ${items.length} items…`)
  }
  const { dryRun } = session.globals
  const hasChanges = results.some(({ status }) => status === 'applied') && !dryRun
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
    warnings: [...warnings, ...(hasChanges ? await upload(session) : [])],
    view: {
      kind: 'table',
      columns: [{ title: 'STATUS' }, { title: 'STORE', canShrink: true }, { title: 'ITEM', canShrink: true }],
      rows: results.map(({ store, id, status }) => [{ text: status, tone: TONES[status] }, store, id]),
      empty: 'This file has no items.'
    },
    advice: hasConflict ? ['Existing items stay; --overwrite replaces them'] : []
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
    new CliError('USAGE', `The file ${path} is not an export of data`, { cause })
  let value: unknown
  try {
    value = parseJsonText(text)
  } catch (error) {
    throw refuse(error)
  }
  if (!isJsonObject(value) || value.schema !== SCHEMA || !isJsonObject(value.stores)) throw refuse()
  return Object.entries(value.stores).flatMap(([store, items]) => {
    if (!isJsonObject(items)) throw refuse()
    return Object.entries(items).map(([id, data]) => {
      if (typeof data !== 'string') throw refuse()
      return { store, id, value: data }
    })
  })
}
