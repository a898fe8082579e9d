import test from 'ava'
import fc from 'fast-check'
import { changedFields, mergeJson, WHOLE_FILE } from '../../../kernel/sync/merge.ts'

const merge = (
  base: unknown,
  mine: unknown,
  theirs: unknown,
  winner: 'mine' | 'theirs' = 'mine'
): unknown => {
  const text = mergeJson({
    base: base === undefined ? undefined : JSON.stringify(base),
    mine: JSON.stringify(mine),
    theirs: JSON.stringify(theirs),
    winner
  })
  return text === undefined ? undefined : JSON.parse(text)
}

test('different fields of one file both keep their edits, removals included', t => {
  t.deepEqual(merge({ a: 1, b: 1, c: 1 }, { a: 2, b: 1, c: 1 }, { a: 1, b: 1, d: 4 }), { a: 2, b: 1, d: 4 })
})

test('nested objects merge the same way, however deep, and a list is one value', t => {
  t.deepEqual(merge({ s: { a: 1, b: 1 } }, { s: { a: 2, b: 1 } }, { s: { a: 1, b: 3 } }), {
    s: { a: 2, b: 3 }
  })
  const deep = (x: number, y: number): unknown => ({ s: { t: { u: { x, y } } } })
  t.deepEqual(merge(deep(1, 1), deep(2, 1), deep(1, 2)), deep(2, 2))
  t.deepEqual(merge({ l: [1, 1] }, { l: [2, 1] }, { l: [1, 2] }), { l: [2, 1] })
})

test('lists of texts in ascending order are sets, in which each text is kept or removed separately', t => {
  const ids = (...list: string[]) => ({ ids: list })
  t.deepEqual(merge(ids('b'), ids('a', 'b'), ids('b', 'c')), ids('a', 'b', 'c'))
  t.deepEqual(merge(ids('a', 'b'), ids('a', 'c'), ids('b'), 'theirs'), ids('c'))
  t.deepEqual(merge({}, ids('a'), ids('b')), ids('a', 'b'))
  t.deepEqual(merge(undefined, ids('a'), ids('a', 'b')), ids('a', 'b'))
  t.deepEqual(merge(ids('a'), ids(), ids('a', 'b')), ids('b'))
  // Order, repetition and anything else than text say that a list is no set.
  t.deepEqual(merge(ids('b'), ids('b', 'a'), ids('c')), ids('b', 'a'))
  t.deepEqual(merge(ids('b'), ids('a', 'a'), ids('c'), 'theirs'), ids('c'))
  t.deepEqual(merge(ids('c', 'b'), ids('a'), ids('d')), ids('a'))
  t.deepEqual(merge({ ids: [1] }, { ids: [1, 2] }, { ids: [1, 3] }), { ids: [1, 2] })
})

test('a text that was added to a set and removed does not return from a device that started in between', t => {
  const text = mergeJson({
    base: '{"ids":["a"]}',
    earlier: ['{"ids":["a","b"]}'],
    mine: '{"ids":["a","z"]}',
    theirs: '{"ids":["a","b","c"]}',
    winner: 'theirs'
  })
  t.is(text, '{"ids":["a","c","z"]}')
})

test('merging sets is symmetric for either winner, and keeps the changes of each side', t => {
  const set = fc.uniqueArray(fc.constantFrom<string>('a', 'b', 'c', 'd'))
  const idsOf = (list: string[]) => ({ ids: [...list].sort() })
  fc.assert(
    fc.property(set, set, set, (base, mine, theirs) => {
      const one = merge(idsOf(base), idsOf(mine), idsOf(theirs), 'mine') as { ids: string[] }
      const two = merge(idsOf(base), idsOf(theirs), idsOf(mine), 'theirs') as { ids: string[] }
      return ['a', 'b', 'c', 'd'].every(id => {
        const [was, ours, others] = [base, mine, theirs].map(list => list.includes(id))
        const is = one.ids.includes(id)
        return is === two.ids.includes(id) && is === (ours === was ? others : ours)
      })
    })
  )
  t.pass()
})

