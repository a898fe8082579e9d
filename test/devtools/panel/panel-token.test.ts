import test from 'ava'
import { type TokenPage, takeToken } from '../../../devtools/react/panel-token.ts'

const TOKEN = 'c2VjcmV0LXRva2VuLW9mLTMyLWJ5dGVzLWhlcmUtLS0'

/** A page at an address, in a tab that keeps texts. */
const pageAt = (hash: string, kept: Map<string, string> = new Map()) => {
  const addresses: string[] = []
  const page: TokenPage = {
    location: { hash, pathname: '/' },
    history: { replaceState: (_state, _title, address) => void addresses.push(String(address)) },
    sessionStorage: {
      getItem: key => kept.get(key) ?? null,
      setItem: (key, text) => void kept.set(key, text)
    }
  }
  return { page, addresses, kept }
}

test('the token leaves the address, and the tab keeps it for a reload', t => {
  const { page, addresses, kept } = pageAt(`#token=${TOKEN}`)
  t.is(takeToken(page), TOKEN)
  t.deepEqual(addresses, ['/'])
  const reloaded = pageAt('#/engines', kept)
  t.is(takeToken(reloaded.page), TOKEN)
  t.deepEqual(reloaded.addresses, [])
})

test('a place that follows the token stays in the address', t => {
  const { page, addresses, kept } = pageAt(`#token=${TOKEN}/plugins/corner?filter=a%20b`)
  t.is(takeToken(page), TOKEN)
  t.deepEqual(addresses, ['/#/plugins/corner?filter=a%20b'])
  t.deepEqual([...kept.values()], [TOKEN])
})

test('a new token replaces the one that the tab kept; what is no token is left in the address', t => {
  const { page, kept } = pageAt(`#token=${TOKEN}`)
  takeToken(page)
  const other = TOKEN.replace('c', 'd')
  t.is(takeToken(pageAt(`#token=${other}`, kept).page), other)
  for (const hash of ['', '#token=', '#token=a b', '#/engines/x', `#token=${TOKEN}&x`]) {
    const { page, addresses } = pageAt(hash)
    t.is(takeToken(page), undefined)
    t.deepEqual(addresses, [])
  }
})

test('a browser that forbids its storage has the token until it is reloaded', t => {
  const { page, addresses } = pageAt(`#token=${TOKEN}`)
  const forbid = (hash: string): TokenPage => ({
    location: { hash, pathname: '/' },
    history: page.history,
    get sessionStorage(): never {
      throw new Error('SecurityError')
    }
  })
  t.is(takeToken(forbid(`#token=${TOKEN}`)), TOKEN)
  t.deepEqual(addresses, ['/'])
  t.is(takeToken(forbid('')), undefined)
})
