import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { withChromium } from '../browser/helpers/chromium.ts'

// One author, from an empty folder: each test is one plugin, as the guide says, and the last one looks at all of them.
const FOLDER = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-author-')))
const GUIDE = readFileSync('docs/first-plugin.md', 'utf8')
const SECRETS = JSON.stringify({ password: 'correct horse battery', pin: '2468' })
const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const env = {
  ...{ PATH: process.env.PATH, HOME: process.env.HOME, TZ: 'UTC', HOLDFAST_NO_AGENT: '1' },
  ...{ HOLDFAST_HOME: join(FOLDER, 'home'), npm_config_prefer_offline: 'true', npm_config_audit: 'false' }
}
/** For all but an installation: nothing else may need the registry. */
const offline = { npm_config_offline: 'true', npm_config_registry: 'http://127.0.0.1:9/' }
test.after.always(() => rmSync(FOLDER, { recursive: true, force: true }))

interface Ended {
  readonly code: number
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: assertions look at any shape
  readonly json: any
}

/** Runs a line in a folder, with the secrets on its standard input. */
const runLine = (line: string, cwd: string): Promise<Ended> =>
  new Promise(resolve => {
    const options = {
      ...{ cwd, maxBuffer: 1 << 26 },
      env: line.startsWith('npm install') ? env : { ...env, ...offline }
    }
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

/** Runs a line that must go well. `isGuide`: it must stand in the guide. */
const does = async (t: ExecutionContext, line: string, cwd: string, isGuide = true): Promise<string> => {
  if (isGuide) t.true(GUIDE.includes(line), `the guide does not say: ${line}`)
  const { code, text } = await runLine(line, cwd)
  t.is(code, 0, text)
  return text
}

const wallet = (args: string, cwd: string): Promise<Ended> =>
  runLine(`npx holdfast ${args} --secrets-stdin --json`, cwd)

/** Makes, installs, tests and adds a plugin, and uses it; the log has the time of all that. */
const author = (
  name: string,
  kind: string,
  use: (t: ExecutionContext, folder: string) => Promise<void>
): void =>
  test.serial(
    `an author makes a plugin of the kind ${kind} from nothing, tests it, adds it and uses it`,
    async t => {
      const started = performance.now()
      const folder = join(FOLDER, name)
      await does(t, `npx holdfast plugins new ${name} --kind ${kind}`, FOLDER)
      await does(t, 'npm install', folder)
      if (kind === 'currency') await useFreePort(folder)
      t.regex(await does(t, 'npm test', folder), /conformance \d+\/\d+/)
      if (kind === 'storage') {
        // An application loads it: the command line keeps its files itself, and says so.
        const { json } = await runLine('npx holdfast plugins add . --no-cell --yes --json', folder)
        t.is(json.error.code, 'PLUGIN_REFUSED')
      } else await does(t, 'npx holdfast plugins add . --yes', folder, false)
      await use(t, folder)
      t.log(`${kind}: ${((performance.now() - started) / 1000).toFixed(1)} s`)
    }
  )

test.serial('the package is installed in an empty folder, with an account and two wallets', async t => {
  const { json, text } = await runLine(
    `npm pack --ignore-scripts --json --pack-destination '${FOLDER}'`,
    process.cwd()
  )
  t.truthy(json[0]?.filename, text)
  const started = performance.now()
  await does(t, 'npm init -y', FOLDER)
  await does(t, `npm install ./${json[0].filename} rolldown`, FOLDER, false)
  t.log(`install: ${((performance.now() - started) / 1000).toFixed(1)} s`)
  const made = [
    'account create alice',
    'wallets create bitcoin --name Savings',
    'wallets create litecoin --name Coffee',
    'fake chain fund Savings 0.5 --confirm'
  ]
  for (const line of made) t.is((await wallet(line, FOLDER)).json.ok, true, line)
})

author('my-rates', 'rates', async (t, folder) => {
  const { json } = await wallet('amount Savings 1 --to iso:USD', folder)
  t.is(json.data.fiat.source, 'my-rates')
})

author('my-swap', 'swap', async (t, folder) => {
  const line = 'swap quote --from Savings --to Coffee --amount "0.01 BTC"'
  t.true(GUIDE.includes(line))
  const { text } = await wallet(`${line} --all`, folder)
  t.regex(text, /"my-swap"/)
})

author('my-coin', 'currency', async (t, folder) => {
  const port = portOf(folder)
  const ledger = spawn(process.execPath, ['test/ledger.js', port], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit']
  })
  t.teardown(() => ledger.kill('SIGKILL'))
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

author('my-policy', 'policy', async (t, folder) => {
  const { json } = await wallet(`send Savings --to ${PAYEE} --amount "0.1 BTC" --yes`, folder)
  t.is(json.error.code, 'SIGN_REFUSED')
  t.regex(json.error.message, /my-policy refused to sign: more than 1000000/)
})

author('my-observer', 'observer', async (t, folder) => {
  const { code, text } = await wallet(`-v send Savings --to ${PAYEE} --amount "0.001 BTC" --yes`, folder)
  t.is(code, 0, text)
  t.regex(text, /payment of .*: signed[\s\S]*payment of .*: broadcast/)
})

author('my-store', 'storage', async (t, folder) => {
  await does(t, 'npx tsc --noEmit false --rewriteRelativeImportExtensions --outDir build', folder)
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
  t.regex(await does(t, 'node app.js', folder, false), /\ntrue\n$/)
})

withChromium(test, true)('all of them are seen in the devtools', async (t, browser) => {
  const bin = join(FOLDER, 'node_modules/holdfast/dist/bin/holdfast.js')
  const server = spawn(process.execPath, [bin, 'devtools', '--json'], { cwd: FOLDER, env })
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
  await page.getByRole('tab', { name: 'Plugins' }).click()
  // The list draws the rows that are in sight.
  await page.getByPlaceholder('Filter plugins').fill('my-')
  for (const name of ['my-rates', 'my-swap', 'my-coin', 'my-policy', 'my-observer'])
    await page.getByText(name, { exact: true }).first().waitFor()
  t.pass()
})

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
