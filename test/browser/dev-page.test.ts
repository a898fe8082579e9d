import { spawn } from 'node:child_process'
import { appendFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test from 'ava'
import { homeFor } from '../helpers/command-line.ts'
import { runInProcess } from '../helpers/in-process.ts'
import { STEP_LIMIT, withChromium } from './helpers/chromium.ts'
import { mouseOn } from './helpers/panel-page.ts'

const browserTest = withChromium(test)

const ratesCode = (id: string, price: number): string => `
export default {
  kind: 'rates', id: '${id}', displayName: 'The ${id}',
  apply({ hooks, options }) {
    hooks.fetchRates.tapPromise('${id}', async ({ offer }) => offer({ fromCurrency: 'BTC', toCurrency: 'iso:XTS' }, options.price ?? ${price}))
  }
}
`

browserTest(
  'the page that is rebuilt while it is edited has the plugins of the profile, in cells, and says why others are not loaded',
  async (t, browser) => {
    const home = homeFor(t)
    const author = join(home, 'author')
    mkdirSync(author)
    const add = async (id: string, price: number, ...flags: readonly string[]): Promise<void> => {
      writeFileSync(join(author, `${id}.ts`), ratesCode(id, price))
      const args = [
        'plugins',
        'add',
        join(author, `${id}.ts`),
        '--yes',
        '--json',
        '--profile',
        'mine',
        ...flags
      ]
      const ran = await runInProcess(args, { home })
      t.is(ran.code, 0, ran.stdout)
    }
    await add('corner', 41, '--option', 'price=42')
    writeFileSync(join(author, 'options.json'), '{"price":7}')
    await add('secret', 7, '--options-file', join(author, 'options.json'))
    await add('torn', 1)
    await add('trusted', 2, '--no-cell')
    const plugins = join(home, 'config', 'mine', 'plugins')
    const torn = readdirSync(plugins).find(name => /^torn-.*\.mjs$/.test(name)) ?? ''
    appendFileSync(join(plugins, torn), '//')

    const server = spawn(process.execPath, ['scripts/build-pages.mjs', 'serve', '--profile', 'mine'], {
      env: { ...process.env, HOLDFAST_HOME: home },
      stdio: ['ignore', 'pipe', 'inherit']
    })
    t.teardown(() => void server.kill())
    const url = await new Promise<string>((resolve, reject) => {
      createInterface({ input: server.stdout }).once('line', resolve)
      server.once('exit', code => reject(new Error(`The server ended with ${code}`)))
    })
    const profile = await browser.newContext()
    t.teardown(() => profile.close())
    const page = await profile.newPage()
    page.setDefaultTimeout(4 * STEP_LIMIT)
    await page.goto(url)
    await page.getByText('live', { exact: true }).waitFor()
    const hand = mouseOn(page)
    const findRoute = async (): Promise<void> => {
      await hand.open('Rate routes')
      await hand.fill('From', 'BTC')
      await hand.fill('To', 'iso:XTS')
      await hand.press('Find the route')
      await page.getByText('1 BTC = 42 iso:XTS').waitFor({ timeout: STEP_LIMIT / 3 })
    }
    // A package that the development server finds late reloads the page, which forgets what was typed.
    await findRoute().catch(findRoute).catch(findRoute)
    await hand.open('Plugins')
    await page
      .getByText(/torn.* has changed since the plugin was added/)
      .first()
      .waitFor()
    await page
      .getByText(/it has options of a file/)
      .first()
      .waitFor()
    await page
      .getByText(/it was added with --no-cell/)
      .first()
      .waitFor()
  }
)
