import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '@noble/hashes/sha2.js'
import { createBase58check } from '@scure/base'
import test from 'ava'
import type { Page } from 'playwright-core'
import { ended, startHoldfast, WITH_AGENT } from '../helpers/command-line.ts'
import { onTerminal, runOnTerminal, type TypedRun } from '../helpers/on-terminal.ts'
import { fundedWallet, openProgramStage, PASSWORD, PIN, type ProgramStage } from '../helpers/programs.ts'
import { openAgentPanel } from './helpers/agent-panel.ts'
import { withChromium } from './helpers/chromium.ts'
import { type Hand, mouseOn } from './helpers/panel-page.ts'

const typingTest = withChromium(onTerminal as typeof test, { isSerial: true })

const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
/** The private key of it on test networks: 1. */
const KEY = createBase58check(sha256).encode(Uint8Array.of(239, ...new Uint8Array(31), 1, 1))
const YES: TypedRun['typed'] = [[/\[y\/N\]/, 'y']]

/** The page, and the output of the command that was run. */
interface Seen {
  readonly page: Page
  readonly hand: Hand
  readonly output: string
}

interface Preparation extends Pick<ProgramStage, 'run'> {
  /** Has a program propose a payment. */
  propose(amount: string): Promise<unknown>
}

/** A command that the panel prints, in the order in which they are run. */
interface Row {
  /** The action of its button or form, or the words of a command in a text. */
  readonly prints: string
  /** Makes what it is about. */
  readonly prepare?: (by: Preparation) => Promise<unknown>
  /** Goes to where it is printed, and returns it. */
  find(page: Page, hand: Hand): Promise<string>
  /** What a terminal is typed into; left out: no terminal. */
  readonly typed?: TypedRun['typed']
  /** Resolves when the panel shows what the command did. */
  seen(at: Seen): Promise<unknown>
}

/** The command of a button. */
const ofButton =
  (name: string, go: (page: Page, hand: Hand) => Promise<unknown> = async () => {}) =>
  async (page: Page, hand: Hand): Promise<string> => {
    await go(page, hand)
    const button = page.getByRole('button', { name, exact: true }).last()
    return (await button.getAttribute('data-command')) ?? ''
  }

/** The wallet of the payments, in Engines. */
const savings = async (page: Page, hand: Hand): Promise<void> => {
  await hand.open('Engines')
  await page.getByRole('table', { name: 'Engines' }).getByRole('button', { name: 'Savings' }).click()
}

const openDialog =
  (button: string, go: (page: Page, hand: Hand) => Promise<unknown>) =>
  async (page: Page, hand: Hand): Promise<void> => {
    await savings(page, hand)
    await page.getByRole('button', { name: button, exact: true }).first().click()
    await go(page, hand)
  }

const closeDialog = ({ hand }: Seen): Promise<void> => hand.press('Cancel')
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).last()

/** Waits until the panel lists an event of a hook; there may have been one before the command. */
const hookSeen =
  (hook: string) =>
  async ({ page, hand }: Seen): Promise<void> => {
    await hand.open('Hooks')
    await page.getByRole('table', { name: 'calls' }).getByText(hook, { exact: true }).first().waitFor()
  }

/** The address and the signature that the panel shows below its form. */
const signedText = async (page: Page): Promise<readonly string[]> =>
  ((await page.locator('.wallet-acts p.mono[aria-live]').textContent()) ?? '').split(' ')

