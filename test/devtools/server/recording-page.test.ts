import { createHash } from 'node:crypto'
import test from 'ava'
import { type PanelFiles, recordingPage } from '../../../devtools/server/panel-files.ts'

const filesOf = (script: string): PanelFiles =>
  new Map([
    ['/', { contentType: 'text/html', body: Buffer.from('<!doctype html>') }],
    ['/panel.js', { contentType: 'text/javascript', body: Buffer.from(script) }],
    ['/panel.css', { contentType: 'text/css', body: Buffer.from('body { margin: 0 }') }]
  ])

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64')

test('the page allows its own script and style by their hashes, and nothing else', t => {
  const page = recordingPage(filesOf('start()'), '{}') ?? ''
  t.true(page.includes(`script-src 'sha256-${hashOf('start()')}';`))
  t.true(page.includes(`style-src 'sha256-${hashOf('body { margin: 0 }')}';`))
  t.regex(page, /default-src 'none'; .*require-trusted-types-for 'script'; trusted-types 'none'/)
  t.false(page.includes('connect-src'))
})

test('neither a name in the recording nor a text of the script can end its element', t => {
  const script = 'say("</script><!-- <script>")'
  const name = '</script><script>alert(1)</script><!--'
  const page = recordingPage(filesOf(script), JSON.stringify({ name })) ?? ''
  const [, held = ''] = /id="recording">([^<]*)<\/script>/.exec(page) ?? []
  t.deepEqual(JSON.parse(held), { name })
  const [, code = ''] = /<script>([\s\S]*?)<\/script>/.exec(page) ?? []
  t.is(code, 'say("\\x3c/script>\\x3c!-- <script>")')
  t.true(page.includes(`'sha256-${hashOf(code)}'`))
})

test('without a built panel there is no page', t => {
  t.is(recordingPage(new Map(), '{}'), undefined)
})
