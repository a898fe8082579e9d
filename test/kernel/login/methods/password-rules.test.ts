import test from 'ava'
import { checkPasswordRules, type PasswordRules } from '../../../../kernel/login/methods/password.ts'

test('a password needs ten characters, a number, a lower-case and an upper-case letter [5.3]', t => {
  const flawless = { tooShort: false, noNumber: false, noLowerCase: false, noUpperCase: false, passed: true }
  const table: [string, Omit<PasswordRules, 'secondsToCrack'>][] = [
    ['Abcdefgh1!', flawless],
    ['Abcdefg1!', { ...flawless, tooShort: true, passed: false }],
    ['Abcdefghi!', { ...flawless, noNumber: true, passed: false }],
    ['ABCDEFGH1!', { ...flawless, noLowerCase: true, passed: false }],
    ['abcdefgh1!', { ...flawless, noUpperCase: true, passed: false }],
    ['', { tooShort: true, noNumber: true, noLowerCase: true, noUpperCase: true, passed: false }]
  ]
  for (const [password, expected] of table) {
    const { secondsToCrack: _, ...rules } = checkPasswordRules(password)
    t.deepEqual(rules, expected, password)
  }
})

test('sixteen characters pass whatever they are, ten only without a flaw [5.4] [9.11]', t => {
  t.true(checkPasswordRules('a'.repeat(16)).passed)
  t.false(checkPasswordRules('a'.repeat(15)).passed)
  t.true(checkPasswordRules(`Aa1${'a'.repeat(7)}`).passed)
  t.false(checkPasswordRules(`Aa1${'a'.repeat(6)}`).passed)
  t.true(checkPasswordRules('                ').passed)
})

test('the time to crack grows with the length and with each kind of letter, and is always a number [5.5]', t => {
  const seconds = (password: string): number => checkPasswordRules(password).secondsToCrack
  t.is(seconds('aaaaa'), 26 ** 5 / 1e6)
  t.is(seconds('aaaa1'), 36 ** 5 / 1e6)
  t.is(seconds('aaaA1'), 62 ** 5 / 1e6)
  t.is(seconds('é!aA1'), 92 ** 5 / 1e6)
  t.true(Number.isFinite(seconds('a'.repeat(10_000))))
  t.true(seconds('') > 0)
})
