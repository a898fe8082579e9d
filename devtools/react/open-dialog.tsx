import type { ReactElement } from 'react'
import { MAX_RECORDING_BYTES } from '../core/recording-line.ts'
import { usePanel } from './panel-state.ts'
import { Dialog } from './parts/dialog.tsx'
import { sizeText } from './texts.ts'

/** Chooses the file of a recording. One that cannot be opened leaves it open, and says why. */
export const OpenDialog = (): ReactElement => {
  const { isReading, read, cancel } = usePanel().opening
  return (
    <Dialog title="Open a recording" onClose={cancel}>
      <p>
        A recording or a snapshot shows what a panel was told, without a kernel. The file is read here and
        goes nowhere.
      </p>
      <label className="field">
        <span>
          File, at most {sizeText(MAX_RECORDING_BYTES)}, also compressed with gzip. You can drop it onto the
          panel, too.
        </span>
        <input
          type="file"
          accept=".ndjson,.gz"
          aria-busy={isReading}
          onChange={event => {
            const file = event.target.files?.[0]
            if (file !== undefined) read(file)
            // The same file can be chosen again once it was mended.
            event.target.value = ''
          }}
        />
      </label>
      {isReading ? <p role="status">Reading the file…</p> : null}
      <div className="dialog-acts">
        <button type="button" className="button" onClick={cancel}>
          Cancel
        </button>
      </div>
    </Dialog>
  )
}
