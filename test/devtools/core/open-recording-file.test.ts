import { gzipSync } from 'node:zlib'
import test from 'ava'
import fc from 'fast-check'
import { openRecordingFile } from '../../../devtools/core/open-recording-file.ts'
import { RecordingError } from '../../../devtools/core/recording/format.ts'
import { record } from '../../../devtools/core/recording/record.ts'
import { openRecording } from '../../../devtools/core/recording/timeline.ts'
import { makeStage, wallet } from '../../helpers/devtools-stage.ts'

const story = async (): Promise<string[]> => {
  const stage = makeStage()
  const lines: string[] = []
  const stop = record(stage.devtools, { now: () => stage.clock.now(), write: line => void lines.push(line) })
  for (const name of ['Net', 'Zürich ✓', '金庫 🏦']) {
    stage.emit('walletChanged', wallet('w1', { name }))
    await stage.clock.advance(100)
  }
  stop()
  return lines
}

/** A file whose bytes arrive in pieces of a size, as from a slow disk. */
const slowFile = (bytes: Uint8Array<ArrayBuffer>, size: number): Blob => {
  const file = new Blob([bytes])
  const stream = (): ReadableStream<Uint8Array> => {
    let at = 0
    return new ReadableStream({
      pull(controller) {
        if (at >= bytes.length) controller.close()
        else controller.enqueue(bytes.subarray(at, at + size))
        at += size
      }
    })
  }
  return Object.assign(file, { stream })
}

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)

test('a file in any pieces, compressed or not, shows what its lines show', async t => {
  const lines = await story()
  const expected = openRecording(lines)
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 2000 }), fc.constantFrom('\n', '\r\n'), async (size, end) => {
      const text = lines.map(line => line + end).join('')
      for (const file of [slowFile(bytesOf(text), size), new Blob([gzipSync(text)])]) {
        const timeline = await openRecordingFile(file)
        t.deepEqual(timeline.view.getSnapshot(), expected.view.getSnapshot())
        t.deepEqual(timeline.events.getSnapshot(), expected.events.getSnapshot())
        t.is(timeline.momentCount, 4)
      }
    }),
    { numRuns: 40 }
  )
})

const refused = async (file: Blob, maxBytes?: number): Promise<RecordingError> => {
  try {
    await openRecordingFile(file, maxBytes)
  } catch (error) {
    if (error instanceof RecordingError) return error
    throw error
  }
  throw new Error('It was opened')
}

test('a file that is too large is refused before it is read to its end, and a small one that unpacks to a large one', async t => {
  const text = (await story()).join('\n')
  const plain = await refused(new Blob([text, ' '.repeat(1_000_000)]), 1_000_000)
  t.is(plain.message, 'The recording is larger than 1 MB.')
  t.is(plain.hint, 'Record a shorter time.')
  const [header = '', ...rest] = text.split('\n')
  const bomb = gzipSync([header, ' '.repeat(70_000_000), ...rest].join('\n'))
  t.true(bomb.length < 200_000)
  t.is((await refused(new Blob([bomb]))).message, 'The recording is larger than 64 MB.')
})

test('a file that is no recording, is cut off or is damaged is refused, and the error says where', async t => {
  const text = (await story()).join('\n')
  const packed = gzipSync(text)
  t.is((await refused(new Blob([]))).line, 1)
  t.is((await refused(new Blob([bytesOf('\u0089PNG\r\n\u001a\n\u0000')]))).line, 1)
  t.regex(
    (await refused(new Blob(['{"log":{"version":"1.2"}}']))).message,
    /^Line 1 .* this format and version\.$/
  )
  t.regex((await refused(new Blob([packed.subarray(0, 200)]))).message, /cannot be read to its end/)
  t.regex((await refused(new Blob([packed.subarray(0, 2)]))).message, /cannot be read to its end/)
  t.is((await refused(new Blob([text.replace('"fromSeq":1', '"fromSeq":7')]))).line, 4)
})

test('a file that ends within a line, as after a crash, is opened up to there', async t => {
  const text = (await story()).join('\n')
  const timeline = await openRecordingFile(new Blob([text.slice(0, -20)]))
  t.true(timeline.isCut)
  t.is(timeline.view.getSnapshot().wallets.get('w1')?.name, 'Zürich ✓')
})

test('whatever bytes a file has, it is opened or refused with the error of recordings', async t => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.boolean(), async (bytes, isPacked) => {
      const body = Uint8Array.from(bytes)
      t.true((await refused(new Blob([isPacked ? gzipSync(body) : body]))) instanceof RecordingError)
    })
  )
})
