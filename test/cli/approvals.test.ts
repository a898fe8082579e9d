import test from 'ava'
import { Approvals } from '../../cli/devtools/serve-panel.ts'
import type { ActionHandler } from '../../devtools/core/model/actions.ts'

test('once the command is stopped no payment is approved any more, and the rest is done as before', async t => {
  const asked: string[] = []
  const approvals = new Approvals(3000)
  const act = approvals.track((async (name: string) => {
    asked.push(name)
    return {}
  }) as unknown as ActionHandler)
  await act('spend.approve', { draftId: 'one' })
  await approvals.settled(undefined)
  await t.throwsAsync(act('spend.approve', { draftId: 'two' }), { code: 'GONE' })
  await t.throwsAsync(act('swap.approve', { draftId: 'three' }), { code: 'GONE' })
  await t.throwsAsync(act('spend.resend', { walletId: 'w', txid: 'four' }), { code: 'GONE' })
  await act('spend.discard', { draftId: 'two' })
  t.deepEqual(asked, ['spend.approve', 'spend.discard'])
})
