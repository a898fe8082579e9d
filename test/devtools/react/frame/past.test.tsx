import test from 'ava'
import { renderToString } from 'react-dom/server'
import { snapshotMessageOf } from '../../../../devtools/core/client/view.ts'
import { headerLine, messageLine } from '../../../../devtools/core/recording/format.ts'
import { openRecording, type RecordedClient } from '../../../../devtools/core/recording/timeline.ts'
import { Panel } from '../../../../devtools/react/frame/panel.tsx'
import { type PanelName, panelNames, panelTitles } from '../../../../devtools/react/state/location.ts'
import { SAMPLE_NOW, sampleEvents, sampleView } from '../sample-client.ts'

const YEAR = 31_536_000_000

/** The sample, recorded, and its first engine ten seconds later. */
const timeline = (isSnapshot = false): RecordedClient => {
  // Those of a kernel begin with 1.
  const events = sampleEvents(300).map(event => ({ ...event, seq: event.seq + 1 }))
  const seq = events.at(-1)?.seq ?? 0
  const tables = snapshotMessageOf({ view: sampleView, events, seq, missed: 0 })
  if (tables === undefined) throw new Error('The sample has no tables')
  const [first] = sampleView.engines
  const later = messageLine(
    {
      ...{ type: 'batch', fromSeq: seq, seq, events: [], missed: 0 },
      patches: first === undefined ? [] : [{ slice: 'engines', changed: [first], removed: [] }]
    },
    SAMPLE_NOW + 10_000
  )
  const lines = [headerLine('k', SAMPLE_NOW), messageLine(tables, SAMPLE_NOW)]
  return openRecording(isSnapshot ? lines : [...lines, later])
}

const draw = (client: RecordedClient, panel: PanelName, id?: string): string =>
  renderToString(
    <Panel
      client={client}
      isLinked={false}
      now={() => SAMPLE_NOW + YEAR}
      start={id === undefined ? { panel, filter: '' } : { panel, id, filter: '' }}
    />
  ).replaceAll('<!-- -->', '')

const places = panelNames.map(panel => [panel, undefined] as const)
const [walletId] = sampleView.wallets.keys()

for (const [panel, id] of [...places, ['engines', walletId] as const]) {
  test(`a recording shows ${panelTitles[panel]}${id === undefined ? '' : ' with one open'} without actions`, t => {
    const markup = draw(timeline(), panel, id)
    t.regex(markup, /Viewing a recording<\/span><\/span><span>of .* Actions are off here\./)
    t.false(/aria-busy/.test(markup), 'a button that acts')
    for (const word of ['Create an account', 'Log in', 'Pause view', 'Back to live', '>Record<', 'Snapshot'])
      t.false(markup.includes(word), word)
    t.true(markup.includes('Open…'))
  })
}

test('countdowns and ages are those of the moment that is shown, not of now', t => {
  const client = timeline()
  t.true(draw(client, 'quotes').includes('1:26'))
  t.true(draw(client, 'sync').includes('22 s ago'))
  client.seek(0)
  t.true(draw(client, 'quotes').includes('1:36'))
  t.true(draw(client, 'sync').includes('12 s ago'))
})

test('the slider says which moment it is at, of how many; a snapshot has none', t => {
  const client = timeline()
  t.regex(draw(client, 'engines'), /type="range"[^>]*aria-valuetext="\d\d:\d\d:\d\d\.000, 2 of 2"/)
  const snapshot = draw(timeline(true), 'engines')
  t.true(snapshot.includes('Viewing a snapshot'))
  t.false(snapshot.includes('type="range"'))
})
