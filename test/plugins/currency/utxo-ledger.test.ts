import test from 'ava'
import type { RawTx } from '../../../plugins/currency/utxo/chain/transaction.ts'
import {
  confirmedHeightOf,
  Ledger,
  rivalOf,
  type Standing,
  weakestOf
} from '../../../plugins/currency/utxo/wallet/ledger.ts'
import type { ScriptRecord } from '../../../plugins/currency/utxo/wallet/scripts.ts'
import { makeSeededRandom, type SeededRandom } from '../../helpers/drawn-runs.ts'

interface DrawnTx extends RawTx {
  readonly height: number
}

const OWN = new Uint8Array(1)
const FOREIGN = new Uint8Array(2)

/**
 * Draws transactions that build on each other, most of them on the one before: so there are chains beyond 25. No
 * output is spent twice.
 */
const drawTxs = (random: SeededRandom): readonly DrawnTx[] => {
  const txs: DrawnTx[] = []
  const unspent: { readonly txid: string; readonly vout: number }[] = []
  const count = 1 + random.below(45)
  const confirmed = random.below(4)
  for (let n = 0; n < count; n += 1) {
    const inputs: RawTx['inputs'][number][] = []
    const width = 1 + (random.oneIn(3) ? random.below(3) : 0)
    for (let i = 0; i < width; i += 1) {
      const at = random.oneIn(5) ? random.below(unspent.length + 1) : unspent.length - 1
      const [source] = unspent.splice(Math.max(at, 0), 1)
      if (source === undefined && n > confirmed && !random.oneIn(30)) break
      inputs.push({ txid: source?.txid ?? `foreign${n}.${i}`, vout: source?.vout ?? 0 })
    }
    const ours = Array.from({ length: 1 + random.below(3) }, () => BigInt(1 + random.below(1000)))
    const outputs = [
      { value: BigInt(random.below(1000)), script: FOREIGN },
      ...ours.map(amount => ({ value: amount, script: OWN }))
    ]
    const txid = `tx${n}`
    const isCoinbase = n <= confirmed && random.oneIn(6)
    const height = n < confirmed || random.oneIn(40) ? 100 + n : 0
    txs.push({ txid, inputs, outputs, isCoinbase, isPegOut: false, weight: 1, height })
    for (const i of ours.keys()) unspent.push({ txid, vout: i + 1 })
  }
  return txs
}

/** The facts of a set of transactions as their definitions say them, one by one. */
const factsOf = (txs: readonly DrawnTx[]) => {
  const byId = new Map(txs.map(tx => [tx.txid, tx]))
  const spenders = new Map(
    txs
      .filter(tx => !tx.isCoinbase)
      .flatMap(tx => tx.inputs.map(({ txid, vout }) => [`${txid}:${vout}`, tx.txid]))
  )
  const valueAt = (txid: string, vout: number): bigint | undefined => byId.get(txid)?.outputs[vout]?.value
  const chains = new Map<string, number>()
  for (const tx of txs) {
    const below = tx.inputs.map(({ txid }) => {
      const source = byId.get(txid)
      if (source === undefined) return Number.POSITIVE_INFINITY
      return source.height > 0 ? 0 : 1 + (chains.get(txid) ?? 0)
    })
    chains.set(tx.txid, tx.isCoinbase ? Number.POSITIVE_INFINITY : Math.max(0, ...below))
  }
  const coins = txs.flatMap(({ txid, outputs }) =>
    outputs.flatMap(({ value, script }, vout) =>
      script === OWN && !spenders.has(`${txid}:${vout}`)
        ? [{ txid, vout, value, isOwnChange: (chains.get(txid) ?? 0) <= 25 }]
        : []
    )
  )
  const effectOf = (tx: DrawnTx) => {
    const spent = tx.inputs.flatMap(({ txid, vout }) => valueAt(txid, vout) ?? [])
    const paid = spent.reduce((sum, value) => sum + value, 0n)
    const gained = tx.outputs.reduce((sum, { value, script }) => (script === OWN ? sum + value : sum), 0n)
    const total = tx.outputs.reduce((sum, { value }) => sum + value, 0n)
    const isAllOurs = spent.length > 0 && spent.length === tx.inputs.length
    return {
      net: gained - paid,
      fee: isAllOurs ? paid - total : 0n,
      isSend: spent.length > 0 && gained < paid
    }
  }
  return { coins, effectOf }
}

