import { schnorr } from '@noble/curves/secp256k1.js'
import test, { type ExecutionContext } from 'ava'
import { FAKE_ADDRESSES } from '../../../fake-server/fake-world.ts'
import { parseBase58 } from '../../../kernel/crypto/encoding.ts'
import {
  type ApprovalRequest,
  nativeAmount,
  type PaymentApproval,
  type SpendRule,
  type Transaction
} from '../../../kernel/index.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { waitFor } from '../../helpers/device.ts'
import {
  type EditRepo,
  editorOfRules,
  HOUR,
  mine,
  openRuledDevice,
  PASSWORD,
  pay,
  payment,
  type RuledDevice,
  refusalOf
} from '../../helpers/ruled-device.ts'

const BIG = { id: 'big', kind: 'second-device', asset: 'ledger', max: '10' }

interface Pair {
  readonly first: RuledDevice
  readonly phone: RuledDevice
  /** The public key of the phone. */
  readonly key: string
}

/** Two devices of an account whose payments above 10 need the phone. */
const openPair = async (t: ExecutionContext, more: readonly SpendRule[] = []): Promise<Pair> => {
  const first = await openRuledDevice(t)
  const phone = await first.another()
  const key = await phone.account.policies.device()
  const rule = { ...BIG, devices: [{ name: 'phone', key }] }
  for (const each of [rule, ...more]) await first.account.policies.add(each, { password: PASSWORD })
  await first.account.sync()
  await phone.account.sync()
  return { first, phone, key }
}

const draftOf = ({ wallet }: RuledDevice, amount: number, payee?: string): Promise<Transaction> =>
  wallet.makeSpend(payment(amount, payee))

const approve = async ({ account }: RuledDevice, { lobbyId }: ApprovalRequest): Promise<void> => {
  const question = await account.policies.fetchApproval(lobbyId)
  await question.approve({ password: PASSWORD })
}

/** An approval of a draft by the phone. */
const approved = async ({ first, phone }: Pair, draft: Transaction): Promise<PaymentApproval> => {
  const request = await first.account.policies.requestApproval(draft)
  await approve(phone, request)
  return request.answer
}

test('a payment above the limit waits for the other device, which sees the same draft and asks its owner', async t => {
  const pair = await openPair(t)
  const { first, phone, key } = pair
  await pay(first.wallet, 9)
  const { reason, rule } = await refusalOf(pay(first.wallet, 50))
  t.is(rule, 'big')
  t.regex(reason, /waits for the device "phone"/)
  const draft = await draftOf(first, 50)
  const { policies } = first.account
  t.like(await policies.explain(draft), { isAllowed: false, approvers: [{ name: 'phone', key }] })
  const request = await policies.requestApproval(draft)
  const question = await phone.account.policies.fetchApproval(request.lobbyId)
  t.deepEqual(question.tx, JSON.parse(JSON.stringify(draft)))
  t.like(question, { walletId: first.wallet.id, endsAt: request.endsAt, device: await policies.device() })
  for (const wrong of [{ password: 'wrong' }, {}])
    await t.throwsAsync(question.approve(wrong), { code: 'PASSWORD' })
  await question.approve({ password: PASSWORD })
  const approval = await request.answer
  t.like(approval, { key, lobbyId: request.lobbyId })
  const { txid } = await first.wallet.spend(draft, { approval })
  t.is(first.chain.txs.get(txid)?.amount, 51)
  await t.throwsAsync(phone.account.policies.fetchApproval(request.lobbyId), { code: 'LOBBY_NOT_FOUND' })
})

test('an approval is good for its draft only, as it was given', async t => {
  const pair = await openPair(t)
  const { first } = pair
  const { wallet } = first
  const [draft, other] = [await draftOf(first, 50), await draftOf(first, 50)]
  const approval = await approved(pair, draft)
  t.like(await refusalOf(wallet.spend(other, { approval })), { rule: 'big' }, 'another draft of the same')
  t.like(await refusalOf(wallet.spend({ ...draft, metadata: { name: 'x' } }, { approval })), { rule: 'big' })
  const own = await first.account.policies.device()
  for (const forged of [
    { ...approval, endsAt: approval.endsAt + 1 },
    { ...approval, lobbyId: `${approval.lobbyId}1` },
    { ...approval, key: own },
    { ...approval, signature: approval.signature.replace(/^../, '00') },
    { ...approval, signature: '' },
    { ...approval, endsAt: Infinity },
    {} as PaymentApproval
  ])
    t.like(await refusalOf(wallet.spend(draft, { approval: forged })), { rule: 'big' })
  t.deepEqual(wallet.unfinishedSpends(), [])
  await wallet.spend(draft, { approval })
})

