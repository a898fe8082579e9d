import test from 'ava'
import { isWalletError, WalletError } from '../../../kernel/base/errors.ts'
import { type CredentialFiles, openCredentialFiles } from '../../../kernel/sync/credential-files.ts'
import { FAULT_KINDS, makeFaultDisk } from '../../helpers/fault-disk.ts'
import { makeRepoIo } from '../../helpers/repo-io.ts'

const io = makeRepoIo()
const path = 'logins/abc.json'
const text = (count: number): string => JSON.stringify({ count, pin: 'ä€' })

const open = (
  files: Map<string, string>,
  disk = makeFaultDisk(files)
): { doubled: CredentialFiles; reports: unknown[] } => {
  const reports: unknown[] = []
  return { doubled: openCredentialFiles({ io, disk, report: error => reports.push(error) }), reports }
}

/** The backup that a text has when it was written once. */
const backupOf = async (written: string): Promise<string> => {
  const files = new Map<string, string>()
  await open(files).doubled.setText(path, written)
  return files.get(`backup/${path}`) ?? ''
}

test('the text is at its own path, as deployed clients read it, with no other file beside it', async t => {
  const files = new Map<string, string>()
  const { doubled } = open(files)
  await doubled.setText(path, text(1))
  await doubled.setText(path, text(2))
  t.is(files.get(path), text(2))
  t.deepEqual(
    [...files.keys()].filter(name => name.startsWith('logins/')),
    [path]
  )
  t.deepEqual(await doubled.list('logins'), [path])
  t.deepEqual(await doubled.list(''), [path])
})

test('a folder lists its own files, also those of which only the backup is left, and the root lists all', async t => {
  const files = new Map<string, string>()
  const other = 'otpKeys/def.json'
  const { doubled } = open(files)
  await doubled.setText(path, text(1))
  await doubled.setText(other, text(2))
  for (const lost of [undefined, path, other]) {
    if (lost !== undefined) files.delete(lost)
    t.deepEqual(await doubled.list('logins'), [path])
    t.deepEqual(await doubled.list('otpKeys'), [other])
    t.deepEqual(await doubled.list(''), [path, other])
    t.deepEqual(await doubled.list('none'), [])
  }
})

test('writing the present text writes nothing', async t => {
  const files = new Map<string, string>()
  const disk = makeFaultDisk(files)
  const { doubled } = open(files, disk)
  await doubled.setText(path, text(1))
  const before = disk.writeCount
  await doubled.setText(path, text(1))
  t.is(disk.writeCount, before)
})

for (const [name, damage] of [
  ['torn', text(2).slice(0, 9)],
  ['emptied', ''],
  ['replaced by a lone surrogate', '\ud800'],
  ['lost', undefined]
] as const) {
  test(`a file that is ${name} is restored to its newest text, and the damage is kept and reported`, async t => {
    const files = new Map<string, string>()
    await open(files).doubled.setText(path, text(1))
    await open(files).doubled.setText(path, text(2))
    if (damage === undefined) files.delete(path)
    else files.set(path, damage)
    const { doubled, reports } = open(files)
    t.deepEqual(await doubled.list('logins'), [path])
    t.is(await doubled.getText(path), text(2))
    t.is(files.get(path), text(2))
    t.is(reports.length, 1)
    t.true(isWalletError(reports[0], 'CORRUPT_FILE'))
    const kept = [...files].filter(([key]) => key.startsWith('quarantine/')).map(([, value]) => value)
    t.deepEqual(kept, damage === undefined ? [] : [damage])
  })
}

test('without an intact newest copy in either place, the previous generation is used', async t => {
  const files = new Map<string, string>()
  const { doubled } = open(files)
  await doubled.setText(path, text(1))
  await doubled.setText(path, text(2))
  files.set(path, 'x')
  files.set(`backup/${path}`, (files.get(`backup/${path}`) ?? '').replace('count\\":2', 'count\\":3'))
  t.is(await open(files).doubled.getText(path), text(1))
  t.is(files.get(path), text(1))
})

test('a file at its previous generation, because its last write was lost, is restored to the newest', async t => {
  const files = new Map<string, string>()
  await open(files).doubled.setText(path, text(1))
  await open(files).doubled.setText(path, text(2))
  files.set(path, text(1))
  const { doubled, reports } = open(files)
  t.is(await doubled.getText(path), text(2))
  t.is(files.get(path), text(2))
  t.deepEqual(reports, [])
})

test('a text that a deployed client wrote since is newer than our backup', async t => {
  const files = new Map<string, string>()
  await open(files).doubled.setText(path, text(1))
  files.set(path, text(7))
  const { doubled, reports } = open(files)
  t.is(await doubled.getText(path), text(7))
  await doubled.setText(path, text(8))
  files.set(path, '{')
  t.is(await doubled.getText(path), text(8))
  t.is(reports.length, 1)
})

