import test from 'ava'
import { jumpLetters, type KeyCommand, readKey, tabAfter } from '../../../../devtools/react/state/keyboard.ts'
import { panelNames } from '../../../../devtools/react/state/location.ts'

const press = (
  key: string,
  changes: { hasModifier?: boolean; hasCommandKey?: boolean; isInField?: boolean } = {}
) => ({
  key,
  hasModifier: false,
  isInField: false,
  ...changes
})

const typed = (keys: string): readonly (KeyCommand | undefined)[] => {
  let isJumping = false
  return [...keys].map(key => {
    const answer = readKey(press(key), isJumping)
    isJumping = answer.isJumping
    return answer.command
  })
}

test('g and the letter of a panel lead to that panel', t => {
  t.deepEqual(typed('gr'), [undefined, { type: 'jump', panel: 'rates' }])
  t.deepEqual(Object.values(jumpLetters).sort(), [...panelNames].sort())
})

test('g and another letter does nothing, and forgets the g', t => {
  t.deepEqual(typed('gxe'), [undefined, undefined, undefined])
})

test('single keys filter, help, copy, move, pause, record, step and change the theme', t => {
  t.deepEqual(
    typed('/?yjkpR[]Tc').map(command => command?.type),
    ['filter', 'help', 'copy', 'next', 'previous', 'hold', 'record', 'earlier', 'later', 'theme', 'copyJson']
  )
})

test('keys typed into a field do nothing, except Escape', t => {
  for (const key of ['/', '?', 'g', 'T', 'j', 'y']) {
    t.deepEqual(readKey(press(key, { isInField: true }), false), { isJumping: false })
  }
  t.deepEqual(readKey(press('Escape', { isInField: true }), false), {
    command: { type: 'escape' },
    isJumping: false
  })
})

test('keys with Control, Alt or Meta belong to the browser', t => {
  t.deepEqual(readKey(press('j', { hasModifier: true }), false), { isJumping: false })
  t.deepEqual(readKey(press('e', { hasModifier: true }), true), { isJumping: false })
})

test('Control K or ⌘ K opens the palette, also from a field of the panel and after a g', t => {
  const palette = { command: { type: 'palette' as const }, isJumping: false }
  const both = { hasModifier: true, hasCommandKey: true }
  t.deepEqual(readKey(press('k', both), false), palette)
  t.deepEqual(readKey(press('k', { ...both, isInField: true }), true), palette)
  t.deepEqual(readKey(press('k', { hasModifier: true, hasCommandKey: false }), false), { isJumping: false })
})

test('arrow keys go from tab to tab and around the ends', t => {
  const tabs = ['a', 'b', 'c']
  t.is(tabAfter(tabs, 'a', 'ArrowRight'), 'b')
  t.is(tabAfter(tabs, 'c', 'ArrowRight'), 'a')
  t.is(tabAfter(tabs, 'a', 'ArrowLeft'), 'c')
  t.is(tabAfter(tabs, 'b', 'Home'), 'a')
  t.is(tabAfter(tabs, 'b', 'End'), 'c')
  t.is(tabAfter(tabs, 'b', 'Enter'), undefined)
})
