import test from 'ava'
import { uriKindOf } from '../../cli/commands/receiving/address.ts'
import { type Envelope, makeHome, type Ran } from '../helpers/command-line.ts'
import { failed } from '../helpers/envelopes.ts'
import { runInProcess } from '../helpers/in-process.ts'

// One world for the whole file: each test goes on where the one before it ended.
const { home, remove } = makeHome()
const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
const WIF = 'KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn'
const input = JSON.stringify({ password: 'correct horse battery', pin: '2468' })
test.after.always(remove)

const run = (...args: readonly string[]): Promise<Ran> =>
  runInProcess([...args, '--secrets-stdin'], { home, input })
const dataOf = async (...args: readonly string[]): Promise<Envelope['data']> => {
  const ran = await run(...args, '--json')
  if (ran.code !== 0) throw new Error(`${args.join(' ')}: ${ran.stdout}${ran.stderr}`)
  return ran.json.data
}

test.before(async () => {
  await runInProcess(['account', 'create', 'alice', '--secrets-stdin'], { home, input })
  await dataOf('wallets', 'create', 'bitcoin', '--name', 'Savings')
})

test.serial('address new and lock mark an address as used for good; save only adds a note', async t => {
  const { address: first } = await dataOf('address', 'Savings')
  t.is((await dataOf('address', 'show', 'Savings', '--uri')).address, first)
  t.like(await dataOf('address', 'save', 'Savings', '--name', 'Bob'), {
    address: first,
    locked: false,
    name: 'Bob'
  })
  t.is((await dataOf('address', 'Savings')).address, first)
  const second = (await dataOf('address', 'new', 'Savings')).address
  t.not(second, first)
  const locked = await dataOf('address', 'lock', 'Savings', second, '--notes', 'May')
  t.like(locked, { address: second, locked: true, notes: 'May' })
  const third = (await dataOf('address', 'Savings')).address
  t.false([first, second].includes(third))
  t.is((await dataOf('address', 'Savings', '--index', '0')).address, first)
  failed(t, await run('address', 'Savings', '--index', 'x', '--json'), 'USAGE', 2)
  failed(t, await run('address', 'lock', 'Savings', 'nowhere', '--json'), 'ADDRESS_INVALID', 2)
  failed(t, await run('address', 'Savings', '--token', 'USDX', '--json'), 'NOT_FOUND', 6)
})

test.serial('amount converts exactly between units, and explains what it cannot do', async t => {
  const { amounts, native } = await dataOf('amount', 'Savings', '0.01 BTC')
  t.is(native, '1000000')
  t.deepEqual(
    amounts.map(({ unit, amount }: Record<string, string>) => `${amount} ${unit}`),
    ['0.01 BTC', '10 mBTC', '10000 bits', '1000000 sats', '1000000 native']
  )
  t.is((await run('amount', 'Savings', '1 native', '--to', 'btc')).stdout, '0.00000001\tBTC\n')
  failed(t, await run('amount', 'Savings', '1', '--to', 'iso:XTS', '--json'), 'NO_RATE', 47)
  failed(t, await run('amount', 'Savings', '1', '--to', 'iso:Euros', '--json'), 'USAGE', 2)
  failed(t, await run('amount', 'Savings', '1', '--to', 'gwei', '--json'), 'USAGE', 2)
  failed(t, await run('amount', 'Savings', '0.000000001', '--json'), 'AMOUNT_INVALID', 2)
})

test.serial(
  'uri parse names the kind of a link, uri encode writes one, and keys are refused without being repeated',
  async t => {
    const { uri } = await dataOf('uri', 'encode', 'Savings', PAYEE, '--amount', '0.5', '--message', 'a b')
    t.is(uri, `bitcoin:${PAYEE}?amount=0.5&message=a%20b`)
    const { kind, payment } = await dataOf('uri', 'parse', 'Savings', uri)
    t.is(kind, 'payment')
    t.like(payment, { address: PAYEE, amount: { native: '50000000' }, message: 'a b', label: null })
    t.is((await dataOf('uri', 'parse', 'Savings', 'edge://edge/2DKSbTpgCk')).kind, 'login')
    const shop = await run('uri', 'parse', 'Savings', 'bitcoin:?r=https://pay.example/i/7')
    t.regex(`${shop.stdout}${shop.stderr}`, /payment protocol[\s\S]*this version does not support it yet/)
    const key = await run('uri', 'parse', 'Savings', WIF, '--json')
    failed(t, key, 'SECRET_SOURCE', 2)
    t.false(`${key.stdout}${key.stderr}`.includes(WIF))
    failed(t, await run('uri', 'parse', 'Savings', 'bitcoin:bc1qnonsense', '--json'), 'ADDRESS_INVALID', 2)
  }
)

test('links are distinguished by their form', t => {
  const cases = {
    [`bitcoin:${PAYEE}?amount=1`]: 'payment',
    [PAYEE]: 'payment',
    [WIF]: 'key sweep',
    [`bitcoin:${WIF}`]: 'key sweep',
    [`${'abandon '.repeat(11)}about`]: 'key sweep',
    'wc:7f6e504bfad60b485450578e05678ed3e8e8c4751d3c6160be17160d63ec90f9@2?relay-protocol=irn':
      'WalletConnect',
    'bitcoin:?r=https://pay.example/i/7': 'payment protocol',
    'bitcoin:?label=Shop&r=https%3A%2F%2Fpay.example%2Fi%2F7': 'payment protocol',
    [`bitcoin:${PAYEE}?r=https://pay.example/i/7`]: 'payment',
    'https://deep.example/edge/aB3': 'login'
  }
  for (const [uri, kind] of Object.entries(cases))
    t.is(uriKindOf(uri), kind as ReturnType<typeof uriKindOf>, uri)
})
