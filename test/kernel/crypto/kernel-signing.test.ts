import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import test from 'ava'
import { engineWithKernelSignatures, toolsWithKernelKeys } from '../../../kernel/crypto/kernel-signing.ts'
import {
  type CurrencyEngine,
  type EngineTransaction,
  type KernelSignature,
  nativeAmount,
  type PolicyPlugin,
  type SigningCurve,
  type SpendInfo,
  WalletError
} from '../../../kernel/index.ts'
import type { KeylessTools } from '../../../kernel/types/engine.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { openToyHome } from '../../helpers/toy-home.ts'

const HASH = '5a'.repeat(32)
const PAYMENT: SpendInfo = {
  tokenId: null,
  spendTargets: [{ publicAddress: 'shop', nativeAmount: nativeAmount('5') }]
}

/** A public key of ed25519 for the cryptography of Node. */
const nodeKeyOf = (key: Uint8Array): KeyObject =>
  createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(key).toString('base64url') },
    format: 'jwk'
  })

/** A home with a currency for which the kernel signs, and everything that its plugin was called with. */
const openKeylessHome = async (
  t: Parameters<typeof openToyHome>[0],
  curve: SigningCurve,
  { wanted = [HASH] as unknown, plugins = [] as readonly PolicyPlugin[] } = {}
) => {
  const seen: string[] = []
  const note = (...given: unknown[]): void => void seen.push(JSON.stringify(given))
  const engine = {
    async getBytesToSign() {
      seen.push('getBytesToSign')
      return wanted
    },
    addSignatures: async (tx: EngineTransaction, signatures: readonly KernelSignature[]) => ({
      ...tx,
      ...{ txid: 'txid', signedTx: JSON.stringify(signatures) }
    }),
    // What a plugin of old has: no kernel calls it.
    async signTx(...given: unknown[]) {
      note('signTx', ...given)
      throw new Error('It wants a key')
    },
    signMessage: async (...given: unknown[]) => {
      note('signMessage', ...given)
      return 'signature'
    }
  }
  const home = await openToyHome(t, {
    info: { signing: { curve, keyName: 'toyKey' }, canImportKeys: true },
    tools: {
      async createPrivateKey() {
        note('createPrivateKey')
        return { toyKey: '00' }
      },
      async derivePublicKey(info) {
        note('derivePublicKey', info)
        return { address: String(info.keys.publicKey) }
      },
      async importPrivateKey(text) {
        note('importPrivateKey', text)
        return { toyKey: text }
      },
      async getDisplayPrivateKey(info) {
        note('getDisplayPrivateKey', info)
        return 'shown'
      },
      async getSplittableTypes(info) {
        note('getSplittableTypes', info)
        return []
      }
    },
    engine: () => engine as Partial<CurrencyEngine>,
    onCall: note,
    device: { plugins }
  })
  return { ...home, seen }
}

for (const curve of ['ed25519', 'secp256k1'] as const)
  test(`the kernel makes a key of ${curve} and signs with it, and the plugin sees signatures alone`, async t => {
    const { account, clock, seen } = await openKeylessHome(t, curve)
    const wallet = await account.createCurrencyWallet('wallet:toycoin')
    await clock.advance(100)
    const { publicAddress: publicKey } = await wallet.getReceiveAddress()
    const shown = await account.walletKeys.getDisplayPrivateKey(wallet.id)
    t.regex(shown, /^[0-9a-f]{64}$/)
    const key = Buffer.from(shown, 'hex')
    const own = curve === 'ed25519' ? ed25519.getPublicKey(key) : secp256k1.getPublicKey(key)
    t.is(publicKey, Buffer.from(own).toString('hex'))
    const { signedTx } = await wallet.spend(await wallet.makeSpend(PAYMENT))
    const [made, ...others] = JSON.parse(signedTx) as KernelSignature[]
    t.deepEqual(others, [])
    t.is(made?.publicKey, publicKey)
    const [signature, hash] = [Buffer.from(made?.signature ?? '', 'hex'), Buffer.from(HASH, 'hex')]
    // The library that signs does not judge alone.
    if (curve === 'ed25519') t.true(verify(null, hash, nodeKeyOf(own), signature))
    else {
      t.true(secp256k1.verify(signature, hash, own, { prehash: false, lowS: true }))
      const whole = Uint8Array.from([made?.recovery ?? 9, ...signature])
      t.deepEqual(secp256k1.recoverPublicKey(whole, hash, { prehash: false }), own)
    }
    await t.throwsAsync(wallet.signMessage('I am Tess'), { code: 'NOT_SUPPORTED' })
    t.deepEqual(await account.listSplittableWalletTypes(wallet.id), [])
    const all = seen.join('\n')
    t.false(all.includes(shown), 'no private key reaches the plugin')
    t.notRegex(all, /createPrivateKey|importPrivateKey|getDisplayPrivateKey|signTx|signMessage/)
    t.notRegex(all, /dataKey|syncKey/)
    // The same key, imported.
    const again = await account.createCurrencyWallet('wallet:toycoin', {
      importText: `0x${shown.toUpperCase()}`
    })
    t.is((await again.getReceiveAddress()).publicAddress, publicKey)
    for (const importText of ['', 'words', `${shown}00`, ...(curve === 'secp256k1' ? ['0'.repeat(64)] : [])])
      await t.throwsAsync(account.createCurrencyWallet('wallet:toycoin', { importText }), {
        code: 'IMPORT_INVALID'
      })
    t.false(seen.join('\n').includes(shown))
  })

