import test from 'ava'
import { isWalletError } from '../../../kernel/base/errors.ts'
import { quotaDisk } from '../../../kernel/plugins/quota-disk.ts'
import { memoryDisk } from '../../../plugins/storage/memory.ts'

const open = (
  files = new Map<string, string>(),
  limits: { maxCharacters?: number; maxFiles?: number } = {}
) => {
  const refused: unknown[] = []
  const inner = memoryDisk(files)
  const disk = quotaDisk(inner, {
    pluginId: 'greedy',
    ...limits,
    onRefused: error => void refused.push(error)
  })
  return { disk, inner, files, refused }
}

const refusalOf = async (work: Promise<unknown>): Promise<unknown> => {
  try {
    await work
  } catch (error) {
    return isWalletError(error, 'QUOTA_EXCEEDED') ? error.details : error
  }
  return undefined
}

test('a plugin cannot fill the disk: a write beyond its quota is refused, and reported once with the plugin', async t => {
  const { disk, files, refused } = open(new Map(), { maxCharacters: 100 })
  await disk.setText('a', 'x'.repeat(60))
  const details = { pluginId: 'greedy', limit: 100, what: 'characters' }
  t.deepEqual(await refusalOf(disk.setText('b', 'x'.repeat(60))), details)
  t.deepEqual(await refusalOf(disk.setText('c', 'x'.repeat(60))), details)
  t.deepEqual([...files.keys()], ['a'])
  t.is(refused.length, 1)
})

test('files of earlier sessions count towards the quota, and replacing and deleting make room', async t => {
  const { disk, files } = open(new Map([['old', 'x'.repeat(90)]]), { maxCharacters: 100 })
  t.truthy(await refusalOf(disk.setText('new', 'x'.repeat(20))))
  await disk.setText('old', 'x'.repeat(10))
  await disk.setText('new', 'x'.repeat(20))
  await disk.delete('new')
  await disk.setText('more', 'x'.repeat(70))
  t.truthy(await refusalOf(disk.setText('old', 'x'.repeat(60))))
  t.is(files.get('old'), 'x'.repeat(10))
})

test('many small files meet a quota, too, also when they are written at once', async t => {
  const { disk, files } = open(new Map(), { maxFiles: 10 })
  const results = await Promise.all(
    Array.from({ length: 30 }, (_, i) => refusalOf(disk.setText(`f${i}`, '')))
  )
  t.is(results.filter(details => details !== undefined).length, 20)
  t.is(files.size, 10)
  t.deepEqual(results.at(-1), { pluginId: 'greedy', limit: 10, what: 'files' })
})

test('a write that fails takes no room', async t => {
  const { disk, inner } = open(new Map(), { maxCharacters: 100 })
  const { setText } = inner
  Object.assign(inner, { setText: () => Promise.reject(new Error('full')) })
  await t.throwsAsync(disk.setText('a', 'x'.repeat(90)), { message: 'full' })
  Object.assign(inner, { setText })
  await disk.setText('b', 'x'.repeat(90))
  t.is(await disk.getText('b'), 'x'.repeat(90))
})
