/// <reference lib="dom" />
// Runs in a browser: an application with a kernel of its own that has the devtools as a part of it.
import { type ReactElement, StrictMode, version } from 'react'
import { createRoot } from 'react-dom/client'
import { type MountedDevtools, mountDevtools } from '../../../devtools/react/mount-devtools.tsx'
import { WalletDevtools } from '../../../devtools/react/wallet-devtools.tsx'
import { openStandalone } from '../../../devtools/standalone/open-standalone.ts'
import { makeBrowserIo } from '../../../platform/browser/index.ts'

/** What the application offers, as `globalThis.application`. */
export interface Application {
  /** Draws the component; `isReadOnly` as its property. */
  draw(isReadOnly: boolean): void
  /** Leaves the component out. */
  leaveOut(): void
  /** Puts the devtools into an element of the page without React. */
  mount(): void
  unmount(): void
  /** The kernel that has no devtools; gives what mounting them says. */
  mountForeign(): string
  accountCount(): number
  /** Of the application's React. */
  reactVersion(): string
  /** Gives the page a style sheet more. */
  dress(css: string): void
}

const { kernel, world } = await openStandalone({
  io: makeBrowserIo(),
  name: 'embedded',
  passwordSnrp: { cost: { n: 16, r: 1, p: 1 } }
})

const reactPlace = document.body.appendChild(document.createElement('section'))
const plainPlace = document.body.appendChild(document.createElement('section'))
const root = createRoot(reactPlace)
let mounted: MountedDevtools | undefined

// What an application has: a field of its own, and styles that fit no panel.
const styles = new CSSStyleSheet()
styles.replaceSync('button { display: none } section { block-size: 45vh }')
document.adoptedStyleSheets = [styles]

const Shop = ({ isReadOnly }: { readonly isReadOnly: boolean }): ReactElement => (
  <StrictMode>
    <label>
      Search <input />
    </label>
    <WalletDevtools kernel={kernel} world={world} isReadOnly={isReadOnly} />
  </StrictMode>
)

const application: Application = {
  draw: isReadOnly => root.render(<Shop isReadOnly={isReadOnly} />),
  leaveOut: () => root.render(<p>Nothing to see</p>),
  mount: () => {
    mounted = mountDevtools(plainPlace, kernel, { world, isLinked: false })
  },
  unmount: () => mounted?.unmount(),
  mountForeign() {
    try {
      mountDevtools(plainPlace, { ...kernel, plugins: [] })
      return 'mounted'
    } catch (error) {
      return String(error)
    }
  },
  accountCount: () => kernel.context.accounts.length,
  reactVersion: () => version,
  dress(css) {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(css)
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
  }
}

Object.assign(globalThis, { application })
