import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { HONEST, rateCode } from '../helpers/cell-stage.ts'
import { waitFor } from '../helpers/device.ts'
import { drawPart } from '../helpers/drawn-runs.ts'
import { attempts, HOSTILE, type Hostile } from '../helpers/hostile-plugins.ts'
import { withChromium } from './helpers/chromium.ts'
import { serveTestPage } from './helpers/test-page.ts'
import type { CellsPage } from './page/cells-page.ts'

declare const cellsPage: CellsPage

const browserTest = withChromium(test, { isSerial: true, isWhole: true })

/** A careful page needs to allow nothing but its own frame, which brings its own policy. */
const POLICY =
  "default-src 'none'; script-src 'self'; img-src data:; frame-src 'self'; connect-src 'self' http://127.0.0.1:*; require-trusted-types-for 'script'; trusted-types 'none'"
const CANARY = 'canary-7f3d1c9b'
const BUSY_MS = 1500

/** Everything that can be reached from some objects of a cell, its prototypes included. */
const reachable = (roots: string): string => `const all = new Set()
  const walk = value => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || all.has(value)) return
    all.add(value)
    walk(Object.getPrototypeOf(value))
    for (const key of Reflect.ownKeys(value)) {
      const { value: inner, get, set } = Object.getOwnPropertyDescriptor(value, key)
      for (const next of [inner, get, set]) walk(next)
    }
  }
  for (const root of [${roots}]) walk(root)`
const GLOBALS = 'globalThis, (async () => {})(), new Error("x")'
const REACHABLE = reachable(`${GLOBALS}, host, context, host.io, Promise.resolve()`)

const WEB = [
  ...['fetch', 'postMessage', 'addEventListener', 'dispatchEvent', 'importScripts', 'close', 'send', 'open'],
  ...[
    'structuredClone',
    'createObjectURL',
    'getRandomValues',
    'reportError',
    'queueMicrotask',
    'requestAnimationFrame'
  ]
]

