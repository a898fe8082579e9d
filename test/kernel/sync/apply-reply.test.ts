import test from 'ava'
import { applyToFile, knownEdits } from '../../../kernel/sync/apply-reply.ts'
import { EditCount } from '../../../kernel/sync/edit-count.ts'
import { type EditId, joinLineages, type Lineage, type Provenance } from '../../../kernel/sync/lineage.ts'
import { changedFields } from '../../../kernel/sync/merge.ts'
import type { FileBoxes } from '../../../kernel/sync/merge-versions.ts'
import type { PendingChange, RepoFile } from '../../../kernel/sync/repo-record.ts'
import { makeRepoIo } from '../../helpers/repo-io.ts'

const io = makeRepoIo()

/** Boxes that are their texts, as other clients seal them. */
const boxes: FileBoxes = {
  edits: new EditCount(io),
  open: box => ({ text: box, lineage: new Map([[box, 1]]), stamps: new Map(), isForeign: true }),
  canOpen: () => true,
  seal: text => text
}

const change = (box: string | null, base: string | null, sent: string[] = []): PendingChange => ({
  box,
  base,
  sent
})

/** What becomes of a file when a server answers; `theirs` left out: it says nothing of it. */
const after = (
  file: Partial<RepoFile>,
  { sent, theirs }: { readonly sent?: PendingChange; readonly theirs?: string | null }
): RepoFile => {
  const reply = {
    sent: new Map(sent === undefined ? [] : [['f', sent]]),
    changes: new Map(theirs === undefined ? [] : [['f', theirs]])
  }
  const { data, pending } = applyToFile(
    { data: undefined, pending: undefined, ...file },
    { path: 'f', reply, now: 0 },
    boxes
  )
  return { data, pending }
}

const done = (data: string | undefined): RepoFile => ({ data, pending: undefined })

test('an upload acknowledges a change only if it still has the sent text; a later change is based on that text', t => {
  const sent = change('{"x":2}', '{"x":1}')
  t.deepEqual(after({ data: '{"x":1}', pending: sent }, { sent }), done('{"x":2}'))
  const later = change('{"x":2,"y":2}', '{"x":1}', ['{"x":2}'])
  const acknowledged = after({ data: '{"x":1}', pending: later }, { sent })
  t.deepEqual(acknowledged, { data: '{"x":2}', pending: change('{"x":2,"y":2}', '{"x":2}') })
  // So the field that is not ours any more takes what another device makes of it.
  t.deepEqual(after(acknowledged, { theirs: '{"x":3}' }), {
    data: '{"x":3}',
    pending: change('{"x":3,"y":2}', '{"x":3}')
  })
})

test('if a server answers an upload with another text, that text wins in the fields that both changed', t => {
  const sent = change('{"x":2,"z":1}', '{"x":1}')
  t.deepEqual(after({ data: '{"x":1}', pending: sent }, { sent, theirs: '{"x":3}' }), {
    data: '{"x":3}',
    pending: change('{"x":3,"z":1}', '{"x":3}')
  })
  const text = change('mine', 'base')
  t.deepEqual(after({ data: 'base', pending: text }, { sent: text, theirs: 'theirs' }), done('theirs'))
  t.deepEqual(after({ data: 'base', pending: text }, { sent: text, theirs: null }), done(undefined))
})

test('a deletion stays pending if the server answers with the old text, and ends if it answers with a new one', t => {
  const sent = change(null, 'old')
  const file = { data: 'old', pending: sent }
  t.deepEqual(after(file, { sent }), done(undefined))
  t.deepEqual(after(file, { sent, theirs: 'old' }), { data: 'old', pending: change(null, 'old') })
  t.deepEqual(after(file, { sent, theirs: 'new' }), done('new'))
})

test('a text that this device sent, however early, does not count as another device’s', t => {
  const pending = change('now', 'base', ['first', 'second'])
  for (const theirs of ['base', 'first', 'second'])
    t.deepEqual(after({ data: 'base', pending }, { theirs }), {
      data: theirs,
      pending: theirs === 'base' ? pending : change('now', theirs)
    })
  t.deepEqual(after({ data: 'base', pending: change('first', 'base', ['first']) }, { theirs: 'first' }), {
    ...done('first')
  })
})

