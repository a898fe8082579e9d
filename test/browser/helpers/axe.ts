/// <reference lib="dom" />
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

declare const axe: { run(options?: { readonly runOnly: readonly string[] }): Promise<AxeResults> }

const axeText = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Puts the examiner into a page. It writes markup, so the page must be one whose policy is set aside. */
export const bringAxe = async (page: Page): Promise<void> => {
  await page.evaluate(axeText)
}

/** What is wrong with the page as it is now: rule and element. */
export const faultsOf = async (page: Page): Promise<readonly string[]> =>
  faultsIn(await page.evaluate(() => axe.run()))

/** What of it is wrong with the colours alone: of a page that was examined in others, the rest is known. */
export const colourFaultsOf = async (page: Page): Promise<readonly string[]> =>
  faultsIn(await page.evaluate(() => axe.run({ runOnly: ['color-contrast', 'link-in-text-block'] })))

const faultsIn = ({ violations }: AxeResults): readonly string[] => {
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} at ${target}: ${failureSummary}`)
  )
}
