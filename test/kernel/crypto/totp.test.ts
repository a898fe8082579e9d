import test from 'ava'
import { utf8Of } from '../../../kernel/crypto/encoding.ts'
import { hotp, isTotp, totp } from '../../../kernel/crypto/totp.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'

const io = makeNodeIo()
const key = utf8Of('12345678901234567890')

test('codes are those of RFC 4226 and RFC 6238', t => {
  const codes = [
    '755224',
    '287082',
    '359152',
    '969429',
    '338314',
    '254676',
    '287922',
    '162583',
    '399871',
    '520489'
  ]
  t.deepEqual(
    codes.map((_, counter) => hotp(io, key, counter)),
    codes
  )
  t.is(totp(io, key, 59), '287082')
  t.is(totp(io, key, 1111111109), '081804')
  t.is(totp(io, key, 20000000000), '353130')
  t.not(hotp(io, key, 2 ** 32), hotp(io, key, 0))
})

test('a code counts from two steps before to two steps after its time, and no longer', t => {
  const time = 1_700_000_010
  const right = [-90, -60, -30, 0, 30, 60, 90].map(shift =>
    isTotp(io, key, { code: totp(io, key, time + shift), time })
  )
  t.deepEqual(right, [false, true, true, true, true, true, false])
  for (const counter of [0, 1, 2]) t.true(isTotp(io, key, { code: hotp(io, key, counter), time: 10 }))
  t.false(isTotp(io, key, { code: hotp(io, key, 3), time: 10 }))
})

test('what is no six digits is no code', t => {
  for (const code of ['', '12345', '1234567', '12345a', '１２３４５６', '287082 ', '287082\n', '\ud800']) {
    t.false(isTotp(io, key, { code, time: 59 }))
  }
})
