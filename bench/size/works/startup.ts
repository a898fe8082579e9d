import { costBetween, measure, momentNow } from '../../measure.ts'
import { check } from '../../section.ts'
import { pause } from '../../wait.ts'
import type { Work, WorkContext } from '../job.ts'

/**
 * A login by key on a device that knows the account, until every wallet is usable; then what it costs to have them.
 *
 * Step `usable`; facts `firstCpuMs` and `firstWallMs` until one wallet is usable; of the last round, `heapKb` of all of it, and
 * with `idleMs` what {@link idle} finds.
 */
export const startup: Work = async context => {
  const { device, user, step, fact } = context
  const before = heapBytes()
  await step('usable', async () => {
    const start = momentNow()
    const account = await device.loginWithKey()
    const opening = account.openAllWallets()
    await account.openFirstWallet()
    const { cpuMs, wallMs } = costBetween(start, momentNow())
    fact('firstCpuMs', cpuMs)
    fact('firstWallMs', wallMs)
    check((await opening) === user.walletCount, 'how many wallets are usable')
  })
  if (!context.isLast) return
  await pause(SETTLE_MS)
  fact('heapKb', (heapBytes() - before) / 1024)
  if (context.idleMs > 0) await idle(context)
}

/** The first sync of each repo is over then. */
const SETTLE_MS = 3000

/**
 * Facts `idleCpuMs` and `idleWallMs` of doing nothing; over HTTP, `requestCount` of that time, and `bareCpuMs` of
 * the same requests without a wallet.
 */
const idle = async ({ device, idleMs, fact }: WorkContext): Promise<void> => {
  device.network?.note()
  const { cpuMs, wallMs } = await measure(() => pause(idleMs))
  fact('idleCpuMs', cpuMs)
  fact('idleWallMs', wallMs)
  const { network } = device
  if (network === undefined) return
  fact('requestCount', network.requestCount)
  if (!network.isApart) return
  await device.close()
  fact('bareCpuMs', (await network.repeat()).cpuMs)
}

const heapBytes = (): number => {
  globalThis.gc?.()
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}
