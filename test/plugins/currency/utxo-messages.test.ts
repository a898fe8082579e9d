import { secp256k1 } from '@noble/curves/secp256k1.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { base64 } from '@scure/base'
import { Script, Transaction } from '@scure/btc-signer'
import test from 'ava'
import type { MessageVerdict } from '../../../kernel/plugin-api.ts'
import {
  addressOf,
  parseAddress,
  programOf,
  scriptTypeOf,
  writeScript
} from '../../../plugins/currency/utxo/chain/address.ts'
import { hash160 } from '../../../plugins/currency/utxo/chain/transaction.ts'
import { verifyUtxoMessage } from '../../../plugins/currency/utxo/messages.ts'
import { bitcoinRow } from '../../../plugins/currency/utxo/params/bitcoin.ts'
import { bitcoinCashRow } from '../../../plugins/currency/utxo/params/bitcoin-cash.ts'
import type { CoinRow } from '../../../plugins/currency/utxo/params/coin.ts'
import { dashRow } from '../../../plugins/currency/utxo/params/dash.ts'
import { dogecoinRow } from '../../../plugins/currency/utxo/params/dogecoin.ts'
import { feathercoinRow } from '../../../plugins/currency/utxo/params/feathercoin.ts'
import { litecoinRow } from '../../../plugins/currency/utxo/params/litecoin.ts'
import { qtumRow } from '../../../plugins/currency/utxo/params/qtum.ts'
import { ufoRow } from '../../../plugins/currency/utxo/params/ufo.ts'
import { zcoinRow } from '../../../plugins/currency/utxo/params/zcoin.ts'
import { bitcoin } from '../../../plugins/currency/utxo/plugin.ts'
import { makeTestWorld, type TestWallet, type TestWorld } from './utxo-world.ts'

const TEXT = 'I am Alice, grüße 🎩'
const KEY = Uint8Array.from(
  Buffer.from('0c28fca386c7a227600b2fe50b7cae11ec86d3bf1fbe471be89827e19d72aa1d', 'hex')
)
const WORDS = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about'

// Made with bitcoinjs-message 2.2.0 by KEY.
const BITCOIN_LEGACY =
  'H6sj59ikhNx0cI4I9sJt+h8jFXiKRBrr9/nPTaTc2qBMI9E4jYmX8+/bnKnqymBiZQJKSz8OtU2XGIA3vGvUlSw='
const LEGACY: readonly (readonly [CoinRow, string])[] = [
  [bitcoinRow, BITCOIN_LEGACY],
  [bitcoinCashRow, BITCOIN_LEGACY],
  [litecoinRow, 'IEM/NUNW06kdst6xe6Zy6kp50z9LwukBsuDYq0UCfQwTb1Ugij5ti5/iTxNUj9c8CO4cf7m6RPW/7H4CwcK8N1Q='],
  [dogecoinRow, 'HzK7Mwwiw4JbK/gTiQXwHWV8tvVVkMTxOj75Pkn64JMLd241ZkZe0VPaPCgLqhN/BpPSm8SvBN0JFALkrmzrA18='],
  [dashRow, 'HwTYzE1ypIQGIRnnebFUHqVt4ATPpKm7zyqnCkShkAJca0nwpEsyYSu75IsagYtV9Wn7iLfVjQ0hlyr/n4I502Y='],
  [
    feathercoinRow,
    'IHjv5RYL7cR4H9qpZYH4vcj6bPVW4N36fYU56DBNDAVJcfYQrDG990cufsPkv2tLtsYhZnwqPrMUdHDoOCwvnds='
  ],
  [qtumRow, 'IAFfXX2e6E62Vol+0BpU5hgMPqMsJF/yJ+E4k7FR7OXoC0k8cjSeRUhR9ZAsTqq7QEgvuB0bAIAH1pUuCNIJP8A='],
  [ufoRow, 'IH0vwKOygJsp1ag+iGuhGvXKk2Tlwm+A/09sgVTtNwz6K3is84WwuKgj4uhAhtQwnb8DIR9cK28e1AT91P36OkA='],
  [zcoinRow, 'IDxhdeOtYGUE+8NvVulZaBObmeIzpUnIsX+na98+YDpLRKICqM/iPmJXNpVT+gHee1lHgCpDz9O7ISbqBAiKHKg=']
]

