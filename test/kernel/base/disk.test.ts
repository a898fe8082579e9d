import test from 'ava'
import { checkedDisk, checkPath, subDisk } from '../../../kernel/base/disk-path.ts'
import type { Disk } from '../../../kernel/io/disk.ts'
import { makeFaultDisk } from '../../helpers/fault-disk.ts'

const segments = (count: number): string => Array.from({ length: count }, () => 'a').join('/')

test('a path has up to 16 plain segments of up to 200 letters and nothing that leads out of its root', t => {
  for (const path of [
    'a',
    '.a',
    'a.',
    '..a',
    'a..',
    '...',
    'A-Z/az09._+=,@-',
    segments(16),
    'a'.repeat(200),
    Array.from({ length: 6 }, () => 'a'.repeat(169)).join('/')
  ]) {
    t.is(checkPath(path), path)
  }
  for (const path of [
    '',
    '/',
    '/a',
    'a/',
    'a//b',
    '.',
    '..',
    'a/./b',
    'a/..',
    '../a',
    'a b',
    'a\\b',
    'a:b',
    'ä',
    '\u0080',
    'a\0',
    segments(17),
    'a'.repeat(201),
    `${'a'.repeat(201)}/b`,
    `${Array.from({ length: 6 }, () => 'a'.repeat(170)).join('/')}`
  ]) {
    t.throws(() => checkPath(path), { code: 'PATH_REFUSED' }, path)
  }
  t.throws(() => checkPath(segments(17)), { message: /deeper than 16 folders/ })
  t.throws(() => checkPath('a'.repeat(1025)), { message: /longer than 1024 characters/ })
})

test('a disk below a folder reaches nothing outside of it', async t => {
  const files = new Map([
    ['a/x', '1'],
    ['a/b/y', '2'],
    ['ab/z', '3']
  ])
  const disk: Disk = {
    ...makeFaultDisk(files),
    getSlice: async (path, from, to) => files.get(path)?.slice(from, to)
  }
  const inner = subDisk(disk, 'a')
  t.deepEqual(await inner.list(''), ['b/y', 'x'])
  t.deepEqual(await inner.list('b'), ['b/y'])
  t.is(await inner.getText('x'), '1')
  t.is(await inner.getSlice?.('b/y', 0, 1), '2')
  await inner.setText('new', '4')
  t.is(files.get('a/new'), '4')
  await inner.delete('x')
  t.false(files.has('a/x'))
  for (const call of [inner.getText, inner.delete, inner.list]) {
    await t.throwsAsync(async () => call('../ab/z'), { code: 'PATH_REFUSED' })
  }
  await t.throwsAsync(async () => inner.setText('../ab/z', ''), { code: 'PATH_REFUSED' })
  await t.throwsAsync(async () => inner.getSlice?.('../ab/z', 0, 1), { code: 'PATH_REFUSED' })
  t.throws(() => subDisk(disk, '..'), { code: 'PATH_REFUSED' })
})

test('what a storage answers is checked, and what it throws is an error that can be looked at', async t => {
  const broken = {
    getText: async () => 5,
    list: async () => [5],
    setText: async () => {},
    delete: async () => {}
  }
  const checked = checkedDisk({ ...broken, getSlice: async () => 5 } as unknown as Disk)
  await t.throwsAsync(checked.getText('a'), { code: 'STORAGE_FAILED' })
  await t.throwsAsync(checked.list(''), { code: 'STORAGE_FAILED' })
  await t.throwsAsync(async () => checked.getSlice?.('a', 0, 1), { code: 'STORAGE_FAILED' })
  await checked.close?.()
  const throwing = checkedDisk({ ...broken, getText: () => Promise.reject('no') } as unknown as Disk)
  await t.throwsAsync(throwing.getText('a'), { instanceOf: Error })
  t.is(checkedDisk(broken as unknown as Disk).getSlice, undefined)
  for (const method of Object.keys(broken)) {
    t.throws(() => checkedDisk({ ...broken, [method]: undefined } as unknown as Disk), {
      instanceOf: TypeError
    })
  }
})
