import test from 'ava'
import type { Plugin } from '../../../../kernel/index.ts'
import type { Disk } from '../../../../kernel/plugin-api.ts'
import { keyvDisk } from '../../../../plugins/storage/keyv-disk.ts'
import { makeFaultDisk } from '../../../helpers/fault-disk.ts'
import { oldProfiles, readOldProfile, wantedOf } from '../../../helpers/old-profile.ts'

const storageOf = (disk: Disk): Plugin => ({
  kind: 'storage',
  id: 'old',
  apply: ({ hooks }) => hooks.openDisk.tapPromise('old', async () => disk)
})

const { keyv } = oldProfiles
const oldTexts = (): Map<string, string> => new Map(Object.entries(keyv.texts))
const oldPaths = (texts: ReadonlyMap<string, string>): string[] =>
  [...texts.keys()].filter(path => /^repos\/\w+\/store\//.test(path))

test('an account that version 0.1 kept in a Keyv store is converted, and shows everything without a network', async t => {
  const texts = oldTexts()
  t.true(oldPaths(texts).length > 1)
  for (let opening = 0; opening < 2; opening += 1) {
    t.deepEqual(await readOldProfile(keyv, storageOf(keyvDisk(texts))), wantedOf(keyv))
    t.deepEqual(oldPaths(texts), [])
  }
})

test('at every crash point of that conversion, and on a full disk, the next opening shows everything', async t => {
  const whole = makeFaultDisk(oldTexts())
  await readOldProfile(keyv, storageOf(whole))
  for (let at = 1; at <= whole.writeCount; at += 1) {
    const texts = oldTexts()
    const kind = (['lost', 'late', 'full'] as const)[at % 3] ?? 'lost'
    const disk = makeFaultDisk(texts, { at, kind })
    await readOldProfile(keyv, storageOf(disk)).catch(() => {})
    t.true(disk.hasFired)
    const { errors: _, ...shown } = await readOldProfile(keyv, storageOf(keyvDisk(texts)))
    const { errors: _none, ...wanted } = wantedOf(keyv)
    t.deepEqual(shown, wanted, `${kind} at write ${at}`)
    t.deepEqual(oldPaths(texts), [])
  }
  t.true(whole.writeCount > 8, String(whole.writeCount))
})
