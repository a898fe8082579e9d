import test from 'ava'
import { nativeAmount } from '../../../kernel/index.ts'
import { type ActionStage, makeRich, openStage } from '../../helpers/action-stage.ts'
import { waitFor } from '../../helpers/device.ts'

const ELSEWHERE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'

/** A wallet with three coins, each of which can pay by itself. */
const makeThreeCoins = async (stage: ActionStage): Promise<string> => {
  const { runAction, wallet } = stage
  const { walletId } = await makeRich(stage)
  for (let count = 0; count < 2; count += 1)
    await runAction('world.fund', { walletId, nativeAmount: '5000000' })
  await runAction('world.mine', { pluginId: 'bitcoin', count: 1 })
  await waitFor(() => wallet(walletId).balanceOf(null) === '15000000')
  return walletId
}

const sentCount = async ({ wallet }: ActionStage, walletId: string): Promise<number> =>
  (await wallet(walletId).getTransactions()).filter(({ isSend }) => isSend).length

test('a review lists what is open, and pays the same a second time only after a yes to each open payment', async t => {
  const stage = await openStage(t)
  const { runAction } = stage
  const walletId = await makeThreeCoins(stage)
  const swapRequest = { walletId, publicAddress: ELSEWHERE, nativeAmount: '1000000' }
  const early = await runAction('spend.draft', swapRequest)
  t.is(early.review.openPayments, undefined)
  const first = await runAction('spend.approve', {
    draftId: (await runAction('spend.draft', swapRequest)).draftId
  })
  // The review of the one before is from a time when nothing was open.
  await t.throwsAsync(runAction('spend.approve', { draftId: early.draftId }), {
    code: 'CONFIRMATION_REQUIRED',
    message: `The open payment ${first.txid} pays the same amount to the same payee.`
  })
  const { draftId, review } = await runAction('spend.draft', swapRequest)
  t.deepEqual(review.similar, [first.txid])
  t.like(review.openPayments, [{ txid: first.txid, state: 'seen', targets: [{ nativeAmount: '1000000' }] }])
  await t.throwsAsync(runAction('spend.approve', { draftId, again: ['another'] }), {
    code: 'CONFIRMATION_REQUIRED'
  })
  t.is(await sentCount(stage, walletId), 1)

  const other = await runAction('spend.draft', { ...swapRequest, nativeAmount: '2000000' })
  t.is(other.review.similar, undefined)
  t.like(other.review.openPayments, [{ txid: first.txid }])
  await runAction('spend.approve', { draftId: other.draftId })
  const meant = await runAction('spend.draft', swapRequest)
  await runAction('spend.approve', { draftId: meant.draftId, again: meant.review.similar ?? [] })
  t.is(await sentCount(stage, walletId), 3)
})

test('a payment that was made after a review is not covered by the yes to the one before it', async t => {
  const stage = await openStage(t)
  const { runAction } = stage
  const walletId = await makeThreeCoins(stage)
  const swapRequest = { walletId, publicAddress: ELSEWHERE, nativeAmount: '1000000' }
  await runAction('spend.approve', { draftId: (await runAction('spend.draft', swapRequest)).draftId })
  const [one, two] = [
    await runAction('spend.draft', swapRequest),
    await runAction('spend.draft', swapRequest)
  ]
  const again = one.review.similar ?? []
  t.is(again.length, 1)
  await runAction('spend.approve', { draftId: one.draftId, again })
  await t.throwsAsync(runAction('spend.approve', { draftId: two.draftId, again }), {
    code: 'CONFIRMATION_REQUIRED'
  })
  t.is(await sentCount(stage, walletId), 2)
})

test('an open payment is sent again, and replaced by one that the network accepts instead', async t => {
  const stage = await openStage(t)
  const { runAction, world } = stage
  const walletId = await makeThreeCoins(stage)
  const swapRequest = { walletId, publicAddress: ELSEWHERE, nativeAmount: '1000000', fee: 'low' } as const
  const { txid } = await runAction('spend.approve', {
    draftId: (await runAction('spend.draft', swapRequest)).draftId
  })
  await stage.wallet(walletId).saveTxMetadata(txid, { notes: 'rent' })
  t.deepEqual(await runAction('spend.resend', { walletId, txid }), { txid })
  await t.throwsAsync(runAction('spend.resend', { walletId, txid: 'none' }), { code: 'TX_NOT_FOUND' })

  const { draftId, review } = await runAction('spend.replace', { walletId, txid, fee: 'high' })
  t.like(review, { replaces: txid, similar: undefined, targets: [{ nativeAmount: '1000000' }] })
  t.like(review.openPayments, [{ txid }])
  const replacement = await runAction('spend.approve', { draftId })
  // One that replaces the replacement takes the place of both.
  const later = await runAction('spend.replace', { walletId, txid: replacement.txid, fee: 'high' })
  t.is(later.review.similar, undefined)
  const last = await runAction('spend.approve', { draftId: later.draftId })
  world.chain.mine(1)
  await waitFor(() => stage.wallet(walletId).getSnapshot().openPayments.length === 0)
  t.is(world.chain.balance(ELSEWHERE).confirmed, nativeAmount('1000000'))
  t.is((await stage.wallet(walletId).getTransaction(last.txid)).metadata.notes, 'rent')
  await t.throwsAsync(runAction('spend.replace', { walletId, txid }), { code: 'TX_NOT_FOUND' })
})