const IN_A_PAGE: readonly Omit<Hostile, 'uncontained'>[] = [
  {
    name: 'reads cookies and the storage of the page',
    call: attempts(
      'document.cookie',
      'cookieStore.getAll()',
      'localStorage.getItem("canary")',
      'sessionStorage',
      'indexedDB.databases()',
      'caches.keys()',
      'navigator.storage.getDirectory()',
      'webkitRequestFileSystem',
      'webkitResolveLocalFileSystemSyncURL'
    ),
    outcome: 'answers'
  },
  {
    name: 'reads the document of the page',
    call: attempts(
      'document.title',
      'window.document',
      'parent.document',
      'top.location.href',
      'opener',
      'frames[0]',
      'self.canary',
      'frameElement'
    ),
    outcome: 'answers'
  },
  {
    name: 'leads the page away',
    call: attempts(
      'top.location = "http://127.0.0.1:PORT/away"',
      'parent.location.assign("http://127.0.0.1:PORT/away")',
      'location.href = "http://127.0.0.1:PORT/away"',
      'open("http://127.0.0.1:PORT/away")',
      'history.back()',
      'navigator.userAgent',
      'location.origin'
    ),
    outcome: 'answers'
  },
  {
    name: 'talks to other tabs and workers',
    call: attempts(
      'new BroadcastChannel("x")',
      'new SharedWorker("x")',
      'new Worker("x")',
      'new Worker(URL.createObjectURL(new Blob(["1"])))',
      'navigator.serviceWorker.register("/page.js")',
      'registration',
      'clients',
      'navigator.locks.query()',
      'new MessageChannel().port1'
    ),
    outcome: 'answers'
  },
  {
    name: 'posts forged messages to the page',
    call: attempts(
      `parent.postMessage('{"type":"done","id":1,"value":null}', '*')`,
      `postMessage({ end: 'flood' })`,
      `self.postMessage('{"type":"ready"}')`,
      'this.postMessage',
      'globalThis.line',
      'globalThis.port',
      'arguments[0].target',
      'event'
    ),
    outcome: 'answers'
  },
  {
    name: 'sends without a connection of its own',
    call: attempts(
      'navigator.sendBeacon("http://127.0.0.1:PORT/beacon")',
      'new Image().src = "http://127.0.0.1:PORT/image"',
      'new FontFace("x", "url(http://127.0.0.1:PORT/font)").load()',
      'fonts',
      'new RTCPeerConnection({ iceServers: [{ urls: "stun:127.0.0.1:PORT" }] })',
      'new WebTransport("https://127.0.0.1:PORT/")',
      'new Notification("x")',
      'createImageBitmap',
      'new ReportingObserver(() => {})',
      'console.log.constructor("return fetch")()'
    ),
    outcome: 'answers'
  },
  {
    name: 'loads another script',
    call: attempts(
      'importScripts("http://127.0.0.1:PORT/x.js")',
      'importScripts("data:text/javascript,self.loaded=1")',
      'globalThis.importScripts',
      'globalThis.trustedTypes',
      'globalThis.eval("1")',
      'setTimeout.call(globalThis, "globalThis.loaded = 1", 1)',
      'globalThis.loaded'
    ),
    outcome: 'answers'
  },
  {
    name: 'imports from a server',
    call: 'await import("http://127.0.0.1:PORT/x.js")',
    outcome: 'refused'
  },
  {
    name: 'searches all that it can reach for functions of the web',
    call: `${REACHABLE}
      const web = new Set(${JSON.stringify(WEB)})
      const found = [...all].filter(value => typeof value === 'function' && /\\[native code\\]/.test(Function.prototype.toString.call(value)) && web.has(value.name)).map(value => value.name)
      if (all.size < 500) throw new Error('GOT too few: ' + all.size)
      if (found.length > 0) throw new Error('GOT ' + found)`,
    outcome: 'answers'
  },
  {
    name: 'searches all that it can reach for what is not frozen',
    call: `${reachable(GLOBALS)}
      const { get, set } = Object.getOwnPropertyDescriptor(new Error('x'), 'stack')
      // What this walk has made itself, and the two functions of each error's stack, which hold nothing.
      const loose = [...all].filter(value => ![globalThis, get, set].includes(value) && !Object.isFrozen(value))
      const others = loose.filter(value => !(value instanceof Promise || Object.getPrototypeOf(value) === Error.prototype))
      if (others.length > 0 || all.size < 500) throw new Error('GOT ' + all.size + others.map(String))`,
    outcome: 'answers'
  },
  {
    name: 'takes the place of globals that the program of the cell uses',
    code: rateCode(
      'offer(wanted[0], 1)',
      `for (const name of ['setTimeout', 'postMessage', 'performance', 'MessagePort', 'MessageChannel', 'onmessage', 'onerror', 'JSON', 'Map'])
        try { globalThis[name] = class { static stringify() { return '{}' } static bind() { return () => {} } } } catch {}
      for (let owner = Object.getPrototypeOf(globalThis); owner; owner = Object.getPrototypeOf(owner))
        for (const name of ['onmessage', 'postMessage', 'addEventListener', 'data', 'then'])
          try { Object.defineProperty(owner, name, { get() { throw 1 }, set() { throw 1 } }) } catch {}`
    ),
    outcome: 'answers'
  },
  {
    name: 'declares what the program of the cell is called',
    code: `var postMessage = 1, line = 2, run = 3, realm = 4, natives = 5, now = 6; function onmessage() {} function addEventListener() {}
      ${rateCode('offer(wanted[0], 1)')}`,
    outcome: 'answers'
  },
  {
    name: 'closes the script that it stands in',
    code: `${rateCode("offer(wanted[0], '</script><script>alert(1)</script>')")} // </script><img src="http://127.0.0.1:PORT/image"> <!--
      //# sourceURL=http://127.0.0.1:PORT/source.js`,
    outcome: 'answers'
  },
  {
    name: 'reads what another plugin has left',
    call: attempts(
      'globalThis.honest',
      "disk.getText('secret')",
      "disk.list('').then(names => names[0])",
      "disk.getText('../honest/secret')"
    ),
    outcome: 'answers'
  },
  {
    name: 'gives a thenable that answers twice',
    call: 'return { then(resolve, reject) { resolve(1); reject(new Error("x")); resolve(2) } }',
    outcome: 'answers'
  },
  {
    name: 'floods with errors that nobody handles',
    call: 'for (let n = 0; n < 1e5; n++) Promise.reject(new Error("x".repeat(1000))); await new Promise(() => {})',
    outcome: 'ends'
  }
]

