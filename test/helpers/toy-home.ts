import type { ExecutionContext } from 'ava'
import { type FakeWorld, makeFakeWorld } from '../../fake-server/fake-world.ts'
import { type Account, isWalletError, type Kernel, type Token } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { type FakeClock, makeFakeClock } from '../../testing/fake-clock.ts'
import { type DeviceOptions, openDevice } from './device.ts'
import { makeToy, type Toy, type ToyOptions } from './toy-currency.ts'

/** A device on which Tess is logged in; its time stands still until a test moves it. */
export interface ToyHome {
  readonly clock: FakeClock
  readonly world: FakeWorld
  readonly kernel: Kernel
  readonly account: Account
  readonly toy: Toy
  /** What was reported, with where it came from. */
  readonly reports: [source: string, error: unknown][]
  /** Logs Tess in on another device, with another toy currency. */
  another(options?: ToyHomeOptions): Promise<ToyHome>
}

/** What a toy home may be given. */
export interface ToyHomeOptions extends ToyOptions {
  readonly device?: DeviceOptions
}

const TESS = { username: 'tess', password: 'Correct horse 1' }

/** Makes a world without chance in its time, and a device with a toy currency in it. */
export const openToyHome = async (t: ExecutionContext, options: ToyHomeOptions = {}): Promise<ToyHome> => {
  const clock = makeFakeClock()
  const world = makeFakeWorld({ io: { ...makeNodeIo(), clock } })
  const openHome = async (
    { device = {}, ...toyOptions }: ToyHomeOptions,
    isNew: boolean
  ): Promise<ToyHome> => {
    const toy = makeToy(toyOptions)
    const reports: [string, unknown][] = []
    const kernel = await openDevice(world, {
      onError: (source, error) => void reports.push([source, error]),
      ...device,
      plugins: [toy.plugin, ...(device.plugins ?? [])]
    })
    t.teardown(async () => {
      const closing = kernel.close()
      await clock.advance(60_000)
      await closing.catch((error: unknown) => {
        // A test that silenced its disk has looked at this.
        if (!isWalletError(error, 'STORAGE_TIMEOUT')) throw error
      })
    })
    const { context } = kernel
    const account = isNew
      ? await context.createAccount(TESS)
      : await context.loginWithPassword(TESS.username, TESS.password)
    return { clock, world, kernel, account, toy, reports, another: next => openHome(next ?? {}, false) }
  }
  return openHome(options, true)
}

/** A token of the toy currency. */
export const toyToken = (currencyCode: string): Token => ({
  currencyCode,
  displayName: `Token ${currencyCode}`,
  denominations: [{ name: currencyCode, multiplier: '100' }],
  networkLocation: { contractAddress: currencyCode.toLowerCase() }
})
