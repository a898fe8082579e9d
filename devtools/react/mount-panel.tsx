import { createElement } from 'react'
import { createRoot } from 'react-dom/client'
import { Panel, type PanelProps } from './panel.tsx'
import { dress } from './style-sheet.ts'

/** A panel that stands in a page. */
export interface MountedPanel {
  /** Draws it anew with other props; those left out stay. Nothing happens once it is out of the page. */
  readonly update: (props: Partial<PanelProps>) => void
  /** Takes it out of the page. The client stays open: it belongs to who made it. */
  readonly unmount: () => void
}

/** Puts the panel of a client into an element, in a shadow root of its own: no style of the page reaches it, none of its own leaves. */
export const mountPanel = (element: HTMLElement, props: PanelProps): MountedPanel => {
  const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' })
  dress(root)
  const react = createRoot(root)
  let drawn = props
  let isMounted = true
  const draw = (): void => {
    if (isMounted) react.render(createElement(Panel, drawn))
  }
  draw()
  return {
    update: changes => {
      drawn = { ...drawn, ...changes }
      draw()
    },
    unmount() {
      isMounted = false
      react.unmount()
    }
  }
}
