import test from 'ava'
import { ElectrumRefusal } from '../../../plugins/currency/utxo/electrum/connection.ts'
import type { ElectrumPool } from '../../../plugins/currency/utxo/electrum/pool.ts'
import { broadcast } from '../../../plugins/currency/utxo/electrum/requests.ts'
import { toyTransaction } from '../../helpers/toy-currency.ts'

test('a refusal counts only if the server could also be queried for the transaction', async t => {
  const answer = (requested: Promise<unknown>): ElectrumPool =>
    ({
      whenReady: async () => {},
      callMany: ([{ method }]: [{ method: string }]) => [
        method.endsWith('broadcast')
          ? Promise.reject(new ElectrumRefusal(1, 'bad-txns-inputs-missingorspent'))
          : requested
      ]
    }) as never
  const tx = toyTransaction('ab', { signedTx: '00' })
  await t.notThrowsAsync(broadcast(answer(Promise.resolve('00')), tx))
  await t.throwsAsync(broadcast(answer(Promise.reject(new Error('connection lost'))), tx), {
    code: 'NETWORK'
  })
  const unknown = Promise.reject(new ElectrumRefusal(2, 'No such mempool or blockchain transaction'))
  await t.throwsAsync(broadcast(answer(unknown), tx), { code: 'BROADCAST_REFUSED' })
})
