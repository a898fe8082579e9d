import type { ServedWorld } from '../../fake-server/http/serve-fake-world.ts'
import { isWalletError } from '../../kernel/base/errors.ts'
import { createKernel } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { bitcoin } from '../../plugins/currency/utxo/plugin.ts'
import { fileStorage } from '../../plugins/storage/file/file-storage.ts'
import { CHEAP_SNRP } from '../helpers/device.ts'
import type { Device, DeviceCalls } from './device.ts'
import { ownCredentialCalls, ownTwoFactorCalls } from './own-account-calls.ts'
import { makeOwnLab } from './own-lab.ts'
import { ownLoginCalls, ownUserCalls } from './own-login-calls.ts'
import type { OwnSession } from './own-session.ts'
import { ownStorageCalls } from './own-storage-calls.ts'
import { ownWalletCalls } from './own-wallet-calls.ts'

/** Where a device lives. */
export interface DevicePlace {
  readonly folder: string
  /** That of the app that uses the core; empty for the account itself. */
  readonly appId: string
  readonly deviceDescription: string
}

/** A device that runs Holdfast, and what lies beneath for stories that only Holdfast can tell. */
export interface OwnDevice extends Device {
  readonly session: OwnSession
}

/** Starts a device that runs Holdfast. Errors carry their details as fields, as those of the peer do. */
export const openOwnDevice = async (served: ServedWorld, place: DevicePlace): Promise<OwnDevice> => {
  const { authServer, infoServers, syncServers, electrumServers } = served
  const { folder, appId, deviceDescription } = place
  const failures: string[] = []
  const lab = makeOwnLab()
  const kernel = await createKernel({
    io: makeNodeIo(),
    apiKey: 'interop',
    appId,
    authServer,
    infoServers,
    syncServers,
    passwordSnrp: CHEAP_SNRP,
    deviceDescription,
    pluginOptions: { bitcoin: { network: 'regtest', servers: [...electrumServers] } },
    plugins: [fileStorage(folder), bitcoin, ...lab.plugins],
    onError: (source, error) => failures.push(`${source}: ${error}`)
  })
  const session: OwnSession = { kernel, folder, lab, account: undefined, edgeLogin: undefined }
  const calls = withPlainErrors({
    ...ownUserCalls(session),
    ...ownLoginCalls(session),
    ...ownCredentialCalls(session),
    ...ownTwoFactorCalls(session),
    ...ownWalletCalls(session),
    ...ownStorageCalls(session)
  })
  return { ...calls, folder, failures, session, stop: () => kernel.close() }
}

const withPlainErrors = (calls: DeviceCalls): DeviceCalls => {
  const wrapped = Object.entries(calls).map(([name, call]) => {
    const run = call as (...args: readonly unknown[]) => Promise<unknown>
    return [name, async (...args: readonly unknown[]) => run(...args).catch(rethrow)]
  })
  return Object.fromEntries(wrapped) as DeviceCalls
}

const rethrow = (error: unknown): never => {
  if (!isWalletError(error)) throw error
  // A token is read by name: it is no part of what is copied or printed.
  const secrets = isWalletError(error, 'OTP') ? { resetToken: error.details.resetToken } : {}
  throw Object.assign(new Error(error.message), error.details, secrets, {
    name: error.name,
    code: error.code
  })
}