test('what a plugin wants signed must be bytes of the right length, and nothing is sent otherwise', async t => {
  const wrong: readonly unknown[] = [
    null,
    [],
    HASH,
    [7],
    [''],
    [HASH.slice(2)],
    [`${HASH}5a`],
    ['z'.repeat(64)],
    Array(10_001).fill(HASH)
  ]
  for (const wanted of wrong) {
    const { account, clock } = await openKeylessHome(t, 'secp256k1', { wanted })
    const wallet = await account.createCurrencyWallet('wallet:toycoin')
    await clock.advance(100)
    await t.throwsAsync(
      wallet.spend(await wallet.makeSpend(PAYMENT)),
      { code: 'BOGUS_DATA', message: 'Plugin sent bogus bytes to sign' },
      JSON.stringify(wanted)?.slice(0, 80)
    )
    t.deepEqual(wallet.unfinishedSpends(), [])
  }
})

test('a plugin is not wanted what to sign before every policy has agreed', async t => {
  const never: PolicyPlugin = {
    kind: 'policy',
    id: 'never',
    apply: ({ hooks }) =>
      hooks.beforeSign.tapPromise('never', async () => {
        throw new WalletError('SIGN_REFUSED', { pluginId: 'never', reason: 'never' })
      })
  }
  const { account, clock, seen } = await openKeylessHome(t, 'ed25519', { plugins: [never] })
  const wallet = await account.createCurrencyWallet('wallet:toycoin')
  await clock.advance(100)
  await t.throwsAsync(wallet.spend(await wallet.makeSpend(PAYMENT)), { code: 'SIGN_REFUSED' })
  t.false(seen.includes('getBytesToSign'))
})

test('a signature is the one of RFC 6979 for the key and hash, and several come in the order of the bytes', async t => {
  // The vector of bitcoinjs and of Trezor: key 1, the SHA-256 of "Satoshi Nakamoto".
  const hash = 'a0dc65ffca799873cbea0ac274015b9526505daaaed385155425f7337704883e'
  const { account, clock } = await openKeylessHome(t, 'secp256k1', { wanted: [hash, HASH] })
  const wallet = await account.createCurrencyWallet('wallet:toycoin', { importText: `${'0'.repeat(63)}1` })
  await clock.advance(100)
  const { signedTx } = await wallet.spend(await wallet.makeSpend(PAYMENT))
  const signatures = (JSON.parse(signedTx) as KernelSignature[]).map(({ signature }) => signature)
  t.is(signatures.length, 2)
  t.is(
    signatures[0],
    '934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d82442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5'
  )
  t.not(signatures[1], signatures[0])
})

test('random bytes that are no private key of the curve are drawn again', async t => {
  const io = makeNodeIo()
  const drawn = [new Uint8Array(32), new Uint8Array(32).fill(255), new Uint8Array(32).fill(7)]
  const lengths: number[] = []
  const random = (length: number): Uint8Array => {
    lengths.push(length)
    return drawn[lengths.length - 1] ?? new Uint8Array(length)
  }
  const info = { signing: { curve: 'secp256k1', keyName: 'key' } }
  const tools = toolsWithKernelKeys({} as KeylessTools, info as Parameters<typeof toolsWithKernelKeys>[1], {
    ...{ crypto: io.crypto, random }
  })
  t.deepEqual(await tools.createPrivateKey('wallet:toycoin'), { key: '07'.repeat(32) })
  t.deepEqual(lengths, [32, 32, 32])
  t.is(tools.importPrivateKey, undefined, 'the currency has no form of a key to import')
  const edwards = toolsWithKernelKeys(
    {} as KeylessTools,
    { signing: { curve: 'ed25519', keyName: 'key' } } as Parameters<typeof toolsWithKernelKeys>[1],
    { crypto: io.crypto, random: length => new Uint8Array(length).fill(255) }
  )
  t.deepEqual(await edwards.createPrivateKey('wallet:toycoin'), { key: 'ff'.repeat(32) })
})

test('a plugin gets up to 100,000 bytes signed, and two million at once', async t => {
  const io = makeNodeIo()
  const large = '5a'.repeat(100_000)
  const sign = async (wanted: readonly unknown[]): Promise<number> => {
    let count = 0
    const engine = {
      getBytesToSign: async () => wanted,
      async addSignatures(tx: EngineTransaction, signatures: readonly KernelSignature[]) {
        count = signatures.length
        return tx
      }
    } as unknown as Parameters<typeof engineWithKernelSignatures>[0]
    const info = { pluginId: 'toy', signing: { curve: 'ed25519', keyName: 'key' } }
    const signing = engineWithKernelSignatures(
      engine,
      info as Parameters<typeof engineWithKernelSignatures>[1],
      io
    )
    await signing.signTx({} as EngineTransaction, { key: '07'.repeat(32) })
    return count
  }
  t.is(await sign(Array(20).fill(large)), 20)
  const refused = { code: 'BOGUS_DATA' } as const
  await t.throwsAsync(sign([...Array(20).fill(large), '5a']), refused)
  await t.throwsAsync(sign([`${large}5a`]), refused)
  await t.throwsAsync(sign(['5a', 55]), refused)
})
