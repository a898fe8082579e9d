import { type RefObject, useEffect, useRef } from 'react'
import { page } from './dom.ts'
import { type KeyCommand, readKey } from './keyboard.ts'

/**
 * Hears keys within the panel, or of the whole page for a panel that has a page of its own.
 *
 * `isOn` false: only Escape is heard, since a person must always find a way out.
 */
export const useKeys = (
  panel: RefObject<HTMLElement | null>,
  options: { readonly isOn: boolean; readonly ofPage: boolean },
  onCommand: (command: KeyCommand) => boolean
): void => {
  const isJumping = useRef(false)
  const newest = useRef(onCommand)
  useEffect(() => {
    newest.current = onCommand
  })
  const { isOn, ofPage } = options
  useEffect(() => {
    const target: EventTarget | null = ofPage ? (page?.document ?? null) : panel.current
    const hear = (event: Event): void => {
      if (!(event instanceof KeyboardEvent) || event.defaultPrevented || event.isComposing) return
      // An open dialog has all keys to itself, wherever they are pressed: Escape closes it, and nothing behind it.
      if (panel.current?.querySelector('dialog[open]')) return
      const { command, isJumping: next } = readKey(
        {
          key: event.key,
          hasModifier: hasModifier(event),
          hasCommandKey: event.ctrlKey !== event.metaKey && !event.altKey && !event.shiftKey,
          isInField: isField(event)
        },
        isJumping.current
      )
      isJumping.current = next && isOn
      if (command === undefined || (!isOn && command.type !== 'escape')) return
      if (newest.current(command)) event.preventDefault()
    }
    target?.addEventListener('keydown', hear)
    return () => target?.removeEventListener('keydown', hear)
  }, [panel, isOn, ofPage])
}

/** AltGr writes brackets on many keyboards, and says that it is Control and Alt. */
const hasModifier = (event: KeyboardEvent): boolean =>
  event.metaKey || ((event.ctrlKey || event.altKey) && !event.getModifierState('AltGraph'))

/** Whether a key goes to a text field or a list; seen through the edge of the shadow root. */
const isField = (event: KeyboardEvent): boolean => {
  const [target] = event.composedPath()
  if (!(target instanceof HTMLElement)) return false
  if (
    target.isContentEditable ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement
  )
    return true
  return target instanceof HTMLInputElement && target.type !== 'checkbox' && target.type !== 'range'
}