test('an edit wins over a deletion on either side', t => {
  const edit = change('mine', 'base')
  t.deepEqual(after({ data: 'base', pending: edit }, { theirs: null }), { data: undefined, pending: edit })
  t.deepEqual(after({ data: 'base', pending: change(null, 'base') }, { theirs: 'edited' }), done('edited'))
  t.deepEqual(after({ data: 'base', pending: change(null, 'base') }, { theirs: null }), done(undefined))
  // One that waits only because the server forgot it is no edit.
  t.deepEqual(after({ pending: change('base', 'base') }, { theirs: 'edited' }), done('edited'))
})

test('a new file that was sent without an answer and then edited is merged with the file of another client', t => {
  const pending = change('{"a":1,"x":2}', null, ['{"a":1}'])
  t.deepEqual(after({ pending }, { theirs: '{"y":3}' }), {
    data: '{"y":3}',
    pending: change('{"y":3,"a":1,"x":2}', '{"y":3}')
  })
})

/** Boxes that say where they come from, as ours do, or nothing of that. */
const markedBoxes: FileBoxes = {
  edits: new EditCount(io),
  open(box) {
    const { text, lineage, stamps } = JSON.parse(box) as Marked
    const isForeign = lineage === undefined
    return isForeign
      ? { text, lineage: new Map([[`of ${text}`, 0xffff_ffff]]), stamps: new Map(), isForeign }
      : { text, lineage: new Map(lineage), stamps: new Map(stamps), isForeign }
  },
  canOpen: () => true,
  seal: (text, { lineage, stamps }) => JSON.stringify({ text, lineage: [...lineage], stamps: [...stamps] })
}

interface Marked {
  readonly text: string
  readonly lineage?: [string, number][]
  readonly stamps?: [number, EditId][]
}

/** A version of a file that a device made of another one, of which it was shown nothing else. */
const edited = (text: string, from?: { readonly box: string }): { readonly box: string } => {
  const before = from && markedBoxes.open(from.box)
  const made: Provenance = new EditCount(io).next(before, changedFields(before?.text ?? '{}', text))
  return { box: markedBoxes.seal(text, made) }
}

/** A version of another client. */
const foreign = (text: string): { readonly box: string } => ({ box: JSON.stringify({ text }) })

const MINUTE = 60_000

/** What becomes of a file when a server shows a version of it; its past was replaced so long ago. */
const shown = (
  file: Partial<RepoFile>,
  theirs: { readonly box: string } | null,
  now = MINUTE
): {
  readonly text?: string | undefined
  readonly isSent: boolean
  readonly conflict: string | undefined
} => {
  const { data, pending, conflict } = applyToFile(
    { data: undefined, pending: undefined, ...file },
    { path: 'f', reply: { sent: new Map(), changes: new Map([['f', theirs?.box ?? null]]) }, now },
    markedBoxes
  )
  const box = pending === undefined ? data : (pending.box ?? undefined)
  if (pending !== undefined && pending.box !== null) assertBase(pending, theirs)
  return {
    ...(box !== undefined && { text: markedBoxes.open(box)?.text }),
    isSent: pending !== undefined,
    conflict
  }
}

/** What waits is from now on an edit of what the server has. */
const assertBase = ({ base }: PendingChange, theirs: { readonly box: string } | null): void => {
  if (theirs !== null && base !== theirs.box) throw new Error('The base is not what the server has')
}

const first = edited('{"x":1,"y":1}')
const [ours, others] = [edited('{"x":2,"y":1}', first), edited('{"x":1,"y":2}', first)]
const past = { at: 0, boxes: [first.box], isNew: false }

test('a server with an older version gets ours, and is reported as old only if it had ours', t => {
  const known = shown({ data: ours.box, past }, first)
  t.deepEqual(known, { text: '{"x":2,"y":1}', isSent: true, conflict: 'older' })
  const pending = change(ours.box, others.box)
  const waiting = shown({ data: others.box, pending, past }, first)
  t.deepEqual(waiting, { text: '{"x":2,"y":1}', isSent: true, conflict: undefined })
})

test('two versions of one file are merged and sent, and a merge counts if the server had ours', t => {
  const both = '{"x":2,"y":2}'
  t.deepEqual(shown({ data: ours.box, past }, others), { text: both, isSent: true, conflict: 'merged' })
  const pending = change(ours.box, first.box)
  t.deepEqual(shown({ data: first.box, pending, past: undefined }, others), {
    text: both,
    isSent: true,
    conflict: undefined
  })
  const later = edited('{"x":3,"y":1}', ours)
  t.deepEqual(shown({ data: ours.box, past }, later), {
    text: '{"x":3,"y":1}',
    isSent: false,
    conflict: undefined
  })
})

