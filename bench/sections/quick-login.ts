import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import type { Account } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { fileStorage } from '../../plugins/storage/file/file-storage.ts'
import { openWorldDevice } from '../bench-device.ts'
import type { FirstLogin } from '../first-login-process.ts'
import { type Cost, medianCost } from '../measure.ts'
import { race } from '../race.ts'
import { atMost, check, type Row, rowOf, type Section } from '../section.ts'
import { pause } from '../wait.ts'

/** PIN login and key login: again and again in one process, and the first of a fresh one. */
export const quickLogin: Section = async () => {
  const root = await mkdtemp(join(tmpdir(), 'holdfast-bench-'))
  try {
    return {
      rows: await measureLogins(root),
      notes: [
        'They run no scrypt. “First” is the first login of a fresh process, before its code is compiled by the ' +
          'engine; loading and opening the kernel are not counted. The work of the fake login server, in the ' +
          'same process, is.'
      ]
    }
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

const USER = { username: 'bench user', password: 'correct horse battery staple', pin: '4711' }
const ROUNDS = 41
const PROCESSES = 7
const SETTLE_MS = 10
const LIMITS = { pin: 8, key: 4 } as const
const TITLES = { pin: 'PIN login', key: 'key login' } as const

const measureLogins = async (root: string): Promise<readonly Row[]> => {
  const world = makeFakeWorld({ io: makeNodeIo() })
  const device = await openWorldDevice(world, { storage: fileStorage(join(root, 'device')) })
  const account = await device.context.createAccount(USER)
  await account.createCurrencyWallet('wallet:bitcoin')
  const { id } = account
  const loginKey = await account.getLoginKey()
  await account.sync()
  await account.logout()
  const after = async (opened: unknown): Promise<void> => {
    check((opened as Account).id === id, 'the account that opened')
    await (opened as Account).logout()
    // The refresh behind a key login ends before the next sample begins.
    await pause(SETTLE_MS)
  }
  const warm = await race(
    [
      { name: 'pin', run: () => device.context.loginWithPIN(USER, USER.pin), after },
      { name: 'key', run: () => device.context.loginWithKey(USER, loginKey), after }
    ],
    { rounds: ROUNDS, warmUp: 5 }
  )
  await device.close()
  await writeFile(join(root, 'world.json'), JSON.stringify(world.toJson()))
  await world.close()
  const first = await firstLogins(root, { id, loginKey })
  return (['pin', 'key'] as const).flatMap(method => {
    const row = (name: string, cost: Cost): Row =>
      rowOf(name, cost, {
        goals: [atMost(`under ${LIMITS[method]} ms of CPU`, cost.cpuMs, LIMITS[method])]
      })
    return [
      row(TITLES[method], warm.cost(method)),
      row(`${TITLES[method]}, first of a process`, medianCost(first[method]))
    ]
  })
}

const firstLogins = async (
  root: string,
  { id, loginKey }: { readonly id: string; readonly loginKey: string }
): Promise<Record<'pin' | 'key', readonly Cost[]>> => {
  const costs = { pin: [] as Cost[], key: [] as Cost[] }
  const script = fileURLToPath(new URL('../first-login-process.js', import.meta.url))
  for (let round = 0; round < PROCESSES; round++) {
    for (const method of ['pin', 'key'] as const) {
      const folder = join(root, `${method} ${round}`)
      await cp(join(root, 'device'), folder, { recursive: true })
      const { username, pin } = USER
      const job: FirstLogin = { world: join(root, 'world.json'), folder, username, method, pin, loginKey }
      const { stdout } = await promisify(execFile)(process.execPath, [script, JSON.stringify(job)])
      const { accountId, ...cost } = JSON.parse(stdout) as Cost & { accountId: string }
      check(accountId === id, 'the account that opened in a fresh process')
      costs[method].push(cost)
    }
  }
  return costs
}
