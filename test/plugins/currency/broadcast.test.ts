import test from 'ava'
import { ElectrumRefusal, NotSent } from '../../../plugins/currency/utxo/electrum/connection.ts'
import type { ElectrumPool } from '../../../plugins/currency/utxo/electrum/pool.ts'
import { broadcast } from '../../../plugins/currency/utxo/electrum/requests.ts'
import { toyTransaction } from '../../helpers/toy-currency.ts'

test('a refusal counts only if the server could also be queried for the transaction', async t => {
  const answer = (requested: Promise<unknown>): Parameters<typeof broadcast>[0] => ({
    ready: async () => {},
    pool: {
      isReady: true,
      callMany: ([{ method }]: [{ method: string }]) => [
        method.endsWith('broadcast')
          ? Promise.reject(new ElectrumRefusal(1, 'bad-txns-inputs-missingorspent'))
          : requested
      ]
    } as never
  })
  const tx = toyTransaction('ab', { signedTx: '00' })
  await t.notThrowsAsync(broadcast(answer(Promise.resolve('00')), tx))
  await t.throwsAsync(broadcast(answer(Promise.reject(new Error('connection lost'))), tx), {
    code: 'NETWORK'
  })
  const unknown = Promise.reject(new ElectrumRefusal(2, 'No such mempool or blockchain transaction'))
  await t.throwsAsync(broadcast(answer(unknown), tx), { code: 'BROADCAST_REFUSED' })
})

/** A server that gives an answer to a broadcast; `sent` counts those that it got. */
const serverOf = (answer: () => Promise<unknown>): { pool: ElectrumPool; sent(): number } => {
  let sent = 0
  const callMany = (): readonly Promise<unknown>[] => {
    sent += 1
    return [answer()]
  }
  return { pool: { isReady: true, serverUrl: 'tcp://s.test:1', callMany } as never, sent: () => sent }
}

test('a payment whose bytes have left for no server goes to the next one, and one that may have arrived does not', async t => {
  const tx = toyTransaction('ab', { signedTx: '00' })
  const unsent = serverOf(() => Promise.reject(new NotSent(new Error('closed'))))
  const lost = serverOf(() => Promise.reject(new Error('closed')))
  const next = serverOf(() => Promise.resolve('ab'))
  const moving = (...pools: readonly ElectrumPool[]) => {
    let waits = 0
    return {
      get pool() {
        return pools[waits - 1] as ElectrumPool
      },
      ready: async () => {
        waits += 1
      }
    }
  }
  await t.notThrowsAsync(broadcast(moving(unsent.pool, next.pool), tx))
  t.is(next.sent(), 1)
  await t.notThrowsAsync(broadcast(moving({ isReady: false } as never, next.pool), tx))
  t.is(next.sent(), 2)
  await t.throwsAsync(broadcast(moving(lost.pool, next.pool), tx), { message: 'closed' })
  await t.throwsAsync(broadcast(moving(unsent.pool, unsent.pool), tx), { code: 'NETWORK', message: /closed/ })
  t.is(next.sent(), 2)
})
