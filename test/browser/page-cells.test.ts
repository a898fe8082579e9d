import { createCipheriv, createHash, createHmac, scryptSync } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import type { Browser, Page } from 'playwright-core'
import { HONEST, rateCode } from '../helpers/cell-stage.ts'
import { waitFor } from '../helpers/device.ts'
import { withChromium } from './helpers/chromium.ts'
import { serveTestPage } from './helpers/test-page.ts'
import type { CellsPage } from './page/cells-page.ts'

declare const cellsPage: CellsPage

const browserTest = withChromium(test, { isSerial: true, isWhole: true })

const frameFile = fileURLToPath(new URL('../../lib/browser/cell-frame.html', import.meta.url))
const STRICT =
  "default-src 'none'; script-src 'self'; img-src data:; frame-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'"

/** A page with the cells' frame, under a policy. */
const openPage = async (
  t: { teardown(fn: () => Promise<void>): void },
  browser: Browser,
  policy = STRICT
): Promise<{ readonly page: Page; readonly url: string }> => {
  const site = await serveTestPage('cells-page', policy)
  const page = await browser.newPage()
  t.teardown(async () => {
    await page.close()
    site.close()
  })
  await page.goto(site.url)
  return { page, url: site.url }
}

const open = (page: Page): Promise<void> => page.evaluate(() => cellsPage.open('/cell-frame.html', 5000))

const run = (page: Page, code: string, asks: object = {}): ReturnType<CellsPage['run']> =>
  page.evaluate(([text, given]) => cellsPage.run(text, given), [code, asks] as const)

browserTest(
  'when the process of the frame dies, the page lives and its cells answer again',
  async (t, browser) => {
    const session = await browser.newBrowserCDPSession()
    const renderers = async (): Promise<readonly number[]> => {
      const { processInfo } = await session.send('SystemInfo.getProcessInfo')
      return processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id)
    }
    // What drives the browser takes the death of a frame for that of its page, so that the page reports to a server.
    const reports: string[] = []
    const server = createServer((request, reply) => {
      reports.push(decodeURIComponent(request.url ?? ''))
      reply.writeHead(200, { 'access-control-allow-origin': '*' }).end()
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => void server.close())
    const { port } = server.address() as AddressInfo
    const { page } = await openPage(t, browser, `${STRICT}; connect-src http://127.0.0.1:*`)
    const before = await renderers()
    await open(page)
    await run(page, HONEST, { id: 'honest' })
    await run(page, rateCode('offer(wanted[0], 1)', '', 'other'), { id: 'other' })
    const [pid, ...others] = (await renderers()).filter(id => !before.includes(id))
    t.deepEqual(others, [])
    if (pid === undefined) throw new Error('The frame has no process of its own')
    await page.evaluate(address => {
      const report = async (): Promise<void> => {
        const ends = [await cellsPage.call('honest'), await cellsPage.call('other')]
        const text = JSON.stringify([ends.map(({ end }) => end), cellsPage.faults])
        await fetch(`${address}/${encodeURIComponent(text)}`)
        setTimeout(report, 10)
      }
      void report()
    }, `http://127.0.0.1:${port}`)
    await waitFor(() => reports.length > 0)
    const count = reports.length
    const started = Date.now()
    process.kill(pid, 'SIGKILL')
    await waitFor(async () => !(await renderers()).includes(pid))
    await waitFor(() => reports.length > count + 3)
    t.log(`both answer again ${Date.now() - started} ms after their process was killed`)
    t.deepEqual([...new Set(reports)], ['/[["answers","answers"],[]]'])
  }
)

browserTest(
  'a plugin that spins is started again, and stays stopped after its third fault',
  async (t, browser) => {
    const { page } = await openPage(t, browser)
    await page.evaluate(() => cellsPage.open('/cell-frame.html', 500))
    await run(page, rateCode('for (;;);'))
    for (const _ of [2, 3]) {
      await page.waitForFunction(() => cellsPage.faults.at(-1)?.state === 'running')
      t.is((await page.evaluate(() => cellsPage.call('bad'))).end, 'ends')
    }
    const states = await page.evaluate(() => cellsPage.faults.map(({ state }) => state))
    t.deepEqual(states, ['restarting', 'running', 'restarting', 'running', 'stopped'])
    t.regex((await page.evaluate(() => cellsPage.call('bad'))).message, /stopped after 3 faults/)
  }
)

