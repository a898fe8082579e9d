import test from 'ava'
import {
  boxText,
  isPlainBox,
  parseBox,
  parseFile,
  parsePast,
  pastEntry,
  pastTimeOf,
  pastWith,
  pendingEntry,
  plainBoxText,
  type RepoFile,
  vectorOf,
  visibleOf
} from '../../../kernel/sync/repo-record.ts'
import {
  damageNotes,
  isHash,
  parseRollback,
  parseStatus,
  repoStateOf
} from '../../../kernel/sync/repo-state.ts'

const vector = (n: number): string => n.toString(16).padStart(32, '0')
const [A, B, C] = [1, 2, 3].map(n => plainBoxText(vector(n), 'AAAA')) as [string, string, string]

/** What the disk says of each kind of pending change, beside what the file is. */
const ENTRIES: readonly { readonly name: string; readonly file: RepoFile; readonly entry: string | null }[] =
  [
    { name: 'no change', file: { data: A, pending: undefined }, entry: null },
    {
      name: 'a new file',
      file: { data: undefined, pending: { box: A, base: null, sent: [] } },
      entry: 'new'
    },
    {
      name: 'a new file that was sent before',
      file: { data: undefined, pending: { box: A, base: null, sent: [B, C] } },
      entry: `[null,${B},${C}]`
    },
    {
      name: 'a file that the server lost',
      file: { data: undefined, pending: { box: A, base: A, sent: [] } },
      entry: 'again'
    },
    {
      name: 'a file that the server lost, sent again',
      file: { data: undefined, pending: { box: A, base: A, sent: [B] } },
      entry: `-[${A},${B}]`
    },
    {
      name: 'a file that is what the server has',
      file: { data: A, pending: { box: A, base: A, sent: [] } },
      entry: `[${A}]`
    },
    {
      name: 'an edit',
      file: { data: A, pending: { box: B, base: A, sent: [] } },
      entry: `[${A}]`
    },
    {
      name: 'an edit that was sent before',
      file: { data: A, pending: { box: B, base: A, sent: [C] } },
      entry: `[${A},${C}]`
    },
    {
      name: 'an edit of what the server deleted',
      file: { data: undefined, pending: { box: B, base: A, sent: [] } },
      entry: `-[${A}]`
    },
    {
      name: 'a deletion',
      file: { data: A, pending: { box: null, base: A, sent: [] } },
      entry: `x[${A}]`
    },
    {
      name: 'a deletion of what the server deleted',
      file: { data: undefined, pending: { box: null, base: A, sent: [B] } },
      entry: `x-[${A},${B}]`
    },
    {
      name: 'a deletion of what the server never had',
      file: { data: undefined, pending: { box: null, base: null, sent: [] } },
      entry: 'x[null]'
    }
  ]

for (const { name, file, entry } of ENTRIES) {
  test(`the store entry of ${name} has the form of older versions, and reads back`, t => {
    t.is(pendingEntry(file), entry)
    t.deepEqual(parseFile(visibleOf(file), entry ?? undefined), file)
  })
}

test('a change whose text was lost is dropped, but a deletion stays', t => {
  const nothing: RepoFile = { data: undefined, pending: undefined }
  for (const { file, entry } of ENTRIES) {
    if (entry === null || file.pending?.box === null) continue
    t.deepEqual(parseFile(undefined, entry), nothing, entry)
  }
  for (const entry of ['[', 'x{}', 'rubbish'])
    t.deepEqual(parseFile(A, entry).pending?.base, null, 'an entry that is damaged knows of no base')
  t.deepEqual(parseFile(A, `[${A},7,${B}]`).pending?.sent, [B])
})

test('the past of a file is stored with its time and whether the file was new', t => {
  const past = { at: 1234, boxes: [A, B], isNew: false }
  t.is(pastEntry(past), `1234[${A},${B}]`)
  t.is(pastEntry({ ...past, isNew: true }), `1234[null,${A},${B}]`)
  t.is(pastEntry(undefined), null)
  for (const each of [past, { ...past, isNew: true }, { at: 7, boxes: [], isNew: true }]) {
    const entry = pastEntry(each) ?? ''
    t.deepEqual(parsePast(entry), each)
    t.is(pastTimeOf(entry), each.at)
  }
  t.is(parsePast(undefined), undefined)
  t.deepEqual(parsePast('rubbish'), { at: 0, boxes: [], isNew: false })
  t.deepEqual(parsePast(`5[${A},7]`), { at: 5, boxes: [A], isNew: false })
})

