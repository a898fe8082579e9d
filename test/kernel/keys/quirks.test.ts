import test from 'ava'
import { walletIdOf } from '../../../kernel/keys/ids.ts'
import {
  fixedTypeOf,
  fixWalletType,
  isSegwitSplit,
  needsReplayProtection
} from '../../../kernel/keys/quirks.ts'
import { makeWalletInfo } from '../../../kernel/keys/wallet-info.ts'
import type { WalletKeys } from '../../../kernel/types/keys.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'

const io = makeNodeIo()

test('legacy key paths use coin types: bitcoin 0, testnet 1, litecoin 2, dogecoin 3, dash 5, feathercoin 8, bitcoincash 145, qtum 2301, zcoin 136, ufo 202 [9.31]', t => {
  const coinTypes: Record<string, number> = {
    'bitcoin-bip44': 0,
    'bitcoin-bip49': 0,
    'bitcoin-bip44-testnet': 1,
    'bitcoin-bip49-testnet': 1,
    'bitcoincash-bip44-testnet': 1,
    litecoin: 2,
    'litecoin-bip44': 2,
    'litecoin-bip49': 2,
    'dogecoin-bip44': 3,
    'dash-bip44': 5,
    'feathercoin-bip44': 8,
    'feathercoin-bip49': 8,
    'bitcoincash-bip44': 145,
    'qtum-bip44': 2301,
    zcoin: 136,
    'zcoin-bip44': 136,
    'ufo-bip49': 202,
    'ufo-bip84': 202
  }
  for (const [name, coinType] of Object.entries(coinTypes)) {
    const { keys } = fixWalletType<{ type: string; keys: WalletKeys }>({ type: `wallet:${name}`, keys: {} })
    t.is(keys.coinType, coinType, name)
  }
})

test('a type that needs nothing gives the same object, and no given object changes', t => {
  for (const type of [
    'wallet:ethereum',
    'wallet:bitcoincash',
    'wallet:bitid',
    'wallet:newcoin-bip44',
    'account-repo:co.airbitz.wallet'
  ]) {
    const info = Object.freeze({ type, keys: Object.freeze({ k: 1 }) })
    t.is(fixWalletType(info), info)
    t.is(fixedTypeOf(type), type)
  }
  const complete = Object.freeze({ type: 'wallet:bitcoin', keys: Object.freeze({ format: 'bip84' }) })
  t.is(fixWalletType(complete), complete)
  const legacy = Object.freeze({ type: 'wallet:bitcoin-bip49', keys: Object.freeze({ format: 'bip44' }) })
  t.deepEqual(fixWalletType(legacy), { type: 'wallet:bitcoin', keys: { format: 'bip44', coinType: 0 } })
})

test('the id of a legacy type follows from that type, not from the one it is known by', t => {
  const dataKey = io.crypto.toBase64(io.random(32))
  const info = makeWalletInfo(io, 'wallet:bitcoin-bip49', { dataKey })
  t.is(info.type, 'wallet:bitcoin')
  t.is(info.id, walletIdOf(io, 'wallet:bitcoin-bip49', io.crypto.fromBase64(dataKey)))
  t.is(info.keys.format, 'bip49')
})

test('old types whose name says nothing of a key path stand for the format that they were made with', t => {
  for (const [name, format] of Object.entries({
    bitcoin: 'bip32',
    'bitcoin-testnet': 'bip32',
    'bitcoincash-bip32': 'bip32',
    'bitcoincash-testnet': 'bip32',
    litecoin: 'bip32',
    zcoin: 'bip32'
  })) {
    const { keys } = fixWalletType<{ type: string; keys: WalletKeys }>({ type: `wallet:${name}`, keys: {} })
    t.is(keys.format, format, name)
  }
})

test('a wallet of Bitcoin whose addresses need a witness has none on Bitcoin Cash, and any other split has', t => {
  const isSegwit = (type: string, format: string, newType: string): boolean =>
    isSegwitSplit({ id: 'id', type: `wallet:${type}`, keys: { format } }, `wallet:${newType}`)
  for (const format of ['bip49', 'bip84', 'bip86']) {
    t.true(isSegwit('bitcoin', format, 'bitcoincash'), format)
    t.false(isSegwit('bitcoin', format, 'litecoin'), format)
    t.false(isSegwit('litecoin', format, 'bitcoincash'), format)
  }
  for (const format of ['bip32', 'bip44']) t.false(isSegwit('bitcoin', format, 'bitcoincash'), format)
})

test('a split of Bitcoin Cash into Bitcoin SV alone needs replay protection', t => {
  t.true(needsReplayProtection('wallet:bitcoincash', 'wallet:bitcoinsv'))
  t.false(needsReplayProtection('wallet:bitcoin', 'wallet:bitcoinsv'))
  t.false(needsReplayProtection('wallet:bitcoincash', 'wallet:bitcoin'))
  t.false(needsReplayProtection('wallet:bitcoinsv', 'wallet:bitcoincash'))
})
