import test from 'ava'
import { type Envelope, makeHome, type Ran } from '../helpers/command-line.ts'
import { failed, succeeded } from '../helpers/envelopes.ts'
import { runInProcess } from '../helpers/in-process.ts'
import { CONTRACT, sisterChain, tokenChain } from '../helpers/token-chain.ts'

// One world for the whole file: each test goes on where the one before it ended.
const { home, remove } = makeHome()
const input = JSON.stringify({ password: 'correct horse battery', pin: '2468' })
test.after.always(remove)

const run = (...args: readonly string[]): Promise<Ran> =>
  runInProcess([...args, '--secrets-stdin'], { home, input, plugins: [tokenChain, sisterChain] })
const dataOf = async (...args: readonly string[]): Promise<Envelope['data']> => {
  const ran = await run(...args, '--json')
  if (ran.code !== 0) throw new Error(`${args.join(' ')}: ${ran.stdout}${ran.stderr}`)
  return ran.json.data
}
const codesOf = async (...args: readonly string[]): Promise<string[]> =>
  (await dataOf('tokens', 'list', ...args)).tokens.map(({ code }: { code: string }) => code)

test.before(async () => {
  await runInProcess(['account', 'create', 'alice', '--secrets-stdin'], { home, input })
  await dataOf('wallets', 'create', 'tokenchain', '--name', 'Toys')
})

test.serial(
  'tokens list shows the tokens of a currency, or those that a wallet has enabled or found',
  async t => {
    const list = succeeded(t, await run('tokens', 'list', 'tokenchain', '--json'), 'tokens.list/1')
    t.like(list.data, { pluginId: 'tokenchain', walletId: null })
    t.like(list.data.tokens[1], {
      tokenId: 'usdx',
      code: 'USDX',
      decimals: 6,
      contract: '0xusdx',
      custom: false
    })
    t.deepEqual(await codesOf('Toys'), ['EURX', 'USDX'])
    t.deepEqual(await codesOf('Toys', '--enabled'), ['USDX'])
    t.deepEqual(await codesOf('Toys', '--detected'), ['USDX'])
    t.deepEqual(await codesOf('Toys', '--custom'), [])
    const held = (await dataOf('balance', 'Toys')).balances
    t.like(held[1], { tokenId: 'usdx', native: '2500000', display: '2.5', code: 'USDX' })
    t.regex((await run('wallets', 'list')).stdout, /^Toys\t10 TOY \+ 1 token\t|^Toys\t10 TKC \+ 1 token\t/m)
  }
)

test.serial(
  'send --token pays in a token, in its own unit, with the fee in the coin of the chain',
  async t => {
    const pay = ['send', 'Toys', '--to', 'shop', '--token', 'usdx', '--dry-run']
    const { summary } = await dataOf(...pay, '--amount', '1.5')
    t.like(summary, {
      asset: { tokenId: 'usdx', code: 'USDX' },
      amount: { native: '1500000', display: '1.5', code: 'USDX' },
      networkFee: { native: '1', code: 'TKC' },
      remaining: { native: '1000000' }
    })
    t.like((await dataOf(...pay, '--amount', 'max')).summary, { amount: { native: '2500000' } })
    failed(t, await run(...pay, '--amount', '1.5 TKC', '--json'), 'AMOUNT_INVALID', 2)
    const dear = failed(t, await run(...pay, '--amount', '1', '--max-fee', '0', '--json'), 'MAX_FEE', 36)
    t.like(dear.error.details, { networkFee: '1', currencyCode: 'TKC' })
    failed(t, await run(...pay.slice(0, 4), '--token', 'GBPX', '--amount', '1', '--json'), 'NOT_FOUND', 6)
  }
)

test.serial('tokens enable and disable choose for one wallet, by code or id', async t => {
  t.deepEqual((await dataOf('tokens', 'enable', 'Toys', 'eurx')).enabled, ['usdx', 'eurx'])
  t.deepEqual(await codesOf('Toys', '--enabled'), ['EURX', 'USDX'])
  t.is((await dataOf('balance', 'Toys')).balances.length, 2, 'a token of which there is nothing is left out')
  t.is((await dataOf('balance', 'Toys', '--zero')).balances.length, 3)
  t.true((await dataOf('tokens', 'disable', 'Toys', 'EURX', '--dry-run')).dryRun)
  await dataOf('tokens', 'disable', 'Toys', 'EURX')
  t.deepEqual(await codesOf('Toys', '--enabled'), ['USDX'])
  const unknown = failed(t, await run('tokens', 'enable', 'Toys', 'GBPX', '--json'), 'NOT_FOUND', 6)
  t.is(unknown.error.next[0].command, 'holdfast tokens list tokenchain')
})

