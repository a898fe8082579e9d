import { OutScript, Transaction } from '@scure/btc-signer'
import test from 'ava'
import fc from 'fast-check'
import {
  type HashedInput,
  type HashedTransaction,
  SignatureHashes,
  type SignatureKind
} from '../../../plugins/currency/utxo/spend/sign.ts'

const NOP = 0x61

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })

const scriptOf = (kind: SignatureKind, hash: Uint8Array): Uint8Array =>
  kind === 'taproot'
    ? Uint8Array.of(0x51, 32, ...hash)
    : OutScript.encode({ type: kind === 'segwit' ? 'wpkh' : 'pkh', hash: hash.slice(0, 20) })

const inputs: fc.Arbitrary<HashedInput> = fc
  .record({
    txid: bytes(32).map(id => Buffer.from(id).toString('hex')),
    vout: fc.integer({ min: 0, max: 0xffffffff }),
    sequence: fc.constantFrom(0xfffffffd, 0xfffffffe, 0xffffffff, 0),
    value: fc.bigInt({ min: 0n, max: 21n * 10n ** 14n }),
    kind: fc.constantFrom<SignatureKind>('legacy', 'segwit', 'taproot', 'forkid'),
    hash: bytes(32)
  })
  .map(({ hash, ...input }) => {
    const script = scriptOf(input.kind, hash)
    const scriptCode = input.kind === 'segwit' ? scriptOf('legacy', hash) : script
    return { ...input, script, scriptCode }
  })

const transactions: fc.Arbitrary<HashedTransaction> = fc.record({
  lockTime: fc.integer({ min: 0, max: 0xffffffff }),
  inputs: fc.array(inputs, { minLength: 1, maxLength: 300, size: 'medium' }),
  outputs: fc.array(
    fc.record({
      value: fc.bigInt({ min: 0n, max: 21n * 10n ** 14n }),
      script: fc.integer({ min: 1, max: 300 }).map(length => new Uint8Array(length).fill(NOP))
    }),
    { minLength: 1, maxLength: 5 }
  )
})

/** What @scure/btc-signer hashes for each input. */
const hashesOfLibrary = ({ lockTime, inputs, outputs }: HashedTransaction): Uint8Array[] => {
  const tx = new Transaction({ lockTime, allowUnknownOutputs: true, allowLegacyWitnessUtxo: true })
  for (const { txid, vout, sequence, script, value } of inputs) {
    tx.addInput({ txid, index: vout, sequence, witnessUtxo: { script, amount: value } })
  }
  for (const { script, value } of outputs) tx.addOutput({ script, amount: value })
  // The library signs with it, and its types keep it to itself.
  const legacy = tx as unknown as { preimageLegacy(at: number, script: Uint8Array, type: number): Uint8Array }
  return inputs.map(({ kind, scriptCode, value }, at) => {
    if (kind === 'legacy') return legacy.preimageLegacy(at, scriptCode, 1)
    if (kind === 'segwit') return tx.preimageWitnessV0(at, scriptCode, 1, value)
    // Bitcoin Cash: the hash of BIP-143 with a hash type of its own, for what segwit knows nothing of.
    if (kind === 'forkid') return tx.preimageWitnessV0(at, scriptCode, 0x41, value)
    const scripts = inputs.map(({ script }) => script)
    const values = inputs.map(({ value: worth }) => worth)
    return tx.preimageWitnessV1(at, scripts, 0, values)
  })
}

test('each input signs the hash that the library computes, whatever stands beside it', t => {
  const seed = Number(process.env.HOLDFAST_SEED ?? Math.floor(Math.random() * 2 ** 31))
  t.log(`seed ${seed}`)
  fc.assert(
    fc.property(transactions, transaction => {
      const hashes = new SignatureHashes(transaction)
      const ours = transaction.inputs.map((_, at) => Buffer.from(hashes.hashOf(at)).toString('hex'))
      const theirs = hashesOfLibrary(transaction).map(hash => Buffer.from(hash).toString('hex'))
      t.deepEqual(ours, theirs)
    }),
    {
      seed,
      numRuns: 40,
      examples: [
        // More inputs than one byte counts.
        [
          {
            lockTime: 7,
            inputs: Array.from({ length: 260 }, (_, vout): HashedInput => {
              const kind = (['legacy', 'segwit', 'taproot'] as const)[vout % 3] ?? 'legacy'
              const script = scriptOf(kind, new Uint8Array(32).fill(vout))
              const scriptCode =
                kind === 'segwit' ? scriptOf('legacy', new Uint8Array(32).fill(vout)) : script
              return { txid: 'ab'.repeat(32), vout, sequence: 1, value: 5n, kind, script, scriptCode }
            }),
            outputs: [{ value: 1n, script: new Uint8Array(260).fill(NOP) }]
          }
        ]
      ]
    }
  )
})
