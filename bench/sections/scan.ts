import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CurrencyWallet, Io, Kernel } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { fileStorage } from '../../plugins/storage/file/file-storage.ts'
import { openDevice } from '../bench-device.ts'
import { makeCountedIo, type Traffic } from '../counted-io.ts'
import { type Cost, measure, median, medianCost } from '../measure.ts'
import { atMost, check, type Row, rowOf, type Section } from '../section.ts'
import { until } from '../wait.ts'
import { startWorldChild, type WorldChild } from '../world-child.ts'

/** Cold scan and warm start of wallets with 200 used addresses, and with 1,000 whose server answers late, over Electrum on loopback TCP. */
export const scan: Section = async () => {
  const world = await startWorldChild()
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-bench-'))
  try {
    const quick = await measureScans(world, folder, { addresses: 200, rounds: 5, delayMs: 0 })
    const late = await measureScans(world, folder, { addresses: 1000, rounds: 1, delayMs: 1000 })
    return { rows: [...quick, ...late], notes }
  } finally {
    await world.close()
    await rm(folder, { recursive: true, force: true })
  }
}

interface ScanWork {
  readonly addresses: number
  readonly rounds: number
  /** Every reply comes so much later. */
  readonly delayMs: number
}

const PASSWORD = 'correct horse battery staple'

const notes: readonly string[] = [
  'From openWallet to an engine that says it is in sync (events wait 20 ms, which is counted). The files of ' +
    'the wallet are on a real folder; the servers run in another process, so the CPU is the wallet’s alone. ' +
    'Cold is a device that has never seen the account (its login is not counted), warm a new kernel on the ' +
    'same folder. Balance and all transactions are checked each time.',
  'The published UTXO plugin took 38.9 s for its cold scan of 200 used addresses, once, on another day, with a ' +
    'real Litecoin node behind its server, which answers slower than a fake chain: compare the order of magnitude only.',
  'Late: every reply comes a second later than it was sent. A round trip there is a send after something was heard.'
]

interface Opening extends Cost {
  readonly traffic: Traffic
  readonly usableMs: number
}

const measureScans = async (world: WorldChild, folder: string, work: ScanWork): Promise<readonly Row[]> => {
  const { addresses, rounds, delayMs } = work
  const { io, traffic, reset } = makeCountedIo(withDelay(makeNodeIo(), delayMs))
  const username = `bench ${addresses}`
  const open = (name: string): Promise<Kernel> =>
    openDevice({ io, servers: world.servers, storage: fileStorage(join(folder, name)) })
  const { walletId, total } = await prepare(world, await open(`first of ${username}`), {
    username,
    addresses
  })
  const opening = async (name: string): Promise<Opening> => {
    const kernel = await open(name)
    const account = await kernel.context.loginWithPassword(username, PASSWORD)
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
    await checkWallet(wallet, total, addresses)
    await kernel.close()
    return { ...cost, traffic: seen, usableMs }
  }
  const cold: Opening[] = []
  const warm: Opening[] = []
  for (let round = delayMs === 0 ? -1 : 0; round < rounds; round++) {
    const name = `device ${round} of ${username}`
    const [first, again] = [await opening(name), await opening(name)]
    if (round < 0) continue
    cold.push(first)
    warm.push(again)
  }
  return [coldRow(cold, work), warmRow(warm, work)]
}

/** An io whose connections hear everything later. */
const withDelay = (io: Io, delayMs: number): Io => {
  const { connect } = io
  if (connect === undefined || delayMs === 0) return io
  return {
    ...io,
    connect: (address, handlers) =>
      connect(address, {
        onText: text => void setTimeout(() => handlers.onText(text), delayMs),
        onClose: error => void setTimeout(() => handlers.onClose(error), delayMs)
      })
  }
}

const prepare = async (
  world: WorldChild,
  kernel: Kernel,
  { username, addresses: count }: { readonly username: string; readonly addresses: number }
): Promise<{ readonly walletId: string; readonly total: string }> => {
  const account = await kernel.context.createAccount({ username, password: PASSWORD })
  const wallet = await account.createCurrencyWallet('wallet:bitcoin')
  const addresses: string[] = []
  for (let forceIndex = count - 1; forceIndex >= 0; forceIndex--) {
    addresses.push((await wallet.getReceiveAddress({ forceIndex })).publicAddress)
  }
  // Before the servers are busy for so long that the connections to them grow too old.
  await account.sync()
  const total = await world.fund(addresses)
  await kernel.close()
  return { walletId: wallet.id, total }
}

const checkWallet = async (wallet: CurrencyWallet, total: string, addresses: number): Promise<void> => {
  await until([wallet], () => wallet.balanceOf(null) === total, 20_000)
  const transactions = await wallet.getTransactions()
  check(transactions.length === addresses, `${transactions.length} transactions`)
  check(
    transactions.every(({ blockHeight }) => blockHeight > 0),
    'confirmed transactions'
  )
}

const nameOf = ({ addresses, delayMs }: ScanWork): string =>
  `${addresses} used addresses${delayMs === 0 ? '' : ', late'}`

const coldRow = (openings: readonly Opening[], work: ScanWork): Row => {
  const cost = medianCost(openings)
  const facts = factsOf(openings)
  const goals =
    work.delayMs === 0
      ? [
          atMost('under 1000 ms of wall time', cost.wallMs, 1000),
          atMost('under the published plugin’s 38,900 ms', cost.wallMs, 38_900)
        ]
      : [atMost('eight round trips', facts['round trips'], 8)]
  return rowOf(`cold scan, ${nameOf(work)}`, cost, { facts, goals })
}

const warmRow = (openings: readonly Opening[], work: ScanWork): Row => {
  const cost = medianCost(openings)
  const facts = factsOf(openings)
  const goals = [atMost('one round trip', facts['round trips'], 1)]
  if (work.delayMs === 0)
    goals.push(
      atMost('under 100 ms of wall time', cost.wallMs, 100),
      atMost('30,000 bytes in all', facts['bytes sent'] + facts['bytes received'], 30_000)
    )
  return rowOf(`warm start, ${nameOf(work)}`, cost, { facts, goals })
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
