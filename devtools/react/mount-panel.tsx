import { createElement } from 'react'
import { createRoot } from 'react-dom/client'
import { Panel, type PanelProps } from './frame/panel.tsx'
import { applyStyles } from './frame/styles.ts'

/** A panel that stands in a page. */
export interface MountedPanel {
  /** Draws it anew with other props; those left out stay. Nothing happens once it is out of the page. */
  readonly update: (props: Partial<PanelProps>) => void
  /** Takes it out of the page. The client stays open: it belongs to who made it. */
  readonly unmount: () => void
}

/**
 * Puts the panel of a client into an element, in a shadow root of its own: no style of the page reaches it, none of its own leaves.
 *
 * @throws TypeError if the element has a shadow root already, of another panel or of its own
 */
export const mountPanel = (element: HTMLElement, props: PanelProps): MountedPanel => {
  const root = rootIn(element)
  applyStyles(root)
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
      left.add(root)
    }
  }
}

const rootIn = (element: HTMLElement): ShadowRoot => {
  const { shadowRoot } = element
  if (shadowRoot === null) return element.attachShadow({ mode: 'open' })
  if (!left.delete(shadowRoot))
    throw new TypeError('This element already has a shadow root. Give the devtools an empty element.')
  return shadowRoot
}

/** The roots of panels that are gone: an element can lose its root no more, but have a panel again. */
const left = new WeakSet<ShadowRoot>()
