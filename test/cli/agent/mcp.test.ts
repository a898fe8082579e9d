import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Schema, Validator } from '@cfworker/json-schema'
import test from 'ava'
import { profilePaths } from '../../../cli/profile/paths.ts'
import type { Agent } from '../../../cli/session/agent.ts'
import { ended, runHoldfast, startHoldfast, WITH_AGENT } from '../../helpers/command-line.ts'
import { waitFor } from '../../helpers/device.ts'
import { onTerminal, runOnTerminal } from '../../helpers/on-terminal.ts'
import {
  argumentsFor,
  factsOf,
  filesBelow,
  fundedWallet,
  openProgramStage,
  PASSWORD,
  PIN,
  sdks
} from '../../helpers/programs.ts'

const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'

const proposal = (walletId: string, more: object = {}): object => ({
  walletId,
  payee: PAYEE,
  amount: '0.001 BTC',
  ...more
})

test('clients of both SDKs walk every tool: results fit their schemas, wrong arguments are refused, and reading changes nothing', async t => {
  const stage = await openProgramStage(t)
  const walletId = await fundedWallet(stage, 'Savings')
  const other = await stage.run(['wallets', 'create', 'litecoin', '--json'])
  const otherWalletId: string = other.json.data.wallet.id
  const { data } = profilePaths('default', { HOLDFAST_HOME: stage.home })
  const token = await stage.addClient('helper', '--scope', 'propose')
  const lists: string[] = []
  for (const sdk of sdks) {
    const program = await stage.connect(token, { sdk })
    const tools = await program.tools()
    lists.push(JSON.stringify(tools.map(({ name, description }) => [name, description])))
    const { id: proposalId } = (await program.call('propose_payment', proposal(walletId))).structuredContent
    const facts = { ...(await factsOf(stage, walletId)), otherWalletId, payee: PAYEE, proposalId }
    for (const tool of tools) {
      const validator = new Validator(tool.outputSchema as Schema, '2020-12', false)
      const isReading = tool.annotations?.readOnlyHint === true
      const walk = async (): Promise<readonly string[]> => {
        const before = filesBelow(data)
        for (const isFull of [false, true]) {
          const given = argumentsFor(tool, facts, isFull)
          const { structuredContent, content, isError } = await program.call(tool.name, given)
          t.not(isError, true, `${sdk} ${tool.name} ${content[0]?.text}`)
          const { valid, errors } = validator.validate(structuredContent)
          t.true(valid, `${sdk} ${tool.name}: ${JSON.stringify(errors)}`)
          t.deepEqual(JSON.parse(content[0]?.text ?? ''), structuredContent)
        }
        const after = filesBelow(data)
        return [...new Set([...before.keys(), ...after.keys()])].filter(
          // A write that was on its way before has ended.
          path => before.get(path) !== after.get(path) && !path.endsWith('.~tmp')
        )
      }
      let changed = await walk()
      // The agent itself may have synced meanwhile, seldom; a tool that writes does so each time.
      for (let tries = 1; isReading && changed.length > 0 && tries < 3; tries += 1) changed = await walk()
      if (isReading) t.deepEqual(changed, [], tool.name)
      const given = argumentsFor(tool, facts)
      const names = Object.keys(given)
      const wrong = [
        ...names.map(name => ({ ...given, [name]: undefined })),
        ...names.map(name => ({ ...given, [name]: { $ne: '' } })),
        { ...given, surprise: 1 }
      ]
      for (const args of wrong)
        t.true((await program.call(tool.name, args)).isError, `${tool.name} ${JSON.stringify(args)}`)
    }
    await program.close()
    const { proposals } = (await stage.run(['proposals', 'list', '--json'])).json.data
    for (const { id } of proposals) await stage.run(['proposals', 'decline', id])
  }
  t.is(new Set(lists).size, 1)
})

