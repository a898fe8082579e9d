import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Secret } from '../../kernel/base/secret.ts'
import { repoIdOf } from '../../kernel/keys/ids.ts'
import { openRepo } from '../../kernel/sync/open-repo.ts'
import type { Repo } from '../../kernel/sync/repo.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { openFileDisk } from '../../plugins/storage/file/file-storage.ts'
import { type Cost, measure, medianCost } from '../measure.ts'
import { atMost, check, rowOf, type Section } from '../section.ts'

/** 10,000 transaction files made durable through a repo on the file storage, and opened again. */
export const store: Section = async () => {
  const root = await mkdtemp(join(tmpdir(), 'holdfast-bench-'))
  const costs = { write: [] as Cost[], open: [] as Cost[], edit: [] as Cost[] }
  try {
    for (let round = -1; round < ROUNDS; round++) {
      const one = await measureOnce(join(root, `device ${round}`))
      if (round < 0) continue
      costs.write.push(one.write)
      costs.open.push(one.open)
      costs.edit.push(one.edit)
    }
  } finally {
    await rm(root, { recursive: true, force: true })
  }
  const write = medianCost(costs.write)
  return {
    rows: [
      rowOf('10,000 transaction files durable', write, {
        facts: { 'µs of CPU each': (write.cpuMs * 1000) / FILES },
        goals: [atMost('under 1000 ms of wall time', write.wallMs, 1000)]
      }),
      rowOf('opening them again', medianCost(costs.open)),
      rowOf('one edited, durable', medianCost(costs.edit))
    ],
    notes: [
      'Files of 330 bytes, each sealed in a box of the wire and kept with its pending change, encrypted again as a ' +
        'whole, one group commit. All 10,000 are read and compared after opening.'
    ]
  }
}

const FILES = 10_000
const ROUNDS = 3
const io = makeNodeIo()
const syncKey = io.random(20)
const dataKey = io.random(32)

const measureOnce = async (folder: string): Promise<Record<'write' | 'open' | 'edit', Cost>> => {
  const texts = new Map(Array.from({ length: FILES }, (_, i) => [pathOf(i), textOf(i)]))
  const repo = await openAt(folder)
  const write = await measure(() => repo.write({ texts }))
  const edit = await measure(() => repo.write({ texts: new Map([[pathOf(7), textOf(FILES)]]) }))
  await closeAll(repo)
  const open = await measure(() => openAt(folder))
  texts.set(pathOf(7), textOf(FILES))
  for (const [path, text] of texts) {
    check((await open.value.getText(path)) === text, 'the files after opening')
  }
  await closeAll(open.value)
  return { write, open, edit }
}

const disks = new WeakMap<Repo, () => Promise<void>>()

const openAt = async (folder: string): Promise<Repo> => {
  const disk = await openFileDisk(folder)
  const repo = await openRepo({
    io,
    disk,
    repoId: repoIdOf(io, syncKey),
    syncKey: new Secret(syncKey.slice()),
    dataKey: new Secret(dataKey.slice()),
    report: error => {
      throw error
    }
  })
  disks.set(repo, async () => disk.close?.())
  return repo
}

const closeAll = async (repo: Repo): Promise<void> => {
  await repo.close()
  await disks.get(repo)?.()
}

const pathOf = (i: number): string => `transaction/${1_700_000_000 + 600 * i}-bench${i}.json`

/** As long as the file of an ordinary transaction, 330 bytes. */
const textOf = (i: number): string => {
  const txid = i.toString(16).padStart(64, '0')
  const text = JSON.stringify({ txid, internal: false, creationDate: 1_700_000_000 + 600 * i, notes: '' })
  return text.replace('"notes":""', `"notes":"${'x'.repeat(Math.max(0, 330 - text.length))}"`)
}
