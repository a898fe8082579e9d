import type { PaletteEntry } from './palette-entries.ts'

/**
 * What can be done at the present place: the buttons in sight, each with the command that does the same.
 *
 * They are read from the page, so the palette never offers what the panel does not.
 */
export const buttonEntries = (panel: HTMLElement | null): readonly PaletteEntry[] => {
  const buttonsIn = (part: string): readonly HTMLButtonElement[] => [
    ...(panel?.querySelectorAll<HTMLButtonElement>(`${part} button.button`) ?? [])
  ]
  return [...buttonsIn('#tab-body'), ...buttonsIn('.strip'), ...buttonsIn('.past-tools')]
    .filter(button => !button.disabled && button.closest('.command') === null)
    .map(button => ({
      kind: 'Here',
      ...saidBy(button),
      target: { type: 'press', button }
    }))
}

/** Presses the button of an entry, if it still says what the entry does: one button may become another one while it is read. */
export const pressButton = (button: HTMLButtonElement, { title, detail }: PaletteEntry): void => {
  const said = saidBy(button)
  if (said.title === title && said.detail === detail) button.click()
}

/** What a button says, and the command that does the same. */
const saidBy = (button: HTMLButtonElement): Pick<PaletteEntry, 'detail' | 'title'> => ({
  title: (button.getAttribute('aria-label') ?? button.textContent ?? '').trim(),
  detail: button.dataset.command ?? ''
})