// The examples of BIP-322.
const SEGWIT = 'bc1q9vza2e8x573nczrlzms0wvx3gsqjx7vavgkx0l'
const EMPTY =
  'AkcwRAIgM2gBAQqvZX15ZiysmKmQpDrG83avLIT492QBzLnQIxYCIBaTpOaD20qRlEylyxFSeEA2ba9YOixpX8z46TSDtS40ASECx/EgAxlkQpQ9hYjgGu6EBCPMVPwVIVJqO4XCsMvViHI='
const HELLO =
  'AkcwRAIgZRfIY3p7/DoVTty6YZbWS71bc5Vct9p9Fia83eRmw2QCICK/ENGfwLtptFluMGs2KsqoNSk89pO7F29zJLUx9a/sASECx/EgAxlkQpQ9hYjgGu6EBCPMVPwVIVJqO4XCsMvViHI='

// Made with bip322-js 3.0.0 by the key of these examples, in the form without a prefix.
const TAPROOT = 'bc1ppv609nr0vr25u07u95waq5lucwfm6tde4nydujnu8npg4q75mr5sxq8lt3'
const TAPROOT_HELLO =
  'AUGCRySZmNjSkf0T6YyFlo09tNIJqBgGY661UrNVYht6U5LvaHyn7T1pqP0w+Sptd+5RMrU5lEkPySgOuB0cM987AQ=='
const NESTED = '37qyp7jQAzqb2rCBpMvVtLDuuzKAUCVnJb'
const NESTED_HELLO =
  'AkcwRAIgRfq2Gfv9guFcXAf2vQEJSHX8FP5OuiHs1DSK1I0wk/0CIGPzqm6QNPTDJuki148OQ2DbJtXyrr71s4xYPwogQUupASECx/EgAxlkQpQ9hYjgGu6EBCPMVPwVIVJqO4XCsMvViHI='

const publicKey = secp256k1.getPublicKey(KEY)
const verify = (
  message: string,
  address: string,
  signature: string,
  coin: CoinRow = bitcoinRow
): MessageVerdict => verifyUtxoMessage(coin, coin.networks[0], { message, address, signature })

const addressOfKey = (coin: CoinRow, purpose: 44 | 49 | 84): string =>
  addressOf(coin.networks[0], { type: scriptTypeOf[purpose], data: programOf(purpose, publicKey) })

/** A signature with one bit turned over, at a place of its bytes. */
const bent = (signature: string, place: number): string => {
  const prefix = /^(?:smp|ful)/.exec(signature)?.[0] ?? ''
  const bytes = base64.decode(signature.slice(prefix.length))
  bytes[place] = (bytes[place] ?? 0) ^ 1
  return prefix + base64.encode(bytes)
}

for (const [coin, signature] of LEGACY)
  test(`${coin.pluginId}: a legacy signature of another library is valid for its text and its coin alone`, t => {
    const address = addressOfKey(coin, 44)
    t.is(verify(TEXT, address, signature, coin), 'valid')
    t.is(verify(TEXT, address, ` ${signature}\n`, coin), 'valid')
    t.is(verify(`${TEXT} `, address, signature, coin), 'invalid')
    t.is(verify(TEXT, address, bent(signature, 40), coin), 'invalid')
    for (const [other, foreign] of LEGACY)
      if (other.messageMagic !== coin.messageMagic)
        t.is(verify(TEXT, address, foreign, coin), 'invalid', other.pluginId)
  })