test('every device takes the same value of a field from two files that were created separately', t => {
  for (let run = 0; run < 4; run += 1) {
    const [one, two] = [edited('{"x":1,"y":1}'), edited('{"x":2,"z":2}')]
    const made = { at: 0, boxes: [], isNew: true }
    const texts = [shown({ data: one.box, past: made }, two), shown({ data: two.box, past: made }, one)]
    const [left, right] = texts.map(({ text }) => JSON.parse(text ?? '{}'))
    t.deepEqual(left, right)
    t.like(left, { y: 1, z: 2 })
  }
})

test('a version without a known base is merged by its stamps and reported', t => {
  const next = edited('{"x":2,"y":1,"z":1}', ours)
  t.deepEqual(shown({ data: next.box }, others), {
    text: '{"x":2,"y":2,"z":1}',
    isSent: true,
    conflict: 'late'
  })
})

test('if a version of ours and one of another client have nothing in common, that of the server wins', t => {
  const known = { data: foreign('{"a":1}').box }
  t.deepEqual(shown(known, others), { text: '{"x":1,"y":2}', isSent: false, conflict: undefined })
  t.deepEqual(shown(known, foreign('{"b":1}')), { text: '{"b":1}', isSent: false, conflict: undefined })
})

test('a text of another client that undoes a recent edit is kept, and reported', t => {
  const undoing = foreign('{"x":1,"y":3}')
  for (const [minutes, conflict] of [
    [1, 'foreign'],
    [3, undefined],
    [-1, 'foreign'],
    [-3, undefined]
  ] as const)
    t.deepEqual(shown({ data: ours.box, past }, undoing, minutes * MINUTE), {
      text: '{"x":1,"y":3}',
      isSent: false,
      conflict
    })
  t.deepEqual(shown({ data: ours.box, past }, foreign('{"x":2,"y":3}')), {
    text: '{"x":2,"y":3}',
    isSent: false,
    conflict: undefined
  })
  t.is(shown({ data: ours.box, past }, foreign('{"x":2,"y":1}')).isSent, false, 'the same text')
  // An edited value that becomes an object is gone like one that is removed.
  t.is(shown({ data: ours.box, past }, foreign('{"x":{"a":1},"y":1}')).conflict, 'foreign')
})

test('a version that another device based on ours and a foreign one is accepted, and reported if it lost an edit', t => {
  const madeOfBoth = (text: string): { readonly box: string } => {
    const parts = [ours, foreign('{"x":1,"y":3}')].map(({ box }) => markedBoxes.open(box)?.lineage)
    const lineage = joinLineages(...parts.flatMap(part => part ?? []))
    return { box: markedBoxes.seal(text, { lineage, stamps: new Map() }) }
  }
  for (const [text, minutes, conflict] of [
    ['{"x":1,"y":3}', 1, 'foreign'],
    ['{"x":1,"y":3}', 3, undefined],
    ['{"x":2,"y":3}', 1, undefined]
  ] as const)
    t.deepEqual(shown({ data: ours.box, past }, madeOfBoth(text), minutes * MINUTE), {
      text,
      isSent: false,
      conflict
    })
})

test('a pending edit is merged with the text of another client and keeps its changes', t => {
  const pending = change(ours.box, first.box)
  t.deepEqual(shown({ data: first.box, pending }, foreign('{"x":1,"y":3}')), {
    text: '{"x":2,"y":3}',
    isSent: true,
    conflict: undefined
  })
})

test('a change of another client wins over our earlier edit of that field', t => {
  const settled = edited('{"x":1,"y":5}', first)
  const waiting = edited('{"x":2,"y":5}', settled)
  const pending = change(waiting.box, settled.box)
  t.deepEqual(shown({ data: settled.box, pending, past }, foreign('{"x":1,"y":6}')), {
    text: '{"x":2,"y":6}',
    isSent: true,
    conflict: undefined
  })
})

test('a deletion of a recently edited file is reported, and a pending edit survives it', t => {
  const gone = { isSent: false, conflict: undefined }
  t.deepEqual(shown({ data: ours.box, past }, null), { ...gone, conflict: 'deleted' })
  t.deepEqual(shown({ data: ours.box, past }, null, 3 * MINUTE), gone)
  t.deepEqual(shown({ data: ours.box }, null), gone)
  const pending = change(ours.box, first.box)
  t.deepEqual(shown({ data: first.box, pending, past }, null), {
    text: '{"x":2,"y":1}',
    isSent: true,
    conflict: undefined
  })
})

