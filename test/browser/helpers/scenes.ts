import type { Page } from 'playwright-core'
import { SAVINGS } from '../../devtools/react/busy-sample.ts'
import type { Hand } from './panel-page.ts'

/** A state of the panel that somebody may see. */
export interface Scene {
  readonly name: string
  /** One of the states of the sample page. */
  readonly state: 'elsewhere' | 'empty' | 'full' | 'local' | 'lost' | 'readOnly'
  /** The fragment of the address. */
  readonly place: string
  /** What is done there. */
  readonly perform?: (hand: Hand, page: Page) => Promise<void>
}

const panels = ['engines', 'quotes', 'rates', 'rules', 'sync', 'hooks', 'plugins', 'logs'] as const

const savings = `engines/${encodeURIComponent(SAVINGS)}`

const sides: readonly (readonly [name: string, place: string])[] = [
  ['engines-wallet', savings],
  ['engines-failed', `engines/${encodeURIComponent('Zp1kX9wQ3rT5yU7iO0aS2dF4gH6jK8lMvBnCxEzAqWs=')}`],
  ['engines-paused', `engines/${encodeURIComponent('bQ8e0W1ZlV5mXr3sT9uYc7dKfA2hJ6oPnE4iGxLkMzU=')}`],
  ['quotes-lane', 'quotes/round-2%20thornbridge'],
  ['quotes-refused', 'quotes/round-2%20harbour'],
  ['quotes-all-failed', 'quotes/round-1'],
  ['quotes-taken', 'quotes/round-0'],
  ['sync-repo', `sync/${encodeURIComponent(SAVINGS)}`],
  ['hooks-event', 'hooks/302'],
  ['hooks-action', 'hooks/304'],
  ['plugins-failed', 'plugins/harbour'],
  ['logs-line', 'logs/297'],
  ['no-match', 'engines?filter=dogecoin']
]

/** Fills in a payment of the wallet that is open, and asks for its review. */
const reviewPayment = async (hand: Hand, page: Page): Promise<void> => {
  await hand.fill('Address', 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080')
  await page.getByRole('textbox', { name: /^Amount/ }).fill('0.01')
  await hand.press('Review…')
  await page.getByRole('dialog').waitFor()
}

/** Ticks two coins of the wallet that is open. */
const chooseCoins = async (hand: Hand, page: Page): Promise<void> => {
  await hand.fill('Address', 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080')
  await page.getByRole('textbox', { name: /^Amount/ }).fill('1.3')
  await hand.press('Choose coins…')
  await page.getByRole('checkbox', { name: /^0\.8425 BTC/ }).check()
  await page.getByRole('checkbox', { name: /^0\.5 BTC/ }).check()
  await page.getByRole('checkbox', { name: /^0\.8425 BTC/ }).scrollIntoViewIfNeeded()
}

/** Types a key that is to be swept into the wallet that is open. */
const typeKey = async (hand: Hand, page: Page): Promise<void> => {
  await hand.fill('Key to sweep', 'cMahea7zqjxrtgAbB7LSGbcQUr1uX1ojuat9jZodMN87JcbXMTcA')
  await page.getByRole('checkbox', { name: 'Also take incoming coins' }).check()
  await page.getByRole('button', { name: 'Review the sweep…' }).scrollIntoViewIfNeeded()
}

/** Every panel full and empty, each kind of side, and each dialog. */
export const scenes: readonly Scene[] = [
  ...panels.map((panel): Scene => ({ name: panel, state: 'full', place: panel })),
  ...panels.map((panel): Scene => ({ name: `${panel}-empty`, state: 'empty', place: panel })),
  ...sides.map(([name, place]): Scene => ({ name, state: 'full', place })),
  { name: 'lost', state: 'lost', place: 'logs' },
  { name: 'read-only', state: 'readOnly', place: savings },
  {
    ...{ name: 'rates-asked', state: 'full', place: 'rates/BTC%20iso%3AEUR' },
    perform: hand => hand.press('Find the route')
  },
  {
    ...{ name: 'rates-market', state: 'full', place: 'rates/BTC%20iso%3AEUR' },
    async perform(hand, page) {
      await hand.press('Find the route')
      await hand.press('Market around it')
      await page.getByText('Biases').click()
    }
  },
  {
    ...{ name: 'receive', state: 'full', place: savings },
    async perform(hand, page) {
      await hand.press('Show an address')
      await page.getByLabel('QR code of the address').scrollIntoViewIfNeeded()
    }
  },
  {
    ...{ name: 'forget-payment', state: 'full', place: savings },
    perform: hand => hand.press('Forget…')
  },
  {
    ...{ name: 'raise-fee', state: 'full', place: savings },
    perform: hand => hand.press('Raise the fee…')
  },
  {
    ...{ name: 'raise-fee-custom', state: 'full', place: savings },
    async perform(hand, page) {
      await hand.press('Raise the fee…')
      await page.getByRole('dialog').getByRole('combobox', { name: /^Fee/ }).selectOption('custom')
      await page.getByRole('dialog').getByLabel('Fee rate').fill('12,5')
      await page.getByText('Type a number above zero').waitFor()
    }
  },
  { ...{ name: 'review', state: 'full', place: savings }, perform: reviewPayment },
  { ...{ name: 'coin-choice', state: 'full', place: savings }, perform: chooseCoins },
  { ...{ name: 'sweep', state: 'full', place: savings }, perform: typeKey },
  {
    ...{ name: 'sweep-review', state: 'full', place: savings },
    async perform(hand, page) {
      await typeKey(hand, page)
      await hand.press('Review the sweep…')
      await page.getByRole('dialog', { name: 'Review this sweep' }).waitFor()
    }
  },
  {
    ...{ name: 'help', state: 'full', place: 'engines' },
    perform: hand => hand.press('Help and keys')
  },
  {
    ...{ name: 'held', state: 'full', place: 'hooks' },
    perform: (_, page) => page.keyboard.press('p')
  },
  {
    ...{ name: 'palette', state: 'full', place: savings },
    async perform(_, page) {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Find or do' }).waitFor()
    }
  },
  {
    ...{ name: 'palette-search', state: 'full', place: 'engines' },
    async perform(_, page) {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Find or do' }).fill('sp')
    }
  },
  {
    ...{ name: 'create-account', state: 'empty', place: 'engines' },
    perform: hand => hand.press('Create an account…')
  },
  { ...{ name: 'log-in', state: 'empty', place: 'engines' }, perform: hand => hand.press('Log in…') },
  ...(['local', 'elsewhere'] as const).flatMap((state): readonly Scene[] => [
    {
      ...{ name: `backup-${state}`, state, place: 'engines' },
      perform: hand => hand.press('Back up…')
    },
    {
      ...{ name: `move-${state}`, state, place: 'engines' },
      perform: hand => hand.press('Move to a server…')
    },
    {
      ...{ name: `restore-${state}`, state, place: 'engines' },
      async perform(hand) {
        await hand.press('Log in…')
        await hand.press('Restore a backup…')
      }
    }
  ]),
  {
    ...{ name: 'create-wallet', state: 'full', place: 'engines' },
    perform: hand => hand.press('Create a wallet…')
  },
  {
    ...{ name: 'failure', state: 'full', place: savings },
    perform: hand => hand.press('Resync')
  }
]
