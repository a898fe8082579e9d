import test from 'ava'
import { actionFailureOf } from '../../../../app/actions/action-error.ts'
import type { ActionHandler, ActionName, Actions } from '../../../../app/actions/actions.ts'
import { makeChannelPair } from '../../../../devtools/core/protocol/channel-pair.ts'
import {
  type ClientMessage,
  type HostMessage,
  PROTOCOL_VERSION
} from '../../../../devtools/core/protocol/protocol.ts'
import { type OpenPaymentSnapshot, WalletError } from '../../../../kernel/index.ts'
import { makeStage } from '../../../helpers/devtools-stage.ts'

const TXID = 'ab'.repeat(32)
const ADDRESS = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const KEY = 'L1aW4aubDFB7yfras2S1mN3bqg9nwySY8nkoLmJebSLD5BWv3ENZ'

/** What a host answers to one call, when its kernel does this. */
const answerTo = async (
  action: ActionName,
  done: () => object | undefined,
  { hideAddresses = false }: { hideAddresses?: boolean } = {}
): Promise<Extract<HostMessage, { type: 'result' | 'refused' }>> => {
  const stage = makeStage({ hideAddresses })
  const { host, client } = makeChannelPair()
  const received: HostMessage[] = []
  client.onMessage(message => received.push(message))
  const runAction = (async () => done()) as unknown as ActionHandler
  stage.devtools.attach(host, { isReadOnly: false, hasWorld: true, runAction })
  client.send({ type: 'call', id: 1, action, input: { walletId: 'w' } } as ClientMessage)
  await stage.settle()
  const answer = received.find(message => message.type === 'result' || message.type === 'refused')
  if (answer?.type !== 'result' && answer?.type !== 'refused') throw new Error('No answer')
  return answer
}

const fails = (error: unknown) => (): never => {
  throw error
}

const openPayment: OpenPaymentSnapshot = {
  ...{ txid: TXID, tokenId: null, currencyCode: 'BTC', nativeAmount: '-1010', networkFee: '10' },
  ...{ targets: [{ publicAddress: ADDRESS, nativeAmount: '1000' }], at: 1, state: 'refused' }
}
const review: Actions['spend.draft']['out']['review'] = {
  walletId: 'w',
  currencyCode: 'BTC',
  nativeAmount: '1000',
  networkFee: '10',
  total: '1010',
  remaining: '0',
  targets: [{ publicAddress: ADDRESS, nativeAmount: '1000' }],
  openPayments: [openPayment],
  openCount: 30,
  similar: [TXID],
  replaces: TXID,
  allowances: [{ spender: ADDRESS, nativeAmount: '1000' }],
  isOwnCheckComplete: false
}

test('a result carries the fields that its action is known to have, and nothing else', async t => {
  const talkative = { ...openPayment, untrusted: { reason: `bad ${KEY}` }, privateKey: KEY }
  const drafted = {
    draftId: 'd',
    review: { ...review, openPayments: [talkative], privateKey: KEY },
    seed: KEY
  }
  t.deepEqual(await answerTo('spend.draft', () => drafted), {
    type: 'result',
    id: 1,
    output: {
      draftId: 'd',
      review: { ...review, openPayments: [{ ...openPayment, untrusted: { reason: 'bad […]' } }] }
    }
  })
  t.deepEqual(await answerTo('engine.pause', () => ({ key: KEY })), { type: 'result', id: 1, output: {} })
  t.deepEqual(await answerTo('engine.pause', () => undefined), { type: 'result', id: 1, output: {} })
  const found = { route: null, alternatives: [] }
  t.deepEqual(await answerTo('rates.route', () => found), { type: 'result', id: 1, output: found })
})

test('an action of a panel is one event, whether it succeeds or fails', async t => {
  const eventsOf = async (action: ActionName, done: () => object): Promise<readonly unknown[]> => {
    const stage = makeStage()
    const { host, client } = makeChannelPair()
    const received: HostMessage[] = []
    client.onMessage(message => received.push(message))
    const runAction = (async () => done()) as unknown as ActionHandler
    stage.devtools.attach(host, { isReadOnly: false, hasWorld: true, runAction })
    client.send({ type: 'subscribe', version: PROTOCOL_VERSION })
    client.send({ type: 'call', id: 1, action, input: { accountId: 'a' } } as ClientMessage)
    await stage.settle()
    await stage.clock.advance(1000)
    t.true(received.some(({ type }) => type === 'result' || type === 'refused'))
    return received.flatMap(message => (message.type === 'batch' ? message.events : []))
  }
  const fail = fails(new WalletError('LOGGED_OUT', {}))
  t.is((await eventsOf('account.logout', () => ({}))).length, 1)
  t.is((await eventsOf('account.logout', fail)).length, 1)
})

