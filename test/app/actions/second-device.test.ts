import test, { type ExecutionContext } from 'ava'
import { makeActionHandler } from '../../../app/actions/actions.ts'
import { fakePluginOptions } from '../../../fake-server/fake-plugin-options.ts'
import type { Account } from '../../../kernel/index.ts'
import { litecoin } from '../../../plugins/currency/utxo/plugin.ts'
import { spendRules } from '../../../plugins/policy/spend-rules.ts'
import { changenow } from '../../../plugins/swap/changenow.ts'
import { type ActionStage, makeRich, openStage, PASSWORD } from '../../helpers/action-stage.ts'
import { openDevice, waitFor } from '../../helpers/device.ts'

const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'

interface Pair extends ActionStage {
  readonly accountId: string
  readonly walletId: string
  /** The account on the other device. */
  readonly phone: Account
  sentCount(): Promise<number>
  /** Answers a request on the other device. */
  answer(lobbyId: string, isYes?: boolean): Promise<void>
}

/** An account whose payments above 0.005 BTC need its phone. */
const openPair = async (t: ExecutionContext): Promise<Pair> => {
  const stage = await openStage(t, [changenow, spendRules])
  const { accountId, walletId } = await makeRich(stage)
  const [account] = stage.kernel.context.accounts
  if (account === undefined) throw new Error('No account')
  const other = await openDevice(stage.world, {
    plugins: [litecoin, changenow, spendRules],
    pluginOptions: fakePluginOptions()
  })
  t.teardown(() => other.close())
  await account.sync()
  const phone = await other.context.loginWithPassword('alice', PASSWORD)
  const key = await phone.policies.device()
  await account.policies.add(
    {
      ...{ id: 'big', kind: 'second-device', asset: 'bitcoin', max: '500000' },
      devices: [{ name: 'phone', key }]
    },
    { password: PASSWORD }
  )
  return {
    ...stage,
    ...{ accountId, walletId, phone },
    sentCount: async () =>
      (await stage.wallet(walletId).getTransactions()).filter(({ isSend }) => isSend).length,
    async answer(lobbyId, isYes = true) {
      const question = await phone.policies.fetchApproval(lobbyId)
      if (isYes) await question.approve({ password: PASSWORD })
      else await question.refuse()
    }
  }
}

test('a draft above the limit is paid once another device has approved it, and not before', async t => {
  const { runAction, walletId, answer, sentCount } = await openPair(t)
  const input = { walletId, publicAddress: PAYEE, nativeAmount: '1000000' }
  const { draftId, review } = await runAction('spend.draft', input)
  t.deepEqual(review.refusal?.untrusted.approvers, ['phone'])
  const request = await runAction('approval.request', { draftId })
  t.deepEqual(request.untrusted.approvers, ['phone'])
  t.is((await runAction('approval.request', { draftId })).lobbyId, request.lobbyId, 'one request at a time')
  const waiting = runAction('approval.wait', { draftId })
  await answer(request.lobbyId)
  t.deepEqual(await waiting, { isMoreNeeded: false })
  t.is(await sentCount(), 0)
  await runAction('spend.approve', { draftId })
  t.is(await sentCount(), 1)

  const { draftId: second } = await runAction('spend.draft', input)
  await t.throwsAsync(runAction('spend.approve', { draftId: second, again: [] }), {
    code: 'CONFIRMATION_REQUIRED'
  } as never)
  const other = await runAction('spend.draft', { ...input, nativeAmount: '1100000' })
  await t.throwsAsync(runAction('spend.approve', { draftId: other.draftId }), {
    code: 'SIGN_REFUSED'
  } as never)
  t.is(await sentCount(), 1)
})

test('after a no, a stop or the end of the draft nothing is paid, and a draft that is there can ask again', async t => {
  const { runAction, walletId, phone, answer, sentCount } = await openPair(t)
  const input = { walletId, publicAddress: PAYEE, nativeAmount: '1000000' }
  const { draftId } = await runAction('spend.draft', input)
  const refused = await runAction('approval.request', { draftId })
  const no = runAction('approval.wait', { draftId })
  await answer(refused.lobbyId, false)
  await t.throwsAsync(no, { code: 'SIGN_REFUSED', message: /the device "phone" has refused it/ } as never)

  const stopped = await runAction('approval.request', { draftId })
  t.not(stopped.lobbyId, refused.lobbyId)
  const stop = runAction('approval.wait', { draftId })
  await runAction('approval.cancel', { draftId })
  await t.throwsAsync(stop, { code: 'SIGN_STOPPED' } as never)

  const last = await runAction('approval.request', { draftId })
  const end = runAction('approval.wait', { draftId })
  await runAction('spend.discard', { draftId })
  await t.throwsAsync(end, { code: 'SIGN_STOPPED' } as never)
  for (const { lobbyId } of [refused, stopped, last])
    await waitFor(() =>
      phone.policies.fetchApproval(lobbyId).then(
        () => false,
        ({ code }) => code === 'LOBBY_NOT_FOUND'
      )
    )
  await t.throwsAsync(runAction('approval.request', { draftId }), { code: 'GONE' } as never)
  t.is(await sentCount(), 0)
})

test('a payment that needs no other device asks none, nor does a process that is alone in its world', async t => {
  const { runAction, kernel, walletId } = await openPair(t)
  const small = { walletId, publicAddress: PAYEE, nativeAmount: '1000' }
  const { draftId, review } = await runAction('spend.draft', small)
  t.is(review.refusal, undefined)
  await t.throwsAsync(runAction('approval.request', { draftId }), { code: 'OPTION_INVALID' } as never)
  await t.throwsAsync(runAction('approval.wait', { draftId }), { code: 'OPTION_INVALID' } as never)
  const alone = makeActionHandler({ ...kernel, isAlone: true })
  t.teardown(() => alone.close())
  const big = await alone('spend.draft', { ...small, nativeAmount: '1000000' })
  await t.throwsAsync(alone('approval.request', { draftId: big.draftId }), { code: 'NO_DEVICE' } as never)
})

test('a swap above the limit is paid once another device has approved its payment', async t => {
  const { runAction, quotes, accountId, walletId, phone, answer, sentCount } = await openPair(t)
  const { walletId: toWalletId } = await runAction('wallet.create', {
    accountId,
    walletType: 'wallet:litecoin'
  })
  const review = async () => {
    const { roundId } = await runAction('swap.ask', {
      ...{ fromWalletId: walletId, toWalletId, nativeAmount: '1000000', quoteFor: 'from' }
    })
    await waitFor(() => quotes.get(`${roundId} changenow`)?.quoteId !== undefined)
    return runAction('swap.review', { quoteId: quotes.get(`${roundId} changenow`)?.quoteId ?? '' })
  }
  const alone = await review()
  t.deepEqual(alone.review.refusal?.untrusted.approvers, ['phone'])
  await t.throwsAsync(runAction('swap.approve', { draftId: alone.draftId }), {
    code: 'SIGN_REFUSED'
  } as never)
  t.is(await sentCount(), 0)

  const { draftId, review: shown } = await review()
  const { lobbyId } = await runAction('approval.request', { draftId })
  const question = await phone.policies.fetchApproval(lobbyId)
  t.is(question.tx.spendTargets?.[0]?.publicAddress, shown.targets[0]?.publicAddress)
  const waiting = runAction('approval.wait', { draftId })
  await answer(lobbyId)
  t.deepEqual(await waiting, { isMoreNeeded: false })
  const { txid } = await runAction('swap.approve', { draftId })
  t.regex(txid, /^[0-9a-f]{64}$/)
  t.is(await sentCount(), 1)
})