test('the first and the newest seven of many replaced versions are kept, each once', t => {
  const many = Array.from({ length: 12 }, (_, n) => plainBoxText(vector(n), 'AAAA'))
  let past = pastWith(undefined, many.slice(0, 8), 5)
  t.deepEqual(past, { at: 5, boxes: many.slice(0, 8), isNew: false })
  past = pastWith(past, [many[3], null, undefined], 6)
  t.is(past?.at, 5, 'nothing was added')
  past = pastWith(past && { ...past, isNew: true }, [many[8], many[8], many[9]], 7)
  t.deepEqual(past, { at: 7, boxes: [many[0], ...many.slice(3, 10)], isNew: true })
  t.is(pastWith(undefined, [undefined, null], 1), undefined)
  t.deepEqual(pastWith({ at: 1, boxes: [A] }, [B], 2), { at: 2, boxes: [A, B], isNew: false })
})

test('a box is read as JSON reads it, and only its one spelling counts as plain', t => {
  const box = { encryptionType: 0, iv_hex: vector(7), data_base64: 'QUJD' }
  const plain = plainBoxText(vector(7), 'QUJD')
  t.is(boxText({ ...box, more: 1 } as typeof box), plain)
  t.is(vectorOf(plain), vector(7))
  t.is(vectorOf(null), '')
  t.is(vectorOf('rubbish'), '')
  t.deepEqual(parseBox(plain), box)
  t.true(isPlainBox(plain))
  const others = [
    JSON.stringify({ ...box, more: 1 }),
    JSON.stringify({ ...box, encryptionType: 1 }),
    JSON.stringify({ ...box, iv_hex: vector(7).slice(1) }),
    JSON.stringify({ ...box, iv_hex: `${vector(7)}0` }),
    JSON.stringify({ iv_hex: box.iv_hex, encryptionType: 0, data_base64: 'QUJD' }),
    JSON.stringify({ ...box, data_base64: 'QU\\"JD' }),
    plain.replace('data_base64', 'data-base64'),
    ` ${plain}`,
    `${plain} `,
    plain.slice(0, -1),
    `${plain.slice(0, -1)}]`,
    plain.slice(0, -2),
    '',
    '{}'
  ]
  for (const text of others) {
    t.false(isPlainBox(text), text)
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {}
    const parsed = parseBox(text)
    if (parsed !== undefined) t.like(value, { ...parsed })
  }
  t.deepEqual(parseBox(JSON.stringify({ ...box, encryptionType: 1 })), { ...box, encryptionType: 1 })
  t.is(parseBox(undefined), undefined)
  t.is(parseBox('{}'), undefined)
})

test('a status that cannot be read is "never synced", and a hash is kept only if a URL can hold it', t => {
  const never = { lastSync: 0 }
  for (const text of [
    undefined,
    '',
    'null',
    '7',
    '[]',
    '{}',
    '{"lastSync":"5"}',
    '{"lastSync":-5}',
    '{"lastSync":null}'
  ])
    t.deepEqual(parseStatus(text), never, text)
  t.deepEqual(parseStatus('{"lastSync":0.5,"lastHash":"a_B-9=","isDamaged":true,"more":1}'), {
    lastSync: 0.5,
    lastHash: 'a_B-9=',
    isDamaged: true
  })
  t.deepEqual(parseStatus('{"lastSync":1,"lastHash":"a/b","isDamaged":1}'), { lastSync: 1 })
  for (const hash of ['', 'a b', 'a/b', 'ä', 'a'.repeat(257), 7, undefined])
    t.false(isHash(hash), String(hash))
  t.true(isHash('a'.repeat(256)))
})

test('damage clears the hash and keeps the time of the sync, and only the first one is recorded', t => {
  const first = damageNotes('{"lastSync":9,"lastHash":"ab"}', 5, '')
  t.deepEqual(
    [...first],
    [
      ['s', '{"lastSync":9,"isDamaged":true}'],
      ['e', null],
      ['d', '5']
    ]
  )
  t.deepEqual(
    [...damageNotes(first.get('s') ?? '', 6, 'aaaaaaaa!:')],
    [...first].slice(0, 1).concat([['e', 'aaaaaaaa!:']])
  )
})

test('the state of a repo shows each fact that is known, and no other', t => {
  const always = { repoId: 'r', pendingCount: 1, lastSync: 2, isSyncing: true }
  t.deepEqual(repoStateOf(always), always)
  const all = {
    ...always,
    ...{ lastHash: 'h', errorCode: 'SYNC_FAILED', keptCount: 3, rolledBackAt: 4, rolledBackFiles: 5 },
    ...{ mergedCount: 6, doubtfulCount: 7 }
  }
  t.deepEqual(repoStateOf(all), all)
  t.deepEqual(repoStateOf({ ...always, keptCount: 0, errorCode: undefined }), always)
})

test('a note of an older state is read as a whole or not at all', t => {
  t.deepEqual(parseRollback('{"at":4,"files":5}'), { rolledBackAt: 4, rolledBackFiles: 5 })
  for (const text of [undefined, '', 'null', '[]', '{"at":4}', '{"files":5}', '{"at":"4","files":5}'])
    t.deepEqual(parseRollback(text), {}, text)
})