const rows: readonly Row[] = [
  {
    prints: 'world.fund',
    find: ofButton('Fund', async (page, hand) => {
      await savings(page, hand)
      await hand.fill('Fake money', '0.25')
    }),
    seen: ({ page }) => page.getByText('0.75 BTC', { exact: true }).first().waitFor()
  },
  {
    prints: 'world.mine',
    find: ofButton('Mine bitcoin'),
    seen: ({ page }) => page.getByText('of it 0.25 BTC incoming').waitFor({ state: 'detached' })
  },
  {
    prints: 'engine.pause',
    find: ofButton('Pause', savings),
    seen: ({ page }) => button(page, 'Resume').waitFor()
  },
  { prints: 'engine.resume', find: ofButton('Resume'), seen: ({ page }) => button(page, 'Pause').waitFor() },
  { prints: 'engine.resync', find: ofButton('Resync'), typed: YES, seen: hookSeen('engineChanged') },
  {
    prints: 'world.network',
    find: ofButton('Go offline'),
    seen: ({ page }) => button(page, 'Go online').waitFor()
  },
  {
    prints: 'world.network',
    find: ofButton('Go online'),
    seen: ({ page }) => button(page, 'Go offline').waitFor()
  },
  {
    prints: 'wallet.receive',
    find: ofButton('Show an address', savings),
    async seen({ page, hand, output }) {
      await hand.press('Show an address')
      const shown = await page.locator('.wallet-acts p.mono').first().textContent()
      if (!output.includes(shown ?? 'none')) throw new Error(`another address than ${output}`)
    }
  },
  {
    prints: 'tx.list',
    find: ofButton('Show transactions', savings),
    async seen({ page, hand, output }) {
      await hand.press('Show transactions')
      const list = page.getByRole('list', { name: 'Transactions' })
      const txid = (await list.locator('[title]').last().getAttribute('title')) ?? ''
      if (!/^[0-9a-f]{64}$/.test(txid) || !output.includes(txid)) throw new Error(`others than ${output}`)
      await list.getByText('claimed', { exact: true }).last().waitFor()
    }
  },
  {
    prints: 'coin.list',
    find: ofButton('Show coins', savings),
    async seen({ page, hand, output }) {
      await hand.press('Show coins')
      const coin =
        (await page.getByRole('list', { name: 'Coins' }).locator('[title]').last().getAttribute('title')) ??
        ''
      if (!/^[0-9a-f]{64}:\d+$/.test(coin) || !output.includes(coin))
        throw new Error(`other coins than ${output}`)
    }
  },
  ...[
    ['Freeze', 'Unfreeze'],
    ['Unfreeze', 'Freeze']
  ].map(
    ([name = '', after = '']): Row => ({
      prints: 'coin.change',
      find: ofButton(name),
      async seen({ page, hand }) {
        await hand.press('Show the newest coins')
        await button(page, after).waitFor()
      }
    })
  ),
  {
    prints: 'coin.change',
    find: ofButton('Note the label', async (page, hand) => {
      await button(page, 'Label…').click()
      await hand.fill('Coin label', 'Rainy days')
    }),
    async seen({ page, hand }) {
      await hand.press('Show the newest coins')
      await page.getByText(/· Rainy days$/).waitFor()
      await button(page, 'Label…').click()
    }
  },
  {
    prints: 'message.sign',
    find: ofButton('Sign', (_, hand) => hand.fill('Message', 'It’s mine')),
    async seen({ page, hand, output }) {
      await hand.press('Sign')
      const [address = '', signature = ''] = await signedText(page)
      if (!output.includes(address) || !output.includes(signature))
        throw new Error(`another signature than ${output}`)
    }
  },
  {
    prints: 'message.verify',
    find: ofButton('Verify', async (page, hand) => {
      const [address = '', signature = ''] = await signedText(page)
      await hand.fill('Signed message', 'It’s mine')
      await hand.fill('Signed by', address)
      await hand.fill('Signature', signature)
    }),
    async seen({ page, hand, output }) {
      if (!/valid/.test(output)) throw new Error(output)
      await hand.press('Verify')
      await page.getByText('The signature is valid.').waitFor()
    }
  },
  {
    prints: 'wallet.create',
    find: ofButton('Create it', async (_, hand) => {
      await hand.press('Create a wallet…')
      await hand.choose('Currency', 'litecoin')
      await hand.fill('Name', 'Pocket')
    }),
    async seen(at) {
      await at.page.getByText('Pocket', { exact: true }).first().waitFor()
      await closeDialog(at)
    }
  },
  {
    prints: 'spend.max',
    find: ofButton('Max', async (page, hand) => {
      await savings(page, hand)
      await hand.fill('Address', PAYEE)
    }),
    async seen({ page, hand, output }) {
      await hand.press('Max')
      const field = page.getByRole('textbox', { name: /^Amount/ })
      await page.waitForFunction(() => true)
      const most = await field.inputValue()
      if (most === '' || !output.includes(most)) throw new Error(`another maximum than ${output}`)
    }
  },
  {
    prints: 'spend.draft',
    find: ofButton('Review…', async (page, hand) => {
      await page.getByRole('textbox', { name: /^Amount/ }).fill('0.01')
      await hand.press('Choose coins…')
      await page.getByRole('checkbox', { name: /^0\.5 BTC/ }).check()
    }),
    typed: YES,
    async seen({ page, hand }) {
      await button(page, 'Send again…').waitFor()
      await hand.press('List them again')
      await page.getByRole('checkbox', { name: /^0\.5 BTC/ }).waitFor({ state: 'detached' })
      await page.getByText('The wallet chooses the coins.').waitFor()
    }
  },
  {
    prints: 'spend.resend',
    find: ofButton(
      'Send the same bytes again',
      openDialog('Send again…', async () => {})
    ),
    typed: YES,
    seen: closeDialog
  },
  {
    prints: 'spend.replace',
    async find(page, hand) {
      await openDialog('Raise the fee…', async () => {})(page, hand)
      const review = page.getByRole('dialog').getByRole('button', { name: 'Review…' })
      return (await review.getAttribute('data-command')) ?? ''
    },
    typed: YES,
    async seen(at) {
      await closeDialog(at)
      await at.page
        .getByText(/replaced/)
        .first()
        .waitFor()
    }
  },
  {
    prints: 'spend.forget',
    find: ofButton(
      'Forget it',
      openDialog('Forget…', async () => {})
    ),
    typed: [[/Type/, '{word}\r']],
    async seen(at) {
      await closeDialog(at)
      await at.page.getByRole('button', { name: 'Forget…' }).nth(1).waitFor({ state: 'detached' })
    }
  },
  {
    prints: 'spend.bump',
    prepare: ({ run }) => run(['fake', 'chain', 'fund', 'Savings', '0.03 BTC']),
    async find(page, hand) {
      await page.getByText('0.03 BTC incoming').waitFor()
      await hand.press('Show coins')
      await page
        .getByRole('list', { name: 'Coins' })
        .getByRole('listitem')
        .filter({ hasText: '0.03 BTC' })
        .getByRole('button', { name: 'Raise the fee…' })
        .first()
        .click()
      await page.getByRole('dialog').getByRole('combobox', { name: /^Fee/ }).selectOption('custom')
      await page.getByRole('dialog').getByLabel('Fee rate').fill('40.5')
      const made = page.getByRole('dialog').getByRole('button', { name: 'Review…' })
      return (await made.getAttribute('data-command')) ?? ''
    },
    typed: YES,
    async seen(at) {
      await closeDialog(at)
      await at.page.getByText('0.03 BTC incoming').waitFor({ state: 'detached' })
    }
  },
  {
    prints: 'spend.sweep',
    async prepare({ run }) {
      await run(['fake', 'chain', 'fund', PAYEE, '0.04 BTC'])
      await run(['fake', 'chain', 'mine'])
    },
    find: ofButton('Review the sweep…', async page => {
      await page.getByLabel('Key to sweep').fill(KEY)
      await page.getByRole('checkbox', { name: 'Also take incoming coins' }).check()
    }),
    typed: [[/Private key to sweep/, `${KEY}\r`], ...YES],
    async seen({ page, output }) {
      if (output.includes(KEY)) throw new Error('the key is shown')
      await page.getByText(/of it 0\.0[3-9]\d+ BTC incoming/).waitFor()
    }
  },
  {
    prints: 'rates.refresh',
    find: ofButton('Ask the sources', (_, hand) => hand.open('Rate routes')),
    seen: ({ page }) => page.getByText(/^\d+ rates are known/).waitFor()
  },
  {
    prints: 'rates.route',
    find: ofButton('Find the route', async (_, hand) => {
      await hand.fill('From', 'BTC')
      await hand.fill('To', 'iso:EUR')
    }),
    seen: ({ page }) => page.getByRole('img', { name: /^The chosen route: BTC to / }).waitFor()
  },
  {
    prints: 'swap.ask',
    find: ofButton('Ask for quotes', async (_, hand) => {
      await hand.open('Quotes')
      await hand.choose('From', 'Savings · bitcoin')
      await hand.choose('To', 'Pocket · litecoin')
      await hand.fill('Amount', '0.02')
    }),
    seen: ({ page }) => page.getByRole('button', { name: 'ChangeNOW' }).waitFor()
  },
  {
    prints: 'swap.close',
    find: ofButton('Close the round'),
    seen: async ({ output }) => {
      if (!/is closed/.test(output)) throw new Error(output)
    }
  },
  {
    prints: 'swap.review',
    find: ofButton('Review and approve…', async (page, hand) => {
      await hand.press('Ask for quotes')
      await page.getByRole('button', { name: 'ChangeNOW' }).click()
    }),
    typed: YES,
    async seen({ page, hand }) {
      await savings(page, hand)
      await page.locator('.open-payments').getByText(/0\.02/).first().waitFor()
    }
  },
  ...[
    ['Disable', 'Enable'],
    ['Enable', 'Disable']
  ].map(
    ([name = '']): Row => ({
      prints: 'swap.enable',
      find: ofButton(name, async (page, hand) => {
        await hand.open('Plugins')
        await page.getByRole('button', { name: 'changenow' }).click()
      }),
      seen: hookSeen('repoChanged')
    })
  ),
  {
    prints: 'repo.sync',
    find: ofButton('Sync now', async (page, hand) => {
      await hand.open('Sync')
      await page.getByRole('button', { name: 'Savings' }).click()
    }),
    seen: hookSeen('repoChanged')
  },
  {
    prints: 'proposal.decline',
    prepare: ({ propose }) => propose('0.002 BTC'),
    find: ofButton('Decline', async (page, hand) => {
      await hand.open('Rules')
      await page.getByText('asks for a payment').waitFor()
    }),
    seen: ({ page }) => page.getByText('DECLINED', { exact: true }).waitFor()
  },
  {
    prints: 'proposal.review',
    prepare: ({ propose }) => propose('0.001 BTC'),
    find: ofButton('Review…'),
    typed: YES,
    seen: ({ page }) =>
      page.getByRole('table', { name: 'Answered proposals' }).getByText('sent', { exact: true }).waitFor()
  },
  {
    prints: 'policy add',
    find: async page =>
      `${await page.getByText('holdfast policy add').textContent()} small per-payment --max 0.01BTC`,
    seen: ({ page }) => page.getByText('at most 0.01 BTC in a payment').waitFor()
  },
  {
    prints: 'policy cancel',
    async prepare({ run }) {
      const input = JSON.stringify({ password: PASSWORD })
      await run(['policy', 'add', 'slow', 'loosening-delay', '--wait', '48h', '--secrets-stdin'], { input })
      await run(['policy', 'remove', 'small', '--secrets-stdin'], { input })
    },
    find: async page => (await page.getByText('holdfast policy cancel').textContent()) ?? '',
    seen: ({ page }) => page.getByText('holdfast policy cancel').waitFor({ state: 'detached' })
  },
  {
    prints: 'account.logout',
    find: ofButton('Log out'),
    seen: ({ page }) => button(page, 'Log out').waitFor({ state: 'detached' })
  },
  {
    prints: 'account.login',
    find: ofButton('Log in', async (_, hand) => {
      await hand.press('Log in…')
      await hand.fill('PIN', PIN)
    }),
    typed: [[/PIN|[Pp]assword/, `${PIN}\r`]],
    async seen(at) {
      await closeDialog(at)
      await button(at.page, 'Log out').waitFor()
    }
  },
  {
    prints: 'account.create',
    find: ofButton('Create an account', async (_, hand) => {
      await hand.press('Create an account…')
      await hand.fill('Username', 'bob')
      await hand.fill('Password', PASSWORD)
    }),
    typed: [
      [/New password/, `${PASSWORD}\r`],
      [/again|once more|[Rr]epeat/, `${PASSWORD}\r`],
      [/PIN/, `${PIN}\r`]
    ],
    async seen(at) {
      await closeDialog(at)
      await at.page.getByText('bob', { exact: true }).first().waitFor()
    }
  },
  {
    prints: 'account.move',
    prepare: ({ run }) =>
      run(['account', 'create', 'carol', '--local', '--secrets-stdin'], {
        input: JSON.stringify({ password: PASSWORD })
      }),
    find: ofButton('Move it', async (page, hand) => {
      await hand.press('Back up…')
      await page.getByText('holdfast account backup').waitFor()
      await hand.press('Cancel')
      await hand.press('Move to a server…')
      await hand.fill('Its password', PASSWORD)
    }),
    typed: [[/[Pp]assword/, `${PASSWORD}\r`]],
    async seen(at) {
      await closeDialog(at)
      await at.page.getByText('on this device only').waitFor({ state: 'detached' })
    }
  }
]