test('a file of a deployed client without any backup is read, and gets one with its first change', async t => {
  const files = new Map([[path, text(1)]])
  const { doubled } = open(files)
  t.is(await doubled.getText(path), text(1))
  await doubled.setText(path, text(2))
  files.delete(path)
  t.is(await doubled.getText(path), text(2))
})

test('an unreadable backup is reported once for each read, and the text is still returned', async t => {
  const files = new Map<string, string>()
  await open(files).doubled.setText(path, text(1))
  const plain = makeFaultDisk(files)
  const disk = {
    ...plain,
    async getText(name: string) {
      if (name !== path) throw new WalletError('CORRUPT_FILE', { path: name, rule: 'is torn' })
      return plain.getText(name)
    }
  }
  const { doubled, reports } = open(files, disk)
  t.is(await doubled.getText(path), text(1))
  t.deepEqual(
    reports.map(error => isWalletError(error, 'CORRUPT_FILE') && error.details.path !== path),
    [true]
  )
})

test('a backup whose texts are none has no generation, whatever it says about them', async t => {
  const { length, sha256 } = (JSON.parse(await backupOf(text(1))) as { newest: Record<string, unknown> })
    .newest
  for (const newest of [
    { text: 5, length, sha256 },
    { text: null },
    { length, sha256 },
    {},
    null,
    'text',
    7
  ]) {
    const files = new Map([[`backup/${path}`, JSON.stringify({ newest, previous: newest })]])
    t.is(await open(files).doubled.getText(path), undefined, JSON.stringify(newest))
    files.set(path, text(2))
    t.is(await open(files).doubled.getText(path), text(2), JSON.stringify(newest))
  }
})

test('a file without an intact generation is an error and is kept, and never counts as absent', async t => {
  const files = new Map([[path, '{"half":']])
  const { doubled } = open(files)
  const error = await t.throwsAsync(doubled.getText(path))
  t.true(isWalletError(error, 'CORRUPT_FILE') && files.get(error.details.keptAs ?? '') === '{"half":')
  t.is(await doubled.getText('logins/none.json'), undefined)
})

test('deleting removes all generations', async t => {
  const files = new Map<string, string>()
  const { doubled } = open(files)
  await doubled.setText(path, text(1))
  await doubled.setText(path, text(2))
  await doubled.delete(path)
  t.is(files.size, 0)
  t.is(await doubled.getText(path), undefined)
})

test('operations on one path happen in order', async t => {
  const files = new Map<string, string>()
  const { doubled } = open(files)
  await Promise.all(Array.from({ length: 20 }, (_, i) => doubled.setText(path, text(i))))
  t.is(await doubled.getText(path), text(19))
  t.deepEqual(JSON.parse(files.get(`backup/${path}`) ?? '').previous.text, text(18))
})

test('at every crash point, any fault leaves the acknowledged text or the one being written, and then a clean file', async t => {
  let fired = 0
  for (const kind of FAULT_KINDS) {
    for (let at = 1; at <= 10; at += 1) {
      const files = new Map<string, string>()
      const disk = makeFaultDisk(files, { at, kind })
      const { doubled } = open(files, disk)
      let acknowledged = -1
      let tried = -1
      for (let i = 0; i < 5; i += 1) {
        if (disk.hasFired && kind !== 'full') break
        tried = i
        if (
          await doubled.setText(path, text(i)).then(
            () => true,
            () => false
          )
        )
          acknowledged = i
      }
      fired += disk.hasFired ? 1 : 0
      const found = await open(files).doubled.getText(path)
      const allowed = [acknowledged, tried].map(count => (count < 0 ? undefined : text(count)))
      t.true(allowed.includes(found), `${kind} at ${at}: ${found}, acknowledged ${acknowledged}`)
      await open(files).doubled.setText(path, text(99))
      const { doubled: second, reports } = open(files)
      t.is(await second.getText(path), text(99))
      t.deepEqual(reports, [])
    }
  }
  t.is(fired, FAULT_KINDS.length * 10)
})

test('at every crash point, the newest text survives later damage to any single file', async t => {
  for (const victim of [path, `backup/${path}`]) {
    for (const cut of [0, 0.1, 0.5, 0.9, 0.99]) {
      const files = new Map<string, string>()
      const { doubled } = open(files)
      await doubled.setText(path, text(1))
      await doubled.setText(path, text(2))
      const whole = files.get(victim) ?? ''
      files.set(victim, whole.slice(0, Math.floor(whole.length * cut)))
      t.is(await open(files).doubled.getText(path), text(2), `${victim} cut at ${cut}`)
    }
  }
})

