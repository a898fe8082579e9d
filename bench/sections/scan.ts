import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CurrencyWallet, Kernel } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { fileStorage } from '../../plugins/storage/file/file-storage.ts'
import { openDevice } from '../bench-device.ts'
import { makeCountedIo, type Traffic } from '../counted-io.ts'
import { type Cost, measure, median, medianCost } from '../measure.ts'
import { atMost, check, type Row, rowOf, type Section, type SectionResult } from '../section.ts'
import { until } from '../wait.ts'
import { startWorldChild, type WorldChild } from '../world-child.ts'

/** Cold scan and warm start of a wallet with 200 used addresses, over Electrum on loopback TCP. */
export const scan: Section = async () => {
  const world = await startWorldChild()
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-bench-'))
  try {
    return await measureScans(world, folder)
  } finally {
    await world.close()
    await rm(folder, { recursive: true, force: true })
  }
}

const ADDRESSES = 200
const ROUNDS = 5
const USER = { username: 'bench', password: 'correct horse battery staple' }

interface Opening extends Cost {
  readonly traffic: Traffic
  readonly usableMs: number
}

const measureScans = async (world: WorldChild, folder: string): Promise<SectionResult> => {
  const { io, traffic, reset } = makeCountedIo(makeNodeIo())
  const open = (name: string): Promise<Kernel> =>
    openDevice({ io, servers: world.servers, storage: fileStorage(join(folder, name)) })
  const { walletId, total } = await prepare(world, await open('first'))
  const opening = async (name: string): Promise<Opening> => {
    const kernel = await open(name)
    const account = await kernel.context.loginWithPassword(USER.username, USER.password)
    reset()
    const start = performance.now()
    let usableMs = 0
    const { value: wallet, ...cost } = await measure(async () => {
      const opened = await account.openWallet(walletId)
      usableMs = performance.now() - start
      await until([opened, opened.engine], () => opened.engine.getSnapshot().syncRatio === 1)
      return opened
    })
    const seen = { ...traffic }
    await checkWallet(wallet, total)
    await kernel.close()
    return { ...cost, traffic: seen, usableMs }
  }
  const cold: Opening[] = []
  const warm: Opening[] = []
  for (let round = -1; round < ROUNDS; round++) {
    const name = `device ${round}`
    const [first, again] = [await opening(name), await opening(name)]
    if (round < 0) continue
    cold.push(first)
    warm.push(again)
  }
  return {
    rows: [coldRow(cold), warmRow(warm)],
    notes: [
      'From openWallet to an engine that says it is in sync (events wait 20 ms, which is counted). The files of ' +
        'the wallet are on a real folder; the servers run in another process, so the CPU is the wallet’s alone. ' +
        'Cold is a device that has never seen the account (its login is not counted), warm a new kernel on the ' +
        'same folder. Balance and all 200 transactions are checked each time.'
    ]
  }
}

const prepare = async (
  world: WorldChild,
  kernel: Kernel
): Promise<{ readonly walletId: string; readonly total: string }> => {
  const account = await kernel.context.createAccount(USER)
  const wallet = await account.createCurrencyWallet('wallet:bitcoin')
  const addresses: string[] = []
  for (let forceIndex = 0; forceIndex < ADDRESSES; forceIndex++) {
    addresses.push((await wallet.getReceiveAddress({ forceIndex })).publicAddress)
  }
  const total = await world.fund(addresses)
  await account.sync()
  await kernel.close()
  return { walletId: wallet.id, total }
}

const checkWallet = async (wallet: CurrencyWallet, total: string): Promise<void> => {
  await until([wallet], () => wallet.balanceOf(null) === total, 5000)
  const transactions = await wallet.getTransactions()
  check(transactions.length === ADDRESSES, `${transactions.length} transactions`)
  check(
    transactions.every(({ blockHeight }) => blockHeight > 0),
    'confirmed transactions'
  )
}

const coldRow = (openings: readonly Opening[]): Row => {
  const cost = medianCost(openings)
  const goals = [atMost('under 1000 ms of wall time', cost.wallMs, 1000)]
  return rowOf(`cold scan, ${ADDRESSES} used addresses`, cost, { facts: factsOf(openings), goals })
}

const warmRow = (openings: readonly Opening[]): Row => {
  const cost = medianCost(openings)
  const facts = factsOf(openings)
  const goals = [
    atMost('one round trip', facts['round trips'], 1),
    atMost('under 100 ms of wall time', cost.wallMs, 100)
  ]
  return rowOf(`warm start, ${ADDRESSES} used addresses`, cost, { facts, goals })
}

const factsOf = (openings: readonly Opening[]) => {
  const of = (figure: (opening: Opening) => number): number => median(openings.map(figure))
  return {
    'round trips': of(({ traffic }) => traffic.roundTrips),
    'bytes sent': of(({ traffic }) => traffic.sent),
    'bytes received': of(({ traffic }) => traffic.received),
    'ms until usable': of(({ usableMs }) => usableMs)
  }
}
