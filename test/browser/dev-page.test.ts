import { spawn } from 'node:child_process'
import { appendFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test from 'ava'
import { homeFor } from '../helpers/command-line.ts'
import { runInProcess } from '../helpers/in-process.ts'
import { STEP_LIMIT, withChromium } from './helpers/chromium.ts'
import { mouseOn } from './helpers/panel-page.ts'
import { shoot } from './helpers/shoot.ts'

const browserTest = withChromium(test)

const ratesCode = (id: string, price: number, toCurrency: string): string => `{
  kind: 'rates', id: '${id}', displayName: 'The ${id}',
  apply({ hooks, options }) {
    hooks.fetchRates.tapPromise('${id}', async ({ offer }) =>
      offer({ fromCurrency: 'BTC', toCurrency: '${toCurrency}' }, options.price ?? ${price}))
  }
}`

browserTest(
  'the page that is rebuilt while it is edited runs the plugins of the profile: in cells, in the page where their owner wants that, and those of its config as it was allowed',
  async (t, browser) => {
    const home = homeFor(t)
    const author = join(home, 'author')
    mkdirSync(author)
    const holdfast = async (...args: readonly string[]): Promise<void> => {
      const ran = await runInProcess(['plugins', ...args, '--yes', '--json', '--profile', 'mine'], { home })
      t.is(ran.code, 0, ran.stdout)
    }
    const add = async (id: string, code: string, ...flags: readonly string[]): Promise<void> => {
      writeFileSync(join(author, `${id}.ts`), code)
      await holdfast('add', join(author, `${id}.ts`), ...flags)
    }
    const exported = (id: string, price: number, toCurrency: string): string =>
      `export default ${ratesCode(id, price, toCurrency)}`
    await add('corner', exported('corner', 41, 'iso:XTS'), '--option', 'price=42')
    writeFileSync(join(author, 'options.json'), '{"price":7}')
    await add('secret', exported('secret', 6, 'iso:XTA'), '--options-file', join(author, 'options.json'))
    await add('torn', exported('torn', 1, 'iso:XTD'))
    await add('trusted', exported('trusted', 2, 'iso:XTB'), '--no-cell')
    const reader = exported('reader', 5, 'iso:XTD').replace('options.price', 'readFileSync.length')
    await add('reader', `import { readFileSync } from 'node:fs'\n${reader}`, '--no-cell')
    const later = exported('later', 5, 'iso:XTD').replace(
      '({ hooks',
      "({ go = () => import('node:os'), hooks"
    )
    await add('later', later, '--no-cell')
    await add('node', `export const of = process.version\n${exported('node', 5, 'iso:XTD')}`, '--no-cell')
    const folder = join(home, 'config', 'mine')
    const torn = readdirSync(join(folder, 'plugins')).find(name => /^torn-.*\.mjs$/.test(name)) ?? ''
    appendFileSync(join(folder, 'plugins', torn), '//')
    const config = (price: number, toCurrency: string): void =>
      writeFileSync(
        join(folder, 'holdfast.config.ts'),
        `export default { plugins: [${ratesCode('inline', price, toCurrency)}], pluginOptions: { trusted: { price: 3 } } }`
      )
    config(9, 'iso:XTC')
    await holdfast('allow')
    // Of a folder whose name is that of our own output, which is not followed.
    mkdirSync(join(author, 'dist'))
    const folderConfig = (price: number): void =>
      writeFileSync(
        join(author, 'dist/holdfast.config.js'),
        `export default { plugins: [() => (${ratesCode('made', price, 'iso:XTF')})] }`
      )
    folderConfig(11)
    await holdfast('allow', '-C', join(author, 'dist'))

    const args = [join(process.cwd(), 'scripts/build-pages.mjs'), 'serve', '--profile', 'mine', '-C', 'dist']
    const server = spawn(process.execPath, args, {
      cwd: author,
      env: { ...process.env, HOLDFAST_HOME: home },
      stdio: ['ignore', 'pipe', 'inherit']
    })
    t.teardown(() => void server.kill())
    const url = await new Promise<string>((resolve, reject) => {
      createInterface({ input: server.stdout }).once('line', resolve)
      server.once('exit', code => reject(new Error(`The server ended with ${code}`)))
    })
    const stolen = await fetch(new URL('/profile-plugins.json', url))
    t.is(stolen.status, 401)
    t.is(await stolen.text(), '{}')

    const profile = await browser.newContext()
    t.teardown(() => profile.close())
    const page = await profile.newPage()
    // All rows are in view.
    await page.setViewportSize({ width: 1280, height: 1600 })
    page.setDefaultTimeout(STEP_LIMIT)
    await page.goto(url)
    await page.getByText('live', { exact: true }).waitFor()
    // Asked of the page itself, which may be reloaded meanwhile.
    await page.waitForFunction(() => !location.href.includes('token'))
    const hand = mouseOn(page)
    const findRoute = async (toCurrency: string, price: number): Promise<void> => {
      await hand.open('Rate routes')
      await hand.fill('From', 'BTC')
      await hand.fill('To', toCurrency)
      await hand.press('Find the route')
      await page.getByText(`1 BTC = ${price} ${toCurrency}`).waitFor({ timeout: STEP_LIMIT / 3 })
    }
    const finds = async (toCurrency: string, price: number): Promise<void> => {
      const find = (): Promise<void> => findRoute(toCurrency, price)
      // A package that the development server finds late reloads the page, which forgets what was typed.
      await find().catch(find).catch(find)
    }
    const reads = (text: RegExp): Promise<void> => page.getByText(text).first().waitFor()
    await finds('iso:XTS', 42)
    await finds('iso:XTA', 7)
    await finds('iso:XTB', 3)
    await finds('iso:XTC', 9)
    await finds('iso:XTF', 11)
    // Also one that failed while its code ran, but none that was not served.
    await reads(
      /^Without a cell, .*keys included: trusted, node, inline of holdfast\.config, made of holdfast\.config\.$/
    )
    await hand.open('Plugins')
    await reads(/process is not defined/)
    await reads(/it imports node:os, which no page has/)
    await reads(/torn.* has changed since the plugin was added/)
    await reads(/it imports node:fs, which no page has/)
    await shoot(page, 'dev-page')

    config(10, 'iso:XTE')
    await reads(
      /^holdfast\.config\.ts is not loaded: holdfast\.config\.ts has changed\. .* run holdfast plugins allow --profile mine\.$/
    )
    await reads(/keys included: trusted, node, made of holdfast\.config\.$/)
    await shoot(page, 'dev-page-changed-config')
    await holdfast('allow')
    await page.getByText(/^holdfast\.config\.ts is not loaded/).waitFor({ state: 'detached' })
    await finds('iso:XTE', 10)
    folderConfig(12)
    await reads(/^holdfast\.config\.js is not loaded: holdfast\.config\.js has changed\./)

    const strange = await browser.newContext()
    t.teardown(() => strange.close())
    const stranger = await strange.newPage()
    stranger.setDefaultTimeout(STEP_LIMIT)
    await stranger.goto(url.replace(/#.*/, ''))
    await stranger.getByText(/opened without its token\. Open the address/).waitFor()
  }
)
