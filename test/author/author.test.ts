import { execFile, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, delimiter, join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { withChromium } from '../browser/helpers/chromium.ts'
import { mouseOn } from '../browser/helpers/panel-page.ts'

// One author, from an empty folder: each test is one plugin, as the guide says, and the last one looks at all of them.
const FOLDER = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-author-')))
const GUIDE = readFileSync('docs/first-plugin.md', 'utf8')
const SECRETS = JSON.stringify({ password: 'correct horse battery', pin: '2468' })
const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const PATH = [join(FOLDER, 'node_modules/.bin'), process.env.PATH].join(delimiter)
const env = {
  ...{ PATH, HOME: process.env.HOME, TZ: 'UTC', HOLDFAST_HOME: join(FOLDER, 'home') },
  ...{ npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' }
}
/** For all but the two installations that get packages: nothing else may need the registry. */
const offline = { npm_config_offline: 'true', npm_config_registry: 'http://127.0.0.1:9/' }
test.after.always('the agent and the folder are gone', async () => {
  await runLine('holdfast agent stop', FOLDER)
  rmSync(FOLDER, { recursive: true, force: true })
})

/** What Vitest says of one file of tests. */
interface VitestFile {
  readonly assertionResults: readonly {
    readonly title: string
    readonly status: string
    readonly failureMessages: readonly string[]
  }[]
}

interface Ended {
  readonly code: number
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: assertions look at any shape
  readonly json: any
}

/** Runs a line in a folder, with the secrets on its standard input. `others`: more variables. */
const runLine = (line: string, cwd: string, others: object = offline): Promise<Ended> =>
  new Promise(resolve => {
    const options = { cwd, maxBuffer: 1 << 26, env: { ...env, ...others } }
    const child = execFile('sh', ['-c', line], options, (error, stdout, stderr) =>
      resolve({
        code: error === null ? 0 : Number(error.code ?? 1),
        text: `$ ${line}\n${stdout}${stderr}`,
        get json() {
          return JSON.parse(stdout)
        }
      })
    )
    child.stdin?.end(SECRETS)
  })

/** Runs a line that must go well. @throws Error with what it says */
const runWell = async (line: string, cwd: string, others?: object): Promise<string> => {
  const { code, text } = await runLine(line, cwd, others)
  if (code !== 0) throw new Error(text)
  return text
}

/** A command of a wallet; the guide has it with these arguments if `isGuide`. */
const wallet = (args: string, cwd: string): Promise<Ended> =>
  runLine(`holdfast ${args} --secrets-stdin --json`, cwd)

const inGuide = (t: ExecutionContext, ...lines: readonly string[]): void => {
  for (const line of lines) t.true(GUIDE.includes(line), `the guide does not say: ${line}`)
}

interface Project {
  readonly name: string
  readonly kind: string
  readonly template?: string
}

const PROJECTS: readonly Project[] = [
  { name: 'my-rates', kind: 'rates' },
  { name: 'my-swap', kind: 'swap' },
  { name: 'my-network', kind: 'swap', template: 'onchain' },
  { name: 'my-coin', kind: 'currency' },
  { name: 'my-utxo', kind: 'currency', template: 'utxo' },
  { name: 'my-policy', kind: 'policy' },
  { name: 'my-observer', kind: 'observer' },
  { name: 'my-store', kind: 'storage' }
]

/** A project that is made, installed and tested. */
interface Made {
  readonly folder: string
  /** The lines that did it. */
  readonly lines: readonly string[]
  readonly report: string
  readonly milliseconds: number
}

/** All projects, in the order of the tests, of which each waits for its own: two are made at a time. */
const made = new Map<string, Promise<Made>>()

const makeProjects = (): void => {
  const [first, ...others] = PROJECTS as readonly [Project, ...Project[]]
  const installed = makeProject(first)
  made.set(first.name, installed)
  const queues: Promise<unknown>[] = [installed, installed]
  for (const [at, project] of others.entries()) {
    const making = (queues[at % 2] as Promise<unknown>).then(async () =>
      makeProject(project, join((await installed).folder, 'node_modules'))
    )
    // A test waits for each, and fails with it.
    making.catch(() => {})
    queues[at % 2] = making.catch(() => {})
    made.set(project.name, making)
  }
}

/** The copy of the program in a project would take the agent from the commands of the wallet, as another installation. */
const apart = { ...offline, HOLDFAST_NO_AGENT: '1' }

/** Makes a project. `modules`: packages of another one, which are there already, so that its installation gets none. */
const makeProject = async (project: Project, modules?: string): Promise<Made> => {
  const started = performance.now()
  const { name, kind, template } = project
  const folder = join(FOLDER, name)
  const flags = template === undefined ? '' : ` --template ${template}`
  const lines = [
    `npx holdfast plugins new ${name} --kind ${kind}${flags}`,
    'npm install',
    'npm test'
  ] as const
  await runWell(lines[0], FOLDER, apart)
  if (modules !== undefined) await runWell(`cp -al '${modules}' node_modules`, folder)
  await runWell(lines[1], folder, modules === undefined ? {} : offline)
  if (name === 'my-coin') await useFreePort(folder)
  const report = await runWell(lines[2], folder, apart)
  return { folder, lines, report, milliseconds: performance.now() - started }
}

/** Takes a project that is made and tested, adds it and uses it; the log has the time of all that. */
const author = (name: string, use: (t: ExecutionContext, folder: string) => Promise<void>): void => {
  const { kind, template = kind } = PROJECTS.find(each => each.name === name) as Project
  test.serial(
    `an author makes a plugin of the template ${template} from nothing, tests it, adds it and uses it`,
    async t => {
      const { folder, lines, report, milliseconds } =
        (await made.get(name)) ?? t.fail('it was not made') ?? (undefined as never)
      const started = performance.now()
      inGuide(t, ...lines)
      t.regex(report, /conformance \d+\/\d+/)
      if (kind === 'storage') {
        // An application loads it: the command line keeps its files itself, and says so.
        const { json } = await runLine('holdfast plugins add . --no-cell --yes --json', folder)
        t.is(json.error.code, 'PLUGIN_REFUSED')
      } else await runWell('holdfast plugins add . --yes', folder)
      await use(t, folder)
      await readmeHolds(t, folder)
      const ms = milliseconds + performance.now() - started
      t.true(ms < 300_000, `it took ${ms} ms`)
      const seconds = (ms: number): string => (ms / 1000).toFixed(1)
      t.log(
        `made and tested in ${seconds(milliseconds)} s, added and used in ${seconds(performance.now() - started)} s`
      )
    }
  )
}

/** Runs the commands that the README of a project gives its users. */
const readmeHolds = async (t: ExecutionContext, folder: string): Promise<void> => {
  const [, usage = ''] = readFileSync(join(folder, 'README.md'), 'utf8').split('## Use it')
  const lines = [...usage.matchAll(/^npx holdfast (?!plugins add)(.*)$/gm)].map(([, line = '']) => line)
  for (const line of lines) {
    // Who needs no account knows no secrets.
    const flags = line.startsWith('rates ') ? '--json' : '--secrets-stdin --json'
    // The guide and another project have a wallet of that name.
    const own = line.replace(/\bPlay\b/, `Play-${basename(folder)}`)
    const { code, text } = await runLine(`holdfast ${own} ${flags}`, folder)
    t.is(code, 0, text)
  }
}

test.serial('the package is installed in an empty folder, with an account and two wallets', async t => {
  const { json, text } = await runLine(
    `npm pack --ignore-scripts --json --pack-destination '${FOLDER}'`,
    process.cwd()
  )
  t.truthy(json[0]?.filename, text)
  const started = performance.now()
  inGuide(t, 'npm init -y', `npm install ./${json[0].filename} rolldown`)
  await runWell('npm init -y', FOLDER)
  await runWell(`npm install ./${json[0].filename} rolldown`, FOLDER, {})
  t.log(`install: ${((performance.now() - started) / 1000).toFixed(1)} s`)
  makeProjects()
  const lines = [
    'account create alice',
    'wallets create bitcoin --name Savings',
    'wallets create litecoin --name Coffee',
    'fake chain fund Savings 0.5 --confirm'
  ]
  inGuide(t, ...lines)
  for (const line of lines) {
    const { code, text: said } = await wallet(line, FOLDER)
    t.is(code, 0, said)
  }
})

author('my-rates', async (t, folder) => {
  inGuide(t, 'amount Savings 1 --to iso:USD')
  const { json } = await wallet('amount Savings 1 --to iso:USD', folder)
  t.is(json.data.fiat.source, 'my-rates')
})

/** Swaps with one exchange as the guide says, and returns what was to arrive and what has. */
const swapWith = async (
  t: ExecutionContext,
  name: string,
  folder: string
): Promise<{ readonly expected: bigint; readonly arrived: bigint }> => {
  const quoted = 'swap quote --from Savings --to Coffee --amount "0.01 BTC"'
  const paid = `swap run --from Savings --to Coffee --amount "0.01 BTC" --prefer ${name}`
  inGuide(t, quoted, paid, 'fake chain mine --currency all')
  t.regex((await wallet(`${quoted} --all`, folder)).text, new RegExp(`"${name}"`))
  const before = await balanceOf('Coffee', folder)
  const ran = await wallet(`${paid} --min-receive "7 LTC" --yes`, folder)
  t.is(ran.code, 0, ran.text)
  const { quote } = ran.json.data
  t.is(quote.plugin.id, name)
  // One block for the payment, one for the payout.
  for (const _ of [1, 2]) await runWell('holdfast fake chain mine --currency all', folder)
  const expected = BigInt((quote.minReceive ?? quote.to).native)
  return { expected, arrived: (await balanceOf('Coffee', folder)) - before }
}

const balanceOf = async (name: string, folder: string): Promise<bigint> =>
  BigInt((await wallet(`balance ${name}`, folder)).json.data.balances[0].native)

author('my-swap', async (t, folder) => {
  const { expected, arrived } = await swapWith(t, 'my-swap', folder)
  t.is(arrived, expected)
  inGuide(t, 'swap history')
  const [{ order }] = (await wallet('swap history', folder)).json.data.swaps
  t.like(order, { state: 'paidOut', hasArrived: true, failure: null })
})

author('my-network', async (t, folder) => {
  const { expected, arrived } = await swapWith(t, 'my-network', folder)
  t.true(arrived >= expected, `${arrived} of ${expected}`)
})

author('my-coin', async (t, folder) => {
  const port = portOf(folder)
  inGuide(t, 'node test/ledger.js')
  const ledger = spawn(process.execPath, ['test/ledger.js', port], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit']
  })
  // The devtools pay from it, too.
  ledgers.push(() => ledger.kill('SIGKILL'))
  await new Promise(resolve => ledger.stdout.once('data', resolve))
  const addressOf = async (name: string): Promise<string> => {
    const { text } = await wallet(`wallets create my-coin --name ${name}`, folder)
    return /[0-9a-f]{72}/.exec(text)?.[0] ?? t.fail(text) ?? ''
  }
  const [play, other] = [await addressOf('Play'), await addressOf('Other')]
  const funded = await fetch(`http://127.0.0.1:${port}/fund/${play}/5000`, { method: 'POST' })
  t.is(funded.status, 200)
  const paid = await wallet(`send Play --to ${other} --amount "1500 native" --yes`, folder)
  t.is(paid.code, 0, paid.text)
  const { text } = await wallet('balance', folder)
  t.regex(text, /"3499"[\s\S]*"1500"/)
})

const ledgers: (() => void)[] = []
test.after.always('the ledger ends', () => {
  for (const end of ledgers) end()
})

author('my-utxo', async (t, folder) => {
  const lines = [
    'wallets create my-utxo --name Coins',
    'fake chain fund Coins 0.5 --confirm',
    `send Coins --to ${PAYEE} --amount 0.005`
  ]
  inGuide(t, ...lines)
  for (const line of lines) {
    const { code, text } = await wallet(line.startsWith('send') ? `${line} --yes` : line, folder)
    t.is(code, 0, text)
  }
  const left = await balanceOf('Coins', folder)
  t.true(left < 49_500_000n && left > 49_400_000n, String(left))
})

author('my-policy', async (t, folder) => {
  const line = `send Savings --to ${PAYEE} --amount "0.1 BTC"`
  inGuide(t, line)
  const { json } = await wallet(`${line} --yes`, folder)
  t.is(json.error.code, 'SIGN_REFUSED')
  t.regex(json.error.message, /my-policy refused to sign: more than 1000000/)
})

author('my-observer', async (t, folder) => {
  const line = `-v send Savings --to ${PAYEE} --amount "0.001 BTC"`
  inGuide(t, line)
  const { code, text } = await wallet(`${line} --yes`, folder)
  t.is(code, 0, text)
  t.regex(text, /payment of .*: signed[\s\S]*payment of .*: broadcast/)
})

author('my-store', async (t, folder) => {
  const line = 'npx tsc --noEmit false --rewriteRelativeImportExtensions --outDir build'
  inGuide(t, line)
  await runWell(line, folder)
  writeFileSync(
    join(folder, 'app.js'),
    `import { createKernel } from 'holdfast'
     import { FAKE_ADDRESSES, makeFakeWorld } from 'holdfast/fake-server'
     import { makeNodeIo } from 'holdfast/node'
     import { plugin } from './build/src/index.js'
     const io = makeNodeIo()
     const { electrumServers, chainServers, ...servers } = FAKE_ADDRESSES
     const store = new Map()
     const kernel = await createKernel({
       ...servers, io: makeFakeWorld({ io }).ioFor(io), apiKey: '', plugins: [plugin(store)]
     })
     await kernel.context.createAccount({})
     await kernel.close()
     console.log([...store.keys()].some(path => path.startsWith('logins/')))`
  )
  t.regex(await runWell('node app.js', folder), /\ntrue\n$/)
})

test.serial(
  'the checks of the kit are tests of Vitest, which shows what they find and skips what does not apply',
  async t => {
    const started = performance.now()
    const folder = join(FOLDER, 'in-vitest')
    mkdirSync(folder)
    const write = (name: string, text: string): void => writeFileSync(join(folder, name), text)
    write('package.json', '{ "name": "in-vitest", "type": "module" }')
    await runWell('npm install --ignore-scripts vitest@4.1.12', folder, {})
    const installed = performance.now()
    const shop = readFileSync('examples/price-shop.ts', 'utf8')
    const suite = readFileSync('test/testing/price-shop.test.ts', 'utf8')
      .replace("import test from 'ava'", "import { test } from 'vitest'")
      .replace('../../examples/', './')
    write('price-shop.ts', shop)
    write('rates.test.ts', suite)
    write(
      'currency.test.ts',
      `import { fakeBlockchain, testCurrencyPlugin } from 'holdfast/testing'
     import { bitcoin } from 'holdfast/plugins/currency/utxo/plugin'
     import { test } from 'vitest'
     testCurrencyPlugin(test, () => fakeBlockchain(bitcoin, 'bitcoin'), { pluginId: 'bitcoin', level: 'quick' })`
    )
    const results = async (): Promise<Ended> => runLine('npx vitest run --reporter=json 2>/dev/null', folder)
    const sound = await results()
    t.is(sound.code, 0, sound.text)
    const { numPassedTests, numFailedTests, numPendingTests } = sound.json
    t.true(numPassedTests > 30, sound.text)
    t.is(numFailedTests, 0)
    // Such as methods of its own, which Bitcoin has none of.
    t.true(numPendingTests > 0, sound.text)

    write('price-shop.ts', shop.replace("'iso:USD' }, rate)", "'iso:USD' }, rate * 2)"))
    const wrong = await results()
    t.is(wrong.code, 1, wrong.text)
    const { testResults } = wrong.json as { readonly testResults: readonly VitestFile[] }
    const failures = testResults
      .flatMap(({ assertionResults }) => assertionResults)
      .filter(({ status }) => status === 'failed')
    t.deepEqual(
      failures.map(({ title }) => title),
      ['priceshop: rates.valid BTC iso:USD']
    )
    t.regex(failures[0]?.failureMessages.join() ?? '', /128000[\s\S]*reason: [\s\S]*hint: /)
    const seconds = (ms: number): string => (ms / 1000).toFixed(1)
    t.log(`install: ${seconds(installed - started)} s, two runs: ${seconds(performance.now() - installed)} s`)
  }
)

withChromium(test, { isSerial: true })(
  'in the devtools all of them are seen, and a rate, a quote with its payout, a payment and a refusal',
  async (t, browser) => {
    const server = spawn(
      join(FOLDER, 'node_modules/.bin/holdfast'),
      ['devtools', '--secrets-stdin', '--json'],
      { cwd: FOLDER, env }
    )
    server.stdin.end(SECRETS)
    t.teardown(() => server.kill('SIGINT'))
    const url = await new Promise<string>(resolve => {
      let text = ''
      server.stdout.on('data', part => {
        text += part
        const [, found] = /"url":"([^"]+)"/.exec(text) ?? []
        if (found !== undefined) resolve(found)
      })
    })
    const page = await browser.newPage()
    t.teardown(() => page.close())
    await page.goto(url)
    await page.getByText('live', { exact: true }).waitFor()
    const hand = mouseOn(page)
    await hand.open('Plugins')
    // The list draws the rows that are in sight.
    await page.getByPlaceholder('Filter plugins').fill('my-')
    for (const { name, kind } of PROJECTS)
      if (kind !== 'storage') await page.getByText(name, { exact: true }).first().waitFor()

    await hand.open('Rate routes')
    await hand.fill('From', 'BTC')
    await hand.fill('To', 'iso:USD')
    await hand.press('Find the route')
    await page.getByRole('img', { name: 'The chosen route: BTC to iso:USD by my-rates' }).waitFor()

    await swapInPanel(page, 'My Swap')
    // The first was paid by a command. Asked for by one, the second is known to be paid out, too.
    for (const _ of [1, 2]) await runWell('holdfast fake chain mine --currency all', FOLDER)
    await wallet('swap history', FOLDER)
    await page.getByRole('table', { name: 'Orders' }).getByText('paid out').nth(1).waitFor()
    await payInPanel(page, 'Play', { to: await addressOf('Other'), amount: '100 native' })
    await page.getByText(/^Sent as /).waitFor()
    await payInPanel(page, 'Savings', { to: PAYEE, amount: '0.1' })
    await page
      .getByText(/my-policy refused to sign: more than 1000000/)
      .first()
      .waitFor()
    t.pass()
  }
)