test('a proposed payment is not signed, and its program sees when a person declines it', async t => {
  const stage = await openProgramStage(t)
  const walletId = await fundedWallet(stage, 'Savings')
  const token = await stage.addClient('helper', '--scope', 'propose')
  for (const sdk of sdks) {
    const program = await stage.connect(token, { sdk })
    const proposed = await program.call('propose_payment', proposal(walletId, { note: 'rent' }))
    t.like(proposed.structuredContent, {
      state: 'waiting',
      review: { payee: PAYEE, amount: { native: '100000', display: '0.001' } }
    })
    const { id, approve } = proposed.structuredContent
    t.is(approve, `holdfast proposals approve ${id}`)
    const waiting = program.call('proposal_status', { id, waitSeconds: 30 })
    t.is((await stage.run(['proposals', 'decline', id])).code, 0)
    t.like((await waiting).structuredContent, { state: 'refused', reason: 'DECLINED' }, sdk)
    t.is((await stage.run(['proposals', 'approve', id, '--json'])).json.error.code, 'CONFIRMATION_REQUIRED')
    await program.close()
  }
  const { transactions } = (await stage.run(['tx', 'list', 'Savings', '--json'])).json.data
  t.is(transactions.length, 1, 'only what was received')
})

onTerminal(
  'a person approves a proposal at a terminal, and exactly what was reviewed is paid, once',
  async t => {
    const stage = await openProgramStage(t)
    const walletId = await fundedWallet(stage, 'Savings')
    await stage.run(['policy', 'add', 'small', 'per-payment', '--max', '0.01 BTC'])
    const program = await stage.connect(await stage.addClient('helper', '--scope', 'propose'))
    const { structuredContent } = await program.call('propose_payment', proposal(walletId, { note: 'rent' }))
    const { id } = structuredContent
    const waiting = program.call('proposal_status', { id, waitSeconds: 50 })
    const approved = await runOnTerminal(t, ['proposals', 'approve', id], {
      home: stage.home,
      env: WITH_AGENT,
      typed: [[/\[y\/N\]/, 'y']]
    })
    t.is(approved.code, 0, approved.screen)
    t.regex(approved.screen, /of the program "helper"/)
    t.regex(approved.screen, /"rent"/)
    t.regex(approved.screen, /small: at most 0\.01 BTC in a payment/)
    t.like((await waiting).structuredContent, { id })
    const status = await program.call('proposal_status', { id, waitSeconds: 50 })
    t.is(status.structuredContent.state, 'sent')
    const { txid } = status.structuredContent
    const shown = (await stage.run(['tx', 'show', 'Savings', txid, '--json'])).json.data
    t.regex(JSON.stringify(shown), /-101\d{3}/)
    t.is((await stage.run(['proposals', 'decline', id, '--json'])).json.error.code, 'PROPOSAL_ENDED')
    const again = await runOnTerminal(t, ['proposals', 'approve', id], {
      home: stage.home,
      env: WITH_AGENT,
      typed: []
    })
    t.regex(again.screen, /PROPOSAL_ENDED/)
  }
)

onTerminal(
  'the name that a program gives to a wallet neither moves the cursor of a review nor adds a line to it',
  async t => {
    const stage = await openProgramStage(t)
    const program = await stage.connect(
      await stage.addClient('helper', '--scope', 'propose', '--scope', 'change')
    )
    const { accounts } = (await program.call('account_list')).structuredContent
    const name = 'Sav\n\u001b[2Atotal        0.00000001 BTC\u202e'
    const made = await program.call('wallet_create', {
      ...{ accountId: accounts[0].accountId, walletType: 'wallet:bitcoin', name }
    })
    const { walletId } = made.structuredContent
    await stage.run(['fake', 'chain', 'fund', walletId, '0.5'])
    await stage.run(['fake', 'chain', 'mine', '1'])
    const { id } = (await program.call('propose_payment', proposal(walletId))).structuredContent
    const { screen, drawn } = await runOnTerminal(t, ['proposals', 'approve', id], {
      ...{ home: stage.home, env: WITH_AGENT },
      typed: [[/\[y\/N\]/, 'n']]
    })
    t.regex(screen, /from +Sav/)
    t.notRegex(screen, /^\s*total +0\.00000001/m)
    t.false(drawn.includes('\u001b[2Atotal'))
    t.false(drawn.includes('\u202e'))
  }
)