test('too deeply nested values are not merged', t => {
  const nest = (text: string): string => '{"a":'.repeat(50_000) + text + '}'.repeat(50_000)
  t.is(mergeJson({ base: nest('1'), mine: nest('2'), theirs: nest('3'), winner: 'mine' }), undefined)
})

test('one field changed on both sides takes the later writer’s value', t => {
  t.deepEqual(merge({ a: 1 }, { a: 2 }, { a: 3 }, 'mine'), { a: 2 })
  t.deepEqual(merge({ a: 1 }, { a: 2 }, { a: 3 }, 'theirs'), { a: 3 })
  t.deepEqual(merge({ a: 1 }, {}, { a: 3 }, 'mine'), {})
})

test('two new files of one name are united', t => {
  t.deepEqual(merge(undefined, { a: 1 }, { b: 2 }), { b: 2, a: 1 })
})

test('texts that are no JSON objects are not merged', t => {
  t.is(mergeJson({ base: '{}', mine: '[1]', theirs: '{}', winner: 'mine' }), undefined)
  t.is(mergeJson({ base: '{}', mine: '{}', theirs: 'not json', winner: 'mine' }), undefined)
  t.is(mergeJson({ base: 'null', mine: '{}', theirs: '{}', winner: 'mine' }), undefined)
})

test('a field called __proto__ is a field, and changes no prototype', t => {
  const text = mergeJson({ base: '{}', mine: '{"a":1}', theirs: '{"__proto__":{"b":2}}', winner: 'mine' })
  t.is(text, '{"__proto__":{"b":2},"a":1}')
  t.is(({} as { b?: number }).b, undefined)
})

test('an unchanged side gives the other side’s own text, letter for letter', t => {
  const theirs = '{ "a": 2,\n "b": 1 }'
  t.is(mergeJson({ base: '{"a":1,"b":1}', mine: '{"b":1,"a":1}', theirs, winner: 'mine' }), theirs)
})

test('merging is symmetric but for the winner, and never invents or loses an edit of one side', t => {
  const fields = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.integer({ min: 0, max: 3 }))
  fc.assert(
    fc.property(fields, fields, fields, (base, mine, theirs) => {
      const one = merge(base, mine, theirs, 'mine') as Record<string, number>
      const two = merge(base, theirs, mine, 'theirs') as Record<string, number>
      for (const name of ['a', 'b', 'c', 'd']) {
        if (one[name] !== two[name]) return false
        if (base[name] === theirs[name] && one[name] !== mine[name]) return false
        if (base[name] === mine[name] && one[name] !== theirs[name]) return false
      }
      return true
    })
  )
  t.pass()
})

test('a text that is no JSON object changes as one field, on either side', t => {
  t.deepEqual(changedFields('a note', '{"a":1}'), [WHOLE_FILE])
  t.deepEqual(changedFields('{"a":1}', 'a note'), [WHOLE_FILE])
  t.deepEqual(changedFields('a note', 'another'), [WHOLE_FILE])
  t.deepEqual(changedFields('a note', 'a note'), [])
})

/** FNV-1a over 0x1f and the codes of a name, from the tag of its parent on, as it is published. */
const tagOf = (...names: readonly string[]): number =>
  names.reduce((parent, name) => {
    const codes = [0x1f, ...Array.from(name, letter => letter.charCodeAt(0))]
    return Number(
      codes.reduce((tag, code) => ((tag ^ BigInt(code)) * 16_777_619n) % 2n ** 32n, BigInt(parent))
    )
  }, 2_166_136_261)

