import { chartStyles } from './chart-styles.ts'
import { forcedStyles } from './forced-styles.ts'
import { frameStyles } from './frame-styles.ts'
import { partStyles } from './part-styles.ts'
import { routeStyles } from './route-styles.ts'
import { themeStyles } from './theme-styles.ts'

/** All that the panel wears: text for one constructed style sheet in its shadow root. */
export const panelStyles: string = [
  themeStyles,
  frameStyles,
  partStyles,
  chartStyles,
  routeStyles,
  forcedStyles
].join('\n')
