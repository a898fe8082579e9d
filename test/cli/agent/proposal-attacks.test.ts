import { PassThrough } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import type { Actions } from '../../../app/actions/actions.ts'
import type { ClientRun } from '../../helpers/agent-client.ts'
import { openTestAgent } from '../../helpers/agents.ts'
import type { Ran } from '../../helpers/command-line.ts'
import { waitFor } from '../../helpers/device.ts'
import { openPanel } from '../../helpers/panel-socket.ts'
import {
  fundedWallet,
  openProgramStage,
  PIN,
  type Program,
  type ProgramStage
} from '../../helpers/programs.ts'

const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'

/** A terminal in which a command runs. */
interface Typist {
  /** Waits until a text is drawn since the last key. */
  sees(text: RegExp): Promise<void>
  type(keys: string): void
  readonly ended: Promise<Ran>
}

const openTerminal = ({ run }: ProgramStage, args: readonly string[]): Typist => {
  const stdin = new PassThrough()
  let drawn = ''
  const options: ClientRun = {
    stdin,
    isOnTerminal: true,
    environment: { TERM: 'xterm' },
    onOutput: text => {
      drawn += stripVTControlCharacters(text)
    }
  }
  const ended = run(args, options)
  let isOver = false
  void ended.finally(() => {
    isOver = true
  })
  return {
    ended,
    async sees(text) {
      await waitFor(() => isOver || text.test(drawn))
      if (!text.test(drawn)) throw new Error(`never drew ${text}: ${drawn}`)
    },
    type(keys) {
      drawn = ''
      stdin.write(keys)
    }
  }
}

interface Scene {
  readonly stage: ProgramStage
  readonly walletId: string
  readonly program: Program
  propose(amount?: string): Promise<string>
  /** A terminal that shows the review of a proposal, and waits for a yes. */
  review(id: string): Promise<Typist>
  stateOf(id: string): Promise<{ readonly state: string; readonly reason: string | null }>
  /** The number of payments that left. */
  paid(): Promise<number>
}

const openScene = async (t: ExecutionContext, flags: readonly string[] = []): Promise<Scene> => {
  const stage = await openProgramStage(t)
  const walletId = await fundedWallet(stage, 'Savings')
  const program = await stage.connect(await stage.addClient('helper', '--scope', 'propose'), { flags })
  return {
    ...{ stage, walletId, program },
    async propose(amount = '0.001 BTC') {
      const { structuredContent } = await program.call('propose_payment', { walletId, payee: PAYEE, amount })
      return structuredContent.id
    },
    async review(id) {
      const terminal = openTerminal(stage, ['proposals', 'approve', id])
      await terminal.sees(/\[y\/N\]/)
      return terminal
    },
    stateOf: async id => (await stage.run(['proposals', 'show', id, '--json'])).json.data.proposal,
    async paid() {
      const { transactions } = (await stage.run(['tx', 'list', 'Savings', '--json'])).json.data
      return transactions.length - 1
    }
  }
}

/** A panel in the agent. */
const openPanelIn = async (t: ExecutionContext, { run }: ProgramStage) => {
  const controller = new AbortController()
  let text = ''
  const ended = run(['devtools', '--json'], {
    signal: controller.signal,
    onOutput: more => {
      text += more
    }
  })
  await Promise.race([ended, waitFor(() => /"url":"([^"]+)"/.test(text))])
  const { client } = openPanel(/"url":"([^"]+)"/.exec(text)?.[1] ?? '')
  t.teardown(async () => {
    client.close()
    controller.abort()
    await ended.catch(() => {})
  })
  await waitFor(() => client.status.getSnapshot().connection === 'live')
  return client
}

const ended = (ran: Ran): string => ran.stdout + ran.stderr

test('a proposal that two terminals review is paid once, whoever says yes first', async t => {
  const { propose, review, stateOf, paid } = await openScene(t)
  const id = await propose()
  const both = await Promise.all([review(id), review(id)])
  for (const terminal of both) terminal.type('y')
  const ran = await Promise.all(both.map(each => each.ended))
  const [late] = ran.filter(({ code }) => code !== 0)
  t.is(ran.filter(({ code }) => code === 0).length, 1, ran.map(ended).join(''))
  // It is not asked for a second payment: the proposal has its answer.
  t.regex(late === undefined ? '' : ended(late), /PROPOSAL_ENDED/)
  t.is((await stateOf(id)).state, 'sent')
  t.is(await paid(), 1)
})

test('a proposal that a terminal and two panels review is paid once', async t => {
  const { stage, propose, review, stateOf, paid } = await openScene(t)
  const id = await propose()
  const panels = await Promise.all([openPanelIn(t, stage), openPanelIn(t, stage)])
  const drafts = await Promise.all(
    panels.map(
      panel =>
        panel.runAction('proposal.review', { proposalId: id }) as Promise<Actions['proposal.review']['out']>
    )
  )
  const terminal = await review(id)
  const approvals = [0, 1, 0, 1].map(at =>
    panels[at]?.runAction('spend.approve', { draftId: drafts[at]?.draftId ?? '' })
  )
  terminal.type('y')
  const results = await Promise.allSettled(approvals)
  const typed = await terminal.ended
  const paidBy = [...results.map(({ status }) => status === 'fulfilled'), typed.code === 0]
  t.is(paidBy.filter(each => each).length, 1, ended(typed))
  if (typed.code !== 0) t.regex(ended(typed), /PROPOSAL_ENDED/)
  t.is((await stateOf(id)).state, 'sent')
  t.is(await paid(), 1)
})