test('a legacy signature is valid for each address of its key, whatever form its header names', t => {
  const bytes = base64.decode(BITCOIN_LEGACY)
  const [header = 0] = bytes
  const withHeader = (value: number): string => base64.encode(Uint8Array.of(value, ...bytes.slice(1)))
  const uncompressed = secp256k1.getPublicKey(KEY, false)
  const old = addressOf(bitcoinRow.networks[0], { type: 'p2pkh', data: hash160(uncompressed) })
  for (const purpose of [44, 49, 84] as const) {
    const address = addressOfKey(bitcoinRow, purpose)
    for (const more of [0, 4, 8]) t.is(verify(TEXT, address, withHeader(header + more)), 'valid')
    t.is(verify(TEXT, address, withHeader(header - 4)), 'invalid')
  }
  t.is(verify(TEXT, old, withHeader(header - 4)), 'valid')
  t.is(verify(TEXT, old, withHeader(header)), 'invalid')
  for (const bad of [0, 26, 43, 255]) t.is(verify(TEXT, old, withHeader(bad)), 'invalid', `${bad}`)
})

test('a key guards no script hash of a coin without segwit', t => {
  const [, dogecoin = ''] = LEGACY.find(([coin]) => coin === dogecoinRow) ?? []
  t.is(verify(TEXT, addressOfKey(dogecoinRow, 44), dogecoin, dogecoinRow), 'valid')
  t.is(verify(TEXT, addressOfKey(dogecoinRow, 49), dogecoin, dogecoinRow), 'invalid')
})

test('the examples of BIP-322 are valid, with and without the prefix of their form', t => {
  for (const prefix of ['', 'smp']) {
    t.is(verify('', SEGWIT, prefix + EMPTY), 'valid')
    t.is(verify('Hello World', SEGWIT, prefix + HELLO), 'valid')
    t.is(verify('Hello World', SEGWIT, prefix + EMPTY), 'invalid')
    t.is(verify('Hello World', TAPROOT, prefix + TAPROOT_HELLO), 'valid')
    t.is(verify('Hello World.', TAPROOT, prefix + TAPROOT_HELLO), 'invalid')
    t.is(verify('Hello World', TAPROOT, bent(prefix + TAPROOT_HELLO, 20)), 'invalid')
    t.is(verify('Hello World', SEGWIT, bent(prefix + HELLO, 20)), 'invalid')
  }
  t.is(verify('Hello World', NESTED, NESTED_HELLO), 'valid')
  // Its script has no place in the simple form.
  t.is(verify('Hello World', NESTED, `smp${NESTED_HELLO}`), 'invalid')
})

test('a BIP-322 signature with another hash type, a high S or a further part is not valid', t => {
  const bytes = base64.decode(HELLO)
  const at = (place: number, value: number): string => {
    const copy = Uint8Array.from(bytes)
    copy[place] = value
    return base64.encode(copy)
  }
  t.is(bytes[72], 1)
  for (const hashType of [0, 2, 3, 0x81]) t.is(verify('Hello World', SEGWIT, at(72, hashType)), 'invalid')
  // The same curve point with the other S, which a node's policy refuses.
  const der = secp256k1.Signature.fromBytes(bytes.slice(2, 72), 'der')
  const { Fn } = secp256k1.Point
  const high = new secp256k1.Signature(der.r, Fn.neg(der.s)).toBytes('der')
  const other = Uint8Array.of(2, high.length + 1, ...high, 1, ...bytes.slice(73))
  t.is(verify('Hello World', SEGWIT, base64.encode(other)), 'invalid')
  const longer = Uint8Array.of(3, ...bytes.slice(1), 0)
  t.is(verify('Hello World', SEGWIT, base64.encode(longer)), 'invalid')
})