const byPlace = (left: { txid: string; vout: number }, right: { txid: string; vout: number }): number =>
  left.txid.localeCompare(right.txid) || left.vout - right.vout

test('coins, balance, fees and own change follow from the transactions alone, in whatever order they arrive', t => {
  let beyond = 0
  for (let seed = 1; seed <= 150; seed += 1) {
    const random = makeSeededRandom(seed)
    const txs = drawTxs(random)
    const record = { addTxid() {} } as unknown as ScriptRecord
    const ledger = new Ledger({ findScript: script => (script.length === 1 ? record : undefined) })
    const left = [...txs]
    while (left.length > 0) {
      const [tx] = left.splice(random.oneIn(3) ? random.below(left.length) : left.length - 1, 1)
      if (tx !== undefined) ledger.put(tx, { height: tx.height, date: 1, isSeen: true })
    }
    const expected = factsOf(txs)
    const sorted = [...expected.coins].sort(byPlace)
    const coins = [...ledger.coins()].map(({ txid, vout, value, isOwnChange }) => ({
      txid,
      vout,
      value,
      isOwnChange
    }))
    t.deepEqual(coins.sort(byPlace), sorted, `seed ${seed}`)
    for (const { txid, vout, isOwnChange } of sorted)
      t.is(ledger.coinAt(`${txid}:${vout}`)?.isOwnChange, isOwnChange, `seed ${seed}, ${txid}`)
    t.is(
      ledger.balance(),
      sorted.reduce((sum, { value }) => sum + value, 0n)
    )
    t.is(ledger.unconfirmedCount(), txs.filter(({ height }) => height === 0).length)
    for (const tx of txs) {
      const known = ledger.find(tx.txid)
      if (known === undefined) return t.fail()
      if (!tx.isCoinbase)
        t.deepEqual(ledger.effectOf(known), expected.effectOf(tx), `seed ${seed}, ${tx.txid}`)
    }
    if (txs.length > 30 && sorted.some(({ isOwnChange }) => !isOwnChange)) beyond += 1
    if (seed % 2 === 0) t.is(ledger.takeChanges().length, txs.length)
  }
  t.true(beyond > 8, `${beyond} draws with change that is not our own`)
})

test('a coin of theirs beside the longest chain of ours makes the change not our own', t => {
  const record = { addTxid() {} } as unknown as ScriptRecord
  const ledger = new Ledger({ findScript: () => record })
  const put = (txid: string, sources: readonly string[], height = 0): void => {
    const inputs = sources.map(source => ({ txid: source, vout: 0 }))
    const raw = {
      txid,
      inputs,
      outputs: [{ value: 9n, script: OWN }],
      isCoinbase: false,
      isPegOut: false,
      weight: 1
    }
    ledger.put(raw, { height, date: 1, isSeen: true })
  }
  put('0', ['foreign'], 7)
  for (let n = 1; n <= 25; n += 1) put(`${n}`, [`${n - 1}`])
  put('joined', ['25', 'theirs'])
  t.false(ledger.coinAt('joined:0')?.isOwnChange)
})

test('a transaction counts as changed when its height, its date or its sight is another, and otherwise not', t => {
  const ledger = new Ledger({ findScript: () => undefined })
  const raw = { txid: 'a', inputs: [], outputs: [], isCoinbase: false, isPegOut: false, weight: 1 }
  const first = { height: 7, date: 1, isSeen: true }
  const changes = (standing: typeof first): number => {
    ledger.put(raw, standing)
    return ledger.takeChanges().length
  }
  t.is(changes(first), 1)
  t.is(changes(first), 0)
  // Another block of the same height.
  t.is(changes({ ...first, date: 2 }), 1)
  t.is(changes({ ...first, date: 2, height: 8 }), 1)
  t.is(changes({ ...first, date: 2, height: 8, isSeen: false }), 1)
})