browserTest('a cell of a page hashes, encrypts and encodes as one of Node', async (t, browser) => {
  const { page } = await openPage(t, browser)
  await open(page)
  const call = `const { crypto } = host.io
    const [key, iv] = [crypto.fromHex('${'0f'.repeat(32)}'), crypto.fromHex('${'a1'.repeat(16)}')]
    const text = new Uint8Array(40)
    const end = crypto.writeUtf8('grüße €', text, 0)
    const data = text.slice(0, 16)
    const sealed = crypto.aesCbcEncrypt(key, iv, data)
    const results = [end, ...[data, crypto.sha256(data), crypto.hmacSha256(key, data), crypto.hmacSha1(key, data), sealed,
      crypto.aesCbcDecrypt(key, iv, sealed), await crypto.scrypt(data, key, { n: 16, r: 8, p: 1 }, 32),
      crypto.fromBase64(crypto.toBase64(data))].map(crypto.toHex), crypto.toBase64(data), host.io.random(20).length]
    for (const bad of ['=', 'a', 'YQ==x', 'YR=='])
      try { crypto.fromBase64(bad); results.push(bad) } catch {}
    try { crypto.writeUtf8('\\ud800', text, 0); results.push('lone') } catch {}
    return { results }`
  const code = `definePlugin({ kind: 'currency', id: 'coin', info: { pluginId: 'coin', displayName: 'Coin', walletType: 'wallet:coin', currencyCode: 'COI', denominations: [{ name: 'COI', multiplier: '1' }] }, apply(host) {
    host.hooks.makeTools.tapPromise('coin', async () => ({}))
    host.hooks.builtinTokens.tapPromise('coin', async () => { ${call} })
  } })`
  const found = await page.evaluate(text => cellsPage.tokens(text), code)
  const data = Buffer.alloc(16)
  Buffer.from('grüße €').copy(data)
  const [key, iv] = [Buffer.alloc(32, 0x0f), Buffer.alloc(16, 0xa1)]
  const cipher = createCipheriv('aes-256-cbc', key, iv).setAutoPadding(false)
  const expected = [
    Buffer.byteLength('grüße €'),
    ...[
      data,
      createHash('sha256').update(data).digest(),
      createHmac('sha256', key).update(data).digest(),
      createHmac('sha1', key).update(data).digest(),
      Buffer.concat([cipher.update(data), cipher.final()]),
      data,
      scryptSync(data, key, 32, { N: 16, r: 8, p: 1 }),
      data
    ].map(bytes => bytes.toString('hex')),
    data.toString('base64'),
    20
  ]
  t.deepEqual(found, { results: expected })
})

browserTest(
  'behind the realm, a worker of the frame has no network, storage or way to the page',
  async (t, browser) => {
    const reached: string[] = []
    const server = createServer((request, reply) => {
      reached.push(request.url ?? '')
      reply.writeHead(200, { 'access-control-allow-origin': '*' }).end()
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    t.teardown(() => void server.close())
    const { page, url } = await openPage(t, browser, "img-src 'self' data:")
    const [, policy = ''] = /content="([^"]*)"/.exec(await readFile(frameFile, 'utf8')) ?? []
    t.regex(policy, /^default-src 'none'; script-src 'sha256-[^']+' blob:; worker-src blob:; /)
    const attacks = `const tries = {
    fetch: () => fetch('http://127.0.0.1:${port}/fetch'), ownFetch: () => fetch('${url}/page.js'),
    socket: () => new Promise((resolve, reject) => { const it = new WebSocket('ws://127.0.0.1:${port}/'); it.onopen = resolve; it.onerror = reject }),
    events: () => new Promise((resolve, reject) => { const it = new EventSource('http://127.0.0.1:${port}/'); it.onopen = resolve; it.onerror = reject }),
    request: () => { const it = new XMLHttpRequest(); it.open('GET', 'http://127.0.0.1:${port}/xhr', false); it.send() },
    script: () => importScripts('http://127.0.0.1:${port}/script'), data: () => importScripts('data:text/javascript,1'),
    module: () => import('http://127.0.0.1:${port}/module'), code: () => new Function('return 1')(), evaluated: () => eval('1'),
    wasm: () => WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])),
    database: () => new Promise((resolve, reject) => { const it = indexedDB.open('x'); it.onsuccess = resolve; it.onerror = reject }),
    caches: () => caches.open('x'), files: () => navigator.storage.getDirectory(), locks: () => navigator.locks.query(),
    webrtc: () => new RTCPeerConnection(), beacon: () => navigator.sendBeacon('http://127.0.0.1:${port}/beacon'),
    document: () => document.title, parent: () => parent.document, storage: () => localStorage.length,
    worker: () => new SharedWorker('${url}/page.js'),
    transport: () => new WebTransport('https://127.0.0.1:${port}/').ready
  }
  onmessage = async () => {
    const got = []
    for (const [name, attack] of Object.entries(tries)) {
      const late = new Promise((_, reject) => setTimeout(reject, 3000))
      try { await Promise.race([attack(), late]); got.push(name) } catch {}
    }
    const channel = new BroadcastChannel('page')
    channel.postMessage('from the cell')
    postMessage({ got, origin: self.origin })
  }`
    const script = `const worker = new Worker(URL.createObjectURL(new Blob([${JSON.stringify(attacks)}])))
    worker.onmessage = ({ data }) => parent.postMessage(data, '*')
    worker.postMessage(0)`
    const inline = policy.replace(/'sha256-[^']*'/, "'unsafe-inline'")
    const html = `<meta http-equiv="Content-Security-Policy" content="${inline}"><script>${script}</script>`
    const found = await page.evaluate(async text => {
      let isReceived = false
      new BroadcastChannel('page').onmessage = () => {
        isReceived = true
      }
      const element = document.createElement('iframe')
      element.sandbox.add('allow-scripts')
      element.src = URL.createObjectURL(new Blob([text], { type: 'text/html' }))
      const report = new Promise<object>(resolve => {
        addEventListener('message', ({ data }) => resolve(data as object), { once: true })
      })
      document.documentElement.append(element)
      return { ...(await report), isReceived }
    }, html)
    t.deepEqual(found, { got: [], origin: 'null', isReceived: false })
    t.deepEqual(reached, [])
  }
)

