import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { ExecutionContext } from 'ava'
import test from 'ava'
import { recordFile } from '../../cli/devtools/recording.ts'
import { openRecordingFile } from '../../devtools/core/open-recording-file.ts'
import type { RecordedClient } from '../../devtools/core/recording/timeline.ts'
import { usesAgent } from '../helpers/agents.ts'
import { homeFor } from '../helpers/command-line.ts'
import { waitFor } from '../helpers/device.ts'
import { engine, makeStage } from '../helpers/devtools-stage.ts'
import { failed } from '../helpers/envelopes.ts'
import { runInProcess } from '../helpers/in-process.ts'
import { query } from '../helpers/query.ts'
import { serve, startDevtools } from '../helpers/served-devtools.ts'

const PASSWORD = 'canary Password 7Q'
// So long that it stands in no random number, id or time by chance.
const PIN = '808151623428081516'

const openFile = (path: string): Promise<RecordedClient> => openRecordingFile(new Blob([readFileSync(path)]))

/** Records an account with a wallet; gives the file. */
const recordStory = async (t: ExecutionContext, args: readonly string[] = []) => {
  const home = homeFor(t)
  const file = join(home, 'story.ndjson')
  const { client, stop } = await serve(t, home, ['--record', file, ...args])
  const { accountId } = await client.runAction('account.create', {
    username: 'alice',
    password: PASSWORD,
    pin: PIN
  })
  const { walletId } = await client.runAction('wallet.create', { accountId, walletType: 'wallet:bitcoin' })
  const { txid } = await client.runAction('world.fund', { walletId, nativeAmount: '5000000' })
  await waitFor(() => client.view.getSnapshot().wallets.get(walletId)?.balances[''] === '5000000')
  await waitFor(() => client.events.getSnapshot().some(({ hook }) => hook === 'transactionsChanged'))
  const view = client.view.getSnapshot()
  const ran = await stop()
  t.is(ran.code, 0, ran.stderr)
  return { home, file, walletId, txid, view, ran }
}

test('what happens from the start to the end is recorded into a private file without secrets, which opens without a kernel', async t => {
  const { file, walletId, txid, view, ran } = await recordStory(t)
  t.is(statSync(file).mode & 0o777, 0o600)
  t.regex(ran.stderr, /Show the recording with: holdfast devtools \S+story\.ndjson/)
  const text = readFileSync(file, 'utf8')
  for (const secret of [PASSWORD, PIN]) t.false(text.includes(secret))
  t.true(text.includes(txid))
  const timeline = await openFile(file)
  t.false(timeline.isCut)
  t.deepEqual(timeline.view.getSnapshot().wallets.get(walletId), view.wallets.get(walletId))
  t.deepEqual([...timeline.view.getSnapshot().plugins], [...view.plugins])
  timeline.seek(0)
  if (!usesAgent) t.is(timeline.view.getSnapshot().plugins.size, 0, 'it begins before the kernel does')
})

test('a recording leaves out addresses and transaction ids on request', async t => {
  const { file } = await recordStory(t, ['--hide-addresses'])
  const text = readFileSync(file, 'utf8')
  t.regex(text, /"hidden \(64 letters, [0-9a-f]{8}\)"/)
  t.notRegex(text, /[0-9a-f]{64}|bcrt1/)
})

test('a recording neither replaces a file nor starts in a missing folder', async t => {
  const home = homeFor(t)
  const file = join(home, 'there.ndjson')
  writeFileSync(file, 'mine')
  const there = await runInProcess(['devtools', '--json', '--record', file], { home })
  const { error } = failed(t, there, 'USAGE', 2)
  t.regex(error.message, /exists already; a recording does not replace a file/)
  t.is(error.hint, 'Choose another name, or move that file away.')
  t.is(readFileSync(file, 'utf8'), 'mine')
  const nowhere = await runInProcess(['devtools', '--json', '--record', join(home, 'no', 'file')], { home })
  failed(t, nowhere, 'USAGE', 2)
})

test('a recording is served without a kernel, to holders of the token', async t => {
  const { file } = await recordStory(t)
  const home = homeFor(t)
  const packed = join(home, 'story.ndjson.gz')
  writeFileSync(packed, gzipSync(readFileSync(file)))
  for (const path of [file, packed]) {
    const { url, port, interrupt } = await startDevtools(t, home, [path])
    const token = new URL(url).hash.replace('#token=', '')
    const headers = { authorization: `Bearer ${token}` }
    const { status, body } = await query({ port }, '/recording.ndjson', { headers })
    t.deepEqual([status, body === readFileSync(file, 'utf8')], [200, true])
    t.is((await query({ port }, '/recording.ndjson')).status, 403)
    const ran = await interrupt()
    t.is(ran.code, 0)
    t.regex(ran.stderr, /Anyone who has this address sees the recording\./)
  }
  t.false(existsSync(join(home, 'data')), 'no profile was begun')
})

test('a recording becomes one private page, which replaces no file', async t => {
  const { home, file } = await recordStory(t)
  const page = join(home, 'story.html')
  const made = await runInProcess(['devtools', file, '--html', page, '--json'], { home })
  t.is(made.code, 0, made.stderr)
  t.deepEqual(made.json.data, { file: page, bytes: statSync(page).size })
  t.is(statSync(page).mode & 0o777, 0o600)
  const held = /<script type="application\/x-ndjson" id="recording">([^<]*)<\/script>/.exec(
    readFileSync(page, 'utf8')
  )
  t.deepEqual(
    held?.[1]
      ?.split('\n')
      .filter(Boolean)
      .map(line => JSON.parse(line)),
    readFileSync(file, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map(line => JSON.parse(line))
  )
  failed(t, await runInProcess(['devtools', file, '--html', page, '--json'], { home }), 'USAGE', 2)
  failed(t, await runInProcess(['devtools', '--html', page, '--json'], { home }), 'USAGE', 2)
})

test('a file that is no recording is refused before anything is served', async t => {
  const home = homeFor(t)
  const file = join(home, 'notes.txt')
  writeFileSync(file, 'buy milk\n')
  const { error } = failed(t, await runInProcess(['devtools', file, '--json'], { home }), 'USAGE', 2)
  t.regex(error.message, /notes\.txt cannot be shown: Line 1 of the recording is not the header/)
  failed(t, await runInProcess(['devtools', join(home, 'none'), '--json'], { home }), 'NOT_FOUND', 6)
  for (const flag of [['--read-only'], ['--hide-addresses'], ['--record', 'x'], ['--with', 'pin']])
    failed(t, await runInProcess(['devtools', file, '--json', ...flag], { home }), 'USAGE', 2)
})

test('a full recording ends with a warning, can be opened, and does not stop the command', async t => {
  const stage = makeStage()
  const file = join(homeFor(t), 'full.ndjson')
  const warnings: string[] = []
  const end = recordFile(file, {
    ...{ devtools: stage.devtools, now: () => stage.clock.now(), maxBytes: 2000 },
    statusLine: { info() {}, warn: text => void warnings.push(text) }
  })
  for (let blockHeight = 1; blockHeight < 30; blockHeight += 1) {
    stage.emit('engineChanged', engine('wallet', { blockHeight }))
    await stage.clock.advance(100)
  }
  end()
  t.is(warnings.length, 1)
  t.regex(warnings[0] ?? '', /has ended: it has reached the largest size that a panel opens/)
  t.true(statSync(file).size <= 2000)
  t.true((await openFile(file)).momentCount > 1)
})
