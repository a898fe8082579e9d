import { type ReactElement, type ReactPortal, useCallback, useState } from 'react'
import { createPortal } from 'react-dom'
import { Panel, type PanelProps } from './panel.tsx'
import { dress } from './style-sheet.ts'

/**
 * The panel as a part of a React application, in a shadow root of its own.
 *
 * The address of the page is the application's, so the panel leaves it alone unless `isLinked` says otherwise.
 */
export const WalletDevtools = (props: PanelProps): ReactElement => {
  const [root, setRoot] = useState<ShadowRoot | undefined>()
  const attach = useCallback((host: HTMLDivElement | null) => {
    if (host === null) return
    const made = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
    dress(made)
    setRoot(made)
  }, [])
  return (
    <div ref={attach} style={{ blockSize: '100%' }}>
      {root === undefined ? null : inside(root, props)}
    </div>
  )
}

const inside = (root: ShadowRoot, props: PanelProps): ReactPortal =>
  createPortal(<Panel isLinked={false} {...props} />, root)
