import { panelStyles } from './styles/panel-styles.ts'

/**
 * Dresses a shadow root with one constructed style sheet, shared by all panels of a page.
 *
 * No `<style>` is written, so a strict content security policy holds.
 */
export const dress = (root: ShadowRoot): void => {
  sheet ??= constructed()
  root.adoptedStyleSheets = [sheet]
}

let sheet: CSSStyleSheet | undefined

const constructed = (): CSSStyleSheet => {
  const made = new CSSStyleSheet()
  made.replaceSync(panelStyles)
  return made
}
