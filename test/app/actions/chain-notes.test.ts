import test from 'ava'
import { chainNotesOf } from '../../../app/actions/open-payment-checks.ts'
import { nativeAmount, type SpendInfo, type Transaction } from '../../../kernel/index.ts'

const draft = (memos: Transaction['memos']): Transaction => ({ memos }) as Transaction

test('a payment without memos or call data has no chain notes', t => {
  t.deepEqual(chainNotesOf([draft([])], [{ tokenId: null, spendTargets: [] }]), {})
})

test('chain notes list the memos of every draft with their type, and the parameters of every call as JSON', t => {
  const target = { publicAddress: '0xrouter', nativeAmount: nativeAmount('0') }
  const spends: SpendInfo[] = [
    { tokenId: null, spendTargets: [{ ...target, otherParams: { allow: 'all' } }] },
    { tokenId: null, spendTargets: [target], otherParams: { data: '0x01' } }
  ]
  const drafts = [draft([{ type: 'hex', value: 'c0ffee' }]), draft([{ type: 'text', value: 'to:\u202eyou' }])]
  t.deepEqual(chainNotesOf(drafts, spends), {
    untrusted: {
      memos: ['hex:c0ffee', 'to:\u202eyou'],
      params: ['{"allow":"all"}', '{"data":"0x01"}']
    }
  })
})
