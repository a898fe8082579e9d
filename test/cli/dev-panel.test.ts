import test from 'ava'
import { DevPanel } from '../../cli/devtools/serve-panel.ts'

test('a panel that could not be served is served the next time, and closed once', async t => {
  const seen: string[] = []
  let port = 0
  const panel = new DevPanel({
    async serve() {
      port += 1
      if (port === 1) throw new Error('no port')
      return { url: `http://127.0.0.1:${port}`, close: async () => void seen.push('closed') }
    },
    browse(url) {
      seen.push(url)
      return () => void seen.push('forgotten')
    }
  })
  await t.throwsAsync(panel.open('corner'), { message: 'no port' })
  t.is(panel.url, undefined)
  await panel.open('corner')
  t.is(panel.url, 'http://127.0.0.1:2/plugins/corner')
  await panel.open('other')
  t.is(port, 2)
  await panel.close()
  t.deepEqual(seen, [
    'http://127.0.0.1:2/plugins/corner',
    'forgotten',
    'http://127.0.0.1:2/plugins/other',
    'forgotten',
    'closed'
  ])
})

test('a panel that could not be served keeps nothing from being closed', async t => {
  const panel = new DevPanel({
    serve: () => Promise.reject(new Error('no port')),
    browse: () => () => {}
  })
  const opening = panel.open('corner')
  await t.notThrowsAsync(panel.close())
  await t.throwsAsync(opening, { message: 'no port' })
})