onTerminal('a proposal whose coins are spent by then is reviewed once more, as another draft', async t => {
  const stage = await openProgramStage(t)
  const walletId = await fundedWallet(stage, 'Savings')
  const program = await stage.connect(await stage.addClient('helper', '--scope', 'propose'))
  const propose = async (amount: string): Promise<string> =>
    (await program.call('propose_payment', proposal(walletId, { amount }))).structuredContent.id
  const [first, second] = [await propose('0.1 BTC'), await propose('0.2 BTC')]
  const question = [/\[y\/N\]/, 'y'] as const
  const { home } = stage
  t.is(
    (await runOnTerminal(t, ['proposals', 'approve', first], { home, env: WITH_AGENT, typed: [question] }))
      .code,
    0
  )
  const again = await runOnTerminal(t, ['proposals', 'approve', second], {
    home,
    env: WITH_AGENT,
    typed: [question, question]
  })
  t.is(again.code, 0, again.screen)
  t.regex(again.screen, /review it again/)
  t.is((await program.call('proposal_status', { id: second })).structuredContent.state, 'sent')
  const { transactions } = (await stage.run(['tx', 'list', 'Savings', '--json'])).json.data
  t.is(transactions.length, 3)
})

onTerminal('a no at the review refuses the proposal', async t => {
  const stage = await openProgramStage(t)
  const walletId = await fundedWallet(stage, 'Savings')
  const program = await stage.connect(await stage.addClient('helper', '--scope', 'propose'))
  const { id } = (await program.call('propose_payment', proposal(walletId))).structuredContent
  const declined = await runOnTerminal(t, ['proposals', 'approve', id], {
    home: stage.home,
    env: WITH_AGENT,
    typed: [[/\[y\/N\]/, 'n']]
  })
  t.is(declined.code, 5, declined.screen)
  t.like((await program.call('proposal_status', { id })).structuredContent, {
    state: 'refused',
    reason: 'DECLINED'
  })
})

test('no flag approves a proposal: --yes is refused, and so is a command without a terminal', async t => {
  const stage = await openProgramStage(t)
  const walletId = await fundedWallet(stage, 'Savings')
  const program = await stage.connect(await stage.addClient('helper', '--scope', 'propose'))
  const { id } = (await program.call('propose_payment', proposal(walletId))).structuredContent
  for (const flags of [['--yes'], ['--yes', '--again'], ['--no-input']]) {
    const refused = await stage.run(['proposals', 'approve', id, '--json', ...flags.slice(0, 1)])
    t.is(refused.json.error.code, 'CONFIRMATION_REQUIRED')
  }
  t.is((await program.call('proposal_status', { id })).structuredContent.state, 'waiting')
})

test('a proposal that nobody answers ends by itself', async t => {
  const stage = await openProgramStage(t)
  const walletId = await fundedWallet(stage, 'Savings')
  const token = await stage.addClient('helper', '--scope', 'propose')
  const program = await stage.connect(token, { flags: ['--expires', '300ms'] })
  const { id } = (await program.call('propose_payment', proposal(walletId))).structuredContent
  const { structuredContent } = await program.call('proposal_status', { id, waitSeconds: 50 })
  t.like(structuredContent, { state: 'refused', reason: 'EXPIRED' })
  t.deepEqual((await stage.run(['proposals', 'list', '--json'])).json.data.proposals, [])
})

