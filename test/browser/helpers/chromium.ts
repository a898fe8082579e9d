import { existsSync } from 'node:fs'
import type { ExecutionContext, TestFn } from 'ava'
import { type Browser, chromium } from 'playwright-core'

/** A test that has a browser. */
export type BrowserTest = (t: ExecutionContext, browser: Browser) => Promise<void>

/** How long a step in a page may take, in milliseconds: a bound for what hangs, far above what a busy machine needs. */
export const STEP_LIMIT = 90_000

/** Where Debian puts its own: the one without windows takes half the time for the same pages. */
const OF_DEBIAN = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']

/** Where a Chromium is: what `HOLDFAST_CHROMIUM` says, or one of Debian's. */
const PROGRAM = process.env.HOLDFAST_CHROMIUM ?? OF_DEBIAN.find(path => existsSync(path)) ?? ''

/** Where a browser must be had: in CI, and where somebody says so. */
const isRequired = process.env.HOLDFAST_CI === '1' || process.env.HOLDFAST_REQUIRE_BROWSER === '1'

let browser: Promise<Browser> | undefined

const openBrowser = (): Promise<Browser> => {
  const isRoot = process.getuid?.() === 0
  // Chromium's sandbox does not run as root, as in a container.
  browser ??= chromium.launch({ executablePath: PROGRAM, args: isRoot ? ['--no-sandbox'] : [] })
  return browser
}

/**
 * Makes `test` one whose tests are given a real Chromium, one for each file. Without a Chromium they are skipped and say so,
 * except where one is required. `isSerial`: one after another, for tests that each keep a processor busy.
 */
export const withChromium = (test: TestFn, isSerial = false): ((title: string, run: BrowserTest) => void) => {
  const declare = isSerial ? test.serial : test
  test.after.always('the browser is closed', async () => {
    await (await browser)?.close()
  })
  return (title, run) => {
    declare(title, async t => {
      if (!existsSync(PROGRAM) && !isRequired) {
        t.log(
          'skipped: there is no Chromium; on Debian, apt-get install chromium-headless-shell, or set HOLDFAST_CHROMIUM'
        )
        t.pass()
        return
      }
      await run(t, await openBrowser())
    })
  }
}
