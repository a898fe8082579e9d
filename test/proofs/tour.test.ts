import { readdirSync, readFileSync } from 'node:fs'
import test from 'ava'
import { compareDevices, countServerFiles } from '../../cli/demo/tour.ts'
import type { FakeWorld } from '../../fake-server/fake-world.ts'
import { type CurrencyWallet, nativeAmount, type Transaction } from '../../kernel/index.ts'
import { bitcoin } from '../../plugins/currency/utxo/plugin.ts'
import { homeFor, runHoldfast } from '../helpers/command-line.ts'

test('demo --json --keep prints one envelope, and what it kept can be used', async t => {
  const home = homeFor(t)
  const { code, json, stdout, stderr } = await runHoldfast(['demo', '--json', '--keep'], { home })
  t.is(code, 0, stderr)
  t.is(stdout.trim().split('\n').length, 1)
  const { data, meta } = json
  t.is(meta.schema, 'demo/1')
  t.regex(data.txid, /^[0-9a-f]{64}$/)
  t.is(data.confirmations, 'confirmed')
  t.deepEqual(data.secondDevice, { sameHistory: true, sameNote: true })
  const ids = data.steps.map(({ id }: { id: string }) => id)
  t.deepEqual(ids, [
    'account',
    'wallet',
    'receive',
    'review',
    'send',
    'confirm',
    'note',
    'sync',
    'second-device',
    'rates',
    'litecoin',
    'quotes',
    'swap',
    'payout'
  ])
  const { plugin, txid, paid, received, route } = data.swap
  t.is(plugin, 'changenow')
  t.is(paid, '0.01 BTC')
  t.regex(received, /^\d+\.\d+ LTC$/)
  t.regex(route, /^BTC > iso:EUR \([a-zA-Z]+\)$/)
  t.is(data.profile, 'demo-1')
  const show = ['--profile', 'demo-1', 'tx', 'show', 'Savings', data.txid, '--json', '--password-stdin']
  const kept = await runHoldfast(show, { home, input: 'only for the tour\n' })
  t.is(kept.code, 0, kept.stderr)
  t.is(kept.json.data.tx.metadata.notes, data.note)
  const run = (...args: readonly string[]) =>
    runHoldfast(['--profile', 'demo-1', ...args, '--json', '--password-stdin'], {
      home,
      input: 'only for the tour\n'
    })
  const { swaps } = (await run('swap', 'history')).json.data
  t.is(swaps[0].txid, txid)
  const { balances } = (await run('balance', 'Litecoin')).json.data
  t.is(`${balances[0].display} LTC`, received)
})

/** The block of docs/command-line.md between its marks, without fences and the command itself. */
const transcript = (): readonly string[] => {
  const readme = readFileSync('docs/command-line.md', 'utf8')
  const block = /<!-- transcript:begin -->\n([\s\S]*?)<!-- transcript:end -->/.exec(readme)?.[1] ?? ''
  const lines = block.trim().split('\n')
  return lines.slice(1, -1)
}

const normalized = (lines: readonly string[]): readonly string[] =>
  lines.map(line =>
    line
      .replace(/[0-9a-f]{64}/g, 'TXID')
      .replace(/(bcrt|rltc)1q[0-9a-z]{38}/g, 'ADDRESS')
      // Which of the providers is a second younger than the others is chance.
      .replace(/> iso:EUR \([a-zA-Z]+\)/, '> iso:EUR (SOURCE)')
      .replace(/\d+\.\d\d EUR/, 'VALUE EUR')
      .replace(/\(\d+(\.\d)? m?s\)/g, '(TIME)')
  )

test('the transcript of the docs is what the tour prints, and it leaves nothing behind', async t => {
  const home = homeFor(t)
  const env = { TMPDIR: home }
  const { code, stdout, stderr } = await runHoldfast(['demo'], { home, env })
  t.is(code, 0, stderr)
  t.is(stderr, '')
  const [command, ...printed] = transcript()
  t.is(command, '$ npm start')
  t.deepEqual(normalized(stdout.trimEnd().split('\n')), normalized(printed))
  t.regex(
    stdout,
    /\ntxid: [0-9a-f]{64}\nconfirmations: confirmed\nnote: .*\nsecond device: same history, same note\n/
  )
  t.deepEqual(readdirSync(home), [])
})

const wallet = (changes: Partial<Transaction> = {}): CurrencyWallet => {
  const tx: Transaction = {
    ...{
      tokenId: null,
      txid: 'aa',
      date: 1,
      blockHeight: 2,
      signedTx: '',
      walletId: 'w',
      currencyCode: 'BTC'
    },
    ...{ confirmations: 'confirmed', isSend: true, memos: [], ourReceiveAddresses: [] },
    nativeAmount: nativeAmount('-5'),
    networkFee: nativeAmount('1'),
    metadata: { notes: 'a note' },
    ...changes
  }
  return {
    id: 'w',
    name: 'Savings',
    type: 'wallet:bitcoin',
    currencyInfo: bitcoin.info,
    balanceOf: () => nativeAmount('7'),
    getTransactions: async () => [tx]
  } as unknown as CurrencyWallet
}

test('the tour really compares: another amount, depth or note is noticed', async t => {
  const same = { sameWallet: true, sameHistory: true, sameNote: true }
  t.deepEqual(await compareDevices(wallet(), wallet()), same)
  t.deepEqual(await compareDevices(wallet(), wallet({ metadata: { notes: 'another' } })), {
    ...same,
    sameNote: false
  })
  const changes: Partial<Transaction>[] = [
    { nativeAmount: nativeAmount('-6') },
    { confirmations: 'unconfirmed' },
    { txid: 'bb' }
  ]
  for (const change of changes) {
    t.deepEqual(await compareDevices(wallet(), wallet(change)), { ...same, sameHistory: false })
  }
  const none = { metadata: {} }
  t.false((await compareDevices(wallet(none), wallet(none))).sameNote, 'no note at all is not the same note')
})

const worldWith = (content: unknown): FakeWorld => {
  const files = [
    ['a.json', 1, { encryptionType: 0, iv_hex: '00', data_base64: 'AA==' }],
    ['deleted.json', 2, null],
    ['c.json', 3, content]
  ]
  const db = {
    counts: { logins: 1, repos: 1, lobbies: 0 },
    entries: () => [{ kind: 'files', key: 'k', files }]
  }
  return { server: { db } } as unknown as FakeWorld
}

test('files on the server are counted, and none may be plain text', t => {
  const box = { encryptionType: 0, iv_hex: '01', data_base64: 'AQ==' }
  t.deepEqual(countServerFiles(worldWith(box)), { repos: 1, files: 2 })
  t.throws(() => countServerFiles(worldWith({ text: 'plain' })), { message: /c\.json in plain text/ })
})