browserTest('the frame serves no page that shows it outside of a sandbox', async (t, browser) => {
  const { page } = await openPage(t, browser)
  const answered = await page.evaluate(async () => {
    const answers: string[] = []
    // The second one comes later and does the same, so that its answer shows that the first one gives none.
    for (const isSandboxed of [false, true]) {
      const element = document.createElement('iframe')
      if (isSandboxed) element.sandbox.add('allow-scripts')
      element.src = '/cell-frame.html'
      const { port1, port2 } = new MessageChannel()
      const answer = new Promise<void>(resolve => {
        port1.onmessage = ({ data }) => {
          answers.push(`${isSandboxed ? 'in a sandbox' : 'outside'}: ${data.type}`)
          resolve()
        }
      })
      const isLoaded = new Promise(resolve => element.addEventListener('load', resolve))
      document.documentElement.append(element)
      await isLoaded
      element.contentWindow?.postMessage(null, '*', [port2])
      port1.postMessage({ type: 'ping' })
      if (isSandboxed) await answer
    }
    return answers
  })
  t.deepEqual(answered, ['in a sandbox: ready'])
})

browserTest('a page without a policy may give the frame as a text', async (t, browser) => {
  const { page } = await openPage(t, browser, "img-src 'self' data:")
  const html = await readFile(frameFile, 'utf8')
  await page.evaluate(text => cellsPage.open({ html: text }, 5000), html)
  t.deepEqual((await run(page, HONEST, { id: 'honest' })).prices, [64_000])
})

browserTest('a page whose policy refuses the frame says so', async (t, browser) => {
  const { page } = await openPage(t, browser, "default-src 'none'; script-src 'self'; img-src data:")
  await open(page)
  const { end, message } = await run(page, HONEST, { id: 'honest' })
  t.is(end, 'refused')
  t.regex(message, /this page does not let its thread start/)
  const seen = await page.evaluate(() => cellsPage.seen)
  t.true(seen.some(line => line.includes('frame-src')))
})

browserTest('thirty cells run at once in a page', async (t, browser) => {
  const { page } = await openPage(t, browser)
  await open(page)
  const figures = await page.evaluate(async code => {
    const start = performance.now()
    await cellsPage.run(code.replaceAll('honest', 'cell-0'), { id: 'cell-0' })
    const first = performance.now() - start
    const next = performance.now()
    await cellsPage.run(code.replaceAll('honest', 'cell-1'), { id: 'cell-1' })
    const second = performance.now() - next
    const ids = Array.from({ length: 28 }, (_, at) => `cell-${at + 2}`)
    const together = performance.now()
    const ends = await Promise.all(ids.map(id => cellsPage.run(code.replaceAll('honest', id), { id })))
    const rest = performance.now() - together
    const calls = performance.now()
    for (let count = 0; count < 1000; count += 1) await cellsPage.call('cell-0')
    const call = (performance.now() - calls) / 1000
    return { prices: ends.flatMap(({ prices }) => prices), first, second, rest, call }
  }, HONEST)
  t.deepEqual(figures.prices, Array(28).fill(64_000))
  t.log(JSON.stringify({ ...figures, prices: undefined }))
})
