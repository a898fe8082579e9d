import test from 'ava'
import {
  addressLabel,
  importLabels,
  type LabelledWallet,
  type LabelResult,
  labelLine,
  type Metadata,
  transactionLabel,
  WalletError
} from '../../../kernel/index.ts'
import { parseLabelRow, planLabel, textsOf } from '../../../kernel/wallet/labels.ts'

const TXID = 'f91d0a8a78462bc59398f2c5d7a84fcff491c26ba54c4833478b202796c8aafd'
const ADDRESS = 'bc1q34aq5drpuwy3wgl9lhup9892qp6svr8ldzyy7c'

const labelOf = (metadata: Metadata, tokenId: string | null = null) =>
  transactionLabel({ txid: TXID, tokenId, walletId: 'w', metadata })

test('a label is the name, and whatever else is noted stands beside it', t => {
  const lines = [
    labelOf({ name: 'Rent' }),
    labelOf({ name: 'Rent', notes: 'May', category: 'expense:Home' }),
    labelOf({ notes: 'May' }, 'a0b8'),
    addressLabel('w', { address: ADDRESS, metadata: { category: 'income' } })
  ].map(row => (row === undefined ? 'none' : labelLine(row)))
  t.deepEqual(lines, [
    `{"type":"tx","ref":"${TXID}","label":"Rent","holdfast":{"walletId":"w"}}`,
    `{"type":"tx","ref":"${TXID}","label":"Rent","holdfast":{"walletId":"w","name":"Rent","notes":"May","category":"expense:Home"}}`,
    `{"type":"tx","ref":"${TXID}","label":"May","holdfast":{"walletId":"w","tokenId":"a0b8","notes":"May"}}`,
    `{"type":"addr","ref":"${ADDRESS}","label":"income","holdfast":{"walletId":"w","category":"income"}}`
  ])
  t.is(labelOf({}), undefined)
  t.is(labelOf({ name: '', exchangeAmount: { 'iso:USD': 1 } }), undefined)
})

test('every note comes back from its label as it was', t => {
  const texts = ['', 'a', '"quoted"\n\u2028', '=1+1', '日本']
  for (const name of texts)
    for (const notes of texts)
      for (const category of texts) {
        const metadata = { name, notes, category }
        const row = labelOf(metadata)
        const wanted = Object.fromEntries(Object.entries(metadata).filter(([, text]) => text !== ''))
        t.deepEqual(row === undefined ? {} : textsOf(parseLabelRow(labelLine(row))), wanted)
        t.false(row !== undefined && labelLine(row).includes('\n'))
      }
})

test('a label that another program made or changed is the name', t => {
  t.deepEqual(textsOf({ type: 'tx', ref: TXID, label: 'Rent' }), { name: 'Rent' })
  const changed = { type: 'tx', ref: TXID, label: 'Rent in May', holdfast: { name: 'Rent', notes: 'cash' } }
  t.deepEqual(textsOf(changed), { name: 'Rent in May', notes: 'cash' })
  t.deepEqual(textsOf({ type: 'output', ref: `${TXID}:0` }), {})
})

test('a label fills empty notes, and replaces one only on request', t => {
  t.deepEqual(planLabel({}, { name: 'a' }, false), { status: 'applied', change: { name: 'a' } })
  t.deepEqual(planLabel({ name: 'a', notes: 'n' }, { name: 'a' }, false), { status: 'same' })
  t.deepEqual(planLabel({ name: 'a' }, { name: 'a', notes: 'n' }, false), {
    status: 'applied',
    change: { notes: 'n' }
  })
  const noted = { name: 'b', notes: '' }
  t.deepEqual(planLabel(noted, { name: 'a', notes: 'n' }, false), { status: 'conflict', fields: ['name'] })
  t.deepEqual(planLabel(noted, { name: 'a', notes: 'n' }, true), {
    status: 'applied',
    change: { name: 'a', notes: 'n' }
  })
})

test('lines that are no labels are refused by name of the field', t => {
  for (const line of [
    '{',
    '[]',
    '1',
    '{"ref":"a"}',
    '{"type":"tx"}',
    '{"type":"tx","ref":1}',
    '{"type":"tx","ref":"a","label":5}',
    '{"type":"tx","ref":"a","label":"\\ud800"}',
    '{"type":"tx","ref":"a","holdfast":{"name":1}}',
    '{"type":"tx","ref":"a","holdfast":[]}',
    `{"type":"tx","ref":"a","label":"${'x'.repeat(100_001)}"}`,
    `{"type":"tx","ref":"${'x'.repeat(1001)}"}`
  ]) {
    t.throws(() => parseLabelRow(line), { code: 'BAD_REPLY' }, line)
  }
  const row = parseLabelRow('{"type":"tx","ref":"a","label":null,"origin":"wpkh()","height":5,"x":{}}')
  t.deepEqual({ ...row }, { type: 'tx', ref: 'a' })
})

interface Noted {
  readonly txs?: Record<string, Metadata>
  readonly saved?: Record<string, Metadata>
  readonly paidTo?: readonly string[]
  readonly fresh?: string
  /** The other forms of the address that is shown. */
  readonly forms?: Readonly<Record<string, string>>
}

