import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js'
import { hex } from '@scure/base'
import { p2ms, p2sh, p2tr, p2wsh, Script } from '@scure/btc-signer'
import { pubECDSA, pubSchnorr } from '@scure/btc-signer/utils.js'
import test from 'ava'
import fc from 'fast-check'
import { BITCOIN_REGTEST } from '../../../fake-server/chain/chain-params.ts'
import { nativeAmount } from '../../../kernel/base/amount.ts'
import {
  alter,
  makeFundedChain,
  makeTestWallet,
  refuses,
  signAll,
  signSpend,
  type TestWalletKind,
  testWalletKinds
} from './chain-kit.ts'

const to = makeTestWallet('p2wpkh', 9).script

const isSegwit = (kind: TestWalletKind): boolean => kind !== 'p2pkh'

/** The signature of the first input, wherever its kind keeps it; changed in place. */
const flipSignature = (text: string, kind: TestWalletKind): string =>
  alter(text, raw => {
    const input = raw.inputs[0]
    const witness = raw.witnesses?.[0]
    if (kind === 'p2pkh' && input !== undefined) {
      const [signature, pubkey] = Script.decode(input.finalScriptSig) as Uint8Array[]
      if (signature === undefined || pubkey === undefined) throw new Error('no signature')
      input.finalScriptSig = Script.encode([flipped(signature, 2), pubkey])
    } else if (witness !== undefined) {
      const at = kind === 'p2wsh' ? 1 : 0
      witness[at] = flipped(witness[at] as Uint8Array, kind === 'p2tr' ? 1 : 2)
    }
  })

const flipped = (bytes: Uint8Array, fromEnd: number): Uint8Array => {
  const copy = bytes.slice()
  copy[copy.length - fromEnd] = (copy[copy.length - fromEnd] ?? 0) ^ 1
  return copy
}

