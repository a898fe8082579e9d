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
  return [...buttonsIn('#tab-body'), ...buttonsIn('.strip')]
    .filter(button => !button.disabled && button.closest('.command') === null)
    .map(button => ({
      kind: 'Here',
      title: (button.getAttribute('aria-label') ?? button.textContent ?? '').trim(),
      detail: button.dataset.command ?? '',
      target: { type: 'press', button }
    }))
}