test('a transaction counts as changed when its block, its grade or its wait for a second server is another', t => {
  const ledger = new Ledger({ findScript: () => undefined })
  const raw = { txid: 'a', inputs: [], outputs: [], isCoinbase: false, isPegOut: false, weight: 1 }
  const first: Standing = { height: 7, date: 1, isSeen: true }
  const tx = ledger.put(raw, first)
  t.like(tx, { block: '', grade: 'claimed', heldSince: 0 })
  ledger.takeChanges()
  const changes = (more: Partial<Standing>): [number, number] => {
    ledger.put(raw, { ...first, ...more })
    return [ledger.takeChanges().length, tx.heldSince]
  }
  t.deepEqual(changes({}), [0, 0])
  t.deepEqual(changes({ heldSince: 5 }), [1, 5])
  t.deepEqual(changes({ heldSince: 5 }), [0, 5])
  t.is(confirmedHeightOf(tx), 0)
  // One that two servers know, or that is in no block, waits for nothing.
  t.deepEqual(changes({ heldSince: 5, grade: 'agreed' }), [1, 0])
  t.is(confirmedHeightOf(tx), 7)
  t.deepEqual(changes({ block: 'b', grade: 'agreed' }), [1, 0])
  t.deepEqual(changes({ heldSince: 5, height: 0 }), [1, 0])
  t.deepEqual(changes({ heldSince: 1 }), [1, 1])
  t.is(confirmedHeightOf(tx), 0)
  ledger.drop(tx)
  t.like(tx, { height: -1, block: '', grade: 'claimed', heldSince: 0 })
  ledger.put(raw, { ...first, block: 'b', grade: 'proven' })
  ledger.drop(tx)
  t.like(tx, { height: -1, block: '', grade: 'claimed', heldSince: 0 })
})

test('a payment that waits for a second server is unconfirmed for its coins, what is built on it, and its rivals', t => {
  const { ledger, put } = smallLedger()
  put('source', 'foreign', 3)
  const held = ledger.put(rawTx('held', ['source']), { height: 4, date: 1, isSeen: true, heldSince: 9 })
  t.like(ledger.coinAt('held:0'), { height: 0, isOwnChange: true })
  const theirs = ledger.put(rawTx('theirs', ['foreign2']), { height: 4, date: 1, isSeen: true, heldSince: 9 })
  put('child', 'theirs')
  t.false(ledger.coinAt('child:0')?.isOwnChange)
  const payment = { txid: 'other', spends: ['source:0'] }
  t.is(rivalOf(ledger, payment, 1), undefined)
  for (const tx of [held, theirs]) ledger.place(tx, { height: 4, date: 1, isSeen: true })
  t.is(rivalOf(ledger, payment, 1), 'held')
  t.is(rivalOf(ledger, { ...payment, txid: 'held' }, 1), undefined)
  t.like(ledger.coinAt('held:0'), { height: 4 })
  t.true(ledger.coinAt('child:0')?.isOwnChange)
})

test('a coin has the grade of its transaction, and own change the weakest of the payments that it was made from', t => {
  const { ledger } = smallLedger()
  const put = (txid: string, sources: readonly string[], more: Partial<Standing> = {}): void =>
    void ledger.put(rawTx(txid, sources), { height: 0, date: 1, isSeen: true, ...more })
  const gradeOf = (txid: string, more: object = {}): string =>
    ledger.gradeOf({ txid, height: 0, isOwnChange: true, ...more } as never)
  put('agreed', ['x1'], { height: 3, grade: 'agreed' })
  put('proven', ['x2'], { height: 3, grade: 'proven' })
  put('one', ['proven'])
  put('both', ['one', 'agreed'])
  put('end', ['both', 'one'])
  t.is(gradeOf('one'), 'proven')
  t.is(gradeOf('both'), 'agreed')
  t.is(gradeOf('end'), 'agreed')
  t.is(gradeOf('end', { isOwnChange: false }), 'claimed')
  t.is(gradeOf('agreed', { height: 3 }), 'agreed')
  t.is(gradeOf('unknown'), 'claimed')
  put('late', ['agreed', 'proven'], { height: 4, grade: 'proven' })
  t.is(gradeOf('late', { height: 4 }), 'proven')
  put('foreign', ['x3', 'proven'])
  t.is(gradeOf('foreign'), 'proven')
  put('received', ['x4'])
  t.is(gradeOf('received'), 'claimed')
  put('ring', ['ring', 'proven'])
  t.is(gradeOf('ring'), 'proven')
  put('there', ['back'])
  put('back', ['there', 'proven'])
  put('beside', ['there'])
  t.is(gradeOf('there'), 'proven')
  t.is(gradeOf('beside'), 'proven')
  put('held', ['proven'], { height: 4, heldSince: 9 })
  put('above', ['held'])
  t.is(gradeOf('above'), 'proven')
  t.is(weakestOf(new Set()), undefined)
  t.is(weakestOf(new Set(['proven', 'agreed', 'claimed'] as const)), 'claimed')
  t.is(weakestOf(new Set(['proven', 'agreed'] as const)), 'agreed')
  t.is(weakestOf(new Set(['proven'] as const)), 'proven')
})

