import { makeActionHandler } from '../../app/actions/actions.ts'
import type { FakeWorldControl } from '../../app/actions/world-control.ts'
import { type Context, compact, isWalletError, type Kernel, WalletError } from '../../kernel/index.ts'
import { type AccountBackups, type DevtoolsClient, makeClient } from './client/client.ts'
import { devtoolsAmong } from './devtools.ts'
import { makeChannelPair } from './protocol/channel-pair.ts'

/** Options of a client of a kernel in the same page. */
export interface KernelClientOptions {
  /** It only looks. */
  readonly isReadOnly?: boolean | undefined
  /** Drives the fake world that the kernel lives in, if it lives in one. */
  readonly world?: FakeWorldControl | undefined
}

/**
 * Makes a devtools client of a kernel in the same page. Closing it declines what it drafted, and leaves the kernel as it is.
 *
 * @throws TypeError if the kernel was made without devtools
 */
export const makeKernelClient = (
  kernel: Pick<Kernel, 'context' | 'io' | 'plugins'>,
  { isReadOnly = false, world }: KernelClientOptions = {}
): DevtoolsClient => {
  const { context, io, plugins } = kernel
  const devtools = devtoolsAmong(plugins)
  if (devtools === undefined)
    throw new TypeError(
      'This kernel was made without devtools: put makeDevtools({ clock: io.clock }).plugin among its plugins.'
    )
  const runAction = makeActionHandler({ context, io, world, isReadOnly })
  if (world !== undefined) devtools.watchWorld(world)
  const channels = makeChannelPair()
  devtools.attach(channels.host, {
    ...{ isReadOnly, runAction, watchAction: runAction.watch },
    hasWorld: world !== undefined,
    ...compact({ hasLoginServer: context.hasLoginServer ? undefined : false })
  })
  const client = makeClient(channels.client)
  return {
    ...client,
    ...compact({ backups: isReadOnly ? undefined : backupsOf(context) }),
    close() {
      client.close()
      runAction.close()
    }
  }
}

const backupsOf = (context: Context): AccountBackups => ({
  async make(accountId, password) {
    const account = context.accounts.find(({ id }) => id === accountId)
    if (account === undefined) throw new WalletError('LOGGED_OUT', {})
    if (password !== undefined) await account.policies.allowOnce('backup', password)
    return account.location.makeBackup().catch((error: unknown) => {
      const isAllowedByNone = isWalletError(error, 'SIGN_REFUSED') && error.details.rule === 'no rule'
      if (isAllowedByNone && password === undefined) return undefined
      throw error
    })
  },
  async restore(backup, password) {
    const { username } = await context.restoreAccount(backup, { password })
    return compact({ username })
  }
})
