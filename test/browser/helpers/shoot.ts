import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

/** Writes a picture of the page into the folder that `HOLDFAST_SCREENSHOTS` names; without one, does nothing. */
export const shoot = async (page: Page, name: string): Promise<void> => {
  const folder = process.env.HOLDFAST_SCREENSHOTS
  if (folder === undefined) return
  await mkdir(folder, { recursive: true })
  // What the pointer rests on looks otherwise.
  await page.mouse.move(0, 0)
  await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' })
}
