import test from 'ava'
import { type CellCall, type CellTrace, traced } from '../../cells/cell-call.ts'
import { openCells } from '../../cells/node/open-cells.ts'
import { Reply } from '../../kernel/plugin-api.ts'
import { applied, HONEST, openCellStage, pinOf, pricesOf, rateCode } from '../helpers/cell-stage.ts'

/** The report of one call that a cell would answer at once. */
const traceOf = async (
  name: string,
  args: readonly unknown[],
  answer: unknown,
  thrown?: Error
): Promise<CellTrace> => {
  const traces: CellTrace[] = []
  const call: CellCall = { target: { hook: name }, args, isRepeatable: true }
  const tracer = { pluginId: 'bad', now: () => 5, onCall: (trace: CellTrace) => void traces.push(trace) }
  const run = async (): Promise<Reply> => {
    if (thrown !== undefined) throw thrown
    return Reply.of(JSON.stringify(answer), 'answer')
  }
  await traced(tracer, name, call, run).catch(() => {})
  const [trace] = traces
  if (trace === undefined) throw new Error('There is no report')
  return trace
}

test('a call into a cell is reported with its arguments, what it offered, its time and its error', async t => {
  const traces: CellTrace[] = []
  const stage = openCellStage()
  const cells = openCells({ log: stage.log, onFault: () => {}, onCall: trace => void traces.push(trace) })
  t.teardown(() => {
    cells.close()
    stage.cells.close()
  })
  const load = (id: string, code: string) =>
    cells.plugin({ id, code, sha512: pinOf(code), asks: { kind: 'rates', hosts: [], keys: false } })
  t.deepEqual(await pricesOf(stage, applied(stage, await load('honest', HONEST))), [64_000])
  const broken = applied(stage, await load('bad', rateCode("throw new TypeError('no price today')")))
  await t.throwsAsync(pricesOf(stage, broken))
  const [done, failed] = traces
  t.is(done?.pluginId, 'honest')
  t.is(done?.call, 'fetchRates')
  t.is(done?.outcome, 'done')
  t.true(done?.args?.includes('"fromCurrency":"BTC"'))
  t.true(done?.result?.includes('64000') && done.result.startsWith('offer('))
  t.true(Number(done?.durationMs) >= 0)
  t.deepEqual([failed?.pluginId, failed?.outcome, failed?.message], ['bad', 'failed', 'no price today'])
  t.false(Object.hasOwn(failed ?? {}, 'result'))
})

const KEY = 'abandon abandon ability'

test('a call that may carry keys or settings is reported without its data', async t => {
  for (const name of [
    ...['createPrivateKey', 'importPrivateKey', 'derivePublicKey', 'signTx', 'signMessage', 'makeEngine'],
    ...[
      'sweepPrivateKeys',
      'changeUserSettings',
      'getDisplayPrivateKey',
      'syncNetwork',
      'makeSpend',
      'broadcastTx'
    ],
    ...[
      'beforeSign',
      'accountChanged',
      'otherMethods.fetchQuotes',
      'a function of an answer',
      'checkSettings'
    ]
  ]) {
    const trace = await traceOf(name, [KEY, { keys: { words: KEY } }], { words: KEY })
    t.false(JSON.stringify(trace).includes('abandon'), name)
    t.deepEqual(Object.keys(trace).toSorted(), ['call', 'durationMs', 'outcome', 'pluginId'], name)
    const failed = await traceOf(name, [KEY], null, new Error(`bad key ${KEY}`))
    t.is(failed.outcome, 'failed')
    t.false(JSON.stringify(failed).includes('abandon'), `${name} that throws its key`)
  }
})

test('a field that is named like a secret is hidden wherever it stands, and long data is cut', async t => {
  const args = [
    {
      ...{ request: { amount: '5' }, userSettings: { a: KEY }, promoCode: KEY },
      list: [{ privateKey: KEY, deep: { apiSecret: KEY, password: KEY } }]
    }
  ]
  const trace = await traceOf('fetchQuotes', args, { wallet: { seed: KEY, mnemonicWords: [KEY] }, rate: 7 })
  t.false(JSON.stringify(trace).includes('abandon'))
  t.true(trace.args?.includes('"amount":"5"'))
  t.true(trace.result?.includes('"rate":7'))
  const { args: cut = '' } = await traceOf('fetchRates', ['x'.repeat(10_000)], null)
  t.is(cut.length, 2000)
})