test('a client that is revoked is cut off at once, what it proposed is refused, and its token opens nothing', async t => {
  const stage = await openProgramStage(t)
  const walletId = await fundedWallet(stage, 'Savings')
  const token = await stage.addClient('helper', '--scope', 'propose')
  const program = await stage.connect(token)
  const { id } = (await program.call('propose_payment', proposal(walletId))).structuredContent
  t.is((await stage.run(['agent', 'clients', 'revoke', 'helper'])).code, 0)
  await program.closed
  const { proposals } = (await stage.run(['proposals', 'list', '--all', '--json'])).json.data
  t.like(proposals[0], { id, state: 'refused', reason: 'CLIENT_REFUSED' })
  const refused = await stage.run(['mcp', '--client-file', token, '--json'])
  t.is(refused.json.error.code, 'CLIENT_REFUSED')
  await t.throwsAsync(stage.connect(token))
})

onTerminal('what a client proposed is not paid after it was revoked beside the agent', async t => {
  const stage = await openProgramStage(t)
  const { home } = stage
  const walletId = await fundedWallet(stage, 'Savings')
  const program = await stage.connect(await stage.addClient('helper', '--scope', 'propose'))
  const { id } = (await program.call('propose_payment', proposal(walletId))).structuredContent
  const revoked = await runHoldfast(['agent', 'clients', 'revoke', 'helper', '--no-agent'], { home })
  t.is(revoked.code, 0, revoked.stderr)
  t.regex((await program.call('proposal_status', { id })).content[0]?.text ?? '', /^CLIENT_REFUSED/)
  const approved = await runOnTerminal(t, ['proposals', 'approve', id], { home, env: WITH_AGENT, typed: [] })
  t.regex(approved.screen, /CLIENT_REFUSED/)
  const { proposals } = (await stage.run(['proposals', 'list', '--all', '--json'])).json.data
  t.like(proposals[0], { id, state: 'refused', reason: 'CLIENT_REFUSED' })
})

test('a client without the scope has no tool that proposes, and a locked account is explained', async t => {
  const stage = await openProgramStage(t)
  const walletId = await fundedWallet(stage, 'Savings')
  const reader = await stage.connect(await stage.addClient('reader', '--scope', 'read'))
  const names = (await reader.tools()).map(({ name }) => name)
  t.false(names.includes('propose_payment'))
  const program = await stage.connect(await stage.addClient('helper', '--scope', 'propose'))
  await stage.run(['agent', 'lock'])
  const locked = await program.call('propose_payment', proposal(walletId))
  t.true(locked.isError)
  t.regex(locked.content[0]?.text ?? '', /LOGGED_OUT: .*holdfast agent unlock/)
  await stage.run(['agent', 'unlock', '--secrets-stdin'], { input: JSON.stringify({ pin: PIN }) })
  t.is((await program.call('propose_payment', proposal(walletId))).structuredContent?.state, 'waiting')
})

test('a program keeps the agent from no lock, however often it calls', async t => {
  const stage = await openProgramStage(t)
  const program = await stage.connect(await stage.addClient('reader', '--scope', 'propose'))
  t.is(stage.agent.status.commands, 0)
  await program.call('proposal_status', { id: '1' })
  stage.agent.tick({ wall: Date.now() + 3_600_000, monotonic: performance.now() })
  await waitFor(async () => {
    const { accounts } = (await stage.run(['agent', 'status', '--json'])).json.data
    return accounts.length === 0
  })
})

test('a client of some wallets can pay from no other', async t => {
  const stage = await openProgramStage(t)
  const [savings, second] = [await fundedWallet(stage, 'Savings'), await fundedWallet(stage, 'Second')]
  const token = await stage.addClient('helper', '--scope', 'propose', '--wallet', 'Savings')
  const program = await stage.connect(token)
  t.is((await program.call('propose_payment', proposal(savings))).structuredContent?.state, 'waiting')
  const refused = await program.call('propose_payment', proposal(second))
  t.regex(refused.content[0]?.text ?? '', /^WALLET_NOT_FOUND/)
})

