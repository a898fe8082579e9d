/// <reference lib="dom" />
import type { ExecutionContext } from 'ava'
import test from 'ava'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { diskWithDeadline } from '../../kernel/base/disk-deadline.ts'
import { isWalletError } from '../../kernel/base/errors.ts'
import type { Plugin } from '../../kernel/index.ts'
import { storeDisk } from '../../kernel/store/store-disk.ts'
import { makeFakeClock } from '../../testing/fake-clock.ts'
import { testStoragePlugin } from '../../testing/storage-suite.ts'
import { oldProfiles, readOldProfile, wantedOf } from '../helpers/old-profile.ts'
import { withChromium } from './helpers/chromium.ts'
import { openPageDisk, openPageStore } from './helpers/page-disk.ts'
import type { ServedFolder } from './helpers/serve-folder.ts'
import { serveTestPage } from './helpers/test-page.ts'

const browserTest = withChromium(test)
const browserTestAlone = withChromium(test, { isSerial: true })
let site: Promise<ServedFolder> | undefined
test.after.always(async () => (await site)?.close())

/** A browser profile of its own, with no database yet. */
const openProfile = async (t: ExecutionContext, browser: Browser): Promise<BrowserContext> => {
  const profile = await browser.newContext()
  t.teardown(() => profile.close())
  return profile
}

const openTab = async (profile: BrowserContext): Promise<Page> => {
  site ??= serveTestPage('parts-page')
  const tab = await profile.newPage()
  await tab.goto((await site).url)
  return tab
}

let contractPage: Promise<Page> | undefined
testStoragePlugin(
  (title, run) =>
    browserTest(title, async (t, browser) => {
      contractPage ??= browser.newContext().then(openTab)
      await contractPage
      await run(t)
    }),
  place => ({
    kind: 'storage',
    id: 'tested',
    apply: ({ hooks }) =>
      hooks.openStore.tapPromise('tested', async () =>
        openPageStore((await contractPage) as Page, `contract ${place}`)
      )
  }),
  { pluginId: 'IndexedDB' }
)

browserTest(
  'texts are there after a reload, and in the next tab when the first one is closed',
  async (t, browser) => {
    const profile = await openProfile(t, browser)
    const tab = await openTab(profile)
    await (await openPageDisk(tab, 'a')).setText('logins/x.json', '{"a":1}')
    await tab.reload()
    const again = await openPageDisk(tab, 'a')
    t.is(await again.getText('logins/x.json'), '{"a":1}')
    await tab.close()
    const next = await openPageDisk(await openTab(profile), 'a')
    t.deepEqual(await next.list(''), ['logins/x.json'])
  }
)

browserTest(
  'a second tab does not get the store that a first one has open; another store it gets',
  async (t, browser) => {
    const profile = await openProfile(t, browser)
    const [first, second] = [await openTab(profile), await openTab(profile)]
    const disk = await openPageDisk(first, 'a')
    await disk.setText('x', '1')
    t.true(isWalletError(await t.throwsAsync(openPageDisk(second, 'a')), 'STORAGE_LOCKED'))
    t.true(isWalletError(await t.throwsAsync(openPageDisk(first, 'a')), 'STORAGE_LOCKED'))
    t.deepEqual(await (await openPageDisk(second, 'b')).list(''), [])
    await disk.close?.()
    t.is(await (await openPageDisk(second, 'a')).getText('x'), '1')
  }
)

// Alone, because a held transaction keeps the databases of the whole browser busy.
browserTestAlone(
  'a write that another tab of the database holds up is given up, and nothing is written after it',
  async (t, browser) => {
    const profile = await openProfile(t, browser)
    const pageDisk = await openPageDisk(await openTab(profile), 'a')
    await pageDisk.setText('note', 'old')
    const clock = makeFakeClock()
    const disk = diskWithDeadline(pageDisk, { clock, onClosed: error => t.is(error.details.path, 'note') })

    const stuck = await openTab(profile)
    await holdTransaction(stuck, 'a')
    const write = t.throwsAsync(disk.setText('note', 'new'))
    const read = t.throwsAsync(disk.getText('note'))
    await clock.advance(90_000)
    t.true(isWalletError(await write, 'STORAGE_TIMEOUT'))
    t.true(isWalletError(await read, 'STORAGE_TIMEOUT'))

    await stuck.close()
    t.true(isWalletError(await t.throwsAsync(disk.setText('note', 'newest')), 'STORAGE_TIMEOUT'))
    t.is(await disk.getText('note'), 'new', 'the held write is made late, and no later one over it')
  }
)

