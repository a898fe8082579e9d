import { existsSync } from 'node:fs'
import type { ExecutionContext, TestFn } from 'ava'
import { type Browser, chromium } from 'playwright-core'

/** A test that has a browser. */
export type BrowserTest = (t: ExecutionContext, browser: Browser) => Promise<void>

/** How long a step in a page may take, in milliseconds: a bound for what hangs, far above what a busy machine needs. */
export const STEP_LIMIT = 90_000

/** Where Debian puts its own: the one without windows takes half the time for the same pages. */
const [SHELL, WHOLE] = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']

/** Where a Chromium is: what `HOLDFAST_CHROMIUM` says, or one of Debian's. */
const programOf = (isWhole: boolean): string =>
  process.env.HOLDFAST_CHROMIUM ?? (!isWhole && existsSync(SHELL) ? SHELL : WHOLE)

/** Where a browser must be had: in CI, and where somebody says so. */
const isRequired = process.env.HOLDFAST_CI === '1' || process.env.HOLDFAST_REQUIRE_BROWSER === '1'

let browser: Promise<Browser> | undefined

const openBrowser = (program: string): Promise<Browser> => {
  const isRoot = process.getuid?.() === 0
  // Chromium's sandbox does not run as root, as in a container.
  browser ??= chromium.launch({ executablePath: program, args: isRoot ? ['--no-sandbox'] : [] })
  return browser
}

/**
 * Makes `test` one whose tests are given a real Chromium, one for each file. Without a Chromium they are skipped and say so,
 * except where one is required.
 *
 * @param isSerial - one after another, for tests that each keep a processor busy
 * @param isWhole - a Chromium with windows, which gives a frame of another origin a process of its own
 */
export const withChromium = (
  test: TestFn,
  { isSerial = false, isWhole = false }: { isSerial?: boolean; isWhole?: boolean } = {}
): ((title: string, run: BrowserTest) => void) => {
  const declare = isSerial ? test.serial : test
  const program = programOf(isWhole)
  test.after.always('the browser is closed', async () => {
    await (await browser)?.close()
  })
  return (title, run) => {
    declare(title, async t => {
      if (!existsSync(program) && !isRequired) {
        t.log('skipped: there is no Chromium; on Debian, apt-get install chromium, or set HOLDFAST_CHROMIUM')
        t.pass()
        return
      }
      await run(t, await openBrowser(program))
    })
  }
}