test('a client of some wallets sees nothing of the others, whatever tool it calls', async t => {
  const stage = await openProgramStage(t)
  const savings = await fundedWallet(stage, 'Savings')
  const second = await fundedWallet(stage, 'Hidden one')
  const token = await stage.addClient(
    'helper',
    '--scope',
    'propose',
    '--scope',
    'change',
    '--wallet',
    'Savings'
  )
  const program = await stage.connect(token)
  const { id: proposalId } = (await program.call('propose_payment', proposal(savings))).structuredContent
  const known = await factsOf(stage, savings)
  for (const tool of await program.tools()) {
    for (const walletId of [savings, second]) {
      for (const isFull of [false, true]) {
        const given = argumentsFor(tool, { ...known, walletId, payee: PAYEE, proposalId }, isFull)
        const answer = await program.call(tool.name, given)
        const whole = JSON.stringify(answer)
        t.false(whole.includes(second) || whole.includes('Hidden one'), tool.name)
        if (walletId === second && 'walletId' in given) t.true(answer.isError, tool.name)
      }
    }
  }
})

test('wrong arguments are refused by their names, and a proposal that cannot be paid by its code', async t => {
  const stage = await openProgramStage(t)
  const walletId = await fundedWallet(stage, 'Savings')
  const program = await stage.connect(await stage.addClient('helper', '--scope', 'propose'))
  for (const [more, says] of [
    [{ amount: 1 }, /amount/],
    [{ amount: '1' }, /amount/],
    [{ amount: 'max' }, /amount/],
    [{ amount: '-1 BTC' }, /amount/],
    [{ payee: undefined }, /payee/],
    [{ amount: '100 BTC' }, /^INSUFFICIENT_FUNDS/],
    [{ amount: '1 XYZ' }, /^AMOUNT_INVALID/],
    [{ payee: 'nowhere' }, /^ADDRESS_INVALID/],
    [{ tokenId: 'nothing' }, /^TOKEN_NOT_FOUND/]
  ] as const) {
    const { isError, content } = await program.call('propose_payment', proposal(walletId, more))
    t.true(isError)
    t.regex(content[0]?.text ?? '', says)
  }
  const { events } = (await stage.run(['agent', 'clients', 'log', 'helper', '--json'])).json.data
  t.is(events.filter(({ decision }: { decision: string }) => decision === 'BAD_MESSAGE').length, 5)
  t.is((await stage.run(['proposals', 'list', '--json'])).json.data.proposals.length, 0)
})

test('two programs see only their own proposals, and one that goes leaves what it proposed', async t => {
  const stage = await openProgramStage(t)
  const walletId = await fundedWallet(stage, 'Savings')
  const tokens = [
    await stage.addClient('one', '--scope', 'propose'),
    await stage.addClient('two', '--scope', 'propose')
  ] as const
  const [one, two] = await Promise.all(tokens.map(token => stage.connect(token)))
  if (one === undefined || two === undefined) return t.fail()
  const answers = await Promise.all(
    [one, two, one, two].map(program => program.call('propose_payment', proposal(walletId)))
  )
  const ids = answers.map(({ structuredContent }) => structuredContent.id)
  t.is(new Set(ids).size, 4)
  t.regex((await two.call('proposal_status', { id: ids[0] })).content[0]?.text ?? '', /^NOT_FOUND/)
  t.regex((await two.call('cancel_proposal', { id: ids[0] })).content[0]?.text ?? '', /^NOT_FOUND/)
  await one.close()
  const back = await stage.connect(tokens[0])
  t.is((await back.call('proposal_status', { id: ids[0] })).structuredContent.state, 'waiting')
  t.like((await back.call('cancel_proposal', { id: ids[0] })).structuredContent, {
    state: 'refused',
    reason: 'CANCELLED'
  })
})

