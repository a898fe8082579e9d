// The network of this currency, in memory: it checks signatures and balances, and confirms at once. `npm run ledger` serves it.
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import { basename } from 'node:path'
import { argv } from 'node:process'
import { ed25519 } from '@noble/curves/ed25519.js'

const FEE = 1n

/** @typedef {{ from: string, to: string, amount: string, nonce: number }} Payment */
/** @typedef {Payment & { txid: string, height: number, date: number }} Entry */

/** Makes a ledger without payments. */
export const makeLedger = () => {
  /** @type {Entry[]} */
  const entries = []
  /** @param {Payment} payment */
  const add = payment => {
    const entry = {
      ...payment,
      txid: txidOf(payment),
      height: entries.length + 1,
      date: Math.floor(Date.now() / 1000)
    }
    entries.push(entry)
    return entry.txid
  }
  /** @param {string} address */
  const of = address => {
    const payments = entries.filter(({ from, to }) => from === address || to === address)
    const sent = payments.filter(({ from }) => from === address)
    const received = payments.filter(({ to }) => to === address)
    const balance = sumOf(received) - sumOf(sent) - FEE * BigInt(sent.length)
    return { height: entries.length, balance: String(balance), nonce: sent.length, payments }
  }

  return {
    /** Makes coins from nothing. @param {string} to @param {string} amount */
    fund: (to, amount) => add({ from: '', to, amount, nonce: entries.length }),
    /**
     * Answers a request.
     * @param {{ method: string, path: string, body?: string | undefined }} request
     * @returns {{ status: number, headers: Record<string, string>, body: string }}
     */
    answer({ method, path, body = '' }) {
      const [, route, name = '', amount = ''] = path.split('/')
      if (method === 'GET' && route === 'accounts') return reply(200, of(name))
      if (method === 'POST' && route === 'fund') return reply(200, { txid: this.fund(name, amount) })
      if (method !== 'POST' || route !== 'payments') return reply(404, { reason: 'no such route' })
      const { payment, signature } = JSON.parse(body)
      if (entries.some(({ txid }) => txid === txidOf(payment))) return reply(200, { txid: txidOf(payment) })
      const { balance, nonce } = of(payment.from)
      const isSigned = ed25519.verify(hex(signature), bytesOf(payment), hex(payment.from.slice(0, 64)))
      if (!isSigned) return reply(400, { reason: 'bad signature' })
      if (payment.nonce !== nonce) return reply(400, { reason: 'spent already' })
      if (BigInt(payment.amount) + FEE > BigInt(balance)) return reply(400, { reason: 'not enough coins' })
      return reply(200, { txid: add(payment) })
    }
  }
}

/** @param {number} status @param {unknown} value */
const reply = (status, value) => ({ status, headers: {}, body: JSON.stringify(value) })
/** @param {Entry[]} entries */
const sumOf = entries => entries.reduce((sum, { amount }) => sum + BigInt(amount), 0n)
/** @param {Payment} payment */
const bytesOf = ({ from, to, amount, nonce }) =>
  new TextEncoder().encode(JSON.stringify([from, to, amount, nonce]))
/** @param {Payment} payment */
const txidOf = payment => createHash('sha256').update(bytesOf(payment)).digest('hex')
/** @param {string} text */
const hex = text => new Uint8Array(Buffer.from(text, 'hex'))

// node test/ledger.js [port]
if (basename(argv[1] ?? '') === 'ledger.js') {
  const ledger = makeLedger()
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', text => {
      body += text
    })
    request.on('end', () => {
      const answer = ledger.answer({ method: request.method ?? 'GET', path: request.url ?? '/', body })
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body)
    })
  })
  const port = Number(argv[2] ?? 8177)
  server.listen(port, '127.0.0.1', () => {
    console.log(`the ledger is at http://127.0.0.1:${port}; POST /fund/ADDRESS/AMOUNT makes coins`)
  })
}
