import test, { type ExecutionContext } from 'ava'
import { profilePaths } from '../../../cli/profile/paths.ts'
import { ProgramClients } from '../../../cli/programs/clients.ts'
import { MAX_WAITING } from '../../../cli/programs/proposals.ts'
import type { Agent } from '../../../cli/session/agent.ts'
import type { PolicyPlugin } from '../../../kernel/index.ts'
import { waitFor } from '../../helpers/device.ts'
import { fundedWallet, openProgramStage, PASSWORD, PIN } from '../../helpers/programs.ts'

const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'

/** A policy that takes its time with a review, for as long as a test holds it. */
const slowPolicy = () => {
  const state = { isHeld: false, waiting: 0, release: () => {} }
  const plugin: PolicyPlugin = {
    kind: 'policy',
    id: 'slow',
    apply: ({ hooks }) =>
      hooks.judgeRules.tapPromise('slow', async ({ isTrial, payment }) => {
        if (!state.isHeld || !isTrial || payment === undefined) return
        state.waiting += 1
        await new Promise<void>(resolve => {
          state.release = resolve
        })
      })
  }
  return { state, plugin }
}

const daily = {
  ...{ id: 'daily', kind: 'rolling', asset: 'bitcoin', max: '1000000', windowHours: 24 },
  client: 'helper'
}

const clientsOf = (home: string): ProgramClients =>
  new ProgramClients(profilePaths('default', { HOLDFAST_HOME: home }).session)

for (const beside of [false, true])
  test(`a program that is revoked ${beside ? 'beside the agent ' : ''}while its payment is drafted pays nothing`, async t => {
    const { state, plugin } = slowPolicy()
    let agent: Agent | undefined
    const stage = await openProgramStage(t, {
      plugins: [plugin],
      onAgent(given) {
        agent = given
      }
    })
    const walletId = await fundedWallet(stage, 'Savings')
    const program = await stage.connect(await stage.addClient('helper', '--scope', 'spend'))
    const [account] = (await agent?.accounts()) ?? []
    await account?.policies.add(daily, { password: PASSWORD })
    state.isHeld = true
    const call = program
      .call('propose_payment', { walletId, payee: PAYEE, amount: '0.001 BTC' })
      .catch(() => undefined)
    await waitFor(() => state.waiting === 1)
    if (beside) await clientsOf(stage.home).revoke('helper')
    else t.is((await stage.run(['agent', 'clients', 'revoke', 'helper'])).code, 0)
    state.isHeld = false
    state.release()
    await call
    await waitFor(async () => {
      const { events } = (await stage.run(['agent', 'clients', 'log', 'helper', '--json'])).json.data
      return events.some(({ event }: { event: string }) => event === 'call')
    })
    const { transactions } = (await stage.run(['tx', 'list', 'Savings', '--json'])).json.data
    t.is(transactions.length, 1, 'what was received')
  })

const openPhone = async (t: ExecutionContext) => {
  let agent: Agent | undefined
  const stage = await openProgramStage(t, {
    onAgent(given) {
      agent = given
    }
  })
  const walletId = await fundedWallet(stage, 'Savings')
  const [account] = (await agent?.accounts()) ?? []
  await stage.run(['login', 'alice', '--device', 'phone', '--secrets-stdin'], {
    input: JSON.stringify({ password: PASSWORD })
  })
  const phone = ((await agent?.accounts()) ?? []).find(each => each !== account)
  if (account === undefined || phone === undefined) throw new Error('There are two devices')
  const devices = [{ name: 'phone', key: await phone.policies.device() }]
  for (const rule of [daily, { id: 'big', kind: 'second-device', asset: 'bitcoin', max: '1000', devices }])
    await account.policies.add(rule, { password: PASSWORD })
  const program = await stage.connect(await stage.addClient('helper', '--scope', 'spend'))
  const propose = (amount: string) =>
    program.call('propose_payment', { walletId, payee: PAYEE, amount: `${amount} BTC` })
  return { stage, account, phone, propose }
}

test('what another device approves after the program was revoked beside the agent is not paid', async t => {
  const { stage, phone, propose } = await openPhone(t)
  const { structuredContent } = await propose('0.001')
  const { id, policy } = structuredContent
  await clientsOf(stage.home).revoke('helper')
  const question = await phone.policies.fetchApproval(policy.secondDevice.split(' ').at(-1))
  await question.approve({ pin: PIN })
  const endOf = async () =>
    (await stage.run(['proposals', 'show', id, '--json'])).json.data.proposal as {
      readonly state: string
      readonly reason: string
    }
  await waitFor(async () => !['waiting', 'sending'].includes((await endOf()).state))
  t.like(await endOf(), { state: 'refused', reason: 'CLIENT_REFUSED' })
})

test('a program that proposes many payments at once asks another device for no more than may wait', async t => {
  const { account, propose } = await openPhone(t)
  const { policies } = account
  let requests = 0
  const send = policies.requestApproval.bind(policies)
  policies.requestApproval = (...given) => {
    requests += 1
    return send(...given)
  }
  const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => propose(`0.001${at + 10}`)))
  const waiting = answers.filter(({ structuredContent }) => structuredContent?.state === 'waiting')
  t.is(waiting.length, MAX_WAITING)
  t.is(requests, MAX_WAITING)
  for (const { isError, content } of answers)
    if (isError === true) t.regex(content[0]?.text ?? '', /^PROPOSALS_FULL/)
})

test('a program creates no wallet beside a hundred others, also not with many calls at once', async t => {
  const { stage, account } = await openPhone(t)
  const program = await stage.connect(await stage.addClient('maker', '--scope', 'change'))
  const present = account.listWallets()
  const first = present.find(({ isWallet }) => isWallet)
  const filled = [...present, ...Array.from({ length: 98 }, (_, at) => ({ ...first, walletId: `w${at}` }))]
  const list = account.listWallets.bind(account)
  account.listWallets = () => [...filled, ...list().slice(present.length)] as ReturnType<typeof list>
  const create = () => program.call('wallet_create', { accountId: account.id, walletType: 'wallet:bitcoin' })
  const answers = await Promise.all([create(), create(), create()])
  t.is(answers.filter(({ isError }) => isError !== true).length, 1)
  for (const { isError, content } of answers)
    if (isError === true) t.regex(content[0]?.text ?? '', /^CLIENT_REFUSED/)
  t.is(list().length, present.length + 1)
})
