import test from 'ava'
import { countdownText } from '../../../../app/format/quotes.ts'
import {
  agoText,
  clockText,
  countText,
  dateText,
  fileTimeText,
  percentText,
  shortId,
  sizeText,
  visibleText
} from '../../../../devtools/react/parts/texts.ts'

test('whole numbers stand in threes, however long they are', t => {
  t.is(countText('1'), '1')
  t.is(countText('1000'), '1\u202f000')
  t.is(countText('-123456789012345678901'), '-123\u202f456\u202f789\u202f012\u202f345\u202f678\u202f901')
  t.is(countText('unknown'), 'unknown')
})

test('only what is complete is 100 per cent', t => {
  t.deepEqual([0, 0.5, 0.999_999, 1].map(percentText), ['0\u202f%', '50\u202f%', '99\u202f%', '100\u202f%'])
})

test('the size of a file is never nothing, and has two figures', t => {
  t.deepEqual([1, 17_406, 999_001, 1_000_000, 9_940_000, 64_000_000].map(sizeText), [
    ...['1 kB', '18 kB', '1000 kB', '1.0 MB', '9.9 MB', '64 MB']
  ])
})

test('the time in the name of a file sorts as times do, and has no letter that a system forbids', t => {
  t.is(fileTimeText(new Date(2026, 0, 2, 3, 4, 5).getTime()), '2026-01-02-03-04-05')
})

test('what is left or past is shown with its unit', t => {
  t.deepEqual([agoText(0, 100), agoText(100, 100), agoText(40, 100)], ['never', 'now', '60 s ago'])
  t.deepEqual([-5, 0, 1, 59_001, 60_000].map(countdownText), ['0:00', '0:00', '0:01', '1:00', '1:00'])
})

test('long ids are shortened in their middle, short ones stay', t => {
  t.is(shortId('account-1'), 'account-1')
  t.is(shortId('Uh3GzFh8uEo7Qe1TzVYVQJVvKHcPD3dF3mXkA2mXr0E='), 'Uh3GzF…mXr0E=')
})

test('what is no time is a dash', t => {
  for (const at of [Number.NaN, 1e300, Number.POSITIVE_INFINITY]) {
    t.is(clockText(at), '–')
    t.is(dateText(at), '–')
  }
})

test('letters that cannot be seen are marked, save those that a script or an emoji needs', t => {
  t.is(
    visibleText('bc1q\u202egnp.\u200bxe\u0000\ufeff\ud800\u00ad'),
    'bc1q\ufffdgnp.\ufffdxe\ufffd\ufffd\ufffd\ufffd'
  )
  for (const text of [
    'Savings',
    'דמי כיס',
    'می\u200cخواهم',
    '\u{1f469}\u200d\u{1f469}\u200d\u{1f467}',
    'two\nlines\t'
  ])
    t.is(visibleText(text), text)
})
