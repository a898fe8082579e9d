import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { openOutputFile, writeOutputFile } from '../../cli/output/output-file.ts'

const folderFor = (t: ExecutionContext): string => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-output-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  return folder
}

test('an output file is there when it is whole, and only its owner can read it', async t => {
  const folder = folderFor(t)
  const path = join(folder, 'out.csv')
  const file = await openOutputFile(path, false)
  await file.write('a\n')
  t.false(readdirSync(folder).includes('out.csv'))
  await file.write('é\n')
  await file.commit()
  await file.discard()
  t.is(readFileSync(path, 'utf8'), 'a\né\n')
  t.is(statSync(path).mode & 0o777, 0o600)
  t.deepEqual(readdirSync(folder), ['out.csv'])
})

test('an abandoned output file leaves nothing behind', async t => {
  const folder = folderFor(t)
  const file = await openOutputFile(join(folder, 'out'), false)
  await file.write('half')
  await file.discard()
  await file.discard()
  t.deepEqual(readdirSync(folder), [])
})

test('an existing file is replaced only on request, also if it appeared meanwhile', async t => {
  const folder = folderFor(t)
  const path = join(folder, 'out')
  const late = await openOutputFile(path, false)
  await late.write('late')
  writeFileSync(path, 'first', { mode: 0o644 })
  await t.throwsAsync(late.commit(), { code: 'USAGE', message: /exists already; it was not overwritten/ })
  await late.discard()
  await t.throwsAsync(openOutputFile(path, false), {
    code: 'USAGE',
    message: /exists already; it was not overwritten/
  })
  t.is(readFileSync(path, 'utf8'), 'first')
  await writeOutputFile(path, 'second', true)
  t.is(readFileSync(path, 'utf8'), 'second')
  t.is(statSync(path).mode & 0o777, 0o600, 'its readers are gone with it')
  t.deepEqual(readdirSync(folder), ['out'])
})

test('a file that cannot be created has its own error code', async t => {
  const folder = folderFor(t)
  await t.throwsAsync(writeOutputFile(join(folder, 'none', 'out'), 'x'), { code: 'USAGE' })
  mkdirSync(join(folder, 'out'))
  await t.throwsAsync(writeOutputFile(join(folder, 'out'), 'x', true), { code: 'STORAGE_FAILED' })
  t.deepEqual(readdirSync(folder), ['out'])
})
