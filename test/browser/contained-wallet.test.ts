import test from 'ava'
import type { Browser } from 'playwright-core'
import { bundled } from '../helpers/cell-stage.ts'
import { drawPart } from '../helpers/drawn-runs.ts'
import { HOSTILE_KINDS } from '../helpers/hostile-kinds.ts'
import { TOLLAR } from '../helpers/tollar-source.ts'
import { withChromium } from './helpers/chromium.ts'
import { serveTestPage } from './helpers/test-page.ts'
import type { BundledPlugin, ContainedPage, PaymentEnd } from './page/contained-page.ts'

declare const contained: ContainedPage

const browserTest = withChromium(test, { isSerial: true })

const POLICY =
  "default-src 'none'; script-src 'self'; img-src data:; frame-src 'self'; connect-src blob:; require-trusted-types-for 'script'; trusted-types 'none'"

const tollar = (code: string): BundledPlugin => ({
  ...{ id: 'tollar', code, asks: { kind: 'currency', hosts: ['ledger.example'], keys: true } }
})

/** Pays in a page of its own. */
const pay = async (browser: Browser, url: string, added: readonly BundledPlugin[]): Promise<PaymentEnd> => {
  const page = await browser.newPage()
  try {
    await page.goto(url)
    return await page.evaluate(plugins => contained.pay(plugins), added)
  } finally {
    await page.close()
  }
}

browserTest(
  'hostile policies, observers and currencies in cells of a page stop or pass one payment, and no key leaves',
  async (t, browser) => {
    t.timeout(280_000)
    const site = await serveTestPage('contained-page', POLICY)
    t.teardown(() => site.close())
    const honest = tollar(await bundled(TOLLAR))
    const { end, sent, key, seen } = await pay(browser, site.url, [honest])
    t.deepEqual([end, sent], ['paid', 1])
    t.regex(key, /^[0-9a-f]{64}$/)
    t.false(seen.some(line => line.includes(key)))
    const problems: string[] = []
    for (const { name, kind, payment, code } of drawPart(t, HOSTILE_KINDS, 3)) {
      // It would take the memory of this machine: ADR 51.
      if (name.includes('memory') || name.includes('brings its process down')) continue
      const bad = await code()
      const plugins =
        kind === 'currency'
          ? [tollar(bad)]
          : [honest, { id: 'bad', code: bad, asks: { kind, hosts: [], keys: false } }]
      const found = await pay(browser, site.url, plugins).catch((error: unknown) => String(error))
      if (typeof found === 'string') {
        problems.push(`${kind} ${name}: ${found}`)
        continue
      }
      t.log(`${kind} ${name}: ${found.end}`)
      const isRight =
        payment === 'paid'
          ? found.end === 'paid' && found.sent === 1
          : payment.test(found.end) && found.end !== 'paid' && found.sent === 0
      if (!isRight) problems.push(`${kind} ${name}: ${found.end}, ${found.sent} sent`)
      if (found.end.includes(found.key)) problems.push(`${kind} ${name}: the key is in the error`)
      const lines = kind === 'currency' ? found.seen.filter(line => line.includes('evil')) : found.seen
      if (lines.some(line => line.includes(found.key))) problems.push(`${kind} ${name}: the key is out`)
    }
    t.deepEqual(problems, [])
  }
)
