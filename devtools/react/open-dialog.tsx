import { type ReactElement, useState } from 'react'
import { MAX_RECORDING_BYTES } from '../core/recording-line.ts'
import { usePanel } from './panel-state.ts'
import { Dialog } from './parts/dialog.tsx'
import { sizeText } from './texts.ts'

/** Chooses the file of a recording. One that cannot be opened leaves it open, and says why. */
export const OpenDialog = (props: { readonly onClose: () => void }): ReactElement => {
  const { openFile } = usePanel()
  const [isBusy, setBusy] = useState(false)
  const open = async (file: File | undefined): Promise<void> => {
    if (file === undefined || isBusy) return
    setBusy(true)
    const isOpen = await openFile(file)
    setBusy(false)
    if (isOpen) props.onClose()
  }
  return (
    <Dialog title="Open a recording" onClose={props.onClose}>
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
          aria-busy={isBusy}
          onChange={event => {
            void open(event.target.files?.[0])
            // The same file can be chosen again once it was mended.
            event.target.value = ''
          }}
        />
      </label>
      {isBusy ? <p role="status">Reading the file…</p> : null}
      <div className="dialog-acts">
        <button type="button" className="button" onClick={props.onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  )
}