/** Keeps a transaction over the files of a database open for as long as the tab is. */
const holdTransaction = (tab: Page, name: string): Promise<void> =>
  tab.evaluate(
    database =>
      new Promise<void>((resolve, reject) => {
        const opening = indexedDB.open(database)
        opening.onerror = () => reject(opening.error)
        opening.onsuccess = () => {
          const files = opening.result.transaction('values', 'readwrite').objectStore('values')
          const readAgain = (): void => {
            files.get(new TextEncoder().encode('f/note')).onsuccess = readAgain
            resolve()
          }
          readAgain()
        }
      }),
    name
  )

browserTest('a closed disk refuses everything', async (t, browser) => {
  const disk = await openPageDisk(await openTab(await openProfile(t, browser)), 'a')
  await disk.setText('x', '1')
  await disk.close?.()
  for (const call of [disk.getText('x'), disk.setText('x', '2'), disk.delete('x'), disk.list('')])
    t.true(isWalletError(await t.throwsAsync(call), 'STORAGE_FAILED'))
})

browserTest(
  'a store whose site is cleared says that the browser closed it, and lets go of its name',
  async (t, browser) => {
    const profile = await openProfile(t, browser)
    const [tab, next] = [await openTab(profile), await openTab(profile)]
    const disk = await openPageDisk(tab, 'a')
    await disk.setText('x', '1')
    const session = await profile.newCDPSession(tab)
    await session.send('Storage.clearDataForOrigin', {
      origin: new URL(tab.url()).origin,
      storageTypes: 'indexeddb'
    })
    t.deepEqual(await (await openPageDisk(next, 'a')).list(''), [])
    const refusal = await t.throwsAsync(disk.setText('x', '2'))
    t.true(isWalletError(refusal, 'STORAGE_FAILED') && refusal.details.reason === 'the browser has closed it')
  }
)

browserTest('a browser without room says so, and the old text is unharmed', async (t, browser) => {
  const profile = await openProfile(t, browser)
  const tab = await openTab(profile)
  const session = await profile.newCDPSession(tab)
  const origin = new URL(tab.url()).origin
  await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 100_000 })
  const disk = await openPageDisk(tab, 'a')
  await disk.setText('x', 'old')
  const refusal = await t.throwsAsync(disk.setText('x', 'ŋ'.repeat(3_000_000)))
  t.true(isWalletError(refusal, 'STORAGE_FULL'))
  t.is(await disk.getText('x'), 'old')
  await disk.setText('x', 'new')
  t.is(await disk.getText('x'), 'new')
})

browserTest(
  'an empty store takes what the deployed client left in the local storage, once',
  async (t, browser) => {
    const tab = await openTab(await openProfile(t, browser))
    await tab.evaluate(() => {
      const page = globalThis as unknown as { localStorage: { setItem(key: string, text: string): void } }
      page.localStorage.setItem('airbitz/logins/x.json', '{"a":1}')
      page.localStorage.setItem('airbitz/repos/y/changes.json', '{}')
      page.localStorage.setItem('other', 'not ours')
    })
    const disk = await openPageDisk(tab, 'a', true)
    t.deepEqual(await disk.list(''), ['logins/x.json', 'repos/y/changes.json'])
    t.is(await disk.getText('logins/x.json'), '{"a":1}')
    await disk.setText('logins/x.json', '{"a":2}')
    await disk.delete('repos/y/changes.json')
    await disk.close?.()
    const again = await openPageDisk(tab, 'a', true)
    t.deepEqual(await again.list(''), ['logins/x.json'])
    t.is(await again.getText('logins/x.json'), '{"a":2}')
  }
)

