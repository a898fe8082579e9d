import test from 'ava'
import { type Envelope, makeHome, type Ran } from '../helpers/command-line.ts'
import { runInProcess } from '../helpers/in-process.ts'
import { makeToy, toyTransaction } from '../helpers/toy-currency.ts'
import { toyToken } from '../helpers/toy-home.ts'

const { home, remove } = makeHome()
const input = JSON.stringify({ password: 'correct horse battery', pin: '2468' })
test.after.always(remove)

/** By asset: transactions within a millisecond of one another, and of the same date; 1.001 s are no whole milliseconds. */
const EFFECTS: Readonly<Record<string, readonly (readonly [txid: string, date: number])[]>> = {
  '': [
    ['both', 1.001],
    ['coin-1', 1.001],
    ['coin-2', 1.001],
    ['coin-3', 1],
    ['coin-4', 1.0005]
  ],
  usdx: [
    ['both', 1.001],
    ['a-token', 1.001],
    ['token', 1.001],
    ['token-2', 1.0007],
    ['token-3', 1.0002]
  ]
}

const { plugin } = makeToy({
  tokens: { usdx: toyToken('USDX') },
  engine: (_good, { callbacks }) => ({
    async startEngine() {
      callbacks.onNewTokens?.(['usdx'])
      for (const [asset, effects] of Object.entries(EFFECTS)) {
        const tokenId = asset === '' ? null : asset
        callbacks.onTransactionsChanged(
          effects.map(([txid, date]) => toyTransaction(txid, { date, tokenId, isSend: true }))
        )
      }
    }
  })
})

const run = (...args: readonly string[]): Promise<Ran> =>
  runInProcess([...args, '--secrets-stdin'], { home, input, plugins: [plugin] })
const dataOf = async (...args: readonly string[]): Promise<Envelope['data']> =>
  (await run(...args, '--json')).json.data

/** The effects on all pages, each as its transaction and its token. */
const pages = async (...args: readonly string[]): Promise<string[]> => {
  const listed: string[] = []
  for (let before: readonly string[] = []; ; ) {
    const { transactions, more } = await dataOf('tx', 'list', 'Toy', ...args, ...before)
    for (const { txid, tokenId } of transactions) listed.push(`${txid} ${tokenId ?? ''}`)
    if (!more) return listed
    before = ['--before', transactions.at(-1).txid]
  }
}

test.serial('pages of several assets make up the whole list, whatever their dates', async t => {
  await run('account', 'create', 'alice')
  await run('wallets', 'create', 'toycoin', '--name', 'Toy')
  await run('sync')
  const whole = await pages('--limit', '100')
  const effects = Object.entries(EFFECTS).flatMap(([asset, list]) => list.map(([txid]) => `${txid} ${asset}`))
  t.deepEqual(whole.toSorted(), effects.sort())
  const dates = new Map(Object.values(EFFECTS).flat())
  const listedDates = whole.map(effect => dates.get(effect.split(' ')[0] ?? '') ?? 0)
  t.deepEqual(
    listedDates,
    listedDates.toSorted((a, b) => b - a)
  )
  for (const limit of ['1', '2', '3', '7']) t.deepEqual(await pages('--limit', limit), whole, limit)
  const tokens = whole.filter(effect => effect.endsWith(' usdx'))
  t.deepEqual(await pages('--limit', '2', '--token', 'usdx'), tokens)
})