const addressOf = async (name: string): Promise<string> =>
  String((await wallet(`address ${name}`, FOLDER)).json.data.address)

/** Swaps with a provider, until it is paid. */
const swapInPanel = async (page: Page, provider: string): Promise<void> => {
  const hand = mouseOn(page)
  await hand.open('Quotes')
  await hand.choose('From', 'Savings · bitcoin')
  await hand.choose('To', 'Coffee · litecoin')
  await hand.fill('Amount', '0.005')
  await hand.press('Ask for quotes')
  await page.getByRole('table', { name: 'Quotes' }).getByRole('button', { name: provider }).click()
  await hand.press('Review and approve…')
  await page.getByRole('dialog', { name: 'Review this swap' }).waitFor()
  await hand.press('Sign and swap')
  await page.getByText(/^Paid in with /).waitFor()
}

const payInPanel = async (
  page: Page,
  name: string,
  { to, amount }: { readonly to: string; readonly amount: string }
): Promise<void> => {
  const hand = mouseOn(page)
  await hand.open('Engines')
  await page.getByRole('button', { name, exact: true }).first().click()
  await page.getByRole('heading', { name }).waitFor()
  await hand.fill('Address', to)
  await hand.fill('Amount', amount)
  await hand.press('Review…')
  await page.getByRole('dialog', { name: 'Review this payment' }).waitFor()
  await hand.press('Sign and send')
}

/** Moves the server of a currency to a port that nothing uses. */
const useFreePort = async (folder: string): Promise<void> => {
  const server = createServer()
  const port = await new Promise<number>(resolve =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port))
  )
  await new Promise(resolve => server.close(resolve))
  const path = join(folder, 'src/index.ts')
  writeFileSync(path, readFileSync(path, 'utf8').replace('127.0.0.1:8177', `127.0.0.1:${port}`))
}

const portOf = (folder: string): string =>
  /127\.0\.0\.1:(\d+)/.exec(readFileSync(join(folder, 'src/index.ts'), 'utf8'))?.[1] ?? ''
