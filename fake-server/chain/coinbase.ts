import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { RawTx, ScriptNum } from '@scure/btc-signer'
import { concatBytes, sha256x2 } from '@scure/btc-signer/utils.js'
import { merkleRootOf } from './merkle.ts'
import { type ChainTransaction, decodeTransaction, NO_TXID } from './transaction.ts'

/** What the first transaction of a block is made from. */
export interface CoinbaseParts {
  readonly height: number
  /** Who earns the subsidy and the fees. */
  readonly script: Uint8Array
  readonly amount: bigint
  /** Makes the coinbase of two blocks at the same height differ. */
  readonly extraNonce: Uint8Array
  /** The other transactions of the block, which the witness commitment covers. */
  readonly transactions: readonly ChainTransaction[]
}

/** Makes the transaction that creates new coins, with the height (BIP34) and the witness commitment (BIP141). */
export const makeCoinbase = ({
  height,
  script,
  amount,
  extraNonce,
  transactions
}: CoinbaseParts): ChainTransaction =>
  decodeTransaction(
    bytesToHex(
      RawTx.encode({
        version: 2,
        segwitFlag: true,
        inputs: [
          {
            txid: hexToBytes(NO_TXID),
            index: 0xffffffff,
            finalScriptSig: concatBytes(heightPush(height), Uint8Array.of(extraNonce.length), extraNonce),
            sequence: 0xffffffff
          }
        ],
        outputs: [
          { amount, script },
          { amount: 0n, script: commitmentScript(transactions, RESERVED) }
        ],
        witnesses: [[RESERVED]],
        lockTime: 0
      })
    )
  )

/** Why a transaction cannot be the coinbase of a block with these others; undefined if it can. */
export const faultOfCoinbase = (
  coinbase: ChainTransaction,
  height: number,
  transactions: readonly ChainTransaction[]
): string | undefined => {
  const push = bytesToHex(heightPush(height))
  const input = coinbase.inputs[0]
  if (input === undefined || !bytesToHex(input.script).startsWith(push)) return 'bad-cb-height'
  const [reserved, ...rest] = input.witness
  if (reserved?.length !== 32 || rest.length > 0) return 'bad-witness-nonce-size'
  const expected = bytesToHex(commitmentScript(transactions, reserved))
  const found = coinbase.outputs.findLast(output => bytesToHex(output.script).startsWith(COMMITMENT_PREFIX))
  return found !== undefined && bytesToHex(found.script) === expected ? undefined : 'bad-witness-merkle-match'
}

const RESERVED = new Uint8Array(32)
const COMMITMENT_PREFIX = '6a24aa21a9ed'

const heightPush = (height: number): Uint8Array => {
  if (height <= 16) return Uint8Array.of(0x50 + height)
  const number = ScriptNum().encode(BigInt(height))
  return concatBytes(Uint8Array.of(number.length), number)
}

const commitmentScript = (transactions: readonly ChainTransaction[], reserved: Uint8Array): Uint8Array => {
  const root = hexToBytes(merkleRootOf([NO_TXID, ...transactions.map(tx => tx.wtxid)])).reverse()
  return concatBytes(hexToBytes(COMMITMENT_PREFIX), sha256x2(root, reserved))
}