/** A wallet that is only what labels are about. */
const walletOf = (id: string, { txs = {}, saved = {}, paidTo = [], fresh = 'fresh', forms = {} }: Noted) => {
  const writes: string[] = []
  const wallet = {
    id,
    getTransaction: async (txid: string, tokenId: string | null) => {
      const metadata = txs[tokenId === null ? txid : `${txid}/${tokenId}`]
      if (metadata === undefined) throw new WalletError('TX_NOT_FOUND', { txid })
      return { metadata }
    },
    async saveTxMetadata(txid: string, change: Metadata, tokenId: string | null = null) {
      const key = tokenId === null ? txid : `${txid}/${tokenId}`
      txs[key] = { ...txs[key], ...change }
      writes.push(`${key} ${JSON.stringify(change)}`)
    },
    savedAddresses: async () => Object.entries(saved).map(([address, metadata]) => ({ address, metadata })),
    async saveReceiveAddress(address: string, change: Metadata) {
      saved[address] = { ...saved[address], ...change }
      writes.push(`${address} ${JSON.stringify(change)}`)
    },
    getReceiveAddress: async () => ({ publicAddress: fresh, ...forms }),
    async *streamTransactions() {
      yield [{ txid: 'paid', ourReceiveAddresses: paidTo }]
    }
  }
  return { wallet: wallet as unknown as LabelledWallet, writes }
}

const taken = async (
  lines: readonly string[],
  options: Parameters<typeof importLabels>[1]
): Promise<string[]> => {
  const found: LabelResult[] = []
  for await (const result of importLabels(lines, options)) found.push(result)
  return found.map(
    ({ line, status, walletId }) => `${line} ${status}${walletId === undefined ? '' : ` ${walletId}`}`
  )
}

const line = (type: string, ref: string, label: string, holdfast?: object): string =>
  JSON.stringify({ type, ref, label, holdfast })

test('labels go to every wallet that knows the transaction, or to the one they name', async t => {
  const a = walletOf('a', { txs: { both: {}, mine: { name: 'Old' }, 'both/usdc': {} } })
  const b = walletOf('b', { txs: { both: { name: 'Same' } } })
  const lines = [
    line('tx', 'both', 'Same'),
    line('tx', 'both', 'Other', { walletId: 'a' }),
    line('tx', 'both', 'Coins', { walletId: 'a', tokenId: 'usdc' }),
    '',
    line('tx', 'mine', 'New'),
    line('tx', 'none', 'New'),
    line('tx', 'both', ''),
    line('xpub', 'xpub6', 'Key'),
    'no label'
  ]
  const wallets = [a.wallet, b.wallet]
  const expected = [
    '1 applied a',
    '1 same b',
    '2 conflict a',
    '3 applied a',
    '5 conflict a',
    '6 unknown',
    '7 ignored',
    '8 ignored',
    '9 invalid'
  ]
  t.deepEqual(await taken(lines, { wallets, dryRun: true }), expected)
  t.deepEqual([a.writes, b.writes], [[], []], 'a dry run writes nothing')
  t.deepEqual(await taken(lines, { wallets }), expected)
  t.deepEqual(a.writes, ['both {"name":"Same"}', 'both/usdc {"name":"Coins"}'])
  t.deepEqual(b.writes, [])
  t.is((await taken(lines, { wallets }))[0], '1 same a', 'a second time, it is all there')
  t.is((await taken(lines, { wallets, mayReplace: true }))[4], '5 applied a')
})

test('the longest notes come back, and a file may begin with a mark of its encoding', async t => {
  const notes = { name: '\u0001'.repeat(100_000), notes: 'n'.repeat(100_000), category: 'c'.repeat(100_000) }
  const txs: Record<string, Metadata> = { [TXID]: {} }
  const row = labelOf(notes)
  const { wallet } = walletOf('w', { txs })
  const lines = [`\ufeff${line('tx', 'none', 'a')}`, row === undefined ? '' : labelLine(row)]
  t.deepEqual(await taken(lines, { wallets: [wallet] }), ['1 unknown', '2 applied w'])
  t.deepEqual(txs[TXID], notes)
})

test('an address is labelled if it was saved, paid to, or is the one that is shown', async t => {
  const a = walletOf('a', { saved: { saved: { name: 'Shop' } }, paidTo: ['paid'] })
  const b = walletOf('b', { fresh: 'shown' })
  const lines = ['saved', 'paid', 'shown', 'strange'].map(address => line('addr', address, 'Shop'))
  const results = await taken([...lines, line('addr', 'paid', 'Else')], { wallets: [a.wallet, b.wallet] })
  t.deepEqual(results.sort(), ['1 same a', '2 applied a', '3 applied b', '4 unknown', '5 conflict a'])
  t.deepEqual(a.writes, ['paid {"name":"Shop"}'])
  t.deepEqual(b.writes, ['shown {"name":"Shop"}'])
})

test('every form of the address that is shown can be labelled', async t => {
  const forms = { segwitAddress: 'segwit', legacyAddress: 'legacy' }
  const { wallet, writes } = walletOf('a', { fresh: 'shown', forms })
  const lines = ['segwit', 'legacy', 'shown'].map(address => line('addr', address, 'Shop'))
  t.deepEqual(await taken(lines, { wallets: [wallet] }), ['1 applied a', '2 applied a', '3 applied a'])
  t.is(writes.length, 3)
})

test('a line that is longer than any label is passed over, and the rest is taken', async t => {
  const { wallet } = walletOf('a', { txs: { tx: {} } })
  const long = `{"type":"tx","ref":"tx","label":"x"${' '.repeat(2_500_000)}}`
  t.deepEqual(await taken([long, line('tx', 'tx', 'Shop')], { wallets: [wallet] }), [
    '1 invalid',
    '2 applied a'
  ])
})
