import test from 'ava'
import { Secret } from '../../../../kernel/base/secret.ts'
import {
  type Change,
  chunkName,
  type DecodedChunk,
  decodeChunk,
  encodeChunk,
  parseChunkName
} from '../../../../kernel/repo/store/chunk.ts'
import { makeRepoIo } from '../../../helpers/repo-io.ts'

const crypto = { io: makeRepoIo(), key: new Secret(new Uint8Array(32).fill(7)) }
const range = { from: 3, to: 9 }
const rowOf = (letter: string): Change => [letter, letter.repeat(100_000)]
/** Of three boxes. */
const changes: readonly Change[] = [['gone', null], rowOf('a'), rowOf('b'), rowOf('c')]

const linesOf = async (at = range, of = changes): Promise<string[]> =>
  (await encodeChunk(crypto, at, of)).split('\n')

const read = (lines: readonly string[], at = range): Promise<DecodedChunk> =>
  decodeChunk(crypto, at, lines.join('\n'))

const keysIn = ({ changes: found }: DecodedChunk): string => found.map(([key]) => key).join()

test('a chunk gives its changes back, and its name the writes that it holds', async t => {
  const lines = await linesOf()
  t.is(lines.length, 3)
  t.deepEqual(await read(lines), { changes, isWhole: true })
  t.deepEqual(await read(await linesOf(range, [])), { changes: [], isWhole: true })
  for (const [name, found] of [
    [chunkName(range), range],
    [chunkName({ from: 1, to: 1 }), { from: 1, to: 1 }],
    [chunkName({ from: 0, to: 5 }), undefined],
    [chunkName({ from: 5, to: 4 }), undefined],
    ['3-9', undefined],
    [`${chunkName(range)}.tmp`, undefined]
  ] as const)
    t.deepEqual(parseChunkName(name), found, name)
})

test('boxes that are lost, doubled, out of place or of another chunk do not make a whole one', async t => {
  const [first = '', second = '', third = ''] = await linesOf()
  const [other = ''] = await linesOf({ from: 3, to: 10 })
  const [earlier = ''] = await linesOf({ from: 2, to: 9 })
  const [short = ''] = await linesOf(range, [rowOf('a'), rowOf('b')])
  for (const [name, lines, keys] of [
    ['lost', [first, second], 'gone,a,b'],
    ['doubled', [first, second, third, third], 'gone,a,b,c,c'],
    ['out of place', [second, first, third], 'b,gone,a,c'],
    ['of a shorter one', [short, second, third], 'a,b,c'],
    ['of one with another end', [other, second, third], 'b,c'],
    ['of one with another beginning', [earlier, second, third], 'b,c'],
    ['damaged', [first, `${second.slice(0, 60)}A${second.slice(61)}x`, third], 'gone,a,c']
  ] as const) {
    const found = await read(lines)
    t.deepEqual([found.isWhole, keysIn(found)], [false, keys], name)
  }
  t.deepEqual(await read([first, second, third], { from: 4, to: 9 }), { changes: [], isWhole: false })
})
