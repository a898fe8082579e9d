import test from 'ava'
import { makeClient } from '../../../../devtools/core/client/client.ts'
import type { PluginCall } from '../../../../devtools/core/model/facts.ts'
import { makeChannelPair } from '../../../../devtools/core/protocol/channel-pair.ts'
import { hookRows } from '../../../../devtools/core/rows/hook-rows.ts'
import { makeStage } from '../../../helpers/devtools-stage.ts'

const CALL: PluginCall = {
  ...{ pluginId: 'corner', call: 'fetchRates', outcome: 'done', durationMs: 12 },
  args: '[{"wanted":[]}]',
  result: `offer("BTC", ${'a5'.repeat(32)})`
}

test('a call into a plugin reaches the panel with its data, of which nothing is like a key', async t => {
  const { devtools, clock } = makeStage()
  // Nothing is made of a call while nothing watches.
  t.is(devtools.noteCall, undefined)
  const { host, client } = makeChannelPair()
  devtools.attach(host, { isReadOnly: true, hasWorld: false })
  const panel = makeClient(client)
  devtools.noteCall?.(CALL)
  const message = `refused ${'ab'.repeat(32)}`
  devtools.noteCall?.({ pluginId: 'corner', call: 'fetchQuotes', outcome: 'failed', durationMs: 3, message })
  await clock.advance(100)
  const events = panel.events.getSnapshot()
  t.deepEqual(
    events.map(({ hook, subject, data }) => [hook, subject, data.call]),
    [
      ['pluginCalled', 'corner', 'fetchRates'],
      ['pluginCalled', 'corner', 'fetchQuotes']
    ]
  )
  t.is(events[0]?.data.args, CALL.args)
  t.is(events[0]?.data.result, 'offer("BTC", […])')
  t.is(events[1]?.data.message, 'refused […]')
  const rows = hookRows(events, { text: 'corner', kind: 'call' })
  t.deepEqual(
    rows.map(({ hook, pluginId, outcome, durationMs }) => [hook, pluginId, outcome, durationMs]),
    [
      ['fetchRates', 'corner', 'done', 12],
      ['fetchQuotes', 'corner', 'failed', 3]
    ]
  )
})