test('a client with the scope spend pays at once what a rule allows it by name, and nothing else', async t => {
  let agent: Agent | undefined
  const stage = await openProgramStage(t, {
    onAgent(given) {
      agent = given
    }
  })
  const walletId = await fundedWallet(stage, 'Savings')
  const program = await stage.connect(await stage.addClient('helper', '--scope', 'spend'))
  const other = await stage.connect(await stage.addClient('other', '--scope', 'spend', '--scope', 'propose'))
  const pay = async (amount: string, by = program) =>
    (await by.call('propose_payment', proposal(walletId, { amount }))).structuredContent
  t.like(
    await pay('0.001 BTC'),
    { state: 'refused', reason: 'POLICY', policy: { isAllowed: false } },
    'an account without rules lets no program pay'
  )
  const [account] = (await agent?.accounts()) ?? []
  const daily = { id: 'daily', kind: 'rolling', asset: 'bitcoin', max: '1000000', windowHours: 24 }
  await account?.policies.add({ ...daily, client: 'helper' }, { password: PASSWORD })
  const paid = await pay('0.004 BTC')
  t.like(paid, { state: 'sent', policy: { isAllowed: true } })
  t.like(
    await pay('0.004 BTC'),
    { state: 'refused', policy: { rule: 'needs a person' } },
    'the same once more'
  )
  const tooMuch = await pay('0.007 BTC')
  t.like(tooMuch, { state: 'refused', reason: 'POLICY', policy: { isAllowed: false, rule: 'daily' } })
  t.true(Date.parse(tooMuch.policy.allowedAt) > Date.now())
  t.like(await pay('0.002 BTC', other), { state: 'waiting', policy: { isAllowed: false } }, 'another client')
  const sent = await Promise.all(
    ['0.0021 BTC', '0.0022 BTC', '0.0023 BTC', '0.0024 BTC'].map(amount => pay(amount))
  )
  t.is(sent.filter(({ state }) => state === 'sent').length, 2, 'at once, as much as is left')
  const { transactions } = (await stage.run(['tx', 'list', 'Savings', '--json'])).json.data
  t.is(transactions.length, 4, 'three payments, and what was received')
  const { events } = (await stage.run(['agent', 'clients', 'log', 'helper', '--json'])).json.data
  t.is(events.filter(({ decision }: { decision: string }) => decision === 'sent').length, 3)
})

test('what a rule allows a client only with a second device waits for it, and is paid or refused as that answers', async t => {
  let agent: Agent | undefined
  const stage = await openProgramStage(t, {
    onAgent(given) {
      agent = given
    }
  })
  const walletId = await fundedWallet(stage, 'Savings')
  const program = await stage.connect(await stage.addClient('helper', '--scope', 'spend'))
  const [account] = (await agent?.accounts()) ?? []
  const phoneArgs = ['login', 'alice', '--device', 'phone', '--secrets-stdin']
  await stage.run(phoneArgs, { input: JSON.stringify({ password: PASSWORD }) })
  const phone = ((await agent?.accounts()) ?? []).find(each => each !== account)
  const key = (await phone?.policies.device()) ?? ''
  for (const rule of [
    { id: 'daily', kind: 'rolling', asset: 'bitcoin', max: '1000000', windowHours: 24, client: 'helper' },
    { id: 'big', kind: 'second-device', asset: 'bitcoin', max: '100000', devices: [{ name: 'phone', key }] }
  ])
    await account?.policies.add(rule, { password: PASSWORD })
  const propose = async (amount: string) =>
    (await program.call('propose_payment', proposal(walletId, { amount }))).structuredContent
  const endOf = async (id: string) =>
    (await program.call('proposal_status', { id, waitSeconds: 30 })).structuredContent
  const questionOf = async ({ policy }: { policy: { secondDevice: string } }) =>
    phone?.policies.fetchApproval(policy.secondDevice.split(' ').at(-1) ?? '')
  t.like(await propose('0.0005 BTC'), { state: 'sent' }, 'below the limit')
  t.like(await propose('0.02 BTC'), { state: 'refused', policy: { rule: 'daily' } })
  const first = await propose('0.002 BTC')
  t.like(first, { state: 'waiting', policy: { isAllowed: false, rule: 'big' } })
  t.regex(first.policy.secondDevice, /^holdfast policy approve [1-9A-HJ-NP-Za-km-z]+$/)
  const question = await questionOf(first)
  t.is(question?.requestedBy, 'helper')
  await question?.approve({ pin: PIN })
  await waitFor(async () => (await endOf(first.id)).state === 'sent')
  const second = await propose('0.003 BTC')
  await (await questionOf(second))?.refuse()
  t.like(await endOf(second.id), { state: 'refused', reason: 'SIGN_REFUSED' })
  const third = await propose('0.0031 BTC')
  await program.call('cancel_proposal', { id: third.id })
  t.like(await endOf(third.id), { state: 'refused', reason: 'CANCELLED' })
  await waitFor(async () => (await questionOf(third).catch(error => error.code)) === 'LOBBY_NOT_FOUND')
})

