/// <reference lib="dom" />
import test, { type ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { STEP_LIMIT, withChromium } from './helpers/chromium.ts'
import { mouseOn, watchConsole } from './helpers/panel-page.ts'
import { scenes } from './helpers/scenes.ts'
import type { ServedFolder } from './helpers/serve-folder.ts'
import { shoot } from './helpers/shoot.ts'
import { serveTestPage } from './helpers/test-page.ts'
import type { TruthPage } from './page/truth-page.ts'

declare const truth: TruthPage

const browserTest = withChromium(test, { isSerial: true })
const sites = new Map<string, Promise<ServedFolder>>()
const siteOf = (script: 'sample-page' | 'truth-page'): Promise<ServedFolder> => {
  const site = sites.get(script) ?? serveTestPage(script)
  sites.set(script, site)
  return site
}
test.after.always(async () => {
  for (const site of sites.values()) (await site).close()
})

/** What the rows of a table say, by the hint of their first cell, which is an id. */
const rowsOf = (page: Page, label: string): Promise<Readonly<Record<string, readonly string[]>>> =>
  page.evaluate(label => {
    const table = document.body.firstElementChild?.shadowRoot?.querySelector(`table[aria-label="${label}"]`)
    const rows = [...(table?.querySelectorAll('tbody tr:not(.space)') ?? [])]
    return Object.fromEntries(
      rows.map(row => {
        const cells = [...row.children]
        return [cells[0]?.getAttribute('title') ?? '', cells.map(cell => cell.textContent?.trim() ?? '')]
      })
    )
  }, label)

/** A seeded choice: mulberry32. */
const makeDraw = (seed: number): ((below: number) => number) => {
  let state = seed
  return below => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

const ACTION_COUNT = 30
/** The network goes and comes at these, whatever is drawn: an engine has to say so before it looks again by itself. */
const FIXED: ReadonlyMap<number, number> = new Map([
  [12, 6],
  [13, 5],
  [20, 6]
])
const STRANGER = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'

/** One act of somebody who tries things; what is refused, such as a payment offline, is an act, too. */
const actionOf = async (
  page: Page,
  draw: (below: number) => number,
  fixed: number | undefined
): Promise<string> => {
  const walletIds = await page.evaluate(() => truth.walletIds())
  const walletId = walletIds[draw(walletIds.length)] ?? ''
  const kind = fixed ?? draw(9)
  return page.evaluate(
    async ([kind, walletId, stranger]) => {
      const perform: readonly (readonly [string, () => Promise<unknown>])[] = [
        ['fund', () => truth.runAction('world.fund', { walletId, nativeAmount: '1500000' })],
        ['mine', () => truth.runAction('world.mine', { pluginId: 'bitcoin', count: 2 })],
        ['pause', () => truth.runAction('engine.pause', { walletId })],
        ['resume', () => truth.runAction('engine.resume', { walletId })],
        ['resync', () => truth.runAction('engine.resync', { walletId })],
        ['offline', () => truth.runAction('world.network', { isOnline: false })],
        ['online', () => truth.runAction('world.network', { isOnline: true })],
        [
          'sync',
          async () => truth.runAction('repo.sync', { repoId: Object.keys(await truth.repos())[0] ?? '' })
        ],
        [
          'pay',
          async () => {
            const swapRequest = { walletId, publicAddress: stranger, nativeAmount: '20000' }
            const { draftId } = await truth.runAction('spend.draft', swapRequest)
            await truth.runAction('spend.approve', { draftId })
          }
        ]
      ]
      const [name, runAction] = perform[kind] ?? ['nothing', async () => undefined]
      const outcome = await runAction().then(
        () => 'done',
        (error: { code?: string }) => error.code ?? 'failed'
      )
      return `${name} ${walletId.slice(0, 4)}: ${outcome}`
    },
    [kind, walletId, STRANGER] as const
  )
}

/** Without a network, no row says that it is synced, and what went wrong is not blamed on another server. */
const isHonest = async (page: Page, rows: Readonly<Record<string, readonly string[]>>): Promise<boolean> => {
  const all = Object.values(rows)
  if (all.some(row => row.at(-1)?.includes('auth server') === true)) return false
  return (await page.evaluate(() => truth.isOnline())) || all.every(([, , stage]) => stage !== 'synced')
}

/** Compares what Sync says of each repo with the kernel: names, states, pending writes, hashes, and how long ago. */
const compareRepos = async (t: ExecutionContext, page: Page, when: string): Promise<void> => {
  const end = Date.now() + STEP_LIMIT
  let pairs: (readonly [said: readonly string[], known: readonly string[]])[] = []
  do {
    const known = await page.evaluate(() => truth.repos())
    const said = await rowsOf(page, 'Repos')
    const now = Date.now() / 1000
    t.deepEqual(Object.keys(said).sort(), Object.keys(known).sort())
    pairs = Object.entries(known).map(([repoId, { cells, lastSync }]) => {
      const row = [...(said[repoId] ?? [])]
      const [age = ''] = row.splice(4, 1)
      return [
        [...row, isAge(age, lastSync, now) ? '' : age],
        [...cells, '']
      ]
    })
  } while (pairs.some(([said, known]) => said.join('|') !== known.join('|')) && Date.now() < end)
  t.true(pairs.length > 0)
  t.deepEqual(
    pairs.map(([said]) => said),
    pairs.map(([, known]) => known),
    when
  )
}

/** Returns true for the age of a moment, in Unix seconds, as a table says it: cut to a unit, and up to a few seconds old. */
const isAge = (text: string, moment: number, now: number): boolean => {
  if (moment === 0) return text === 'never'
  if (text === 'now') return now - moment < 3
  const [, count, unit = ''] = /^(\d+)\s?(s|min) ago$/.exec(text) ?? []
  const seconds = Number(count) * (unit === 'min' ? 60 : 1)
  return Math.abs(now - moment - seconds) <= (unit === 'min' ? 65 : 5)
}

browserTest(
  'after thirty acts, and after each of them, a row says what the kernel says',
  async (t, browser) => {
    const seed = Number(process.env.HOLDFAST_TRUTH_SEED ?? Math.floor(Math.random() * 2 ** 31))
    t.log(`HOLDFAST_TRUTH_SEED=${seed}`)
    const profile = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    t.teardown(() => profile.close())
    const page = await profile.newPage()
    watchConsole(t, page)
    page.setDefaultTimeout(STEP_LIMIT)
    await page.goto(`${(await siteOf('truth-page')).url}/#/engines`)
    await page.waitForFunction(() => 'truth' in globalThis)
    await page.evaluate(async () => {
      const { accountId } = await truth.runAction('account.create', {})
      for (const [walletType, name] of [
        ['wallet:bitcoin', 'Savings'],
        ['wallet:bitcoin', 'Daily'],
        ['wallet:litecoin', 'Pocket']
      ] as const)
        await truth.runAction('wallet.create', { accountId, walletType, name })
    })
    const draw = makeDraw(seed)
    const done: string[] = []
    for (let turn = 0; turn < ACTION_COUNT; turn += 1) {
      done.push(await actionOf(page, draw, FIXED.get(turn)))
      // Both are asked again and again, since a kernel goes on while it is read; soon they agree.
      let [said, known]: Readonly<Record<string, readonly string[]>>[] = []
      const end = Date.now() + STEP_LIMIT
      do {
        known = await page.evaluate(() => truth.engines())
        said = await rowsOf(page, 'Engines')
      } while (
        (JSON.stringify(said) !== JSON.stringify(known) || !(await isHonest(page, said))) &&
        Date.now() < end
      )
      t.deepEqual(said, known, `after ${done.join(', ')}`)
      t.true(await isHonest(page, said), `${JSON.stringify(said)} after ${done.join(', ')}`)
    }
    t.log(done.join(', '))
    await shoot(page, 'truth')
    await mouseOn(page).open('Sync')
    await page.getByRole('table', { name: 'Repos' }).waitFor()
    await compareRepos(t, page, 'at the end')
    for (const isOnline of [false, true]) {
      const pending = await page.evaluate(async isOnline => {
        await truth.runAction('world.network', { isOnline })
        const [walletId = ''] = truth.walletIds()
        await truth.rename(walletId, `Renamed ${isOnline}`)
        return Object.values(await truth.repos()).some(({ cells }) => cells[3] !== '0')
      }, isOnline)
      t.true(isOnline || pending, 'a change waits without a network')
      await compareRepos(t, page, isOnline ? 'with a network' : 'without a network')
      if (isOnline) continue
      // Nothing is exchanged meanwhile, so that the ages of all are other ones.
      const newest = async (): Promise<number> =>
        Math.max(...Object.values(await page.evaluate(() => truth.repos())).map(({ lastSync }) => lastSync))
      while (Date.now() / 1000 - (await newest()) < 5) await page.waitForTimeout(200)
      await compareRepos(t, page, 'some seconds later')
    }
  }
)

/** Cells whose words or figures are cut, save those whose words are somebody's own and are told in full beside the table. */
const cutCellsOf = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() => {
    const cells =
      document.body.firstElementChild?.shadowRoot?.querySelectorAll<HTMLElement>('.scroll th, .scroll td') ??
      []
    return [...cells]
      .filter(cell => cell.clientWidth > 0 && !cell.classList.contains('prose'))
      .filter(cell =>
        [cell, ...cell.querySelectorAll<HTMLElement>('*')].some(
          part => part.clientWidth > 0 && part.scrollWidth > part.clientWidth + 1
        )
      )
      .map(
        cell =>
          `${cell.closest('table')?.getAttribute('aria-label')}: “${cell.textContent}” in ${cell.clientWidth} px`
      )
  })

const WIDTHS = [320, 640, 960, 1280]

browserTest(`no cell of a table is cut in a window of ${WIDTHS.join(', ')} px`, async (t, browser) => {
  const profile = await browser.newContext()
  t.teardown(() => profile.close())
  const page = await profile.newPage()
  page.setDefaultTimeout(STEP_LIMIT)
  const { url } = await siteOf('sample-page')
  const cut: string[] = []
  const full = scenes.filter(({ state }) => state === 'full')
  for (const [at, { name, state, place, perform }] of full.entries()) {
    // Each begins in a window of another width, and goes through all.
    const first = at % WIDTHS.length
    let isShown = false
    for (const width of [...WIDTHS.slice(first), ...WIDTHS.slice(0, first)]) {
      await page.setViewportSize({ width, height: 900 })
      if (!isShown) {
        await page.goto('about:blank')
        await page.goto(`${url}/?state=${state}#/${place}`)
        await page.getByRole('tablist').waitFor()
        await perform?.(mouseOn(page), page)
        isShown = true
      }
      for (const cell of await cutCellsOf(page)) cut.push(`${name} in ${width} px: ${cell}`)
    }
  }
  t.deepEqual(cut, [])
})
