import test from 'ava'
import type { Json } from '../../../kernel/plugin-api.ts'
import type { ElectrumPool } from '../../../plugins/currency/utxo/electrum/pool.ts'
import { fetchTxs } from '../../../plugins/currency/utxo/electrum/requests.ts'

test('a server whose replies exceed the size of its transactions is dropped, sooner for unconfirmed ones', async t => {
  const hex = '00'.repeat(4_000_000)
  const pool = {
    callMany: (calls: readonly unknown[]) => calls.map(async (): Promise<Json> => hex),
    headersAt: async () => new Map()
  } as unknown as ElectrumPool
  const questions = (count: number, height = 1) =>
    Array.from({ length: count }, (_, at) => ({
      ...{ txid: String(at), height, needsBytes: true, needsProof: false }
    }))
  t.is((await fetchTxs(pool, questions(32))).length, 32)
  await t.throwsAsync(fetchTxs(pool, questions(33)), { name: 'ElectrumFault' })
  await t.throwsAsync(fetchTxs(pool, questions(1, 0)), { name: 'ElectrumFault' })
})
