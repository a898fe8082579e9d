import test from 'ava'
import fc from 'fast-check'
import { isWalletError } from '../../../kernel/base/errors.ts'
import { listOf, objectOf, optional, parse, text } from '../../../kernel/schema/shape.ts'

const inner = objectOf<{ name: string }>({ name: text() })
const outer = objectOf<{ inner: { name: string }; list: { name: string }[]; rest: unknown }>({
  inner,
  list: listOf(inner),
  rest: optional('anything', (value): value is unknown => value !== undefined)
})

test('fields that are named like what every object inherits are dropped as any unknown field is', t => {
  const extra = JSON.parse('{"toString":null,"valueOf":5,"hasOwnProperty":{},"isPrototypeOf":[]}')
  const named = { name: 'a', ...extra }
  const value = { inner: named, list: [named], rest: { kept: extra }, ...extra }
  t.deepEqual(parse(outer, value, 'test'), {
    inner: { name: 'a' },
    list: [{ name: 'a' }],
    rest: { kept: extra }
  })
  t.throws(() => parse(outer, extra, 'test'), { code: 'BAD_REPLY' })
})

test('whatever JSON comes, it has the shape or it is a bad reply', t => {
  const names = ['inner', 'list', 'name', 'rest', ...Object.getOwnPropertyNames(Object.prototype)]
  const { json } = fc.letrec(tie => ({
    json: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(null, 'a', 5, true),
      fc.array(tie('json'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...names), tie('json'), { maxKeys: 4 })
    )
  }))
  fc.assert(
    fc.property(json, value => {
      try {
        return typeof parse(outer, value, 'test').inner.name === 'string'
      } catch (error) {
        return isWalletError(error, 'BAD_REPLY')
      }
    }),
    { numRuns: 2000 }
  )
  t.pass()
})