test('an approval is used up by its first payment, also by one that was stopped, and stays so after a restart', async t => {
  const pair = await openPair(t)
  const { first } = pair
  const draft = await draftOf(first, 50)
  const approval = await approved(pair, draft)
  const signal = AbortSignal.abort()
  await t.throwsAsync(first.wallet.spend(draft, { approval, signal }), { code: 'SIGN_STOPPED' })
  t.like(await refusalOf(first.wallet.spend(draft, { approval })), { rule: 'big' })
  await first.restart()
  t.like(await refusalOf(first.wallet.spend(draft, { approval })), { rule: 'big' })
  const again = await approved(pair, draft)
  const results = await Promise.allSettled([
    first.wallet.spend(draft, { approval: again }),
    first.wallet.signTx(draft, { approval: again })
  ])
  t.is(results.filter(({ status }) => status === 'fulfilled').length, 1)
})

test('an approval is good on the device that asked for it alone, before and after it is used there', async t => {
  const pair = await openPair(t)
  const { first } = pair
  const third = await first.another()
  await third.account.sync()
  await third.wallet.sync()
  const draft = await draftOf(first, 50)
  const approval = await approved(pair, draft)
  t.like(await refusalOf(third.wallet.spend(draft, { approval })), { rule: 'big' })
  await first.wallet.spend(draft, { approval })
  t.like(await refusalOf(third.wallet.spend(draft, { approval })), { rule: 'big' })
})

test('a no of the other device refuses the payment by its name; an answer in time is needed, and an approval ends', async t => {
  const pair = await openPair(t)
  const { first, phone } = pair
  const { policies } = first.account
  const draft = await draftOf(first, 50)
  const refused = await policies.requestApproval(draft)
  await (await phone.account.policies.fetchApproval(refused.lobbyId)).refuse()
  t.regex((await refusalOf(refused.answer)).reason, /the device "phone" has refused it/)
  const late = await policies.requestApproval(draft, { timeoutSeconds: 1 })
  t.regex((await refusalOf(late.answer)).reason, /no second device has answered in time/)
  const stopped = await policies.requestApproval(draft)
  stopped.cancel()
  await t.throwsAsync(stopped.answer, { code: 'SIGN_STOPPED' })
  const approval = await approved(pair, draft)
  first.passed += HOUR
  await mine(first)
  t.like(await refusalOf(first.wallet.spend(draft, { approval })), { rule: 'big' })
  for (const timeoutSeconds of [0, 86_401, Number.NaN])
    await t.throwsAsync(policies.requestApproval(draft, { timeoutSeconds }), { code: 'OPTION_INVALID' })
})

test('replies of devices that are not listed, of strangers and of the device that pays change nothing', async t => {
  const { first, phone } = await openPair(t)
  const third = await first.another()
  await third.account.sync()
  const draft = await draftOf(first, 50)
  const request = await first.account.policies.requestApproval(draft)
  await approve(third, request)
  await (await third.account.policies.fetchApproval(request.lobbyId)).refuse()
  await t.throwsAsync(first.account.policies.fetchApproval(request.lobbyId), { code: 'LOBBY_INTEGRITY' })
  const { fetch } = first.world.ioFor(makeNodeIo())
  const lobby = `${FAKE_ADDRESSES.authServer}/v2/lobby/${request.lobbyId}`
  const headers = { 'content-type': 'application/json', authorization: 'Token x' }
  const replies = async (): Promise<readonly unknown[]> =>
    JSON.parse((await fetch(lobby, { headers })).text).results.replies
  const [ofThird] = await replies()
  for (const data of [ofThird, { ...(ofThird as object), publicKey: 'A'.repeat(44) }])
    await fetch(lobby, { method: 'POST', headers, body: JSON.stringify({ data }) })
  t.true((await replies()).length >= 3)
  const seen = first.lobbyReplies
  // A reply that is under way may lack them.
  await waitFor(() => first.lobbyReplies >= seen + 2)
  t.is(await Promise.race([request.answer, first.kernel.io.clock.turn()]), undefined)
  await approve(phone, request)
  await first.wallet.spend(draft, { approval: await request.answer })
})

test('a device that pays is no second one, and a lobby that somebody deletes ends the wait', async t => {
  const first = await openRuledDevice(t)
  const key = await first.account.policies.device()
  t.is(key, await first.account.policies.device())
  await first.account.policies.add({ ...BIG, devices: [{ name: 'this', key }] })
  const draft = await draftOf(first, 50)
  t.is((await first.account.policies.explain(draft)).approvers, undefined)
  await t.throwsAsync(first.account.policies.requestApproval(draft), { code: 'OPTION_INVALID' })
  await first.account.sync()
  const phone = await first.another()
  t.not(await phone.account.policies.device(), key, 'its key does not sync')
  const theirs = await phone.account.policies.requestApproval(await draftOf(phone, 50))
  const { fetch } = first.world.ioFor(makeNodeIo())
  const lobby = `${FAKE_ADDRESSES.authServer}/v2/lobby/${theirs.lobbyId}`
  await fetch(lobby, { method: 'DELETE', headers: { authorization: 'Token x' } })
  await t.throwsAsync(theirs.answer, { code: 'LOBBY_NOT_FOUND' })
})