test('the tags of fields are those that every version of every client computes', t => {
  t.is(WHOLE_FILE, 2_166_136_261)
  const cases: readonly (readonly [unknown, unknown, readonly number[]])[] = [
    [{}, { name: 1 }, [tagOf('name')]],
    [{ name: 1 }, {}, [tagOf('name')]],
    [{ a: { b: 1, c: 1 } }, { a: { b: 2, c: 1 } }, [tagOf('a', 'b')]],
    [{}, { a: { b: { c: 1 } } }, [tagOf('a', 'b', 'c'), tagOf('a', 'b'), tagOf('a')]],
    [{ a: 1 }, { a: { b: 1 } }, [tagOf('a')]],
    [{ s: ['x'] }, { s: ['y'] }, [tagOf('s', 'x'), tagOf('s', 'y')]],
    [{}, { s: ['x', 'y'] }, [tagOf('s', 'x'), tagOf('s', 'y'), tagOf('s')]],
    [{ '': 1 }, { '': 2 }, [tagOf('')]]
  ]
  for (const [before, after, tags] of cases) {
    const [old, present] = [JSON.stringify(before), JSON.stringify(after)]
    t.deepEqual(changedFields(old, present), [...tags], `${old} ${present}`)
  }
  t.deepEqual(changedFields('{}', '{"a":{"b":1}}', { isDeep: true }), [tagOf('a', 'b')])
  t.deepEqual(changedFields('{}', '{"s":["x"]}', { isDeep: true }), [tagOf('s', 'x')])
  t.is(tagOf('name'), 1_763_967_373)
})

test('a field that has the name of what each object inherits merges as any other', t => {
  const inherited = (inner: object) => ({ a: 1, constructor: inner })
  t.deepEqual(merge({ a: 1 }, inherited({ x: 1 }), { ...inherited({ y: 1 }), a: 2 }), {
    a: 2,
    constructor: { x: 1, y: 1 }
  } as never)
})

test('objects in fields that have the name of what each object inherits are merged field by field', t => {
  for (const name of ['toString', 'constructor', 'valueOf', 'x']) {
    t.deepEqual(merge({}, { [name]: { a: 1 } }, { [name]: { b: 1 } }), { [name]: { a: 1, b: 1 } }, name)
    t.deepEqual(merge({ [name]: 1 }, {}, { [name]: 1, y: 1 }), { y: 1 }, name)
    t.deepEqual(merge({}, { [name]: ['a'] }, { [name]: ['b'] }), { [name]: ['a', 'b'] }, name)
  }
})

test('a merge that says the same as one side is that text, letter for letter', t => {
  const mine = '{ "a" : 2, "b" : 1 }'
  t.is(mergeJson({ base: '{"a":1,"b":1}', mine, theirs: '{"a":1,"b":1}', winner: 'theirs' }), mine)
  const theirs = '{ "a" : 1 }'
  t.is(mergeJson({ base: '{"a":1,"b":1}', mine: '{"a":1,"b":1}', theirs, winner: 'mine' }), theirs)
})

test('one field, or one text in a set, takes the later side, or without one the side that changed it', t => {
  type Value = 'absent' | 'one' | 'two'
  const jsonOf = (value: Value, isSet: boolean): string => {
    if (isSet) return JSON.stringify({ ids: value === 'absent' ? ['a', 'z'] : ['a', 'm', 'z'] })
    return JSON.stringify({ a: 1, ...(value !== 'absent' && { ids: value }) })
  }
  for (const isSet of [true, false]) {
    const values: readonly Value[] = isSet ? ['absent', 'one'] : ['absent', 'one', 'two']
    const [tag] = changedFields(jsonOf('absent', isSet), jsonOf('one', isSet), { isDeep: true })
    for (const base of values)
      for (const step of values)
        for (const mine of values)
          for (const theirs of values)
            for (const winner of ['mine', 'theirs'] as const)
              for (const later of ['mine', 'theirs', undefined] as const) {
                const text = mergeJson({
                  base: jsonOf(base, isSet),
                  earlier: [jsonOf(step, isSet)],
                  mine: jsonOf(mine, isSet),
                  theirs: jsonOf(theirs, isSet),
                  winner,
                  laterOf: one => (one === tag ? later : undefined)
                })
                const begun = theirs === base || theirs === step
                const byTexts = begun ? 'mine' : mine === base || isSet ? 'theirs' : winner
                const value = (later ?? byTexts) === 'mine' ? mine : theirs
                const story = [base, step, mine, theirs, winner, later].join()
                t.deepEqual(JSON.parse(text ?? ''), JSON.parse(jsonOf(value, isSet)), story)
              }
  }
})
