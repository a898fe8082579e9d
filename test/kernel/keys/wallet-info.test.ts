import test from 'ava'
import { isWalletError } from '../../../kernel/base/errors.ts'
import { walletIdOf } from '../../../kernel/keys/ids.ts'
import { splitWalletInfo } from '../../../kernel/keys/quirks.ts'
import {
  accountRepoTypeOf,
  checkRepoKeys,
  checkWalletInfos,
  hideWalletInfo,
  isWatchOnly,
  makeWalletInfo,
  mergeWalletInfos
} from '../../../kernel/keys/wallet-info.ts'
import type { SecretWalletInfo, WalletKeys } from '../../../kernel/types/keys.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'

const io = makeNodeIo()
const ID = io.crypto.toBase64(new Uint8Array(32))

const infoOf = (keys: WalletKeys, appId = '', type = 'wallet:a'): SecretWalletInfo =>
  hideWalletInfo({ id: ID, type, keys }, appId)

const merge = (infos: readonly SecretWalletInfo[]): SecretWalletInfo[] =>
  mergeWalletInfos(io, infos, error => {
    throw error
  })

test('a wallet only watches if its keys say so', t => {
  t.true(isWatchOnly(infoOf({ isWatchOnly: true, publicKey: 'x' })))
  for (const keys of [{}, { isWatchOnly: false }, { seed: 'x' }] as readonly WalletKeys[])
    t.false(isWatchOnly(infoOf(keys)), JSON.stringify(keys))
})

test('a new wallet info has fresh keys, an id that follows from them, and the keys it was given [3.17] [9.6]', t => {
  const info = makeWalletInfo(io, 'wallet:bitcoin', { seed: 'x', imported: false })
  const dataKey = io.crypto.fromBase64(String(info.keys.dataKey))
  t.is(dataKey.length, 32)
  t.is(io.crypto.fromBase64(String(info.keys.syncKey)).length, 20)
  t.is(info.id, walletIdOf(io, 'wallet:bitcoin', dataKey))
  const same = { dataKey: String(info.keys.dataKey) }
  t.is(makeWalletInfo(io, 'wallet:bitcoin', same).id, info.id)
  t.not(makeWalletInfo(io, 'wallet:litecoin', same).id, info.id)
  t.not(makeWalletInfo(io, 'wallet:bitcoin').id, info.id)
  t.is(info.keys.seed, 'x')
  t.is(makeWalletInfo(io, 't', { dataKey: 'AAAA' }).id, walletIdOf(io, 't', new Uint8Array(3)))
  t.throws(() => makeWalletInfo(io, 't', { dataKey: 5 as unknown as string }), { code: 'KEY_INTEGRITY' })
  t.is(accountRepoTypeOf(''), 'account-repo:co.airbitz.wallet')
  t.is(accountRepoTypeOf('x'), 'account-repo:x')
})

test('infos of one id become one with all keys and apps, at the first place', t => {
  const other = hideWalletInfo(makeWalletInfo(io, 'wallet:b'), '')
  const deep = { list: [1, { a: null }] }
  const [first, second, ...rest] = merge([
    infoOf({ a: '1', deep }),
    other,
    infoOf({ b: '2', deep: { list: [1, { a: null }] } }, 'app'),
    infoOf({ a: '1' }, '')
  ])
  t.deepEqual(
    first?.keys.use(keys => ({ ...keys })),
    { a: '1', deep, b: '2' }
  )
  t.deepEqual(first?.appIds, ['app', ''])
  t.is(second, other)
  t.deepEqual(rest, [])
})

test('two infos with the same secret become one that keeps it', t => {
  const info = infoOf({ a: '1' })
  const [merged, ...rest] = merge([info, { ...info, appIds: ['app'] }])
  t.is(merged?.keys, info.keys)
  t.deepEqual(merged?.appIds, [...info.appIds.filter(appId => appId !== 'app'), 'app'])
  t.deepEqual(rest, [])
})

