import test from 'ava'
import fc from 'fast-check'
import { bareCode, escapedText } from '../../../app/format/safe-text.ts'

test('text of others is shown with every invisible character escaped', t => {
  for (const [text, shown] of [
    ['Rent for May', 'Rent for May'],
    ['Zürich 東京 Ωμέγα', 'Zürich 東京 Ωμέγα'],
    ['a\nb\tc\0', 'a\\u{a}b\\u{9}c\\u{0}'],
    ['pay \u202eecila', 'pay \\u{202e}ecila'],
    ['a\u200bb\u2060c\ufeffd', 'a\\u{200b}b\\u{2060}c\\u{feff}d'],
    // Tags and selectors can hide a text of any length.
    ['hi\u{e0041}\u{e0100}\ufe01', 'hi\\u{e0041}\\u{e0100}\\u{fe01}'],
    ['\u3164\u115f\u2800\u034f', '\\u{3164}\\u{115f}\\u{2800}\\u{34f}'],
    ['\ud800', '\\u{d800}'],
    ['\u2764\ufe0f', '\u2764\ufe0f'],
    ['\u2764\ufe0f\ufe0f', '\u2764\ufe0f\\u{fe0f}'],
    ['\u{1f600}', '\u{1f600}']
  ] as const)
    t.is(escapedText(text), shown)
})

test('text of others is cut, and no part of an escape or of a character is left', t => {
  t.is(escapedText('a'.repeat(200)), 'a'.repeat(200))
  t.is(escapedText('a'.repeat(201)), `${'a'.repeat(199)}…`)
  t.is(escapedText(`${'a'.repeat(195)}\0\0\0`), `${'a'.repeat(195)}…`)
  t.is(escapedText(`${'a'.repeat(198)}\u{1f600}b`), `${'a'.repeat(198)}…`)
  t.is(escapedText('abcdef', 3), 'ab…')
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 400 }),
      fc.integer({ min: 10, max: 300 }),
      (text, max) => {
        const shown = escapedText(text, max)
        t.true(shown.length <= max)
        t.notRegex(shown, /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u2800]/u)
        t.notRegex(shown, /\\u\{[0-9a-f]*…?$/)
      }
    )
  )
})

test('a ticker has no room for words', t => {
  t.is(bareCode('BTC'), 'BTC')
  t.is(bareCode('USD₮0'), 'USD₮0')
  t.is(bareCode('SEND ALL NOW'), 'SEND?ALL?NOW')
  t.is(bareCode('A\u202eB\u3164C\n'), 'A?B?C?')
  t.is(bareCode('x'.repeat(300)).length, 20)
})
