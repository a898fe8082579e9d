import test from 'ava'
import type { EngineStore } from '../../../../kernel/types/engine.ts'
import type { Transaction } from '../../../../kernel/types/transaction.ts'
import { type SpendIntent, SpendJournal, type SpendStage } from '../../../../kernel/wallet/spend/journal.ts'
import { toyTransaction } from '../../../helpers/toy-currency.ts'

const openStore = (): { store: EngineStore; texts: Map<string, string> } => {
  const texts = new Map<string, string>()
  const store: EngineStore = {
    get: key => texts.get(key),
    *entries(prefix) {
      for (const [key, text] of [...texts].sort()) if (key.startsWith(prefix)) yield [key, text]
    },
    async write(changes) {
      for (const [key, text] of changes) {
        if (text === null) texts.delete(key)
        else texts.set(key, text)
      }
    }
  }
  return { store, texts }
}

const intentOf = (id: string, stage: SpendStage, at: number): SpendIntent => ({
  correlationId: id,
  stage,
  at,
  tx: { ...toyTransaction(stage === 'intended' ? '' : `tx ${id}`), walletId: 'w' } as Transaction
})

const idsOf = (intents: readonly SpendIntent[]): string[] => intents.map(({ correlationId }) => correlationId)

test('a journal lists what is unfinished and what was sent, oldest first, also after a restart', async t => {
  const { store } = openStore()
  const journal = new SpendJournal(store)
  t.true(journal.isEmpty)
  t.deepEqual(journal.list(), [])
  await journal.put(intentOf('c', 'sending', 3))
  t.false(journal.isEmpty)
  await journal.put(intentOf('a', 'intended', 2))
  await journal.put(intentOf('b', 'signed', 1))
  await journal.watch(intentOf('d', 'broadcast', 0))
  await journal.watch(intentOf('e', 'broadcast', 5))
  for (const one of [journal, new SpendJournal(store)]) {
    t.false(one.isEmpty)
    t.deepEqual(idsOf(one.list()), ['b', 'a', 'c'])
    t.deepEqual(idsOf(one.sent()), ['d', 'e'])
    t.deepEqual(idsOf(one.signed()), ['d', 'b', 'c', 'e'])
    t.is(one.findSigned('tx d')?.correlationId, 'd')
    t.is(one.findSigned('tx c')?.correlationId, 'c')
    t.is(one.findByTxid('tx c')?.correlationId, 'c')
    t.is(one.findByTxid('tx d'), undefined)
    t.is(one.findByTxid(''), undefined)
    t.is(one.find('a')?.stage, 'intended')
    t.is(one.find('d'), undefined)
  }
})

test('a payment with several entries has one from when it is watched', async t => {
  const { store, texts } = openStore()
  const journal = new SpendJournal(store)
  const { tx } = intentOf('b', 'sending', 2)
  await journal.watch({ ...intentOf('a', 'signed', 1), tx })
  await journal.put({ ...intentOf('b', 'sending', 2), tx })
  await journal.put(intentOf('other', 'sending', 3))
  await journal.watch({ ...intentOf('c', 'broadcast', 4), tx })
  for (const one of [journal, new SpendJournal(store)]) t.deepEqual(idsOf(one.signed()), ['other', 'c'])
  t.deepEqual([...texts.keys()].sort(), ['sent/c', 'spend/other'])
})

test('a watched payment is no longer unfinished, and a removed one is neither', async t => {
  const { store, texts } = openStore()
  const journal = new SpendJournal(store)
  await journal.put(intentOf('a', 'sending', 1))
  t.deepEqual(journal.sent(), [])
  await journal.watch(intentOf('a', 'broadcast', 1))
  t.true(journal.isEmpty)
  t.deepEqual(idsOf(journal.sent()), ['a'])
  t.deepEqual(idsOf(journal.signed()), ['a'])
  t.deepEqual(journal.sightOf('tx a'), { state: 'notSeen' })
  await journal.watch({ ...intentOf('a', 'broadcast', 1), sight: { state: 'seen' } })
  t.deepEqual(journal.sightOf('tx a'), { state: 'seen' })
  await journal.watch({ ...intentOf('a', 'broadcast', 1), confirmedAt: 9 })
  t.is(journal.sightOf('tx a'), undefined)
  // The bytes of one id are reserved once, also while they are sent again.
  await journal.put(intentOf('a', 'sending', 1))
  t.deepEqual(idsOf(journal.signed()), ['a'])
  await journal.remove('a')
  t.deepEqual([journal.list(), journal.sent(), journal.signed(), texts.size], [[], [], [], 0])
  t.is(journal.sightOf('tx a'), undefined)
  t.true(journal.isEmpty)
})