test('an output with tokens is no coin, and its payment and what spends it are uses of its script', t => {
  const token = new Uint8Array([0xef, ...new Uint8Array(32), 0x20, 7])
  for (const order of [
    ['source', 'spender'],
    ['spender', 'source']
  ]) {
    const uses: string[] = []
    const record = { addTxid: (txid: string) => void uses.push(txid) } as unknown as ScriptRecord
    const ledger = new Ledger({
      findScript: script => (script.length === 1 && script[0] === 7 ? record : undefined)
    })
    const raws = {
      source: { ...rawTx('source', ['foreign']), outputs: [{ value: 5n, script: token }] },
      spender: { ...rawTx('spender', ['source']), outputs: [{ value: 4n, script: FOREIGN }] }
    }
    for (const name of order)
      ledger.put(raws[name as keyof typeof raws], { height: 0, date: 1, isSeen: true })
    t.deepEqual([...new Set(uses)].sort(), ['source', 'spender'], order.join())
    t.deepEqual([...ledger.coins()], [])
    t.is(ledger.balance(), 0n)
  }
})

test('payments of private coins, whose inputs name no coin, are no rivals of each other', t => {
  const { ledger, heightsOf } = smallLedger()
  for (const txid of ['one', 'two'])
    ledger.put(rawTx(txid, ['0'.repeat(64)]), { height: 0, date: 1, isSeen: true })
  t.deepEqual(heightsOf('one', 'two'), [0, 0])
})

/** A transaction that spends the first output of each source, and pays a script of ours. */
const rawTx = (txid: string, sources: readonly string[]): RawTx => ({
  ...{ txid, inputs: sources.map(source => ({ txid: source, vout: 0 })) },
  ...{ outputs: [{ value: 5n, script: OWN }], isCoinbase: false, isPegOut: false, weight: 1 }
})

test('a transaction falls once, with what was built on it, also where a server makes up a ring of them', t => {
  const ledger = new Ledger({
    findScript: script => (script === OWN ? ({ addTxid() {} } as never) : undefined)
  })
  const rawOf = (txid: string, spent: string): RawTx => ({
    ...{ txid, inputs: [{ txid: spent, vout: 0 }], outputs: [{ value: 5n, script: OWN }] },
    ...{ isCoinbase: false, isPegOut: false, weight: 1 }
  })
  const standing = { height: 0, date: 1, isSeen: true }
  const [first] = ['a', 'b', 'c'].map((txid, at) =>
    ledger.put(rawOf(txid, ['c', 'a', 'b'][at] ?? ''), standing)
  )
  const namesOf = (): readonly string[] => ledger.takeChanges().map(({ txid }) => txid)
  t.deepEqual([...namesOf()].sort(), ['a', 'b', 'c'])
  if (first !== undefined) ledger.drop(first)
  t.deepEqual([...namesOf()].sort(), ['a', 'b', 'c'])
  t.deepEqual(
    [...ledger.all()].map(({ height }) => height),
    [-1, -1, -1]
  )
  t.deepEqual([...ledger.coins()], [])
  if (first !== undefined) ledger.drop(first)
  t.deepEqual(namesOf(), [], 'what has fallen does not fall again')
})