test('with addresses hidden a result and a failure contain none, but a review stays readable', async t => {
  const hidden = { hideAddresses: true }
  for (const action of ['world.fund', 'spend.approve', 'swap.approve'] as const) {
    const shown = await answerTo(action, () => ({ txid: TXID }))
    t.deepEqual(shown, { type: 'result', id: 1, output: { txid: TXID } })
    const answer = await answerTo(action, () => ({ txid: TXID }), hidden)
    t.regex(JSON.stringify(answer), /"txid":"hidden \(64 letters, [0-9a-f]{8}\)"/)
  }
  const unknown = new WalletError('BROADCAST_UNKNOWN', { txid: TXID })
  t.regex(
    JSON.stringify(await answerTo('spend.approve', fails(unknown))),
    new RegExp(`See the state of ${TXID} with`)
  )
  const failures = [
    unknown,
    new WalletError('BROADCAST_REFUSED', { txid: TXID, reason: `${ADDRESS} is bad` })
  ]
  for (const error of failures) {
    const text = JSON.stringify(await answerTo('spend.approve', fails(error), hidden))
    t.true(text.includes(error.code))
    t.notRegex(text, new RegExp(`${TXID}|${ADDRESS}`))
  }
  const needed = '123456789012345678901234567890'
  const poor = new WalletError('INSUFFICIENT_FUNDS', { currencyCode: 'ETH', needed, available: '0' })
  const reported = await answerTo('spend.draft', fails(poor), hidden)
  t.is(reported.type === 'refused' && reported.error.details?.needed, needed)
  const drafted = await answerTo('spend.draft', () => ({ draftId: 'd', review }), hidden)
  t.deepEqual(drafted, { type: 'result', id: 1, output: { draftId: 'd', review } })
})

test('with addresses hidden the note of a program names none, in the list of proposals and in a review', async t => {
  const note = `invoice 4711, to ${ADDRESS}`
  const proposal = { id: '1', untrusted: { client: 'helper', note } }
  const outputs = [
    ['proposal.list', { hasAgent: true, proposals: [proposal] }],
    ['proposal.review', { draftId: 'd', review: { ...review, proposal } }]
  ] as const
  for (const [action, output] of outputs) {
    t.deepEqual(await answerTo(action, () => output), { type: 'result', id: 1, output })
    const hidden = JSON.stringify(await answerTo(action, () => output, { hideAddresses: true }))
    t.true(hidden.includes('"note":"invoice 4711, to […]"'), hidden)
  }
})

test('with addresses hidden no payment shows its txid, and no action on one runs', async t => {
  t.deepEqual(await answerTo('spend.resend', () => ({ txid: TXID })), {
    type: 'result',
    id: 1,
    output: { txid: TXID }
  })
  for (const action of ['spend.resend', 'spend.replace', 'spend.forget'] as const) {
    let calls = 0
    const count = (): object => {
      calls += 1
      return { txid: TXID }
    }
    const refused = await answerTo(action, count, { hideAddresses: true })
    t.is(refused.type === 'refused' && refused.error.code, 'HIDDEN')
    t.is(calls, 0)
  }
})

test('with addresses hidden no receive address is handed out', async t => {
  const given = { publicAddress: ADDRESS, uri: `bitcoin:${ADDRESS}` }
  t.deepEqual(await answerTo('wallet.receive', () => given), { type: 'result', id: 1, output: given })
  let calls = 0
  const refused = await answerTo(
    'wallet.receive',
    () => {
      calls += 1
      return given
    },
    { hideAddresses: true }
  )
  t.is(refused.type === 'refused' && refused.error.code, 'HIDDEN')
  t.is(calls, 0)
})

test('an error that only has a catalogue code is sent with its text masked, and the host keeps running', async t => {
  const bare = Object.assign(new Error(`no money at ${KEY}`), { code: 'INSUFFICIENT_FUNDS' })
  t.deepEqual(await answerTo('spend.draft', fails(bare)), {
    type: 'refused',
    id: 1,
    error: { code: 'INSUFFICIENT_FUNDS', message: 'no money at […]' }
  })
  const copied = Object.assign(new Error('Insufficient BTC'), {
    code: 'INSUFFICIENT_FUNDS',
    hint: `Not with ${KEY}`,
    details: { currencyCode: 'BTC', seed: KEY, needed: 7n }
  })
  t.deepEqual(actionFailureOf(copied), {
    code: 'INSUFFICIENT_FUNDS',
    message: 'Insufficient BTC',
    hint: 'Not with […]',
    details: { currencyCode: 'BTC' }
  })
  const hostile = Object.defineProperty(new Error('x'), 'code', { get: fails(new Error('again')) })
  for (const odd of [
    hostile,
    Object.assign(new Error('x'), { code: 'NETWORK', details: null }),
    null,
    'text'
  ])
    t.is(actionFailureOf(odd).code, 'UNKNOWN')
})