test('a pending deletion wins over every version that it knew, and gives way to any other', t => {
  const pending = change(null, ours.box)
  const isDeleted = (theirs: { readonly box: string }): boolean =>
    shown({ data: ours.box, pending, past }, theirs).text === undefined
  t.true(isDeleted(first))
  t.true(isDeleted(ours))
  t.false(isDeleted(others))
  t.false(isDeleted(edited('{"x":9}', ours)))
  const merged = [ours, others].map(({ box }) => markedBoxes.open(box)?.lineage ?? new Map<string, number>())
  const both = { box: markedBoxes.seal('{}', { lineage: joinLineages(...merged), stamps: new Map() }) }
  t.false(isDeleted(both))
  t.true(shown({ data: ours.box, pending: change(null, both.box), past }, others).text === undefined)
})

test('of two versions that two deletions knew neither comes back by being merged', t => {
  const lineages = [ours, others].map(
    ({ box }) => markedBoxes.open(box)?.lineage ?? new Map<string, number>()
  )
  const apply = (deletions: readonly Lineage[], pending?: PendingChange): RepoFile => {
    const reply = { sent: new Map(), changes: new Map([['f', others.box]]) }
    const file = { data: ours.box, pending, past }
    return applyToFile(file, { path: 'f', reply, now: 0, deletions }, markedBoxes)
  }
  const again = change(null, others.box)
  t.like(apply(lineages), { data: others.box, pending: again })
  t.like(apply(lineages, change(ours.box, null)), { data: others.box, pending: again })
  t.like(apply(lineages.slice(0, 1)), { data: others.box, pending: undefined })
  t.deepEqual(apply(lineages.slice(1)).pending, { box: ours.box, base: others.box, sent: [] })
})

test('a version whose stamps the deletion knew gives way to it only if it says what the deleted one said', t => {
  const { lineage = new Map<string, number>(), stamps = new Map<number, EditId>() } =
    markedBoxes.open(ours.box) ?? {}
  const joined = joinLineages(new Map([['another', 1]]), lineage)
  const isDeleted = (text: string, known: Provenance['stamps'] = stamps): boolean => {
    const theirs = { box: markedBoxes.seal(text, { lineage: joined, stamps: known }) }
    return shown({ data: ours.box, pending: change(null, ours.box), past }, theirs).text === undefined
  }
  t.true(isDeleted('{"x":2,"y":1}'))
  t.false(isDeleted('{"x":3,"y":1}'))
  t.false(isDeleted('{"x":2,"y":1}', new Map()))
  t.false(isDeleted('{"x":2,"y":1}', new Map([...stamps, [1, { session: 'another', count: 1 }]])))
})

test('a version with our earlier edits but not the last one is merged, also after edits of another client', t => {
  const [next, later] = [edited('{"x":1,"y":7}', first), foreign('{"x":1,"y":7,"z":1}')]
  const settled = edited('{"x":1,"y":8}', next)
  const mine = edited('{"x":2,"y":8}', settled)
  const boxes = [first.box, next.box, settled.box]
  const lineages = [settled, later].map(({ box }) => markedBoxes.open(box)?.lineage)
  const theirs = {
    box: markedBoxes.seal('{"x":1,"y":8,"z":1}', {
      lineage: joinLineages(...lineages.flatMap(part => part ?? [])),
      stamps: new Map()
    })
  }
  t.deepEqual(shown({ data: mine.box, past: { at: 0, boxes, isNew: false } }, theirs), {
    text: '{"x":2,"y":8,"z":1}',
    isSent: true,
    conflict: 'merged'
  })
})

