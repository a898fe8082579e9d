import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Kernel, WalletId } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { fileStorage } from '../../plugins/storage/file/file-storage.ts'
import { openDevice } from '../bench-device.ts'
import { makeCountedIo } from '../counted-io.ts'
import { measure } from '../measure.ts'
import { check, type Row, rowOf, type Section } from '../section.ts'
import { until } from '../wait.ts'
import { startWorldChild } from '../world-child.ts'

/** Cold and warm start of many wallets of one coin, which share a connection. */
export const manyWallets: Section = async ({ isFull }) => {
  const count = isFull ? 1000 : 200
  const world = await startWorldChild()
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-bench-'))
  const { io, traffic, reset } = makeCountedIo(makeNodeIo())
  const open = (name: string): Promise<Kernel> =>
    openDevice({ io, servers: world.servers, storage: fileStorage(join(folder, name)) })
  const login = { username: 'many', password: 'correct horse battery staple' }

  /** The wallets with the addresses that are paid. */
  const prepare = async (): Promise<{ readonly ids: readonly WalletId[]; readonly total: bigint }> => {
    const kernel = await open('first')
    const account = await kernel.context.createAccount(login)
    const ids: WalletId[] = []
    const addresses: string[] = []
    while (ids.length < count) {
      const made = await account.createCurrencyWallets(
        Array.from({ length: AT_ONCE }, () => ({ type: 'wallet:litecoin' }))
      )
      for (const result of made) {
        if (!result.ok) throw result.error
        ids.push(result.wallet.id)
        addresses.push((await result.wallet.getReceiveAddress()).publicAddress)
      }
    }
    await account.sync()
    const total = BigInt(await world.fund(addresses, 'litecoin'))
    await kernel.close()
    return { ids, total }
  }

  const start = async (name: string, { ids, total }: Awaited<ReturnType<typeof prepare>>): Promise<Row> => {
    const kernel = await open('second')
    const account = await kernel.context.loginWithPassword(login.username, login.password)
    const before = heapKb()
    reset()
    const { value: wallets, ...cost } = await measure(async () => {
      const opened = await Promise.all(ids.map(id => account.openWallet(id)))
      for (const wallet of opened)
        await until([wallet.engine], () => wallet.engine.getSnapshot().syncRatio === 1, 300_000)
      return opened
    })
    const facts = {
      'round trips': traffic.roundTrips,
      'bytes sent': traffic.sent,
      'bytes received': traffic.received
    }
    let balance = 0n
    for (const wallet of wallets) {
      await until([wallet], () => wallet.balanceOf(null) !== '0')
      balance += BigInt(wallet.balanceOf(null) ?? '0')
    }
    check(balance === total, `a balance of ${balance}`)
    const heap = (heapKb() - before) / count
    await kernel.close()
    return rowOf(`${name} start, ${count} wallets`, cost, {
      facts: { ...facts, 'KB of heap a wallet': heap }
    })
  }

  try {
    const prepared = await prepare()
    return { rows: [await start('cold', prepared), await start('warm', prepared)], notes }
  } finally {
    await world.close()
    await rm(folder, { recursive: true, force: true })
  }
}

const AT_ONCE = 50

const notes: readonly string[] = [
  'Wallets of Litecoin: each subscribes 40 scripts and more. One of Bitcoin subscribes 100, so that a server which allows 75,000 of ' +
    'an address ends at 700 of them. One payment to each, one connection for all. From openWallet of all to engines that say that they are in sync. ' +
    'Cold is a device that has never seen the account (its login is not counted), warm a new kernel on the same folder. ' +
    'The balances are checked each time; the servers run in another process.'
]

/** KB of the heap that are in use. */
const heapKb = (): number => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  collect()
  return process.memoryUsage().heapUsed / 1024
}
