import { ed25519 } from '@noble/curves/ed25519.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js'

/** A payment of the toy currency, before it is signed. Amounts are decimal text. */
export interface Payment {
  /** Addresses are ed25519 public keys in hex. */
  readonly from: string
  readonly to: string
  readonly amount: string
  /** How many payments the sender has made before; no payment can be made twice. */
  readonly nonce: number
}

/** A payment that the ledger has taken. */
export interface Entry extends Payment {
  readonly txid: string
  readonly height: number
  /** Unix seconds. */
  readonly date: number
}

/** Burnt by every payment. */
export const FEE = 1n

/** The address of a private key of 32 bytes in hex. */
export const addressOf = (key: string): string => bytesToHex(ed25519.getPublicKey(hexToBytes(key)))

/** Signs a payment; the text is what the ledger takes. */
export const signPayment = (payment: Payment, key: string): { txid: string; signedTx: string } => {
  const bytes = bytesOf(payment)
  const signature = bytesToHex(ed25519.sign(bytes, hexToBytes(key)))
  return { txid: bytesToHex(sha256(bytes)), signedTx: JSON.stringify({ payment, signature }) }
}

/** A ledger in memory that checks signatures and balances: the whole "network" of the toy currency. */
export class ToyLedger {
  readonly #entries: Entry[] = []

  /** Makes coins from nothing. */
  mint(to: string, amount: string): void {
    this.#take({ from: '', to, amount, nonce: this.#entries.length })
  }

  get height(): number {
    return this.#entries.length
  }

  historyOf(address: string): readonly Entry[] {
    return this.#entries.filter(({ from, to }) => from === address || to === address)
  }

  balanceOf(address: string): bigint {
    let balance = 0n
    for (const { from, to, amount } of this.historyOf(address)) {
      if (to === address) balance += BigInt(amount)
      if (from === address) balance -= BigInt(amount) + FEE
    }
    return balance
  }

  nonceOf(address: string): number {
    return this.#entries.filter(({ from }) => from === address).length
  }

  /** Takes signed bytes, and the same ones twice. Gives the reason for a refusal, or undefined. */
  send(signedTx: string): string | undefined {
    const { payment, signature } = JSON.parse(signedTx) as { payment: Payment; signature: string }
    const bytes = bytesOf(payment)
    if (this.#entries.some(({ txid }) => txid === bytesToHex(sha256(bytes)))) return undefined
    if (!ed25519.verify(hexToBytes(signature), bytes, hexToBytes(payment.from))) return 'bad signature'
    if (payment.nonce !== this.nonceOf(payment.from)) return 'spent already'
    if (this.balanceOf(payment.from) < BigInt(payment.amount) + FEE) return 'not enough coins'
    this.#take(payment)
    return undefined
  }

  #take(payment: Payment): void {
    const txid = bytesToHex(sha256(bytesOf(payment)))
    this.#entries.push({ ...payment, txid, height: this.height + 1, date: Date.now() / 1000 })
  }
}

const bytesOf = ({ from, to, amount, nonce }: Payment): Uint8Array =>
  utf8ToBytes(JSON.stringify([from, to, amount, nonce]))