/** The transaction that BIP-322 signs for an address, made here once more, without a signature. */
const toSignFor = (script: Uint8Array, version: number): Transaction => {
  const tag = sha256(Buffer.from('BIP0322-signed-message'))
  const hash = sha256(Buffer.concat([tag, tag, Buffer.from('Hello World')]))
  const toSpend = Buffer.concat([
    Buffer.from(`0000000001${'00'.repeat(32)}ffffffff220020`, 'hex'),
    hash,
    Buffer.from(`0000000001${'00'.repeat(8)}`, 'hex'),
    Uint8Array.of(script.length),
    script,
    Buffer.alloc(4)
  ])
  const transaction = new Transaction({
    ...{ version, allowUnknownOutputs: true, disableScriptCheck: true, allowLegacyWitnessUtxo: true }
  })
  transaction.addInput({
    ...{ txid: sha256(sha256(toSpend)).reverse(), index: 0, sequence: 0 },
    witnessUtxo: { script, amount: 0n }
  })
  transaction.addOutput({ script: Uint8Array.of(0x6a), amount: 0n })
  return transaction
}

/** A signature of KEY in the full form for any address, as if its script were that of KEY. */
const signedForAny = (address: string, version: number, purpose: 44 | 49 | 84): string => {
  const { script } = parseAddress(bitcoinRow, bitcoinRow.networks[0], address)
  const transaction = toSignFor(script, version)
  const keyScript = writeScript({ type: 'p2pkh', data: hash160(publicKey) })
  const legacy = Buffer.concat([
    Buffer.from([version, 0, 0, 0, 1]),
    Buffer.from(transaction.getInput(0).txid ?? []).reverse(),
    Buffer.alloc(4),
    Uint8Array.of(script.length),
    script,
    Buffer.from('0000000001000000000000000001' + '6a' + '00000000' + '01000000', 'hex')
  ])
  const digest = purpose === 44 ? sha256(sha256(legacy)) : transaction.preimageWitnessV0(0, keyScript, 1, 0n)
  const der = secp256k1.sign(digest, KEY, { prehash: false, format: 'der' })
  const proof = [Uint8Array.of(...der, 1), publicKey]
  const redeem = writeScript({ type: 'p2wpkh', data: hash160(publicKey) })
  const scripts = { 44: Script.encode(proof), 49: Script.encode([redeem]), 84: new Uint8Array(0) }
  transaction.updateInput(
    0,
    {
      finalScriptSig: scripts[purpose],
      ...(purpose === 44 ? {} : { finalScriptWitness: proof })
    },
    true
  )
  return `ful${base64.encode(transaction.extract())}`
}

test('a BIP-322 signature of another key is invalid for each kind of address, and of its own valid in both versions', t => {
  const foreign = secp256k1.getPublicKey(Uint8Array.from(KEY, byte => byte ^ 1))
  for (const purpose of [44, 49, 84] as const) {
    const data = programOf(purpose, foreign)
    const victim = addressOf(bitcoinRow.networks[0], { type: scriptTypeOf[purpose], data })
    const own = addressOfKey(bitcoinRow, purpose)
    for (const version of [0, 2]) {
      const what = `${purpose}, version ${version}`
      t.is(verify('Hello World', own, signedForAny(own, version, purpose)), 'valid', what)
      t.is(verify('Hello World', victim, signedForAny(victim, version, purpose)), 'invalid', what)
    }
  }
})

test('a push that is longer than it needs is invalid, and a script of several keys is not judged', t => {
  const own = addressOfKey(bitcoinRow, 49)
  const bytes = base64.decode(signedForAny(own, 0, 49).slice(3))
  // Behind the version, marker, flag, count and outpoint: the length of the script and its one push.
  const at = 4 + 2 + 1 + 36
  t.deepEqual([...bytes.slice(at, at + 4)], [23, 22, 0, 20])
  const longer = Uint8Array.of(...bytes.slice(0, at), 24, 0x4c, 22, ...bytes.slice(at + 2))
  t.is(verify('Hello World', own, `ful${base64.encode(longer)}`), 'invalid')
  const several = Uint8Array.of(...bytes.slice(0, at), 24, 0, 22, ...bytes.slice(at + 2))
  t.is(verify('Hello World', own, `ful${base64.encode(several)}`), 'inconclusive')
})