/** Those that a page does not bound would take the memory of this machine. */
const HOSTILE_HERE = [...HOSTILE.filter(({ isUnboundedInPage }) => isUnboundedInPage !== true), ...IN_A_PAGE]

browserTest(
  'hostile plugins are contained in a page: each call ends, the neighbour answers, and nothing leaks',
  async (t, browser) => {
    t.timeout(290_000)
    const reached: string[] = []
    const server = createServer((request, reply) => {
      reached.push(request.url ?? '')
      reply.writeHead(200, { 'access-control-allow-origin': '*' }).end('globalThis.loaded = 1')
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const port = String((server.address() as AddressInfo).port)
    const site = await serveTestPage('cells-page', POLICY)
    const context = await browser.newContext()
    t.teardown(async () => {
      await context.close()
      site.close()
      server.close()
    })
    const page = await openPage(context, site.url)
    const problems: string[] = []
    for (const hostile of drawPart(t, HOSTILE_HERE, 3))
      problems.push(...(await tryOne(t, page, hostile, port)))
    t.is(page.url(), `${site.url}/`)
    t.is(context.pages().length, 1)
    t.deepEqual(reached, [])
    t.deepEqual(problems, [])
  }
)

const openPage = async (context: { newPage(): Promise<Page> }, url: string): Promise<Page> => {
  const page = await context.newPage()
  await page.goto(url)
  await page.evaluate(canary => {
    localStorage.setItem('canary', canary)
    // biome-ignore lint/suspicious/noDocumentCookie: what every browser has.
    document.cookie = `canary=${canary}`
    document.title = canary
    Object.assign(globalThis, { canary })
    indexedDB.open(canary)
  }, CANARY)
  return page
}

const tryOne = async (
  t: ExecutionContext,
  page: Page,
  { name, call = '', apply = '', code, outcome }: Omit<Hostile, 'uncontained'>,
  port: string
): Promise<readonly string[]> => {
  const problems: string[] = []
  await page.evaluate(busyMs => cellsPage.open('/cell-frame.html', busyMs), BUSY_MS)
  await page.evaluate(honest => cellsPage.run(honest, { id: 'honest' }), HONEST)
  const bundle = (code ?? rateCode(call, apply)).replaceAll('PORT', port)
  const started = Date.now()
  const asks = { hosts: ['allowed.example'] }
  const { end, message } = await page.evaluate(([text, wants]) => cellsPage.run(text, wants), [
    bundle,
    asks
  ] as const)
  t.log(`${name}: ${end} in ${Date.now() - started} ms ${message.slice(0, 120)}`)
  if (end !== outcome || message.startsWith('GOT')) problems.push(`${name}: ${end}: ${message}`)
  const isBack = async (): Promise<boolean> =>
    (await page.evaluate(() => cellsPage.call('honest'))).prices[0] === 64_000
  await waitFor(isBack, 10_000).catch(() => problems.push(`${name}: the neighbour does not answer`))
  const { faults, seen } = await page.evaluate(() => ({ faults: cellsPage.faults, seen: cellsPage.seen }))
  if (JSON.stringify(seen).includes(CANARY)) problems.push(`${name}: the canary is out`)
  if (await page.evaluate(() => 'polluted' in {})) problems.push(`${name}: polluted`)
  const blamed = faults.filter(({ pluginId }) => pluginId !== 'bad')
  if (blamed.length > 0) problems.push(`${name}: ${JSON.stringify(blamed)}`)
  await page.evaluate(() => cellsPage.close())
  return problems
}