test('without an agent a program needs a secret by a flag, and only reads', async t => {
  const stage = await openProgramStage(t)
  const token = await stage.addClient('helper', '--scope', 'propose', '--scope', 'change')
  await stage.agent.close()
  await t.throwsAsync(stage.connect(token))
  const pinFile = join(stage.home, 'pin')
  writeFileSync(pinFile, PIN, { mode: 0o600 })
  const program = await stage.connect(token, { flags: ['--pin-file', pinFile] })
  const tools = await program.tools()
  t.true(tools.length > 0)
  for (const { name, annotations } of tools) t.true(annotations?.readOnlyHint, name)
  t.not((await program.call('rates_route', { from: 'BTC', to: 'iso:EUR' })).isError, true)
})

test('a program can give up a wait, and goes on', async t => {
  const stage = await openProgramStage(t)
  const walletId = await fundedWallet(stage, 'Savings')
  const token = await stage.addClient('helper', '--scope', 'propose')
  for (const sdk of sdks) {
    const program = await stage.connect(token, { sdk })
    const { id } = (await program.call('propose_payment', proposal(walletId))).structuredContent
    const controller = new AbortController()
    const waiting = program.call('proposal_status', { id, waitSeconds: 50 }, controller.signal)
    controller.abort()
    await t.throwsAsync(waiting, undefined, sdk)
    t.is((await program.call('cancel_proposal', { id })).structuredContent.reason, 'CANCELLED')
  }
})

test('standard output has nothing but the protocol, whatever a program sends', async t => {
  const stage = await openProgramStage(t)
  const token = await stage.addClient('helper', '--scope', 'propose')
  const child = startHoldfast(['mcp', '--client-file', token, '-vv', '--debug'], {
    home: stage.home,
    env: WITH_AGENT
  })
  const run = ended(child)
  const say = (message: unknown): void => {
    child.stdin?.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`)
  }
  const request = (id: number, method: string, params: object = {}): void =>
    say({ jsonrpc: '2.0', id, method, params })
  request(1, 'initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' }
  })
  for (const nonsense of ['', 'nonsense', '[]', '{}', '"text"', '{"jsonrpc":"2.0"}', '\u001b[2J'])
    say(nonsense)
  request(2, 'tools/call', { name: 'proposal_status', arguments: JSON.parse('{"__proto__":{"id":"1"}}') })
  request(3, 'tools/call', { name: '__proto__', arguments: {} })
  request(4, 'no/such/method')
  request(5, 'tools/list')
  const answers: { readonly id?: number }[] = []
  await new Promise<void>(resolve => {
    let text = ''
    child.stdout?.on('data', chunk => {
      text += String(chunk)
      const lines = text.split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) answers.push(JSON.parse(line))
      if (answers.some(({ id }) => id === 5)) resolve()
    })
  })
  // Too long a message ends the connection.
  say('x'.repeat(1_100_000))
  const { code } = await run
  t.is(code, 0)
  t.true([1, 2, 3, 4, 5].every(id => answers.some(answer => answer.id === id)))
})