/** The private key of a device, which its files hold encrypted. */
const secretOf = async (device: RuledDevice, edit: EditRepo): Promise<Uint8Array> => {
  let secret = ''
  await edit(async ({ local }) => {
    secret = local.get('policy/device/key') ?? ''
  }, new Map(device.files))
  return makeNodeIo().crypto.fromHex(secret)
}

test('what the key of the device that pays has signed approves nothing, though it is listed; that of the other one does', async t => {
  const first = await openRuledDevice(t)
  const edit = await editorOfRules(first)
  const own = await first.account.policies.device()
  await first.account.sync()
  const phone = await first.another()
  const key = await phone.account.policies.device()
  const devices = [
    { name: 'this', key: own },
    { name: 'phone', key }
  ]
  await first.account.policies.add({ ...BIG, devices })
  const draft = await draftOf(first, 50)
  t.deepEqual((await first.account.policies.explain(draft)).approvers, [{ name: 'phone', key }])
  const request = await first.account.policies.requestApproval(draft)
  const { lobbyId, endsAt } = request
  request.cancel()
  const { crypto, random } = makeNodeIo()
  const hashOf = (text: string): Uint8Array => crypto.sha256(new TextEncoder().encode(text))
  const forge = async (device: RuledDevice, approver: string, answer: string): Promise<PaymentApproval> => {
    const loginId = crypto.toBase64(parseBase58(first.account.id))
    const digest = crypto.toHex(hashOf(JSON.stringify(draft)))
    const about = [answer, loginId, draft.walletId, lobbyId, digest, '', endsAt]
    const text = JSON.stringify(['holdfast payment approval 1', ...about])
    const signed = schnorr.sign(hashOf(text), await secretOf(device, edit), random(32))
    return { lobbyId, endsAt, key: approver, signature: crypto.toHex(signed) }
  }
  for (const approval of [
    await forge(first, own, 'yes'),
    await forge(first, key, 'yes'),
    await forge(phone, key, 'no')
  ])
    t.like(await refusalOf(first.wallet.spend(draft, { approval })), { rule: 'big' })
  await first.wallet.spend(draft, { approval: await forge(phone, key, 'yes') })
})

test('another account reads nothing of a request, and a draft that has been signed is no question', async t => {
  const { first } = await openPair(t)
  const draft = await draftOf(first, 50)
  const request = await first.account.policies.requestApproval(draft)
  const bob = await first.kernel.context.createAccount({ username: 'bob', password: PASSWORD })
  await t.throwsAsync(bob.policies.fetchApproval(request.lobbyId), { code: 'LOBBY_INTEGRITY' })
  await t.throwsAsync(bob.policies.fetchApproval('nowhere'), { code: 'LOBBY_NOT_FOUND' })
  const { fetch } = first.world.ioFor(makeNodeIo())
  const lobby = `${FAKE_ADDRESSES.authServer}/v2/lobby/${request.lobbyId}`
  const { text } = await fetch(lobby, { headers: { authorization: 'Token x' } })
  for (const open of ['shop', draft.walletId, draft.nativeAmount]) t.false(text.includes(open))
  request.cancel()
})

test('other rules still refuse what a second device approves, and a program needs one with its name', async t => {
  const daily = { id: 'daily', kind: 'rolling', asset: 'ledger', max: '100', windowHours: 24 }
  const pair = await openPair(t, [daily, { ...daily, id: 'bot', client: 'bot' }])
  const { first, phone } = pair
  const { policies } = first.account
  const tooMuch = await draftOf(first, 500)
  t.is((await policies.explain(tooMuch)).approvers, undefined)
  const draft = await draftOf(first, 50)
  const other = await policies.explain(draft, { requestedBy: 'other' })
  t.is(other.approvers, undefined)
  const byPerson = await approved(pair, draft)
  t.like(await refusalOf(first.wallet.spend(draft, { requestedBy: 'bot', approval: byPerson })), {
    rule: 'big'
  })
  const request = await policies.requestApproval(draft, { requestedBy: 'bot' })
  t.is((await phone.account.policies.fetchApproval(request.lobbyId)).requestedBy, 'bot')
  await approve(phone, request)
  await first.wallet.spend(draft, { requestedBy: 'bot', approval: await request.answer })
  const rest = await draftOf(first, 60)
  t.like(await policies.explain(rest), { refusedBy: 'daily' })
})

