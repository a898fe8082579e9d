import type { CommandRun } from '../command.ts'
import type { CommandResult } from '../command-result.ts'
import { CliError } from '../errors/cli-error.ts'
import { writeOutputFile } from '../output/output-file.ts'
import { confirm } from '../session/confirm.ts'
import { refreshedAccount } from '../session/refreshed-account.ts'
import { upload } from '../session/upload.ts'
import { readValue } from '../session/value-input.ts'
import type { Session } from '../session.ts'

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
      empty: 'No app keeps anything in this account yet.'
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
  // An item that is not there is told as such, and not deleted in silence.
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

/** There is no store of this name. */
export const noStore = (store: string): CliError =>
  new CliError('NOT_FOUND', `There is no store "${store}" in this account`, {
    next: [{ command: 'holdfast data stores', why: 'see the stores' }]
  })