for (const kind of testWalletKinds) {
  test(`${kind}: a properly signed spend of two coins is accepted, mined and counted`, t => {
    const testWallet = makeTestWallet(kind)
    const chain = makeFundedChain(testWallet, ['600000', '400000'])
    const txid = chain.broadcast(signAll(chain, testWallet, { to, fee: 1000n }))
    t.deepEqual(chain.balance(testWallet.script), {
      confirmed: '1000000' as never,
      unconfirmed: '-1000000' as never
    })
    chain.mine()
    t.is(chain.view.find(txid)?.height, chain.height)
    t.is(chain.balance(to).confirmed, nativeAmount('999000'))
    t.is(chain.balance(testWallet.script).confirmed, nativeAmount('0'))
  })

  test(`${kind}: a flipped signature bit, another key's signature and a wrong amount are refused`, t => {
    const testWallet = makeTestWallet(kind)
    const chain = makeFundedChain(testWallet)
    const good = signAll(chain, testWallet, { to, fee: 1000n })
    refuses(t, chain, [flipSignature(good, kind), /^mandatory-script-verify-flag-failed \(/])
    const bait = makeTestWallet(kind, 2)
    const [coin] = chain.view.scripts.utxosOf(testWallet.scriptHash)
    if (coin === undefined) return t.fail()
    chain.fund(bait.address, '1000000')
    const stranger = signSpend(chain, bait, { outputs: [{ script: to, amount: 999000n }] })
    const stolen = alter(stranger, raw => {
      const input = raw.inputs[0]
      if (input === undefined) throw new Error('no input')
      input.txid = hex.decode(coin.txid)
      input.index = coin.index
    })
    refuses(t, chain, [stolen, /^mandatory-script-verify-flag-failed \(/])
    if (isSegwit(kind)) {
      const lied = signSpend(chain, testWallet, { outputs: [{ script: to, amount: 999000n }], lie: 1n })
      refuses(t, chain, [lied, /^mandatory-script-verify-flag-failed \(/])
    }
    const txid = chain.broadcast(good)
    t.is(chain.view.scripts.waitingOf(testWallet.scriptHash)[0]?.txid, txid)
  })

  test(`${kind}: the right public key with the signature of another one is refused`, t => {
    const testWallet = makeTestWallet(kind)
    const chain = makeFundedChain(testWallet)
    const digest = new Uint8Array(32).fill(3)
    const key = new Uint8Array(32).fill(99)
    const der = secp256k1.sign(digest, key, { prehash: false, format: 'der' })
    const ecdsa = Uint8Array.of(...der, 1)
    const forged = alter(signAll(chain, testWallet, { to, fee: 1000n }), raw => {
      const input = raw.inputs[0]
      const witness = raw.witnesses?.[0]
      if (kind === 'p2pkh' && input !== undefined) {
        input.finalScriptSig = Script.encode([ecdsa, Script.decode(input.finalScriptSig)[1] as Uint8Array])
      } else if (witness !== undefined) {
        witness[kind === 'p2wsh' ? 2 : 0] = kind === 'p2tr' ? schnorr.sign(digest, key) : ecdsa
      }
    })
    const reason = kind === 'p2tr' ? /Invalid Schnorr signature\)/ : /Signature must be zero for failed CHECK/
    refuses(t, chain, [forged, reason])
  })
}

test('a signature with a high S is refused as non-standard, one that is no strict DER as invalid', t => {
  const testWallet = makeTestWallet('p2wpkh')
  const chain = makeFundedChain(testWallet)
  const good = signAll(chain, testWallet, { to, fee: 1000n })
  const withSignature = (change: (der: Uint8Array) => Uint8Array): string =>
    alter(good, raw => {
      const witness = raw.witnesses?.[0]
      if (witness?.[0] === undefined) throw new Error('no signature')
      witness[0] = Uint8Array.of(...change(witness[0].slice(0, -1)), 1)
    })
  const high = withSignature(der => {
    const { r, s } = secp256k1.Signature.fromBytes(der, 'der')
    return new secp256k1.Signature(r, secp256k1.Point.Fn.ORDER - s).toBytes('der')
  })
  refuses(t, chain, [high, /^non-mandatory-script-verify-flag \(.*S value is unnecessarily high/])
  const padded = withSignature(der =>
    Uint8Array.of(0x30, (der[1] ?? 0) + 1, 0x02, (der[3] ?? 0) + 1, 0, ...der.slice(4))
  )
  refuses(t, chain, [padded, /^mandatory-script-verify-flag-failed \(Non-canonical DER/])
  const odd = alter(good, raw => {
    const witness = raw.witnesses?.[0]
    if (witness?.[0] === undefined) throw new Error('no signature')
    witness[0] = Uint8Array.of(...witness[0].slice(0, -1), 4)
  })
  refuses(t, chain, [odd, /^non-mandatory-script-verify-flag \(Signature hash type/])
})

test('witness programs commit to their scripts, and a foreign scriptSig or witness is refused', t => {
  const wsh = makeTestWallet('p2wsh')
  const chain = makeFundedChain(wsh)
  const other = p2ms(
    2,
    [1, 2, 3].map(n => pubECDSA(new Uint8Array(32).fill(100 + n)))
  ).script
  const good = signAll(chain, wsh, { to, fee: 1000n })
  const swapped = alter(good, raw => void raw.witnesses?.[0]?.splice(-1, 1, other))
  refuses(t, chain, [swapped, /^mandatory-script-verify-flag-failed \(Witness program hash mismatch/])
  const dummy = alter(good, raw => void raw.witnesses?.[0]?.splice(0, 1, Uint8Array.of(1)))
  refuses(t, chain, [dummy, /Dummy CHECKMULTISIG argument must be zero/])
  const reversed = alter(good, raw => {
    const witness = raw.witnesses?.[0]
    if (witness !== undefined) witness.splice(1, 2, witness[2] as Uint8Array, witness[1] as Uint8Array)
  })
  refuses(t, chain, [reversed, /^mandatory-script-verify-flag-failed/])
  const stuffed = alter(good, raw => {
    if (raw.inputs[0] !== undefined) raw.inputs[0].finalScriptSig = Uint8Array.of(0x51)
  })
  refuses(t, chain, [stuffed, /Witness requires empty scriptSig/])

  const nested = makeTestWallet('p2sh-p2wpkh')
  const second = makeFundedChain(nested)
  const redeem = alter(signAll(second, nested, { to, fee: 1000n }), raw => {
    if (raw.inputs[0] !== undefined)
      raw.inputs[0].finalScriptSig = Script.encode([makeTestWallet('p2wpkh', 3).script])
  })
  refuses(t, second, [redeem, /^mandatory-script-verify-flag-failed .*false\/empty top stack element/])
})

test('spends beyond decision 27 are refused as non-standard, and never crash', t => {
  const pubkey = pubECDSA(new Uint8Array(32).fill(5))
  const nestedMultisig = p2sh(p2ms(1, [pubkey]), BITCOIN_REGTEST.prefixes)
  const pk = Script.encode([pubkey, 'CHECKSIG'])
  const wshOfKey = p2wsh({ type: 'pk', script: pk } as never, BITCOIN_REGTEST.prefixes, true)
  const tree = p2tr(pubSchnorr(new Uint8Array(32).fill(6)), undefined, BITCOIN_REGTEST.prefixes)
  const cases: readonly (readonly [Uint8Array, Uint8Array, readonly Uint8Array[]])[] = [
    [p2ms(1, [pubkey]).script, Script.encode([0, new Uint8Array(71)]), []],
    [nestedMultisig.script, Script.encode([0, new Uint8Array(71), nestedMultisig.redeemScript]), []],
    [wshOfKey.script, new Uint8Array(), [new Uint8Array(71), pk]],
    [tree.script, new Uint8Array(), [pk, new Uint8Array(33)]],
    [hex.decode('51024e73'), new Uint8Array(), []],
    [hex.decode(`5220${'11'.repeat(32)}`), new Uint8Array(), [new Uint8Array(64)]]
  ]
  for (const [script, scriptSig, witness] of cases) {
    const testWallet = makeTestWallet('p2wpkh')
    const chain = makeFundedChain(testWallet)
    const txid = chain.fund(script, '500000')
    const index = chain.view
      .find(txid)
      ?.tx.outputs.findIndex(output => hex.encode(output.script) === hex.encode(script))
    const odd = alter(signAll(chain, testWallet, { to, fee: 600_000n }), raw => {
      const input = raw.inputs[0]
      if (input === undefined || index === undefined) throw new Error('no input')
      input.txid = hex.decode(txid)
      input.index = index
      input.finalScriptSig = scriptSig
      raw.segwitFlag = witness.length > 0
      raw.witnesses = witness.length > 0 ? [[...witness]] : undefined
    })
    refuses(t, chain, [odd, /^non-mandatory-script-verify-flag \(/])
  }
})

test('no single flipped bit of a signed transaction gets past the chain', t => {
  for (const kind of testWalletKinds) {
    const testWallet = makeTestWallet(kind)
    const chain = makeFundedChain(testWallet)
    const bytes = hex.decode(signAll(chain, testWallet, { to, fee: 1000n }))
    fc.assert(
      fc.property(fc.nat(bytes.length * 8 - 1), bit => {
        const copy = bytes.slice()
        copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        refuses(t, chain, [hex.encode(copy), /./])
      }),
      { numRuns: 60 }
    )
  }
})