test('infos that contradict each other are a violation of key integrity [5.29] [5.30]', t => {
  const pairs: [SecretWalletInfo, SecretWalletInfo][] = [
    [infoOf({ a: '1' }), infoOf({ a: '2' })],
    [infoOf({ a: [1, 2] }), infoOf({ a: [2, 1] })],
    [infoOf({ a: {} }), infoOf({ a: { b: 1 } })],
    [infoOf({ a: { b: 1, c: 1 } }), infoOf({ a: { b: 1, d: 1 } })],
    [infoOf({ a: [] }), infoOf({ a: {} })],
    [infoOf({ a: null }), infoOf({ a: {} })],
    [infoOf({ a: {} }), infoOf({ a: null })],
    [infoOf({ a: '' }), infoOf({ a: {} })],
    [infoOf({ a: {} }), infoOf({ a: '' })],
    [infoOf({ a: [] }), infoOf({ a: 5 })],
    [infoOf({}), infoOf({}, '', 'wallet:b')]
  ]
  for (const pair of pairs) t.throws(() => checkWalletInfos(io, pair), { code: 'KEY_INTEGRITY' })
  for (const id of ['', 'AAAA', '!', `${ID}${ID}`]) {
    t.throws(() => checkWalletInfos(io, [{ ...infoOf({}), id }]), {
      code: 'KEY_INTEGRITY',
      message: /^Key integrity violation/
    })
  }
})

test('an info that violates key integrity is left out and reported; those before and after it stay', t => {
  const others = ['wallet:b', 'wallet:c'].map(type => hideWalletInfo(makeWalletInfo(io, type), ''))
  const first = infoOf({ a: '1', b: '1' })
  const violations: unknown[] = []
  const infos = [first, { ...infoOf({}), id: 'AAAA' }, infoOf({ c: '3', a: '2' }), ...others]
  t.deepEqual(
    mergeWalletInfos(io, infos, error => violations.push(error)),
    [first, ...others]
  )
  first.keys.use(keys => t.deepEqual(keys, { a: '1', b: '1' }))
  t.is(violations.length, 2)
  for (const error of violations) t.true(isWalletError(error, 'KEY_INTEGRITY'))
})

test('a key named __proto__ is a key like any other', t => {
  const keys = JSON.parse('{"__proto__":{"polluted":true}}')
  const [info] = merge([infoOf({ a: '1' }), infoOf(keys)])
  info?.keys.use(merged => t.true(Object.hasOwn(merged, '__proto__')))
  t.is(({} as { polluted?: boolean }).polluted, undefined)
})

test('a wallet without both keys of its repo cannot be split', t => {
  const keys = { dataKey: ID, syncKey: ID }
  t.notThrows(() => splitWalletInfo(io, { id: ID, type: 'wallet:a', keys }, 'wallet:b'))
  for (const name of ['dataKey', 'syncKey']) {
    for (const value of [undefined, 5]) {
      const info = { id: ID, type: 'wallet:a', keys: { ...keys, [name]: value } as unknown as WalletKeys }
      t.throws(() => splitWalletInfo(io, info, 'wallet:b'), { code: 'KEY_INTEGRITY' }, name)
    }
  }
})

test('keys name and encrypt a repo only if each of them has its length', t => {
  const textOf = (length: number): string => io.crypto.toBase64(new Uint8Array(length))
  const check = (dataKey: unknown, syncKey: unknown): void =>
    checkRepoKeys(io, { dataKey, syncKey } as WalletKeys)
  t.notThrows(() => check(textOf(32), textOf(20)))
  for (const bad of [textOf(31), textOf(33), textOf(20), 'no base64', 5, undefined])
    t.throws(() => check(bad, textOf(20)), { code: 'KEY_INTEGRITY', message: /dataKey/ }, String(bad))
  for (const bad of [textOf(19), textOf(21), textOf(32), 'no base64', 5, undefined])
    t.throws(() => check(textOf(32), bad), { code: 'KEY_INTEGRITY', message: /syncKey/ }, String(bad))
})

test('an id of 32 bytes is one in whatever form of base64 it stands, and one of another length is none', t => {
  const merged = (id: string): number => {
    let found = 0
    mergeWalletInfos(io, [hideWalletInfo({ id, type: 'wallet:a', keys: {} }, '')], () => {
      found -= 1
    }).forEach(() => {
      found += 1
    })
    return found
  }
  t.is(merged(io.crypto.toBase64(new Uint8Array(32).fill(255))), 1)
  t.is(merged(io.crypto.toBase64(new Uint8Array(31))), -1)
  t.is(merged(io.crypto.toBase64(new Uint8Array(33))), -1)
  t.is(merged(''), -1)
})
