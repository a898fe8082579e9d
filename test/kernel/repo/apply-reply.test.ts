import test from 'ava'
import { applyToFile, type FileBoxes } from '../../../kernel/repo/apply-reply.ts'
import type { PendingChange, RepoFile } from '../../../kernel/repo/repo-record.ts'

/** Boxes that are their texts, as other clients seal them. */
const boxes: FileBoxes = {
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

test('a change is acknowledged only if it is still what was sent; a later one begins with what was sent', t => {
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

test('a server that answers an upload with another text knows of a later write, which wins where both changed a field', t => {
  const sent = change('{"x":2,"z":1}', '{"x":1}')
  t.deepEqual(after({ data: '{"x":1}', pending: sent }, { sent, theirs: '{"x":3}' }), {
    data: '{"x":3}',
    pending: change('{"x":3,"z":1}', '{"x":3}')
  })
  const text = change('mine', 'base')
  t.deepEqual(after({ data: 'base', pending: text }, { sent: text, theirs: 'theirs' }), done('theirs'))
  t.deepEqual(after({ data: 'base', pending: text }, { sent: text, theirs: null }), done(undefined))
})

test('a deletion that the server answers with the old text stands and waits, and gives way to a new text', t => {
  const sent = change(null, 'old')
  const file = { data: 'old', pending: sent }
  t.deepEqual(after(file, { sent }), done(undefined))
  t.deepEqual(after(file, { sent, theirs: 'old' }), { data: 'old', pending: change(null, 'old') })
  t.deepEqual(after(file, { sent, theirs: 'new' }), done('new'))
})

test('a text of ours that comes back is no other device’s, however early it was sent', t => {
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

test('of a deletion and an edit the edit stays, whichever side made it', t => {
  const edit = change('mine', 'base')
  t.deepEqual(after({ data: 'base', pending: edit }, { theirs: null }), { data: undefined, pending: edit })
  t.deepEqual(after({ data: 'base', pending: change(null, 'base') }, { theirs: 'edited' }), done('edited'))
  t.deepEqual(after({ data: 'base', pending: change(null, 'base') }, { theirs: null }), done(undefined))
  // One that waits only because the server forgot it is no edit.
  t.deepEqual(after({ pending: change('base', 'base') }, { theirs: 'edited' }), done('edited'))
})

test('a new file that was sent without an answer, and edited since, loses nothing to the file that another client made', t => {
  const pending = change('{"a":1,"x":2}', null, ['{"a":1}'])
  t.deepEqual(after({ pending }, { theirs: '{"y":3}' }), {
    data: '{"y":3}',
    pending: change('{"y":3,"a":1,"x":2}', '{"y":3}')
  })
})
