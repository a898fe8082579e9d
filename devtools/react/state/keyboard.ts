import { type RefObject, useEffect, useRef } from 'react'
import { page } from './dom.ts'
import type { PanelName } from './location.ts'

/** A key as it was pressed. */
export interface KeyPress {
  readonly key: string
  readonly hasModifier: boolean
  /** Control or ⌘ alone is held down. */
  readonly hasCommandKey?: boolean
  /** A field or a list has the focus: it gets every key except Escape. */
  readonly isInField: boolean
}

/** The command of a key. */
export type KeyCommand =
  | { readonly type: 'jump'; readonly panel: PanelName }
  | { readonly type: TimeTravelCommand }
  | { readonly type: 'copyJson' | 'palette' }
  | { readonly type: 'copy' | 'escape' | 'filter' | 'help' | 'next' | 'previous' | 'theme' }

/** Holds the panel still, records, and leads through a recording. */
export type TimeTravelCommand = 'earlier' | 'hold' | 'later' | 'record'

/** The command, and whether a `g` waits for the letter of a panel. */
export interface KeyAnswer {
  readonly command?: KeyCommand
  readonly isJumping: boolean
}

/** The letter after `g` that leads to each panel. */
export const jumpLetters: Readonly<Record<string, PanelName>> = {
  e: 'engines',
  q: 'quotes',
  r: 'rates',
  u: 'rules',
  s: 'sync',
  h: 'hooks',
  p: 'plugins',
  l: 'logs'
}

/** The keys and their meanings, for the help. */
export const keyHelp: readonly (readonly [keys: string, meaning: string])[] = [
  ['Ctrl K', 'Go anywhere or do anything: ⌘ K on a Mac, also in a field'],
  ['/', 'Filter the rows'],
  ['g then e q r u s h p l', 'Go to Engines, Quotes, Rate routes, Rules, Sync, Hooks, Plugins, Logs'],
  ['← →', 'The previous or next tab, while a tab has the focus'],
  ['j k', 'The next or previous row'],
  ['Enter', 'Open the row, press the button'],
  ['Esc', 'Close the open details, then clear the filter, then leave it'],
  ['y', 'Copy the command shown at the bottom'],
  ['c', 'Copy the open details as JSON'],
  ['p', 'Pause or resume the view'],
  ['R', 'Start a recording; end and save it'],
  ['[ ]', 'The previous or next moment of a recording'],
  ['T', 'Light, dark or system theme'],
  ['?', 'This help']
]

/** Reads one key. `isJumping`: the key before it was `g`. */
export const readKey = (press: KeyPress, isJumping: boolean): KeyAnswer => {
  if (press.key === 'Escape') return { command: { type: 'escape' }, isJumping: false }
  if (press.key === 'k' && press.hasCommandKey === true)
    return { command: { type: 'palette' }, isJumping: false }
  if (press.isInField || press.hasModifier) return { isJumping: false }
  if (isJumping) {
    const panel = jumpLetters[press.key]
    return panel === undefined ? { isJumping: false } : { command: { type: 'jump', panel }, isJumping: false }
  }
  if (press.key === 'g') return { isJumping: true }
  const type = singleKeys[press.key]
  return type === undefined ? { isJumping: false } : { command: { type }, isJumping: false }
}

const singleKeys: Readonly<Record<string, Exclude<KeyCommand['type'], 'escape' | 'jump'>>> = {
  '/': 'filter',
  '?': 'help',
  R: 'record',
  T: 'theme',
  '[': 'earlier',
  ']': 'later',
  c: 'copyJson',
  j: 'next',
  k: 'previous',
  p: 'hold',
  y: 'copy'
}

/** The tab that an arrow key leads to from `current`; undefined for another key. Ends lead to each other. */
export const tabAfter = <T>(tabs: readonly T[], current: T, key: string): T | undefined => {
  const at = tabs.indexOf(current)
  if (key === 'ArrowRight') return tabs[(at + 1) % tabs.length]
  if (key === 'ArrowLeft') return tabs[(at - 1 + tabs.length) % tabs.length]
  if (key === 'Home') return tabs[0]
  return key === 'End' ? tabs.at(-1) : undefined
}

/**
 * Handles keys in the panel, or of the whole page for a panel that has a page of its own.
 *
 * `isOn` false: only Escape works, since a person must always find a way out.
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
    const onKey = (event: Event): void => {
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
    target?.addEventListener('keydown', onKey)
    return () => target?.removeEventListener('keydown', onKey)
  }, [panel, isOn, ofPage])
}

/** AltGr writes brackets on many keyboards, and says that it is Control and Alt. */
const hasModifier = (event: KeyboardEvent): boolean =>
  event.metaKey || ((event.ctrlKey || event.altKey) && !event.getModifierState('AltGraph'))

/** Returns true if a key goes to a text field or a list, also within the shadow root. */
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