test.serial('tokens always switches tokens on in every wallet', async t => {
  t.deepEqual((await dataOf('tokens', 'always', 'tokenchain', 'add', 'EURX')).always, ['eurx'])
  t.deepEqual(await codesOf('Toys', '--enabled'), ['EURX', 'USDX'])
  const refused = failed(t, await run('tokens', 'disable', 'Toys', 'eurx', '--json'), 'USAGE', 2)
  t.is(refused.error.next[0].command, 'holdfast tokens always tokenchain remove eurx')
  t.deepEqual((await dataOf('tokens', 'always', 'tokenchain')).always, ['eurx'])
  t.deepEqual((await dataOf('tokens', 'always', 'tokenchain', 'remove', 'EURX')).always, [])
  failed(t, await run('tokens', 'always', 'tokenchain', 'flip', '--json'), 'USAGE', 2)
  failed(t, await run('tokens', 'always', 'nochain', '--json'), 'NOT_FOUND', 6)
})

test.serial('tokens add, edit and remove keep tokens of one’s own', async t => {
  const add = ['tokens', 'add', 'tokenchain', '--code', 'MINE', '--contract', CONTRACT]
  failed(t, await run(...add, '--json'), 'USAGE', 2)
  const { tokenId } = await dataOf(...add, '--decimals', '3')
  t.is(tokenId, CONTRACT.slice(2).toLowerCase())
  const edit = ['tokens', 'edit', 'tokenchain', 'MINE']
  t.is((await dataOf(...edit, '--name', 'My own', '--denom', 'MINE=10000')).name, 'My own')
  const [mine] = (await dataOf('tokens', 'list', 'tokenchain', '--custom')).tokens
  t.like(mine, { tokenId, code: 'MINE', name: 'My own', decimals: 4, contract: CONTRACT, custom: true })
  t.is((await dataOf(...edit, '--name', 'Only the name')).name, 'Only the name')
  const [renamed] = (await dataOf('tokens', 'list', 'tokenchain', '--custom')).tokens
  t.like(renamed, { tokenId, code: 'MINE', name: 'Only the name', decimals: 4, contract: CONTRACT })
  await dataOf(...edit, '--denom', 'MINE=10000', '--denom', '1=10')
  const [inUnits] = (await dataOf('tokens', 'list', 'tokenchain', '--custom')).tokens
  t.deepEqual(inUnits.denominations[0], { name: 'MINE', multiplier: '10000' })
  await dataOf(...edit, '--denom', 'MINE=256')
  const [odd] = (await dataOf('tokens', 'list', 'tokenchain', '--custom')).tokens
  t.like(odd, { decimals: 0, denominations: [{ name: 'MINE', multiplier: '256' }] })
  failed(t, await run('tokens', 'edit', 'tokenchain', 'USDX', '--name', 'x', '--json'), 'USAGE', 2)
  failed(t, await run(...edit, '--contract', '0x00', '--json'), 'OPTION_INVALID', 2)
  await dataOf('tokens', 'remove', 'tokenchain', tokenId)
  t.deepEqual(await codesOf('tokenchain', '--custom'), [])
  failed(t, await run('tokens', 'rm', 'tokenchain', 'MINE', '--json'), 'NOT_FOUND', 6)
})

test.serial('the list of a currency without tokens explains that', async t => {
  t.deepEqual(await codesOf('bitcoin'), [])
  const added = await run('tokens', 'add', 'bitcoin', '--code', 'X', '--decimals', '2', '--json')
  t.is(failed(t, added, 'NOT_SUPPORTED', 7).error.message, 'This wallet does not support tokens')
  failed(t, await run('tokens', 'list', 'Nowhere', '--json'), 'NOT_FOUND', 6)
})