test('a file without text on the disk is read from its backup or is an error, never absent', async t => {
  for (const lost of [[path], [path, `backup/${path}`]]) {
    const files = new Map<string, string>()
    await open(files).doubled.setText(path, text(1))
    const plain = makeFaultDisk(files)
    const disk = {
      ...plain,
      async getText(name: string) {
        if (lost.includes(name)) throw new WalletError('CORRUPT_FILE', { path: name, rule: 'is torn' })
        return plain.getText(name)
      }
    }
    const { doubled, reports } = open(files, disk)
    if (lost.length === 1) t.is(await doubled.getText(path), text(1))
    else await t.throwsAsync(doubled.getText(path), { code: 'CORRUPT_FILE', message: /is torn/ })
    t.is(reports.length, 1)
  }
  const failing = {
    ...makeFaultDisk(new Map()),
    getText: () => Promise.reject(new WalletError('STORAGE_FAILED', { path, reason: 'no' }))
  }
  await t.throwsAsync(open(new Map(), failing).doubled.getText(path), { code: 'STORAGE_FAILED' })
  await t.throwsAsync(open(new Map(), failing).doubled.setText(path, text(2)), { code: 'STORAGE_FAILED' })
})

test('the text of before is written again where a deployed client has written another meanwhile', async t => {
  const files = new Map<string, string>()
  await open(files).doubled.setText(path, text(1))
  files.set(path, text(2))
  const { doubled, reports } = open(files)
  await doubled.setText(path, text(1))
  t.is(files.get(path), text(1))
  t.is(await doubled.getText(path), text(1))
  t.deepEqual(reports, [])
})

test('a text that is written again gets its backup where that is missing or is one of another text', async t => {
  const files = new Map<string, string>()
  await open(files).doubled.setText(path, text(1))
  const backup = files.get(`backup/${path}`)
  for (const other of [undefined, await backupOf(text(2))]) {
    const again = new Map([[path, text(1)]])
    if (other !== undefined) again.set(`backup/${path}`, other)
    await open(again).doubled.setText(path, text(1))
    t.is(JSON.parse(again.get(`backup/${path}`) ?? '{}').newest.text, text(1))
    t.deepEqual(JSON.parse(backup ?? '{}').newest, JSON.parse(again.get(`backup/${path}`) ?? '{}').newest)
  }
})

test('a text whose backup is right needs no other sign, and one without a backup the sign of its kind', async t => {
  const files = new Map<string, string>()
  const { doubled, reports } = open(files)
  await doubled.setText(path, '"no object"')
  t.is(await doubled.getText(path), '"no object"')
  t.deepEqual(reports, [])
  t.deepEqual([...files.keys()].sort(), [`backup/${path}`, path])
  for (const [isSound, expected] of [
    [true, '"other"'],
    [false, '"no object"']
  ] as const) {
    const changed = new Map([...files, [path, '"other"']])
    const disk = makeFaultDisk(changed)
    const kind = openCredentialFiles({ io, disk, report() {}, isValid: () => isSound })
    t.is(await kind.getText(path), expected)
  }
})

test('a file that cannot be read at all is reported when it is written, and written', async t => {
  const files = new Map<string, string>([[path, '']])
  const disk = makeFaultDisk(files)
  let isDamaged = true
  const getText = (at: string): Promise<string | undefined> =>
    isDamaged && at === path
      ? Promise.reject(new WalletError('CORRUPT_FILE', { path, rule: 'half of it' }))
      : disk.getText(at)
  const { doubled, reports } = open(files, { ...disk, getText })
  await doubled.setText(path, text(1))
  t.like(reports, { length: 1, 0: { code: 'CORRUPT_FILE' } })
  isDamaged = false
  t.is(await doubled.getText(path), text(1))
})

test('what is done to one file never overlaps, also what is asked for while the first of it ends', async t => {
  const files = new Map<string, string>()
  const disk = makeFaultDisk(files)
  const written: string[] = []
  const { doubled } = open(files, {
    ...disk,
    async setText(at, value) {
      for (let turn = 0; turn < 3; turn += 1) await new Promise(resolve => setImmediate(resolve))
      await disk.setText(at, value)
      written.push(
        `${at === path ? 'file' : 'backup'} ${JSON.parse(value).count ?? JSON.parse(JSON.parse(value).newest.text).count}`
      )
    }
  })
  const [first, second] = [1, 2].map(count => doubled.setText(path, text(count)))
  await first
  await new Promise(resolve => setImmediate(resolve))
  await Promise.all([second, doubled.setText(path, text(3)), doubled.getText(path)])
  t.deepEqual(
    written,
    [1, 2, 3].flatMap(count => [`backup ${count}`, `file ${count}`])
  )
})
