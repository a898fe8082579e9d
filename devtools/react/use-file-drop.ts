import { type RefObject, useEffect, useRef } from 'react'

/**
 * Takes files that are dropped onto the panel. Without it the browser would leave the page for the file.
 *
 * @param onFile - is not called while another dialog waits for an answer than the one that asks for a file
 */
export const useFileDrop = (panel: RefObject<HTMLElement | null>, onFile: (file: File) => void): void => {
  const newest = useRef(onFile)
  useEffect(() => {
    newest.current = onFile
  })
  useEffect(() => {
    const target = panel.current
    const hover = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes('Files') === true) event.preventDefault()
    }
    const drop = (event: DragEvent): void => {
      const file = event.dataTransfer?.files[0]
      if (file === undefined) return
      event.preventDefault()
      const dialog = target?.querySelector('dialog[open]') ?? null
      if (dialog === null || dialog.querySelector('input[type=file]') !== null) newest.current(file)
    }
    target?.addEventListener('dragover', hover)
    target?.addEventListener('drop', drop)
    return () => {
      target?.removeEventListener('dragover', hover)
      target?.removeEventListener('drop', drop)
    }
  }, [panel])
}