test('what is no signature is invalid, and what this version does not judge is inconclusive', t => {
  const garbage = ['', 'x', 'smp', 'ful', 'fulAAAA', 'smp!', '=', 'A'.repeat(30_000), `smp${'A'.repeat(400)}`]
  for (const address of [SEGWIT, TAPROOT, NESTED, addressOfKey(bitcoinRow, 44)])
    for (const text of garbage) t.is(verify('Hello World', address, text), 'invalid', text.slice(0, 20))
  t.is(verify('Hello World', SEGWIT, 'pofcHNidP8='), 'inconclusive')
  for (const text of ['pof', 'pofAAAA']) t.is(verify('Hello World', SEGWIT, text), 'invalid', text)
  const script = addressOf(bitcoinRow.networks[0], { type: 'p2wsh', data: new Uint8Array(32) })
  t.is(verify('Hello World', script, `smp${HELLO}`), 'inconclusive')
  t.throws(() => verify('Hello World', 'ltc1qxxx', HELLO), { code: 'ADDRESS_INVALID' })
  t.throws(() => verify('\ud800', SEGWIT, HELLO), { code: 'OPTION_INVALID' })
})

const openAlice = async (world: TestWorld, format: string): Promise<TestWallet> =>
  world.openWallet({
    format,
    keys: { bitcoinKey: WORDS, format, coinType: 1 },
    isStarted: false
  })

// Made with bitcoinjs-message 2.2.0 by the first receiving key of WORDS.
const OWN = {
  bip44: 'IEgbAh1g1F0YHUyyx/1QqZX2NrpuodAN8X0TN/wUQ62mf2n3Durjh7HjW70JVzuf9AfmHmq8UwuetVMibPDmJvM=',
  bip84: 'J4xzJkN4iQHZNkaj53sE4mvMQVLT5tOqAKAtVzlpgwqGUM9kB+LlbsbYIS5zLWV0qrb/jnE3fBuvQdwFDbRQ+4w='
} as const
const NESTED_OWN = 'JD5tKjQnXaNGpAoO15u5V5NYLYY6wSszHcB5brQbHlk8DIri13tS6aXheNvxNPwYSOFXckv08f7oLpRMzWYHGP8='

const [regtest = bitcoinRow.networks[0]] = bitcoinRow.networks.filter(({ name }) => name === 'regtest')

test('a wallet signs as other libraries do, by the address that is named or the one to receive on', async t => {
  const world = makeTestWorld({ plugin: bitcoin })
  t.teardown(() => world.close())
  for (const format of ['bip44', 'bip84'] as const) {
    const { engine, privateKeys } = await openAlice(world, format)
    t.is(await engine.signMessage?.(TEXT, privateKeys, {}), OWN[format])
    const { publicAddress } = await engine.getFreshAddress({ tokenId: null })
    t.is(await engine.signMessage?.(TEXT, privateKeys, { otherParams: { publicAddress } }), OWN[format])
  }
  const { engine, privateKeys } = await openAlice(world, 'bip84')
  const { legacyAddress = '' } = await engine.getFreshAddress({ tokenId: null })
  const options = { otherParams: { publicAddress: legacyAddress } }
  t.is(await engine.signMessage?.(TEXT, privateKeys, options), NESTED_OWN)
})

