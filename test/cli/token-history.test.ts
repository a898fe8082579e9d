import test from 'ava'
import { type CurrencyPlugin, nativeAmount } from '../../kernel/index.ts'
import { type Envelope, makeHome, type Ran } from '../helpers/command-line.ts'
import { failed } from '../helpers/envelopes.ts'
import { runInProcess } from '../helpers/in-process.ts'
import { makeToy, toyTransaction } from '../helpers/toy-currency.ts'

const { home, remove } = makeHome()
const input = JSON.stringify({ password: 'correct horse battery', pin: '2468' })
test.after.always(remove)

/** A currency that finds a token, with one payment of it and one of its own coin. */
const { plugin: toy } = makeToy({
  engine: (good, { callbacks }) => ({
    async makeSpend(spend, options) {
      const draft = await good.makeSpend(spend, options)
      const networkFees = [
        { tokenId: null, nativeAmount: draft.networkFee },
        { tokenId: 'toll', nativeAmount: nativeAmount('5') }
      ]
      return { ...draft, networkFees }
    },
    async startEngine() {
      callbacks.onNewTokens?.(['usdx'])
      callbacks.onTransactionsChanged([
        toyTransaction('coins', { blockHeight: 5, nativeAmount: nativeAmount('700') }),
        toyTransaction('tokens', {
          tokenId: 'usdx',
          blockHeight: 6,
          date: 1_700_000_100,
          nativeAmount: nativeAmount('-2500000'),
          parentNetworkFee: nativeAmount('3'),
          networkFees: [
            { tokenId: null, nativeAmount: nativeAmount('3') },
            { tokenId: 'toll', nativeAmount: nativeAmount('5') }
          ],
          isSend: true
        })
      ])
    }
  })
})
const withTokens: CurrencyPlugin = {
  ...toy,
  apply(host) {
    toy.apply(host)
    host.hooks.builtinTokens.tapPromise(toy.id, async () => ({
      usdx: {
        currencyCode: 'USDX',
        displayName: 'Dollar',
        denominations: [{ name: 'USDX', multiplier: '1000000' }]
      }
    }))
  }
}

const run = (...args: readonly string[]): Promise<Ran> =>
  runInProcess([...args, '--secrets-stdin'], { home, input, plugins: [withTokens] })
const dataOf = async (...args: readonly string[]): Promise<Envelope['data']> =>
  (await run(...args, '--json')).json.data

test.serial('a token has a history of its own, in its own units, and its fee is the coin’s', async t => {
  await run('account', 'create', 'alice')
  await run('wallets', 'create', 'toycoin', '--name', 'Toy')
  await run('sync')
  const shown = async (...args: readonly string[]): Promise<string[]> =>
    (await dataOf('tx', 'list', 'Toy', ...args)).transactions.map(
      ({ txid, amount }: Record<string, { display: string; code: string }>) =>
        `${txid} ${amount?.display} ${amount?.code}`
    )
  t.deepEqual(await shown('--token', 'usdx'), ['tokens -2.5 USDX'])
  t.deepEqual(await shown('--token', 'USDX'), ['tokens -2.5 USDX'])
  t.deepEqual((await shown()).sort(), ['coins 7 TOY', 'tokens -2.5 USDX', 'tokens 0 TOY'])
  failed(t, await run('tx', 'list', 'Toy', '--token', 'EURX', '--json'), 'NOT_FOUND', 6)
  t.deepEqual(await shown('--limit', '1'), ['tokens 0 TOY', 'tokens -2.5 USDX'], 'no effect is cut off')
  for (const command of [
    ['list', 'Toy'],
    ['search', 't', 'Toy']
  ])
    for (const [before, rest] of [
      ['tokens', command[0] === 'list' ? ['coins'] : []],
      ['coins', []]
    ] as const) {
      const { transactions, more } = await dataOf('tx', ...command, '--before', before)
      t.deepEqual([transactions.map(({ txid }: { txid: string }) => txid), more], [rest, false])
    }
  failed(t, await run('tx', 'list', 'Toy', '--before', 'nothing', '--json'), 'TX_NOT_FOUND', 6)

  const record = await run('tx', 'show', 'Toy', 'tokens', '--token', 'usdx')
  t.regex(record.stdout, /^amount\t-2\.5 USDX\nnetwork fee\t0\.03 TOY\nand a fee\t5 native units of toll$/m)
  const { networkFees } = (await dataOf('tx', 'show', 'Toy', 'tokens', '--token', 'usdx')).tx
  t.deepEqual(networkFees, [
    { tokenId: null, native: '3' },
    { tokenId: 'toll', native: '5' }
  ])
  const columns = 'direction,amount,network_fee,fee_asset,token_id'
  const csv = (await run('tx', 'export', 'Toy', '--columns', columns)).stdout
  t.deepEqual(csv.split('\r\n').slice(1).sort(), [
    '',
    'in,7,,,',
    'out,-0.03,0.03,TOY,',
    'out,-2.5,0,USDX,usdx'
  ])

  await dataOf('tx', 'label', 'Toy', 'tokens', '--token', 'usdx', '--name', 'Rent')
  t.is((await dataOf('tx', 'show', 'Toy', 'tokens')).tx.metadata.name, null)
  const labels = (await run('tx', 'export', 'Toy', '--format', 'bip329')).stdout
  t.like(JSON.parse(labels), { ref: 'tokens', label: 'Rent', holdfast: { tokenId: 'usdx' } })
})

test.serial('a fee in a token is shown, and neither --yes nor --max-fee pays it', async t => {
  const pay = ['send', 'Toy', '--to', 'shop', '--amount', '0.01', '--json']
  const { code, json, stderr } = await run(...pay, '--yes')
  t.not(code, 0)
  t.is(json.error.code, 'MAX_FEE')
  t.regex(json.error.hint, /Neither --yes nor --max-fee allows a fee in a token/)
  t.regex(stderr, /and a fee +5 native units of toll/)
  t.is((await run(...pay, '--yes', '--max-fee', '5')).json.error.code, 'MAX_FEE')
  t.true((await run(...pay, '--dry-run')).json.ok)
})