test('two versions of one merge are merged from what that merge had, also where neither says which edit made a field', t => {
  /** A version made of several, which does not say which edit made its fields. */
  const madeOf = (text: string, ...from: readonly { readonly box: string }[]): { readonly box: string } => {
    const lineages = from.map(({ box }) => markedBoxes.open(box)?.lineage ?? new Map())
    const own = markedBoxes.open(edited(text).box)?.lineage ?? new Map()
    return { box: markedBoxes.seal(text, { lineage: joinLineages(own, ...lineages), stamps: new Map() }) }
  }
  const merged = (
    [left, right]: readonly [{ readonly box: string }, { readonly box: string }],
    [mine, theirs]: readonly [string, string],
    start = first
  ): unknown => {
    const known = { at: 0, boxes: [start.box, left.box, right.box], isNew: false }
    const [ours, shownByServer] = [madeOf(mine, left, right), madeOf(theirs, left, right)]
    return JSON.parse(shown({ data: ours.box, past: known }, shownByServer).text ?? '{}')
  }
  // Each side puts back what one of the two had changed.
  const plain = [madeOf('{"x":2,"y":1}', first), madeOf('{"x":1,"y":2}', first)] as const
  t.deepEqual(merged(plain, ['{"x":1,"y":2}', '{"x":2,"y":1}']), { x: 1, y: 1 })
  // Of one field the later edit was in the merge, and the server's version has the earlier one again.
  const left = edited('{"x":2,"y":1}', edited('{"x":5,"y":1}', first))
  const right = edited('{"x":3,"y":1}', first)
  t.deepEqual(merged([left, right], ['{"x":2,"y":2}', '{"x":3,"y":1}']), { x: 3, y: 2 })
  t.deepEqual(merged([right, left], ['{"x":2,"y":2}', '{"x":3,"y":1}']), { x: 3, y: 2 })
  // What another client wrote says nothing of its edits, so that the later of the two counts.
  const theirs = foreign('{"x":3,"y":1}')
  t.deepEqual(merged([left, theirs], ['{"x":3,"y":2}', '{"x":2,"y":1}']), { x: 2, y: 2 })
})

test('two edits of different versions from another client each keep their own change', t => {
  const [known, unknown] = [foreign('{"x":1,"y":1,"z":1}'), foreign('{"x":1,"y":1,"z":3}')]
  const mine = edited('{"x":2,"y":1,"z":1}', known)
  const theirs = edited('{"x":1,"y":2,"z":3}', unknown)
  const { text = '' } = shown({ data: known.box, pending: change(mine.box, known.box) }, theirs)
  t.deepEqual(JSON.parse(text), { x: 2, y: 2, z: 3 })
})

test('our earlier edit is not a base of a text that another client wrote without it', t => {
  const known = foreign('{"x":1,"y":1}')
  const earlier = edited('{"x":2,"y":1}', known)
  const mine = edited('{"x":2,"y":2}', earlier)
  const theirs = edited('{"x":1,"y":1,"z":3}', foreign('{"x":1,"y":1,"w":1}'))
  const past = { at: 0, boxes: [known.box, earlier.box], isNew: false }
  const { text = '' } = shown({ data: earlier.box, pending: change(mine.box, earlier.box), past }, theirs)
  t.deepEqual(JSON.parse(text), { x: 2, y: 2, z: 3 })
})

test('a version made of another client’s that keeps, or has replaced, what we edited is taken as it is', t => {
  const mine = edited('{"x":2,"y":2}', first)
  for (const [before, text] of [
    ['{"x":5,"y":5}', '{"x":3,"y":3}'],
    ['{"x":1,"y":2}', '{"x":1,"y":2,"z":9}']
  ] as const) {
    const found = shown({ data: mine.box, past }, edited(text, foreign(before)))
    t.deepEqual([found.text, found.isSent], [text, false], text)
  }
  const apart = shown({ data: mine.box, past }, edited('{"x":1,"y":1,"z":9}', foreign('{"x":1,"y":1}')))
  t.deepEqual(apart, { text: '{"x":2,"y":2,"z":9}', isSent: true, conflict: 'merged' })
})

test('an object that our last edit has made is merged with one that a version without that edit has made', t => {
  const before = edited('{"x":1}')
  const mine = edited('{"x":1,"o":{"a":1}}', before)
  const theirs = edited('{"x":1,"o":{"b":2},"z":9}', foreign('{"x":1}'))
  const { text = '', isSent } = shown({ data: mine.box, past: { ...past, boxes: [before.box] } }, theirs)
  t.deepEqual(JSON.parse(text), { x: 1, o: { a: 1, b: 2 }, z: 9 })
  t.true(isSent)
})

