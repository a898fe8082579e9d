/// <reference lib="dom" />
// Runs in a browser: the panel over a host that tells it very much, shown to a test.

import { makeClient } from '../../../devtools/core/client/client.ts'
import type { JournalEvent } from '../../../devtools/core/model/facts.ts'
import { sliceNames } from '../../../devtools/core/model/snapshot-fields.ts'
import { makeChannelPair } from '../../../devtools/core/protocol/channel-pair.ts'
import { PROTOCOL_VERSION } from '../../../devtools/core/protocol/protocol.ts'
import { mountPanel } from '../../../devtools/react/mount-panel.tsx'

/** What the page offers, as `globalThis.flood`. */
export interface Flood {
  /** Tells the panel of so many events in batches of 100 ms within a second; gives how the page drew meanwhile. */
  pour(count: number): Promise<FloodResult>
}

/** Milliseconds between frames, and what is in the page afterwards. */
export interface FloodResult {
  readonly frames: readonly number[]
  readonly rows: number
}

const { host, client } = makeChannelPair()
host.onMessage(message => {
  if (message.type !== 'subscribe') return
  const slices = Object.fromEntries(sliceNames.map(name => [name, []])) as never
  host.send({ type: 'snapshot', seq: 0, slices, events: [] })
})
host.send({ type: 'hello', version: PROTOCOL_VERSION, kernelId: 'flood', isReadOnly: true, hasWorld: false })
const place = document.body.appendChild(document.createElement('div'))
place.style.blockSize = '100vh'
mountPanel(place, { client: makeClient(client), ownsPage: true })

const eventAt = (seq: number): JournalEvent => ({
  seq,
  at: Date.now(),
  hook: 'tapRan',
  subject: `plugin ${seq % 20}`,
  data: { hook: 'walletChanged', pluginId: `plugin ${seq % 20}`, durationMs: seq % 7, outcome: 'done' }
})

const BATCHES = 10
let reported = 0

const flood: Flood = {
  async pour(count) {
    const frames: number[] = []
    let last = performance.now()
    let isOver = false
    const watch = (now: number): void => {
      frames.push(now - last)
      last = now
      if (!isOver) requestAnimationFrame(watch)
    }
    requestAnimationFrame(watch)
    const size = count / BATCHES
    for (let batch = 0; batch < BATCHES; batch += 1) {
      const fromSeq = reported
      reported += size
      const events = Array.from({ length: size }, (_, at) => eventAt(fromSeq + at + 1))
      host.send({ type: 'batch', fromSeq, seq: reported, patches: [], events, missed: 0 })
      await new Promise(resolve => setTimeout(resolve, 100))
    }
    await new Promise(resolve => setTimeout(resolve, 500))
    isOver = true
    return { frames, rows: place.shadowRoot?.querySelectorAll('tr').length ?? 0 }
  }
}

Object.assign(globalThis, { flood })
