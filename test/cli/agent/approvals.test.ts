import test from 'ava'
import type { ActionHandler } from '../../../app/actions/actions.ts'
import { Approvals } from '../../../cli/devtools/serve-panel.ts'

test('a stopped command approves no further payments, and other actions still work', async t => {
  const requested: string[] = []
  const approvals = new Approvals(3000)
  const runAction = approvals.track((async (name: string) => {
    requested.push(name)
    return {}
  }) as unknown as ActionHandler)
  await runAction('spend.approve', { draftId: 'one' })
  await approvals.settled(undefined)
  await t.throwsAsync(runAction('spend.approve', { draftId: 'two' }), { code: 'GONE' })
  await t.throwsAsync(runAction('swap.approve', { draftId: 'three' }), { code: 'GONE' })
  await t.throwsAsync(runAction('spend.resend', { walletId: 'w', txid: 'four' }), { code: 'GONE' })
  await runAction('spend.discard', { draftId: 'two' })
  t.deepEqual(requested, ['spend.approve', 'spend.discard'])
})