test('a file that was made without what another client wrote deletes nothing of that', t => {
  const known = foreign('{"a":1,"b":2}')
  const mine = edited('{"a":1,"b":3}', known)
  const { text = '', conflict } = shown(
    { data: mine.box, past: { ...past, boxes: [known.box] } },
    edited('{"c":4}')
  )
  t.deepEqual(JSON.parse(text), { a: 1, b: 3, c: 4 })
  t.is(conflict, 'merged')
})

test('a file is remembered as new while it waits and when it is acknowledged, unless there are very many or it was there', t => {
  const isNewAfter = (file: Partial<RepoFile>, theirs: string | null, more = 0): boolean | undefined => {
    const changes = new Map<string, string | null>([['f', theirs]])
    for (let n = 0; n < more; n += 1) changes.set(`${n}`, theirs)
    return applyToFile(
      { data: undefined, pending: undefined, ...file },
      { path: 'f', reply: { sent: new Map(), changes }, now: 0 },
      markedBoxes
    ).past?.isNew
  }
  const waits = { pending: change(ours.box, null) }
  t.true(isNewAfter(waits, others.box))
  t.not(isNewAfter(waits, others.box, 200), true)
  t.not(isNewAfter({ ...waits, data: first.box }, others.box), true)
  t.not(isNewAfter({ data: first.box }, others.box), true)
})

test('a version of ours that does not open gives way, and a text that another client has sealed again is taken', t => {
  const boxes: FileBoxes = {
    ...markedBoxes,
    open: box => (box === 'broken' ? undefined : markedBoxes.open(box))
  }
  const replaced = (file: Partial<RepoFile>, theirs: string): RepoFile => {
    const { data, pending } = applyToFile(
      { data: undefined, pending: undefined, ...file },
      { path: 'f', reply: { sent: new Map(), changes: new Map([['f', theirs]]) }, now: 0 },
      boxes
    )
    return { data, pending }
  }
  t.deepEqual(replaced({ data: 'broken' }, others.box), done(others.box))
  t.deepEqual(
    replaced({ data: first.box, pending: change('broken', first.box) }, others.box),
    done(others.box)
  )
  t.deepEqual(replaced({ data: ours.box }, 'broken'), done('broken'))
  const waits = { data: first.box, pending: change(ours.box, first.box) }
  t.deepEqual(replaced(waits, 'broken'), { data: 'broken', pending: change(ours.box, 'broken') })
  const again = foreign('{"x":2,"y":1}').box
  t.deepEqual(replaced({ data: ours.box, past }, again), done(again))
  t.deepEqual(replaced({ ...waits, past }, again), done(again))
})

test('an edit that ends at its first text gives way to the text of another client', t => {
  const base = foreign('before').box
  const box = edited('before', edited('meanwhile', { box: base })).box
  t.deepEqual(shown({ data: base, pending: change(box, base) }, foreign('theirs')), {
    text: 'theirs',
    isSent: false,
    conflict: undefined
  })
  const other = edited('mine', { box: base }).box
  t.is(shown({ data: base, pending: change(other, base) }, foreign('theirs')).text, 'mine')
})

test('a pending edit of a non-JSON text wins over another device’s text, which is used otherwise', t => {
  const pending = change('mine', 'base')
  t.deepEqual(after({ data: 'base', pending }, { theirs: 'theirs' }), {
    data: 'theirs',
    pending: change('mine', 'theirs')
  })
  const waiting = change('base', 'base')
  t.deepEqual(after({ data: 'base', pending: waiting }, { theirs: 'theirs' }), done('theirs'))
})

test('a text that was sent and is no JSON stays when the server has what was there before, or an earlier upload', t => {
  const [base, earlier, mine] = [foreign('base'), edited('earlier'), edited('mine')]
  const uploaded = { box: mine.box, base: base.box, sent: [earlier.box] }
  const answered = (theirs: { readonly box: string }): string | undefined => {
    const { data, pending } = applyToFile(
      { data: base.box, pending: uploaded },
      {
        path: 'f',
        reply: { sent: new Map([['f', uploaded]]), changes: new Map([['f', theirs.box]]) },
        now: MINUTE
      },
      markedBoxes
    )
    return markedBoxes.open(pending?.box ?? data ?? '')?.text
  }
  t.is(answered(foreign('base')), 'mine')
  t.is(answered(foreign('earlier')), 'mine')
  t.is(answered(foreign('other')), 'other')
})