test('payments that are watched and removed at the same time are all known afterwards as they are', async t => {
  const { store } = openStore()
  const journal = new SpendJournal(store)
  await journal.watch(intentOf('old', 'broadcast', 0))
  await Promise.all([
    journal.watch(intentOf('a', 'broadcast', 1)),
    journal.remove('old'),
    journal.watch(intentOf('b', 'broadcast', 2))
  ])
  for (const one of [journal, new SpendJournal(store)]) {
    t.deepEqual(idsOf(one.sent()), ['a', 'b'])
    t.deepEqual(idsOf(one.signed()), ['a', 'b'])
  }
})

test('an unreadable entry is reported, kept, and hides no other', async t => {
  const { store, texts } = openStore()
  const good = intentOf('good', 'sending', 1)
  const journal = new SpendJournal(store)
  await journal.put(good)
  await journal.watch(intentOf('sent', 'broadcast', 1))
  const broken: readonly unknown[] = [
    null,
    [good],
    'text',
    { ...good, correlationId: 5 },
    { ...good, stage: 'paid' },
    { ...good, stage: undefined },
    { ...good, at: '1' },
    { ...good, tx: null },
    { ...good, tx: { ...good.tx, txid: 5 } }
  ]
  for (const [at, value] of broken.entries()) {
    texts.set(`spend/x${at}`, JSON.stringify(value))
    texts.set(`sent/x${at}`, JSON.stringify(value))
  }
  texts.set('spend/y', '{')
  const size = texts.size
  const again = new SpendJournal(store)
  const reported: unknown[] = []
  t.deepEqual(idsOf(again.list(error => reported.push(error))), ['good'])
  t.is(reported.length, broken.length + 1)
  t.deepEqual(idsOf(again.sent(error => reported.push(error))), ['sent'])
  t.is(reported.length, 2 * broken.length + 1)
  t.is(texts.size, size)
  await again.remove('good')
  t.false(again.isEmpty)
})

test('a payment whose end is being written counts as signed at every moment, and as unfinished again if that fails', async t => {
  for (const fails of [false, true]) {
    const { store: durable } = openStore()
    let overlay = new Map<string, string | null>()
    let end: ((failure?: Error) => void) | undefined
    // Shows a write at once, and takes it back if it fails, as the store of a wallet does.
    const store: EngineStore = {
      get: key => (overlay.has(key) ? (overlay.get(key) ?? undefined) : durable.get(key)),
      *entries(prefix) {
        for (const [key, text] of durable.entries(prefix)) if (!overlay.has(key)) yield [key, text]
        for (const [key, text] of overlay) if (text !== null && key.startsWith(prefix)) yield [key, text]
      },
      async write(changes) {
        overlay = new Map(changes)
        try {
          await new Promise<void>((resolve, reject) => {
            end = failure => (failure === undefined ? resolve() : reject(failure))
          })
          await durable.write(changes)
        } finally {
          overlay = new Map()
        }
      }
    }
    await durable.write(new Map([['spend/a', JSON.stringify(intentOf('a', 'broadcast', 1))]]))
    const journal = new SpendJournal(store)
    t.deepEqual(idsOf(journal.signed()), ['a'])
    t.deepEqual(idsOf(journal.sent()), [])
    const watching = journal.watch(intentOf('a', 'broadcast', 1))
    for (let turn = 0; turn < 5; turn += 1) {
      t.deepEqual(idsOf(journal.signed()), ['a'])
      t.is(journal.findSigned('tx a')?.correlationId, 'a')
      await Promise.resolve()
    }
    end?.(fails ? new Error('EIO') : undefined)
    await (fails ? t.throwsAsync(watching, { message: 'EIO' }) : watching)
    t.deepEqual(idsOf(journal.signed()), ['a'])
    t.deepEqual(idsOf(journal.sent()), fails ? [] : ['a'])
    t.deepEqual(idsOf(journal.list()), fails ? ['a'] : [])
  }
})

test('a payment that is forgotten right after its end was written stays forgotten, although the end is heard of later', async t => {
  const { store } = openStore()
  const journal = new SpendJournal(store)
  const payment = intentOf('a', 'broadcast', 1)
  await journal.put(payment)
  await journal.watch(payment, async changesOf => {
    await store.write(changesOf())
    await journal.forget(payment)
  })
  t.deepEqual(idsOf(journal.sent()), [])
  t.deepEqual(idsOf(journal.signed()), [])
  t.deepEqual(idsOf(journal.past(() => t.fail())), ['a'])
  t.is(journal.sightOf('tx a'), undefined)
})