/** A ledger whose own scripts have one byte, and a way to put a transaction that spends and pays so much of them. */
const smallLedger = () => {
  const uses: string[] = []
  const own: { isKnown: boolean } = { isKnown: true }
  const record = { addTxid: (txid: string) => void uses.push(txid) } as unknown as ScriptRecord
  const ledger = new Ledger({ findScript: script => (own.isKnown && script === OWN ? record : undefined) })
  const put = (txid: string, spent: string, height = 0) => {
    const inputs = [{ txid: spent, vout: 0 }]
    const outputs = [{ value: 5n, script: OWN }]
    const raw = { txid, inputs, outputs, isCoinbase: false, isPegOut: false, weight: 1 }
    return ledger.put(raw, { height, date: 1, isSeen: true })
  }
  const heightsOf = (...txids: readonly string[]) => txids.map(txid => ledger.find(txid)?.height)
  return { ledger, own, uses, put, heightsOf }
}

test('of two that spend one coin a confirmed one stays, from the first block on, and of two alike the newer one', t => {
  // The heights of both, the earlier first, and what they are afterwards.
  const cases: readonly (readonly [readonly [number, number], readonly [number, number]])[] = [
    [
      [1, 0],
      [1, -1]
    ],
    [
      [0, 1],
      [-1, 1]
    ],
    [
      [0, 0],
      [-1, 0]
    ],
    [
      [5, 1],
      [-1, 1]
    ],
    [
      [0, -1],
      [0, -1]
    ],
    [
      [7, -1],
      [7, -1]
    ]
  ]
  for (const [heights, expected] of cases) {
    const { put, heightsOf } = smallLedger()
    put('earlier', 'coin', heights[0])
    put('later', 'coin', heights[1])
    t.deepEqual(heightsOf('earlier', 'later'), [...expected], String(heights))
  }
})

test('a coin is spent by what is in force alone, and what is unknown or was dropped is no coin', t => {
  const { ledger, put } = smallLedger()
  put('source', 'foreign', 3)
  const spender = put('spender', 'source')
  t.true(ledger.isSpent('source:0'))
  t.false(ledger.isSpent('source:0', 'spender'))
  t.true(ledger.isSpent('source:0', 'other'))
  t.is(ledger.coinAt('spender:0')?.value, 5n)
  ledger.drop(spender)
  t.false(ledger.isSpent('source:0'))
  t.false(ledger.isSpent('source:0', 'other'))
  t.is(ledger.coinAt('spender:0'), undefined)
  t.is(ledger.coinAt('nowhere:0'), undefined)
  t.deepEqual(
    [...ledger.coins()].map(({ txid }) => txid),
    ['source']
  )
  t.is(ledger.size, 2)
})

test('a ring of unconfirmed payments that a server makes up is nobody’s change', t => {
  const { ledger, put } = smallLedger()
  for (const [txid, spent] of [
    ['a', 'c'],
    ['b', 'a'],
    ['c', 'b'],
    ['end', 'own']
  ] as const)
    put(txid, spent)
  put('own', 'theirs')
  t.false(ledger.coinAt('a:0')?.isOwnChange)
  t.deepEqual(
    [...ledger.coins()].map(({ txid, isOwnChange }) => [txid, isOwnChange]),
    [['end', false]]
  )
})

test('an output that turns out to be ours later changes what made it and what spends it, and both are uses of its script', t => {
  const { ledger, own, uses, put } = smallLedger()
  own.isKnown = false
  put('spender', 'source', 4)
  put('source', 'foreign', 3)
  ledger.takeChanges()
  t.deepEqual(uses, [])
  own.isKnown = true
  put('source', 'foreign', 3)
  t.deepEqual(
    ledger.takeChanges().map(({ txid }) => txid),
    ['source', 'spender']
  )
  t.deepEqual(uses, ['source', 'spender'])
  put('source', 'foreign', 3)
  t.deepEqual(ledger.takeChanges(), [])
  put('another', 'source', 4)
  t.deepEqual(uses, ['source', 'spender', 'another', 'another'])
})