/** What the sources of the panel print: the actions of its buttons and forms, and commands in its texts. */
const printedCommands = (): ReadonlySet<string> => {
  const folder = join(process.cwd(), 'devtools/react')
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => /\.tsx?$/.test(name))
    .map(name => readFileSync(join(folder, name), 'utf8'))
  const found = sources.flatMap(source => [
    ...[...source.matchAll(/name="([a-z]+\.[A-Za-z]+)"/g)].map(match => match[1] ?? ''),
    ...[...source.matchAll(/holdfast ([a-z]+ [a-z]+)/g)].map(match => match[1] ?? '')
  ])
  return new Set(found)
}

/** Words that name a command without its arguments, for a person who reads on; each has its help. */
const NAMED = [
  'account backup',
  'account restore',
  'data recover',
  'rates route',
  'swap quote',
  'sync status',
  'wallets create'
]
/** Printed with a code that only another device takes; `panel-rules` types it there. */
const ELSEWHERE = ['policy approve']

/** The arguments of a command line, as a shell reads them. */
const argumentsOf = (command: string): readonly string[] =>
  execFileSync('sh', ['-c', `set -- ${command}; for word do printf '%s\\0' "$word"; done`], {
    encoding: 'utf8'
  })
    .split('\0')
    .slice(1, -1)

