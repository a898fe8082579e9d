import test from 'ava'
import { ActionError, actionFailureOf } from '../../../../app/actions/action-error.ts'
import type { Facts, JournalEntry } from '../../../../devtools/core/model/facts.ts'
import { type RedactOptions, redactEntry, redactRow } from '../../../../devtools/core/model/redact.ts'
import { WalletError } from '../../../../kernel/index.ts'
import { engine, wallet } from '../../../helpers/devtools-stage.ts'

const KEY = 'L1aW4aubDFB7yfras2S1mN3bqg9nwySY8nkoLmJebSLD5BWv3ENZ'

const entry = <F extends keyof Facts>(hook: F, fact: Facts[F]): JournalEntry =>
  ({ seq: 1, at: 2, hook, fact }) as JournalEntry

test('a field without a redaction rule is left out, and so is the other data of an engine', t => {
  const careless = { ...engine('w'), dataKey: KEY, toString: 'x' }
  t.deepEqual(redactRow('engines', careless), engine('w'))
  const staking = {
    stakedAmounts: [{ nativeAmount: '5', unlockDate: 'd', otherParams: { seed: KEY } }]
  } as never
  t.deepEqual(redactRow('wallets', wallet('w', { stakingStatus: staking })).stakingStatus, {
    stakedAmounts: [{ nativeAmount: '5', unlockDate: 'd' }]
  } as never)
})

test('the parts of a balance are sent whole, and nothing else with them', t => {
  const parts = { spendable: '1', incoming: '2', immature: '3', reserved: '4' }
  const balanceDetails = { '': { ...parts, note: KEY }, usdx: 'x' } as never
  t.deepEqual(redactRow('wallets', wallet('w', { balanceDetails })).balanceDetails, { '': parts } as never)
})

test('a value that is not plain data is left out', t => {
  const wrong = engine('w', {
    pluginId: { key: { deeper: KEY } } as never,
    syncRatio: Number.NaN,
    blockHeight: (() => 5) as never,
    status: { text: KEY } as never
  })
  t.deepEqual(redactRow('engines', wrong) as unknown, {
    walletId: 'w',
    pluginId: {},
    state: 'started',
    isPaused: false,
    since: 1_700_000_000
  })
  const long = redactRow('wallets', wallet('w', { name: 'x'.repeat(5000) })).name
  t.is(long?.length, 1001)
})

test('the denominations of a wallet’s tokens are in its row, and not in each of its events', t => {
  const units = { currencyCode: 'USDX', displayName: 'Dollar X', denominations: [] }
  const one = wallet('w', { tokens: [{ tokenId: 'usdx', ...units }] })
  t.deepEqual(redactRow('wallets', one).tokens, one.tokens)
  const { tokens: _, ...rest } = one
  t.deepEqual(redactEntry(entry('walletChanged', one)).data, JSON.parse(JSON.stringify(rest)))
})

test('texts of plugins and log lines are masked where they could hold a key', t => {
  const failed = redactRow('engines', engine('w', { failure: `refused ${KEY}`, status: KEY }))
  t.is(failed.failure, 'refused […]')
  t.is(failed.status, '[…]')
  const line = { source: 'p', level: 'info' as const, text: `key ${KEY}`, at: 'now' }
  t.is(redactEntry(entry('logged', line)).data.text, 'key […]')
  const fault = { pluginId: 'p', hook: 'ready', errorName: 'E', message: KEY }
  t.is(redactEntry(entry('pluginFault', fault)).data.message, '[…]')
})

test('addresses and txids can be hidden: how long they are and which are equal is all that is left', t => {
  const txid = 'ab'.repeat(32)
  const other = 'cd'.repeat(32)
  const event = (options: RedactOptions) => {
    const fact = {
      walletId: 'w',
      created: [txid, txid, other],
      changed: [],
      createdCount: 3,
      changedCount: 0
    }
    return redactEntry(entry('transactionsChanged', fact), options).data.created as readonly string[]
  }
  t.deepEqual(event({}), [txid, txid, other])
  const hidden = event({ hideAddresses: true, salt: 'one' })
  t.regex(hidden[0] ?? '', /^hidden \(64 letters, [0-9a-f]{8}\)$/)
  t.is(hidden[0], hidden[1])
  t.not(hidden[0], hidden[2])
  t.not(hidden[0], event({ hideAddresses: true, salt: 'two' })[0])
  const spend = { correlationId: 'c', walletId: 'w', stage: 'broadcast' as const, txid }
  t.regex(redactRow('spends', spend, { hideAddresses: true }).txid ?? '', /^hidden/)
})

test('where txids are hidden, neither an order nor its event says any, nor whose order it is at the exchange', t => {
  const [txid, payoutTxid] = ['ab'.repeat(32), 'cd'.repeat(32)]
  const order = {
    ...{ txid, payoutTxid, walletId: 'w', payoutWalletId: 'v', pluginId: 'shop', displayName: 'Shop' },
    ...{ payoutCurrencyCode: 'LTC', payoutNativeAmount: '5', paidAt: 1, since: 1 },
    ...{ state: 'paidOut' as const, isFollowed: false, orderUri: `https://shop/${txid}` }
  }
  t.like(redactRow('orders', order), { txid, payoutTxid, orderUri: undefined })
  const said = JSON.stringify([
    redactRow('orders', order, { hideAddresses: true }),
    redactEntry(entry('orderChanged', order), { hideAddresses: true })
  ])
  for (const hidden of [txid, payoutTxid]) t.false(said.includes(hidden))
})

test('where addresses are hidden, so are the names of files, which another client may make of them', t => {
  const exchange = { repoId: 'r', sent: ['WalletName.json'], received: [], sentCount: 1, receivedCount: 0 }
  t.deepEqual(redactEntry(entry('filesExchanged', exchange)).data, exchange)
  const { sent, ...rest } = redactEntry(entry('filesExchanged', exchange), { hideAddresses: true }).data
  t.regex(String(sent), /^hidden \(15 letters, [0-9a-f]{8}\)$/)
  t.deepEqual(rest, { repoId: 'r', received: [], sentCount: 1, receivedCount: 0 })
})

test('an event carries what it is about and the id that threads it', t => {
  const spend = { correlationId: 'c', walletId: 'w', stage: 'signed' as const }
  t.deepEqual(redactEntry(entry('spendChanged', spend)), {
    seq: 1,
    at: 2,
    hook: 'spendChanged',
    subject: 'w',
    correlationId: 'c',
    data: spend
  })
})

test('an error of the catalogue is passed on with its figures, and without tokens and ids', t => {
  t.deepEqual(
    actionFailureOf(new WalletError('SWAP_BELOW_LIMIT', { pluginId: 'p', nativeMin: '5', direction: 'to' }))
      .details,
    {
      pluginId: 'p',
      nativeMin: '5',
      direction: 'to'
    }
  )
  const challenge = actionFailureOf(
    new WalletError('CHALLENGE', { challengeId: 'secret', challengeUri: 'uri' })
  )
  t.is(challenge.details, undefined)
  t.is(challenge.code, 'CHALLENGE')
  t.deepEqual(actionFailureOf(new ActionError({ code: 'BAD_MESSAGE', message: 'No.', hint: 'Yes.' })), {
    code: 'BAD_MESSAGE',
    message: 'No.',
    hint: 'Yes.'
  })
  for (const thrown of [undefined, 'swordfish', { code: 'PASSWORD', message: 'swordfish' }])
    t.notRegex(JSON.stringify(actionFailureOf(thrown)), /swordfish/)
})