test('an open payment is forgotten only when the start of its txid was typed', async t => {
  const stage = await openStage(t)
  const { runAction } = stage
  const walletId = await makeThreeCoins(stage)
  const wallet = stage.wallet(walletId)
  const signed = await wallet.signTx(
    await wallet.makeSpend({
      tokenId: null,
      spendTargets: [{ publicAddress: ELSEWHERE, nativeAmount: nativeAmount('14000000') }]
    })
  )
  const { txid } = signed
  for (const confirm of ['yes', txid, txid.slice(0, 7), txid.slice(1, 9)])
    await t.throwsAsync(runAction('spend.forget', { walletId, txid, confirm }), {
      code: 'CONFIRMATION_REQUIRED'
    })
  t.is(wallet.getSnapshot().openPayments.length, 1)
  t.deepEqual(await runAction('spend.forget', { walletId, txid, confirm: ` ${txid.slice(0, 8)} ` }), {})
  t.deepEqual(wallet.getSnapshot().openPayments, [])
  const { review } = await runAction('spend.draft', {
    walletId,
    publicAddress: ELSEWHERE,
    nativeAmount: '14000000'
  })
  t.is(review.openPayments, undefined)
})

test('a review lists a payment that a server replaced with one that this device did not make', async t => {
  const stage = await openStage(t)
  const { runAction, world } = stage
  const { walletId } = await makeRich(stage)
  const wallet = stage.wallet(walletId)
  const draft = await wallet.makeSpend({
    tokenId: null,
    spendTargets: [{ publicAddress: ELSEWHERE, nativeAmount: nativeAmount('1000000') }]
  })
  // Only the network has the bytes of this one.
  const foreign = await wallet.signTx(draft)
  await wallet.forgetTx(foreign.txid)
  await runAction('world.fund', { walletId, nativeAmount: '5000000' })
  await runAction('world.mine', { pluginId: 'bitcoin', count: 1 })
  await waitFor(() => wallet.balanceDetailsOf(null).spendable === '10000000')
  const { txid } = await wallet.signTx(
    await wallet.makeSpend({
      tokenId: null,
      spendTargets: [{ publicAddress: ELSEWHERE, nativeAmount: nativeAmount('9000000') }]
    })
  )
  world.chain.broadcast(foreign.signedTx)
  await waitFor(() => wallet.getSnapshot().openPayments[0]?.state === 'replaced')
  const { review } = await runAction('spend.draft', {
    walletId,
    publicAddress: ELSEWHERE,
    nativeAmount: '1000'
  })
  t.like(review.openPayments, [{ txid, state: 'replaced', replacedBy: foreign.txid }])
})

test('of two simultaneous approvals of the same payment, the second needs a confirmation', async t => {
  const stage = await openStage(t)
  const { runAction } = stage
  const walletId = await makeThreeCoins(stage)
  const swapRequest = { walletId, publicAddress: ELSEWHERE, nativeAmount: '1000000' }
  const [one, two] = [
    await runAction('spend.draft', swapRequest),
    await runAction('spend.draft', swapRequest)
  ]
  const [first, second] = await Promise.allSettled([
    runAction('spend.approve', { draftId: one.draftId }),
    runAction('spend.approve', { draftId: two.draftId })
  ])
  t.is(first.status, 'fulfilled')
  t.like(second, { status: 'rejected', reason: { code: 'CONFIRMATION_REQUIRED' } })
  t.is(await sentCount(stage, walletId), 1)
})

test('a payment that was signed and never sent is not sent in addition to one that pays the same', async t => {
  const stage = await openStage(t)
  const { runAction } = stage
  const walletId = await makeThreeCoins(stage)
  const wallet = stage.wallet(walletId)
  const spendTargets = [{ publicAddress: ELSEWHERE, nativeAmount: nativeAmount('1000000') }]
  const signed = await wallet.signTx(await wallet.makeSpend({ tokenId: null, spendTargets }))
  const { txid } = await wallet.spend(await wallet.makeSpend({ tokenId: null, spendTargets }))
  await t.throwsAsync(runAction('spend.resend', { walletId, txid: signed.txid }), {
    code: 'CONFIRMATION_REQUIRED',
    message: `The open payment ${txid} pays the same amount to the same payee.`
  })
  t.deepEqual(await runAction('spend.resend', { walletId, txid }), { txid })
  t.is(await sentCount(stage, walletId), 1)
})