test('every command that the panel prints has a row here', t => {
  const known = [...rows.map(({ prints }) => prints), ...NAMED, ...ELSEWHERE]
  t.deepEqual(
    [...printedCommands()].filter(command => !known.includes(command)),
    []
  )
})

typingTest(
  'each command that the panel prints runs beside it, and the panel shows what it did',
  async (t, browser) => {
    const stage = await openProgramStage(t)
    const walletId = await fundedWallet(stage, 'Savings')
    const program = await stage.connect(await stage.addClient('helper', '--scope', 'propose'))
    const propose = (amount: string) => program.call('propose_payment', { walletId, payee: PAYEE, amount })
    const page = await openAgentPanel(t, browser, stage)
    const hand = mouseOn(page)
    const where = { home: stage.home, env: WITH_AGENT }
    for (const { prints, prepare, find, typed, seen } of rows) {
      await prepare?.({ ...stage, propose })
      const command = await find(page, hand)
      t.regex(command, /^holdfast \S/, prints)
      const args = argumentsOf(command)
      const word = args.at(-1)?.slice(0, 8) ?? ''
      const ran =
        typed === undefined
          ? await ended(closed(startHoldfast(args, where)))
          : await runOnTerminal(t, args, {
              ...where,
              typed: typed.map(([question, answer]) => [question, answer.replace('{word}', word)])
            })
      const output = 'screen' in ran ? ran.screen : `${ran.stdout}${ran.stderr}`
      t.is(ran.code, 0, `${command}: ${output}`)
      const at = performance.now()
      await seen({ page, hand, output })
      t.log(`${(performance.now() - at).toFixed(0).padStart(5)} ms after: ${command}`)
    }
    for (const words of NAMED) {
      const { code, stderr } = await stage.run([...words.split(' '), '--help'])
      t.is(code, 0, stderr)
    }
  }
)

const closed = (child: ReturnType<typeof startHoldfast>): typeof child => {
  child.stdin?.end()
  return child
}
