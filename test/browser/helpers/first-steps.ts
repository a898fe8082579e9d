import type { Page } from 'playwright-core'
import type { Hand } from './panel-page.ts'

/** Makes an account with what is to be typed by the names of its fields, a light one by default, and waits for it. */
export const createAccount = async (
  page: Page,
  hand: Hand,
  typed: Readonly<Record<string, string>> = { PIN: '2580' }
): Promise<void> => {
  await hand.press('Create an account…')
  for (const [field, text] of Object.entries(typed)) await hand.fill(field, text)
  await hand.press('Create an account')
  await page.getByRole('button', { name: 'Log out' }).waitFor()
}

/** Makes a wallet, and waits until it is shown. */
export const createWallet = async (
  page: Page,
  hand: Hand,
  { currency = 'bitcoin', name }: { readonly currency?: string; readonly name: string }
): Promise<void> => {
  await hand.press('Create a wallet…')
  await hand.choose('Currency', currency)
  await hand.fill('Name', name)
  await hand.press('Create it')
  await page.getByRole('heading', { name }).waitFor()
}
