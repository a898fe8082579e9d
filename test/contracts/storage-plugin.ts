import type { TestFn } from 'ava'
import fc from 'fast-check'
import { isWalletError } from '../../kernel/base/errors.ts'
import type { Disk } from '../../kernel/io/disk.ts'

/** Opens an empty disk of the kind under test. */
export type OpenTestDisk = () => Promise<Disk>

/** What every storage plugin must keep, whatever it stores in. Run it from the plugin's own test file. */
export const testStoragePlugin = (test: TestFn, name: string, openDisk: OpenTestDisk): void => {
  test(`${name}: a text is read back letter for letter`, async t => {
    const disk = await openDisk()
    const texts = [
      '',
      ' ',
      '\0',
      '\ufeffBOM',
      'ä€𝄞',
      '{"value":"x","expires":1}',
      'null',
      '[]',
      'x'.repeat(300_000),
      '\r\n'
    ]
    for (const [index, text] of texts.entries()) {
      await disk.setText(`f${index}`, text)
      t.is(await disk.getText(`f${index}`), text)
    }
    t.is(await disk.getText('none'), undefined)
    t.is(await disk.getText('none/at/all'), undefined)
    await disk.close?.()
  })

  test(`${name}: a disk that can read a part of a text returns exactly that part`, async t => {
    const disk = await openDisk()
    const text = 'abcdefghij'.repeat(30_000)
    await disk.setText('a/b', text)
    const parts: readonly (readonly [start: number, end: number])[] = [
      [0, 96],
      [96, 120_000],
      [299_990, 300_000]
    ]
    if (disk.getSlice !== undefined) {
      for (const [start, end] of parts) t.is(await disk.getSlice('a/b', start, end), text.slice(start, end))
      t.is(await disk.getSlice('a/none', 0, 5), undefined)
      t.is(await disk.getSlice('a', 0, 5).catch(() => undefined), undefined)
      t.true(isWalletError(await t.throwsAsync(disk.getSlice('../x', 0, 5)), 'PATH_REFUSED'))
    }
    t.is(await disk.getText('a/b'), text)
    await disk.close?.()
  })

  test(`${name}: a write replaces, a deletion removes one path only, and deleting nothing is no error`, async t => {
    const disk = await openDisk()
    await disk.setText('a/b', '1')
    await disk.setText('a/c', '2')
    await disk.setText('a/b', '3')
    await disk.delete('a/c')
    await disk.delete('a/c')
    await disk.delete('never/was')
    t.is(await disk.getText('a/b'), '3')
    t.deepEqual(await disk.list(''), ['a/b'])
    await disk.close?.()
  })

  test(`${name}: a listing has every path below a folder, in order, and none of its neighbours`, async t => {
    const disk = await openDisk()
    for (const path of ['b/z', 'b/a/1', 'b/a/0', 'bb/x', 'a', 'b.json', 'B/x']) await disk.setText(path, path)
    t.deepEqual(await disk.list('b'), ['b/a/0', 'b/a/1', 'b/z'])
    t.deepEqual(await disk.list('b/a'), ['b/a/0', 'b/a/1'])
    t.deepEqual(await disk.list(''), ['B/x', 'a', 'b.json', 'b/a/0', 'b/a/1', 'b/z', 'bb/x'])
    t.deepEqual(await disk.list('c'), [])
    await disk.close?.()
  })

  test(`${name}: no path leaves the root`, async t => {
    const disk = await openDisk()
    for (const path of [
      '../x',
      'a/../../x',
      '/etc/x',
      'a//b',
      '.',
      '',
      'a\\b',
      'a\0b',
      'ü',
      'a/~b',
      'x'.repeat(201)
    ]) {
      t.true(isWalletError(await t.throwsAsync(disk.setText(path, 'x')), 'PATH_REFUSED'), path)
      t.true(isWalletError(await t.throwsAsync(disk.getText(path)), 'PATH_REFUSED'), path)
      t.true(isWalletError(await t.throwsAsync(disk.delete(path)), 'PATH_REFUSED'), path)
      if (path !== '') t.true(isWalletError(await t.throwsAsync(disk.list(path)), 'PATH_REFUSED'), path)
    }
    t.deepEqual(await disk.list(''), [])
    await disk.close?.()
  })

  test(`${name}: many concurrent writes all arrive, and those to one path in order`, async t => {
    const disk = await openDisk()
    const writes = Array.from({ length: 300 }, (_, i) => disk.setText(`many/${i % 150}`, `${i}`))
    await Promise.all(writes)
    const paths = await disk.list('many')
    t.is(paths.length, 150)
    const texts = await Promise.all(paths.map(path => disk.getText(path)))
    for (const [index, path] of paths.entries()) t.is(texts[index], `${Number(path.slice(5)) + 150}`)
    await disk.close?.()
  })

  test(`${name}: names with a meaning in JavaScript are ordinary names`, async t => {
    const disk = await openDisk()
    for (const path of ['__proto__', 'constructor', 'toString', 'hasOwnProperty/x']) {
      t.is(await disk.getText(path), undefined)
      await disk.setText(path, path)
      t.is(await disk.getText(path), path)
    }
    t.is((await disk.list('')).length, 4)
    await disk.close?.()
  })

  test(`${name}: any sequence of operations agrees with a plain map`, async t => {
    const path = fc.constantFrom('a', 'b/c', 'b/d', 'e/f/g')
    const step = fc.tuple(path, fc.option(fc.string({ unit: 'grapheme', maxLength: 50 })))
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async steps => {
        const disk = await openDisk()
        const model = new Map<string, string>()
        for (const [name, text] of steps) {
          if (text === null) await disk.delete(name)
          else await disk.setText(name, text)
          if (text === null) model.delete(name)
          else model.set(name, text)
        }
        t.deepEqual(await disk.list(''), [...model.keys()].sort())
        for (const [name, text] of model) t.is(await disk.getText(name), text)
        await disk.close?.()
      }),
      { numRuns: 15 }
    )
  })
}
