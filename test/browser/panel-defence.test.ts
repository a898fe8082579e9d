/// <reference lib="dom" />
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { panelNames } from '../../devtools/react/state/location.ts'
import { engine, wallet } from '../helpers/devtools-stage.ts'
import { withChromium } from './helpers/chromium.ts'
import { openScene, untilStatus } from './helpers/served-scene.ts'

const browserTest = withChromium(test, { isWhole: true })

browserTest(
  'the served panel shows the kernel, with the token out of sight and the policy kept',
  async (t, browser) => {
    const { stage, server, openTab, complaints } = await openScene(t, browser)
    stage.emit('walletChanged', wallet('wallet-one', { name: 'Savings' }))
    stage.emit('engineChanged', engine('wallet-one', { blockHeight: 4321 }))
    const tab = await openTab(server.url)
    await untilStatus(tab, 'live')
    await tab.getByText('Savings').first().waitFor()
    t.false(tab.url().includes(server.token))
    t.false((await tab.content()).includes(server.token))
    t.is(await tab.evaluate(() => document.cookie + localStorage.length), '0')

    stage.emit('walletChanged', wallet('wallet-one', { name: 'Renamed' }))
    await stage.clock.advance(100)
    await tab.getByText('Renamed').first().waitFor()
    t.deepEqual(complaints, [])
  }
)

browserTest('a reload and a deep link stay connected', async (t, browser) => {
  const { server, openTab, complaints } = await openScene(t, browser)
  const tab = await openTab(server.url)
  await untilStatus(tab, 'live')
  await tab.getByRole('tab', { name: 'Plugins' }).click()
  await tab.reload()
  await untilStatus(tab, 'live')
  t.is(await tab.getByRole('tab', { selected: true }).textContent(), 'Plugins')
  t.deepEqual(complaints, [])
})

browserTest(
  'a panel whose socket was lost says so, comes back and shows what happened meanwhile',
  async (t, browser) => {
    const { stage, server, channels, openTab } = await openScene(t, browser)
    stage.emit('walletChanged', wallet('wallet-one', { name: 'Savings' }))
    stage.emit('engineChanged', engine('wallet-one'))
    const tab = await openTab(server.url)
    await untilStatus(tab, 'live')
    channels[0]?.close()
    await untilStatus(tab, 'lost')
    stage.emit('walletChanged', wallet('wallet-one', { name: 'Renamed' }))
    await untilStatus(tab, 'live')
    // It may have been back before the name was another one.
    await stage.clock.advance(100)
    await tab.getByText('Renamed').first().waitFor()
    t.is(channels.length, 2)
  }
)

browserTest('a panel whose process has ended says what to do', async (t, browser) => {
  const { server, openTab } = await openScene(t, browser)
  const tab = await openTab(server.url)
  await untilStatus(tab, 'live')
  await server.close()
  await tab.getByText('start it anew and open the address').waitFor()
  await untilStatus(tab, 'lost')
  t.is(await tab.getByRole('tab').count(), panelNames.length)
})

browserTest('the page lets no text become script or markup', async (t, browser) => {
  const { server, openTab } = await openScene(t, browser)
  const tab = await openTab(server.url)
  await untilStatus(tab, 'live')
  const outcomes = await tab.evaluate(async () => {
    const outcomeOf = (attempt: () => void): string => {
      try {
        attempt()
        return 'done'
      } catch (error) {
        return (error as Error).name
      }
    }
    const markup = outcomeOf(() => {
      document.body.innerHTML = '<p>markup</p>'
    })
    const inline = document.createElement('script')
    const text = outcomeOf(() => {
      inline.text = 'globalThis.ran = true'
    })
    const policy = outcomeOf(() => {
      // biome-ignore lint/suspicious/noExplicitAny: not in the types of the DOM yet
      ;(globalThis as any).trustedTypes.createPolicy('any', {})
    })
    const away = await fetch('http://127.0.0.1:9/').then(
      () => 'done',
      (error: Error) => error.name
    )
    return { markup, text, policy, away }
  })
  t.deepEqual(outcomes, { markup: 'TypeError', text: 'TypeError', policy: 'TypeError', away: 'TypeError' })
})

browserTest(
  'the page of a stranger can neither join, nor read, nor frame, nor run the panel',
  async (t, browser) => {
    const { server, channels, openTab } = await openScene(t, browser)
    const foreign = createServer((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><p>Stranger')
    )
    await new Promise<void>(resolve => foreign.listen(0, '127.0.0.1', resolve))
    t.teardown(() => {
      foreign.close()
      foreign.closeAllConnections()
    })
    const tab = await openTab(`http://127.0.0.1:${(foreign.address() as AddressInfo).port}/`)
    const outcomes = await tab.evaluate(
      async ({ port, token }) => {
        const origin = `http://127.0.0.1:${port}`
        const received = (target: EventTarget, good: string): Promise<string> =>
          new Promise(resolve => {
            target.addEventListener(good, () => resolve('let in'))
            target.addEventListener('error', () => resolve('kept out'))
          })
        const socket = new WebSocket(`ws://127.0.0.1:${port}/socket`, [
          'holdfast-devtools-1',
          `token.${token}`
        ])
        const joined = received(socket, 'open')
        const script = document.createElement('script')
        script.src = `${origin}/panel.js`
        const scriptLoaded = received(script, 'load')
        document.head.append(script)
        const frame = document.createElement('iframe')
        frame.src = origin
        const framed = received(frame, 'load')
        document.body.append(frame)
        await framed
        return {
          socket: await joined,
          script: await scriptLoaded,
          fetched: await fetch(origin).then(
            () => 'let in',
            () => 'kept out'
          ),
          opaque: await fetch(origin, { mode: 'no-cors' }).then(
            () => 'let in',
            () => 'kept out'
          )
        }
      },
      { port: server.port, token: server.token }
    )
    const out = 'kept out'
    t.deepEqual(outcomes, { socket: out, script: out, fetched: out, opaque: out })
    t.is(tab.frames()[1]?.url(), 'chrome-error://chromewebdata/')
    t.deepEqual(channels, [])
  }
)