test('devices of a rule change by password only, and a list that cannot be read refuses', async t => {
  const { first, phone, key } = await openPair(t)
  const { policies } = first.account
  const rule = { ...BIG, devices: [{ name: 'phone', key }] }
  await t.throwsAsync(policies.add({ ...rule, devices: [{ name: 'mine', key: await policies.device() }] }), {
    code: 'POLICY_PASSWORD'
  })
  await t.throwsAsync(policies.add({ ...rule, max: '20' }), { code: 'POLICY_PASSWORD' })
  await t.throwsAsync(policies.remove('big'), { code: 'POLICY_PASSWORD' })
  t.is(await policies.add({ ...rule, max: '5' }), undefined, 'a lower limit refuses more')
  for (const devices of [[], 'phone', [{ name: 'phone' }], [{ name: '', key }], [{ name: 'x', key: 'ab' }]])
    await t.throwsAsync(policies.add({ ...rule, id: 'odd', devices }, { password: PASSWORD }), {
      code: 'OPTION_INVALID'
    })
  await first.account.sync()
  await phone.account.sync()
  t.is((await phone.account.policies.list()).rules[0]?.max, '5')
  await waitFor(() => phone.wallet.engine.getSnapshot().syncRatio === 1)
  t.like(await refusalOf(pay(phone.wallet, 8)), { rule: 'big' }, 'the phone alone cannot pay either')
})

test('the yes of a device that is taken off the list meanwhile approves nothing', async t => {
  const pair = await openPair(t)
  const { first } = pair
  const draft = await draftOf(first, 50)
  const approval = await approved(pair, draft)
  const other = { name: 'tablet', key: 'ab'.repeat(32) }
  await first.account.policies.add({ ...BIG, devices: [other] }, { password: PASSWORD })
  t.like(await refusalOf(first.wallet.spend(draft, { approval })), { rule: 'big' })
  t.is(first.chain.txs.size, 0)
})

test('of payments at once that bring one approval, the one that it was given for is made, once', async t => {
  const pair = await openPair(t)
  const { first } = pair
  const [draft, same, dearer, elsewhere] = await Promise.all([
    draftOf(first, 50),
    draftOf(first, 50),
    draftOf(first, 51),
    draftOf(first, 50, 'thief')
  ])
  const approval = await approved(pair, draft)
  const changed = { ...draft, spendTargets: elsewhere.spendTargets ?? [] }
  const named = { ...approval, lobbyId: `${approval.lobbyId}1` }
  const longer = { ...approval, endsAt: approval.endsAt + 1 }
  const results = await Promise.allSettled([
    first.wallet.spend(same, { approval }),
    first.wallet.spend(dearer, { approval }),
    first.wallet.spend(elsewhere, { approval }),
    first.wallet.spend(changed, { approval }),
    first.wallet.spend(draft, { approval: named }),
    first.wallet.spend(draft, { approval: longer }),
    first.wallet.spend(draft, { approval, requestedBy: 'bot' }),
    first.wallet.spend(draft, { approval }),
    first.wallet.spend(draft, { approval })
  ])
  t.deepEqual(
    results.map(({ status }) => status),
    [...Array.from({ length: 7 }, () => 'rejected'), 'fulfilled', 'rejected']
  )
  t.is(first.chain.txs.size, 1)
})

test('the payments of an activation above the limit wait for the other device, each by itself', async t => {
  const pair = await openPair(t)
  const { first, phone } = pair
  const { account, wallet } = first
  first.chain.activation = {
    fromNativeAmount: nativeAmount('50'),
    networkFee: { tokenId: null, nativeAmount: nativeAmount('2') },
    spends: [payment(20, 'chain'), payment(30, 'chain')]
  }
  const quoteOf = () => account.activateWallet({ walletId: wallet.id })
  const plain = await quoteOf()
  t.like(await refusalOf(plain.approve()), { rule: 'big' })

  const drafts: Transaction[] = []
  const requestFromPhone = async (draft: Transaction): Promise<PaymentApproval> => {
    drafts.push(draft)
    return approved(pair, draft)
  }
  const { transactions } = await (await quoteOf()).approve({ secondDevice: requestFromPhone })
  t.deepEqual(
    transactions.map(({ nativeAmount: paid }) => paid),
    ['-21', '-31']
  )
  t.is(drafts.length, 2)

  // One approval is good for one of them.
  let given: PaymentApproval | undefined
  const again = (await quoteOf()).approve({
    async secondDevice(draft) {
      given ??= await approved(pair, draft)
      return given
    }
  })
  t.like(await refusalOf(again), { rule: 'big' })
  t.is(first.chain.txs.size, 3, 'the first of the two was approved')

  const closed = await quoteOf()
  const waiting = closed.approve({
    async secondDevice(draft) {
      const approval = await approved(pair, draft)
      closed.close()
      return approval
    }
  })
  await t.throwsAsync(waiting, { code: 'OPTION_INVALID' })
  t.is(first.chain.txs.size, 3)
  await phone.account.sync()
})
