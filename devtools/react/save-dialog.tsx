import { type ReactElement, useState } from 'react'
import type { ClientRecording, RecordingProgress } from '../core/client-recording.ts'
import { MAX_RECORDING_BYTES } from '../core/recording-line.ts'
import { useStore } from '../use-store.ts'
import { saveFile } from './dom.ts'
import { usePanel } from './panel-state.ts'
import { Dialog } from './parts/dialog.tsx'
import { Fact, Facts } from './parts/facts.tsx'
import { dateText, fileTimeText, sizeText, spanText } from './texts.ts'

/** What is in a recording that is over and what is not, before it becomes a file. */
export const SaveDialog = ({ recording }: { readonly recording: ClientRecording }): ReactElement => {
  const { recorder, say } = usePanel()
  const progress = useStore(recording.progress)
  const [hides, setHides] = useState(progress.hasAddresses)
  const lines = recording.lines(hides)
  const isSnapshot = lines.length === 2
  const name = `holdfast-${fileTimeText(progress.startedAt)}.ndjson`
  const save = (): void => {
    saveFile(name, lines)
    say(`Saved as ${name}`)
    recorder.forget()
  }
  return (
    <Dialog title={isSnapshot ? 'Save a snapshot' : 'Save the recording'} onClose={recorder.putOff}>
      {lines.length < 2 ? <p>{emptyTexts(progress)}</p> : <Contents {...{ progress, isSnapshot, name }} />}
      {progress.hasAddresses ? (
        <label className="check">
          <input type="checkbox" checked={hides} onChange={event => setHides(event.target.checked)} />
          Leave addresses and transaction ids out
        </label>
      ) : (
        <p className="soft">Addresses and transaction ids are hidden, or there are none.</p>
      )}
      <div className="dialog-acts">
        <button type="button" className="button" onClick={recorder.putOff}>
          Later
        </button>
        <button type="button" className="button" onClick={recorder.forget}>
          Discard
        </button>
        <button type="button" className="button main-act" disabled={lines.length < 2} onClick={save}>
          Save the file
        </button>
      </div>
    </Dialog>
  )
}

const Contents = (props: {
  readonly progress: RecordingProgress
  readonly isSnapshot: boolean
  readonly name: string
}): ReactElement => {
  const { startedAt, at, eventCount, bytes, end } = props.progress
  return (
    <>
      <Facts>
        <Fact name="Of">{dateText(startedAt)}</Fact>
        {props.isSnapshot ? null : <Fact name="Lasts">{spanText((at - startedAt) / 1000)}</Fact>}
        <Fact name="Ended">{endings[end ?? 'stopped']}</Fact>
        <Fact name="Events">{eventCount}</Fact>
        <Fact name="Size">{sizeText(bytes)}</Fact>
        <Fact name="File" look="mono">
          {props.name}
        </Fact>
      </Facts>
      <p>
        Who gets this file can read the names of accounts and wallets, balances, quotes, rates, and what was
        done, called and logged. Keys, passwords, PINs, recovery answers and notes are not in it: a panel is
        never told them.
      </p>
    </>
  )
}

const endings: Readonly<Record<NonNullable<RecordingProgress['end']>, string>> = {
  full: `at ${sizeText(MAX_RECORDING_BYTES)}, which is as large as a recording may be`,
  'kernel restarted': 'when the kernel began anew',
  stopped: ''
}

const emptyTexts = ({ end }: RecordingProgress): string =>
  end === 'full'
    ? `What is known is larger than ${sizeText(MAX_RECORDING_BYTES)}, so it cannot be saved.`
    : 'Nothing has been told yet, so there is nothing to save.'