browserTest(
  'a database of version 0.1 is converted when it is opened, and that version refuses it then',
  async (t, browser) => {
    const tab = await openTab(await openProfile(t, browser))
    const texts = {
      'logins/x.json': '{"a":1}',
      'local/w/000000000001-000000000001': 'x'.repeat(300_000),
      odd: '\ufeffä\ud800'
    }
    await writeOldDatabase(tab, 'a', texts)
    const store = await openPageStore(tab, 'a')
    const disk = storeDisk(store)
    t.deepEqual(await disk.list(''), Object.keys(texts).sort())
    t.is(await disk.getText('logins/x.json'), texts['logins/x.json'])
    t.is(await disk.getText('local/w/000000000001-000000000001'), texts['local/w/000000000001-000000000001'])
    t.is(await disk.getText('odd'), '\ufeffä\ufffd')
    await disk.setText('logins/x.json', '{"a":2}')
    await store.close()
    await t.throwsAsync(writeOldDatabase(tab, 'a', {}), { message: /VersionError/ })
    t.is(await (await openPageDisk(tab, 'a')).getText('logins/x.json'), '{"a":2}')
  }
)

browserTest(
  'an account that version 0.1 kept in a database is converted, and shows everything without a network',
  async (t, browser) => {
    const profile = await openProfile(t, browser)
    const { page } = oldProfiles
    await writeOldDatabase(await openTab(profile), 'wallets', page.texts)
    for (let opening = 0; opening < 2; opening += 1) {
      const tab = await openTab(profile)
      const storage: Plugin = {
        kind: 'storage',
        id: 'page',
        apply: ({ hooks }) => hooks.openStore.tapPromise('page', () => openPageStore(tab, 'wallets'))
      }
      t.deepEqual(await readOldProfile(page, storage), wantedOf(page))
      const disk = await openPageDisk(tab, 'wallets')
      t.deepEqual(
        (await disk.list('repos')).filter(path => path.includes('/store/')),
        []
      )
      await tab.close()
    }
  }
)

browserTest(
  'a database of version 0.1 that cannot be converted is an error, and stays as it is',
  async (t, browser) => {
    const tab = await openTab(await openProfile(t, browser))
    const unhandled: string[] = []
    tab.on('pageerror', error => unhandled.push(error.message))
    await writeOldDatabase(tab, 'a', { 'a/b': '1', 'no path': '2', 'z.json': '3' })
    const refusal = await t.throwsAsync(openPageStore(tab, 'a'))
    t.true(isWalletError(refusal, 'PATH_REFUSED'), refusal?.message)
    t.deepEqual(unhandled, [])
    // That version can still open it.
    await writeOldDatabase(tab, 'a', { 'a/b': '4' })
    await removeOldText(tab, 'a', 'no path')
    const disk = await openPageDisk(tab, 'a')
    t.deepEqual(await disk.list(''), ['a/b', 'z.json'])
    t.is(await disk.getText('a/b'), '4')
  }
)

const removeOldText = (tab: Page, name: string, path: string): Promise<void> =>
  tab.evaluate(
    ([name, path]) =>
      new Promise<void>((resolve, reject) => {
        const opening = indexedDB.open(name, 1)
        opening.onerror = () => reject(new Error(opening.error?.name))
        opening.onsuccess = () => {
          const writing = opening.result.transaction('files', 'readwrite')
          writing.objectStore('files').delete(path)
          writing.oncomplete = () => {
            opening.result.close()
            resolve()
          }
        }
      }),
    [name, path] as const
  )

/** Makes a database as version 0.1 did: a text by path. */
const writeOldDatabase = (tab: Page, name: string, texts: Readonly<Record<string, string>>): Promise<void> =>
  tab.evaluate(
    ([name, texts]) =>
      new Promise<void>((resolve, reject) => {
        const opening = indexedDB.open(name, 1)
        opening.onupgradeneeded = () => void opening.result.createObjectStore('files')
        opening.onerror = () => reject(new Error(opening.error?.name))
        opening.onsuccess = () => {
          const writing = opening.result.transaction('files', 'readwrite')
          for (const [path, text] of texts) writing.objectStore('files').put(text, path)
          writing.oncomplete = () => {
            opening.result.close()
            resolve()
          }
        }
      }),
    [name, Object.entries(texts)] as const
  )
