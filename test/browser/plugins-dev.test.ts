/// <reference lib="dom" />
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type test from 'ava'
import { homeFor } from '../helpers/command-line.ts'
import { onTerminal, runOnTerminal } from '../helpers/on-terminal.ts'
import { makePriceShopProject, PRICE_SHOP } from '../helpers/price-shop-project.ts'
import { STEP_LIMIT, withChromium } from './helpers/chromium.ts'
import { watchConsole } from './helpers/panel-page.ts'

const typingTest = withChromium(onTerminal as typeof test)

typingTest(
  'the key d of plugins dev opens the devtools at this plugin, with the calls into it as they come',
  async (t, browser) => {
    const home = homeFor(t)
    const folder = join(home, 'shop')
    const write = makePriceShopProject(folder)
    // In place of the user's browser, which the test is.
    mkdirSync(join(home, 'bin'))
    writeFileSync(join(home, 'bin/xdg-open'), '#!/bin/sh\n')
    chmodSync(join(home, 'bin/xdg-open'), 0o755)
    let drawn = ''
    let onUrl = (_url: string): void => {}
    const url = new Promise<string>(resolve => {
      onUrl = resolve
    })
    const running = runOnTerminal(t, ['plugins', 'dev', folder], {
      home,
      env: { PATH: `${join(home, 'bin')}${delimiter}${process.env.PATH ?? ''}` },
      typed: [
        [/quick checks: \d+ passed/, 'd'],
        // The test changes the plugin a second time once it has seen its call.
        [/version 3, live after/, 'q']
      ],
      onDrawn(text) {
        drawn += text
        const [found] =
          /http:\/\/127\.0\.0\.1:\d+\/\S*?\/plugins\/priceshop/.exec(drawn.replace(/\s+/g, '')) ?? []
        if (found !== undefined) onUrl(found)
      }
    })
    const context = await browser.newContext()
    t.teardown(() => context.close())
    const page = await context.newPage()
    page.setDefaultTimeout(STEP_LIMIT)
    watchConsole(t, page)
    await page.goto(await url)
    await page.getByText('live', { exact: true }).waitFor()
    const details = page.getByRole('complementary')
    await details.getByRole('heading', { name: 'priceshop' }).waitFor()
    // A new version is asked for rates at once.
    write(`${PRICE_SHOP}// again\n`)
    await details.getByText('Calls into its cell').waitFor()
    t.regex((await details.textContent()) ?? '', /fetchRates.*"wanted".*Price Shop cannot be reached/s)
    // Before the page loses its server, which it would say.
    await context.close()
    write(`${PRICE_SHOP}// and again\n`)
    t.is((await running).code, 0)
  }
)
