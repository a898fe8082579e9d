import test from 'ava'
import {
  contractTokenId,
  parseLegacyToken,
  parseSavedToken,
  parseToken,
  parseTokenId
} from '../../../kernel/schema/account-files.ts'

const coin = {
  currencyCode: 'COIN',
  displayName: 'Some Coin',
  denominations: [
    { name: 'COIN', multiplier: '1000000000000000000', symbol: 'C' },
    { name: 'wei', multiplier: '1' }
  ],
  networkLocation: { contractAddress: '0xAb12', extra: [1, { x: null }] }
}

test('a token has a code, a name, denominations with name, multiplier and symbol, and where it is [3.19]', t => {
  t.deepEqual(parseToken({ ...coin, other: 1 }) as unknown, coin)
  const { networkLocation: _, ...bare } = coin
  t.deepEqual(parseToken({ ...bare, networkLocation: null }) as unknown, bare)
  t.is(contractTokenId(parseToken(coin)), 'ab12')
  t.is(contractTokenId(parseToken(bare)), undefined)
  const copy = parseToken(coin)
  t.true([copy, copy.denominations, copy.denominations[0], copy.networkLocation].every(Object.isFrozen))
})

const round: { self?: unknown } = {}
round.self = round

const BAD: readonly [unknown, string][] = [
  [null, ''],
  [[coin], ''],
  [{ ...coin, currencyCode: '' }, 'currencyCode'],
  [{ ...coin, displayName: 5 }, 'displayName'],
  [{ ...coin, displayName: 'x'.repeat(201) }, 'displayName'],
  [{ ...coin, denominations: 'BTC' }, 'denominations'],
  [{ ...coin, denominations: Array(21).fill({ name: 'a', multiplier: '1' }) }, 'denominations'],
  [{ ...coin, denominations: [null] }, 'denominations[0]'],
  [{ ...coin, denominations: [{ name: 'a' }] }, 'denominations[0].multiplier'],
  ...['0', '1.5', '1e3', '-1', '', ' 7', '9'.repeat(101), 7].map((multiplier): [unknown, string] => [
    { ...coin, denominations: [{ name: 'a', multiplier }] },
    'denominations[0].multiplier'
  ]),
  [{ ...coin, denominations: [{ name: 'a', multiplier: '1', symbol: 5 }] }, 'denominations[0].symbol'],
  [{ ...coin, networkLocation: 'here' }, 'networkLocation'],
  [{ ...coin, networkLocation: round }, 'networkLocation'],
  [{ ...coin, networkLocation: { contractAddress: 'x'.repeat(10_001) } }, 'networkLocation']
]

test('a bad token is refused by the name of the field, without its value', t => {
  for (const [value, path] of BAD) {
    t.like(
      t.throws(() => parseToken(value)),
      { code: 'BAD_REPLY', details: { source: 'token', path } }
    )
  }
  const location = JSON.parse('{"__proto__":{"x":1}}')
  t.throws(() => parseToken({ ...coin, networkLocation: location }), { code: 'BAD_REPLY' })
})

test('a token id is short text that reaches no prototype', t => {
  t.is(parseTokenId('ab12'), 'ab12')
  for (const id of ['', '__proto__', 'constructor', 'prototype', 'toString', 'x'.repeat(201), 5, null])
    t.throws(() => parseTokenId(id), { code: 'BAD_REPLY' })
})

const legacy = {
  contractAddress: '0xCC33',
  currencyCode: 'GUI',
  currencyName: 'Gui token',
  denomination: '18',
  denominations: [
    { name: 'GUI', multiplier: '1000' },
    { name: 'gui', multiplier: '1' }
  ],
  multiplier: '1000',
  isVisible: true,
  walletType: 'wallet:toycoin'
}

test('a legacy custom token becomes a token under its contract address, unless it is hidden [3.20]', t => {
  const token = {
    currencyCode: 'GUI',
    displayName: 'Gui token',
    denominations: legacy.denominations,
    networkLocation: { contractAddress: '0xCC33' }
  }
  t.deepEqual(parseLegacyToken(legacy) as unknown, { walletType: 'wallet:toycoin', tokenId: 'cc33', token })
  t.is(parseLegacyToken({ ...legacy, isVisible: false }), undefined)
  const { isVisible: _, walletType: __, denominations: ___, ...short } = legacy
  t.deepEqual(parseLegacyToken(short) as unknown, {
    walletType: 'wallet:ethereum',
    tokenId: 'cc33',
    token: { ...token, denominations: [{ name: 'GUI', multiplier: '1000' }] }
  })
  t.throws(() => parseLegacyToken({ ...legacy, contractAddress: undefined }), { code: 'BAD_REPLY' })
  t.throws(() => parseLegacyToken({ ...legacy, contractAddress: '0xconstructor' }), { code: 'BAD_REPLY' })
  t.throws(() => parseLegacyToken(null), { code: 'BAD_REPLY' })
})

test('a token without denominations or a name is one, as in the deployed core', t => {
  const bare = { ...coin, displayName: '', denominations: [] }
  t.deepEqual(parseToken(bare), bare)
})

test('of a saved token only the denominations that make no sense are left out', t => {
  const good = { name: 'ODD', multiplier: '12' }
  const odd = [null, { name: 'A' }, { name: 'B', multiplier: '0' }, { name: 'C', multiplier: '1.5' }]
  t.deepEqual(parseSavedToken({ ...coin, denominations: [...odd, good] }).denominations, [good])
  t.deepEqual(parseSavedToken({ ...coin, denominations: odd }).denominations, [])
  t.throws(() => parseSavedToken({ ...coin, networkLocation: 5 }), { code: 'BAD_REPLY' })
})