for (const [what, change, state, code] of [
  [
    'that its program has cancelled',
    async ({ program }: Scene, id: string) => void (await program.call('cancel_proposal', { id })),
    { state: 'refused', reason: 'CANCELLED' },
    /PROPOSAL_ENDED/
  ],
  [
    'that was declined elsewhere',
    async ({ stage }: Scene, id: string) => void (await stage.run(['proposals', 'decline', id])),
    { state: 'refused', reason: 'DECLINED' },
    /PROPOSAL_ENDED/
  ],
  [
    'whose program was revoked',
    async ({ stage }: Scene) => void (await stage.run(['agent', 'clients', 'revoke', 'helper'])),
    { state: 'refused', reason: 'CLIENT_REFUSED' },
    /PROPOSAL_ENDED/
  ],
  [
    'that a rule refuses by now',
    async ({ stage }: Scene) =>
      void (await stage.run(['policy', 'add', 'small', 'per-payment', '--max', '0.0001 BTC'])),
    { state: 'refused', reason: 'SIGN_REFUSED' },
    /SIGN_REFUSED/
  ],
  [
    'whose account was locked',
    async ({ stage }: Scene) => void (await stage.run(['agent', 'lock'])),
    undefined,
    /LOGGED_OUT/
  ]
] as const)
  test(`a proposal ${what} while its review is shown is not paid by a yes`, async t => {
    const scene = await openScene(t)
    const id = await scene.propose()
    const panel = await openPanelIn(t, scene.stage)
    const { draftId } = (await panel.runAction('proposal.review', {
      proposalId: id
    })) as Actions['proposal.review']['out']
    const terminal = await scene.review(id)
    await change(scene, id)
    terminal.type('y')
    const ran = await terminal.ended
    t.not(ran.code, 0)
    t.regex(ended(ran), code)
    await t.throwsAsync(panel.runAction('spend.approve', { draftId }))
    if (state !== undefined) {
      t.like(await scene.stateOf(id), state)
      t.is(await scene.paid(), 0)
    }
  })

test('a proposal that has ended by its time while its review was shown is not paid by a yes', async t => {
  const { stage, propose, review, stateOf, paid } = await openScene(t, ['--expires', '3s'])
  const id = await propose()
  const panel = await openPanelIn(t, stage)
  const { draftId } = (await panel.runAction('proposal.review', {
    proposalId: id
  })) as Actions['proposal.review']['out']
  const terminal = await review(id)
  await waitFor(async () => (await stateOf(id)).state !== 'waiting')
  terminal.type('y')
  t.regex(ended(await terminal.ended), /PROPOSAL_ENDED/)
  await t.throwsAsync(panel.runAction('spend.approve', { draftId }))
  t.like(await stateOf(id), { state: 'refused', reason: 'EXPIRED' })
  t.is(await paid(), 0)
})

test('an agent that ends while a review is shown has paid nothing, and the next one knows no such proposal', async t => {
  const { stage, propose, review } = await openScene(t)
  const id = await propose()
  const terminal = await review(id)
  const closed = stage.agent.close()
  terminal.type('y')
  t.not((await terminal.ended).code, 0)
  await closed
  const agent = await openTestAgent({ home: stage.home })
  t.teardown(() => agent.close())
  const input = JSON.stringify({ pin: PIN })
  const { transactions } = (
    await stage.run(['tx', 'list', 'Savings', '--json', '--secrets-stdin'], { input })
  ).json.data
  t.is(transactions.length, 1, 'what was received')
  t.is((await stage.run(['proposals', 'show', id, '--json'])).json.error.code, 'NOT_FOUND')
  const later = openTerminal(stage, ['proposals', 'approve', id])
  t.regex(ended(await later.ended), /NOT_FOUND/)
})

test('a question about a second payment that nobody answers keeps no other payment of the wallet waiting', async t => {
  const { stage, paid } = await openScene(t)
  const send = (amount: string) => ['send', 'Savings', '--to', PAYEE, '--amount', amount]
  const terminals = [0, 1].map(() => openTerminal(stage, send('0.001 BTC')))
  for (const terminal of terminals) await terminal.sees(/\[y\/N\]/)
  for (const terminal of terminals) terminal.type('y')
  const first = await Promise.race(terminals.map(async (each, at) => ({ ran: await each.ended, at })))
  t.is(first.ran.code, 0, ended(first.ran))
  const late = terminals[1 - first.at] as Typist
  await late.sees(/Type\s+"yes"/)
  const other = await stage.run([...send('0.002 BTC'), '--yes', '--json'])
  t.is(other.code, 0, other.stdout)
  late.type('no\r')
  t.is((await late.ended).code, 5)
  t.is(await paid(), 2)
})
