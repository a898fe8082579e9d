import { join } from 'node:path'
import { FAKE_ADDRESSES, type FakeWorld } from '../../fake-server/fake-world.ts'
import { type CurrencyWallet, createKernel, type Io, type Kernel } from '../../kernel/index.ts'
import { defaultPlugins } from '../../plugins/default-plugins.ts'
import { fileStorage } from '../../plugins/storage/file/file-storage.ts'
import { kernelSettings } from '../profile/open-profile.ts'
import { untilSynced } from '../session/until-synced.ts'

/** Opens one device of the tour: a kernel of its own on a folder of its own, in the world that all share. */
export const openTourDevice = (
  world: FakeWorld,
  { io, folder, name }: { readonly io: Io; readonly folder: string; readonly name: string }
): Promise<Kernel> =>
  createKernel({
    ...kernelSettings(FAKE_ADDRESSES),
    io: world.ioFor(io),
    deviceDescription: name,
    logLevel: 'error',
    plugins: [fileStorage(join(folder, name), { holder: 'holdfast demo' }), ...defaultPlugins]
  })

/** Waits until something about a wallet is true; it is looked at whenever the wallet tells of a change. */
export const until = async (
  wallet: CurrencyWallet,
  signal: AbortSignal,
  isTrue: () => Promise<boolean>
): Promise<void> => {
  await untilSynced(wallet, signal)
  while (!(await isTrue())) {
    signal.throwIfAborted()
    await nextChange(wallet)
  }
}

const POLL_MS = 20

const nextChange = (wallet: CurrencyWallet): Promise<void> =>
  new Promise(resolve => {
    const timer = setTimeout(() => finish(), POLL_MS)
    const stops = [wallet.subscribe(() => finish()), wallet.engine.subscribe(() => finish())]
    const finish = (): void => {
      clearTimeout(timer)
      for (const stop of stops) stop()
      resolve()
    }
  })