test('a text that was added to a set, sent and removed again does not return with the edit of another client', t => {
  const [base, earlier] = [foreign('{"ids":["a"]}'), edited('{"ids":["a","b"]}')]
  const mine = edited('{"ids":["a","z"]}')
  const pending = change(mine.box, base.box, [earlier.box])
  const { text } = shown({ data: base.box, pending }, foreign('{"ids":["a","b","c"]}'))
  t.is(text, '{"ids":["a","c","z"]}')
})

test('a later version of our own is taken without a report, however many fields it changes', t => {
  const later = edited('{"x":1,"y":9}', ours)
  const version = markedBoxes.open(later.box)
  const unstamped = {
    box: markedBoxes.seal('{"x":1,"y":9}', { lineage: version?.lineage ?? new Map(), stamps: new Map() })
  }
  t.deepEqual(shown({ data: ours.box, past }, unstamped), {
    ...{ text: '{"x":1,"y":9}', isSent: false, conflict: undefined }
  })
})

test('in a merge with the text of another client, its changes count as edits of that client', t => {
  const mine = edited('{"x":2,"y":1}', first)
  const theirs = foreign('{"x":1,"y":5}')
  const { pending } = applyToFile(
    { data: first.box, pending: change(mine.box, first.box) },
    { path: 'f', reply: { sent: new Map(), changes: new Map([['f', theirs.box]]) }, now: MINUTE },
    markedBoxes
  )
  const merged = markedBoxes.open(pending?.box ?? '')
  t.is(merged?.text, '{"x":2,"y":5}')
  const [field = 0] = changedFields('{"y":1}', '{"y":5}')
  const [session] = markedBoxes.open(theirs.box)?.lineage.keys() ?? []
  t.is(merged?.stamps.get(field)?.session, session)
})

test('what was replaced by an upload is kept as its past, and of a new file that it is new', t => {
  const pastAfter = (sent: PendingChange, earlier?: RepoFile['past'], more = 0): RepoFile['past'] => {
    const all = new Map([['f', sent]])
    for (let n = 0; n < more; n += 1) all.set(`${n}`, sent)
    const reply = { sent: all, changes: new Map<string, string | null>() }
    const file = { data: sent.base ?? undefined, pending: sent, past: earlier }
    return applyToFile(file, { path: 'f', reply, now: 5 }, markedBoxes).past
  }
  t.like(pastAfter(change('new', null)), { isNew: true, boxes: [] })
  t.like(pastAfter(change('new', 'base')), { isNew: false, boxes: ['base'] })
  t.like(pastAfter(change('new', 'base', ['sent'])), { isNew: false, boxes: ['base', 'sent'] })
  t.is(pastAfter(change('new', null), undefined, 100), undefined, 'of many nothing is remembered')
  t.not(pastAfter(change(null, null))?.isNew, true, 'a deletion makes no new file')
  const known = { at: 1, boxes: ['older'], isNew: true }
  t.like(pastAfter(change('new', 'base'), known), { isNew: true, boxes: ['older', 'base'] })
})

test('a field of a new file that the text of another client lacks is reported, and of an old one only what was edited', t => {
  const theirs = foreign('{"y":1}')
  const made = { at: 0, boxes: [], isNew: true }
  t.is(shown({ data: ours.box, past: made }, theirs).conflict, 'foreign')
  t.is(shown({ data: ours.box, past: { ...made, isNew: false } }, theirs).conflict, undefined)
})

test('a file whose deletion did not know our version is sent again, and the server may have that version', t => {
  const known = markedBoxes.open(first.box)?.lineage
  if (known === undefined) throw new Error('The first version does not open')
  const reply = { sent: new Map(), changes: new Map([['f', null]]) }
  const { data, pending, conflict } = applyToFile(
    { data: ours.box, pending: undefined },
    { path: 'f', reply, now: MINUTE, deletions: [known], isNamed: true },
    markedBoxes
  )
  t.deepEqual(
    { data, pending, conflict },
    { data: undefined, pending: { box: ours.box, base: null, sent: [ours.box] }, conflict: 'merged' }
  )
})

test('a file that was new here when it was deleted is known by what was sent of it, and gives way to that of another device', t => {
  const lineage = markedBoxes.open(first.box)?.lineage
  t.truthy(lineage)
  const pending = change(null, null, [first.box])
  t.deepEqual(knownEdits({ data: undefined, pending }, markedBoxes), lineage)
  t.deepEqual(shown({ pending: change(null, null) }, others), {
    ...{ text: '{"x":1,"y":2}', isSent: false, conflict: undefined }
  })
})