test.serial(
  'wallets staking and activate list stakes and costs, and activate pays after a confirmation',
  async t => {
    const { staked } = await dataOf('wallets', 'staking', 'Toys')
    t.like(staked[0], { native: '250', display: '2.5', unlockDate: '2027-01-01T00:00:00.000Z' })
    const { assets } = await dataOf('wallets', 'activate', 'Toys', '--list')
    t.deepEqual(assets, [{ walletId: null, pluginId: 'tokenchain', tokenId: null }])
    const requested = failed(
      t,
      await run('wallets', 'activate', 'Toys', '--json'),
      'CONFIRMATION_REQUIRED',
      5
    )
    t.like(requested.error.details.summary, { amount: { native: '40' }, networkFee: { native: '1' } })
    const paid = await dataOf('wallets', 'activate', 'Toys', '--token', 'USDX', '--pay-with', 'Toys', '--yes')
    t.is(paid.txids.length, 1)

    const second = await run('wallets', 'activate', 'Toys', '--token', 'USDX', '--yes', '--json')
    const { details, next } = failed(t, second, 'CONFIRMATION_REQUIRED', 5).error
    t.deepEqual(details.openTxids, paid.txids)
    t.regex(second.stderr, /open +0\.4 TOY to activator/)
    t.regex(next[0].command, /^holdfast tx resend .* txid-/)
    t.is((await dataOf('tx', 'open', 'Toys')).openPayments.length, 1)
    const meant = await dataOf('wallets', 'activate', 'Toys', '--token', 'USDX', '--again', '--yes')
    t.is(meant.txids.length, 1)
  }
)

test.serial(
  'wallets activate --max-fee refuses a higher network fee, and allows one that is not usual',
  async t => {
    const activate = ['wallets', 'activate', 'Toys', '--token', 'EURX', '--yes', '--json']
    const open = async (): Promise<number> => (await dataOf('tx', 'open', 'Toys')).openPayments.length
    const before = await open()
    failed(t, await run(...activate), 'FEE_UNUSUAL', 36)
    for (const more of [[], ['--dry-run']]) {
      const { details } = failed(t, await run(...activate, '--max-fee', '0', ...more), 'MAX_FEE', 36).error
      t.like(details, { networkFee: '1', maxFee: '0', currencyCode: 'TKC' })
    }
    t.is(await open(), before)
    const paid = await run(...activate, '--max-fee', '1 native')
    t.is(succeeded(t, paid, 'wallets.activate/1').data.txids.length, 1)
  }
)

test.serial(
  'wallets activate shows the open payments of the wallet that pays, before it asks and before it pays',
  async t => {
    await dataOf('wallets', 'create', 'tokenchain', '--name', 'Purse')
    const activate = ['wallets', 'activate', 'Toys', '--token', 'USDX', '--pay-with', 'Purse'] as const
    const first = await run(...activate, '--json')
    failed(t, first, 'CONFIRMATION_REQUIRED', 5)
    t.notRegex(first.stderr, /open/, 'those of the wallet that is activated are not of the payment')

    await dataOf('send', 'Purse', '--to', 'shop', '--amount', '0.3', '--yes')
    const open = /^.*open +0\.3 TOY to shop: .+$/m
    const second = await run(...activate, '--json')
    failed(t, second, 'CONFIRMATION_REQUIRED', 5)
    t.regex(second.stderr, open)
    const paid = await run(...activate, '--yes', '--json')
    t.is(succeeded(t, paid, 'wallets.activate/1').data.txids.length, 1)
    t.regex(paid.stderr, open)
  }
)

test.serial('wallets split makes a wallet with the same keys on another supported chain', async t => {
  t.deepEqual((await dataOf('wallets', 'split', 'Toys', '--list')).types, ['wallet:sisterchain'])
  const types = await dataOf('wallets', 'types', '--splittable-from', 'Toys')
  t.deepEqual(
    types.types.map(({ code }: { code: string }) => code),
    ['SIS']
  )
  failed(t, await run('wallets', 'split', 'Toys', '--json'), 'USAGE', 2)
  failed(
    t,
    await run('wallets', 'split', 'Toys', '--to', 'sisterchain', '--json'),
    'CONFIRMATION_REQUIRED',
    5
  )
  const made = await dataOf('wallets', 'split', 'Toys', '--to', 'sisterchain', '--yes')
  t.like(made, { type: 'wallet:sisterchain', name: 'Toys', replayProtection: false })
  const again = await run('wallets', 'split', made.walletId, '--to', 'sisterchain', '--yes', '--json')
  failed(t, again, 'WALLET_ALREADY_SPLIT', 24)
})