for (const [format, prefix] of [
  ['bip44', 'ful'],
  ['bip49', 'smp'],
  ['bip84', 'smp'],
  ['bip86', 'smp']
] as const)
  test(`a ${format} wallet signs by BIP-322, and the signature is valid for its address and its text alone`, async t => {
    const world = makeTestWorld({ plugin: bitcoin })
    t.teardown(() => world.close())
    const { engine, privateKeys } = await openAlice(world, format)
    const { publicAddress, legacyAddress } = await engine.getFreshAddress({ tokenId: null })
    const signed = async (address: string): Promise<string> =>
      (await engine.signMessage?.(TEXT, privateKeys, {
        otherParams: { publicAddress: address, format: 'bip322' }
      })) ?? ''
    const judge = (message: string, address: string, signature: string): MessageVerdict =>
      verifyUtxoMessage(bitcoinRow, regtest, { message, address, signature })
    const signature = await signed(publicAddress)
    t.is(signature.slice(0, 3), prefix)
    t.is(judge(TEXT, publicAddress, signature), 'valid')
    t.is(judge('', publicAddress, signature), 'invalid')
    const other = (await engine.getFreshAddress({ tokenId: null, forceIndex: 3 })).publicAddress
    t.is(judge(TEXT, other, signature), 'invalid')
    t.is(judge(TEXT, publicAddress, await signed(other)), 'invalid')
    if (legacyAddress === undefined) return
    const nested = await signed(legacyAddress)
    t.is(nested.slice(0, 3), 'ful')
    t.is(judge(TEXT, legacyAddress, nested), 'valid')
    t.is(judge(TEXT, publicAddress, nested), 'invalid')
  })

test('a full signature is judged only without locks and with one input, and by no other script', async t => {
  const world = makeTestWorld({ plugin: bitcoin })
  t.teardown(() => world.close())
  const { engine, privateKeys } = await openAlice(world, 'bip44')
  const { publicAddress } = await engine.getFreshAddress({ tokenId: null })
  const otherParams = { publicAddress, format: 'bip322' }
  const signature = (await engine.signMessage?.(TEXT, privateKeys, { otherParams })) ?? ''
  const bytes = base64.decode(signature.slice(3))
  const judge = (changed: Uint8Array): MessageVerdict =>
    verifyUtxoMessage(bitcoinRow, regtest, {
      ...{ message: TEXT, address: publicAddress },
      signature: `ful${base64.encode(changed)}`
    })
  const changed = (place: number, value: number): Uint8Array => {
    const copy = Uint8Array.from(bytes)
    copy[place < 0 ? copy.length + place : place] = value
    return copy
  }
  t.is(judge(bytes), 'valid')
  // The version: 1 is none of the format, and 2 is another text to sign.
  t.is(judge(changed(0, 1)), 'inconclusive')
  t.is(judge(changed(0, 2)), 'invalid')
  // The lock time.
  t.is(judge(changed(-4, 1)), 'inconclusive')
  // The output pays something, or somewhere.
  t.is(judge(changed(-5, 0x51)), 'invalid')
  t.is(judge(changed(-14, 1)), 'invalid')
  // The outpoint.
  t.is(judge(changed(5, (bytes[5] ?? 0) ^ 1)), 'invalid')
})

test('a wallet refuses to sign for what it has no key, or has no form of', async t => {
  const world = makeTestWorld({ plugin: bitcoin })
  t.teardown(() => world.close())
  const sign = async (format: string, otherParams: Record<string, string>): Promise<unknown> => {
    const { engine, privateKeys } = await openAlice(world, format)
    return engine.signMessage?.(TEXT, privateKeys, { otherParams })
  }
  const foreign = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
  await t.throwsAsync(sign('bip84', { publicAddress: foreign }), {
    code: 'ADDRESS_INVALID',
    message: 'The address is none of this wallet'
  })
  await t.throwsAsync(sign('bip84', { publicAddress: 'me' }), { code: 'ADDRESS_INVALID' })
  await t.throwsAsync(sign('bip84', { format: 'pgp' }), { code: 'OPTION_INVALID' })
  await t.throwsAsync(sign('bip86', { format: 'legacy' }), { code: 'NOT_SUPPORTED' })
  const { engine, privateKeys } = await openAlice(world, 'bip84')
  await t.throwsAsync(async () => engine.signMessage?.('\ud800', privateKeys, {}), { code: 'OPTION_INVALID' })
  const other = await world.openWallet({ format: 'bip84', isStarted: false })
  await t.throwsAsync(async () => engine.signMessage?.(TEXT, other.privateKeys, {}), {
    code: 'KEY_INTEGRITY'
  })
})
