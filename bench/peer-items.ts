import { createRequire } from 'node:module'
import { join } from 'node:path'

/** A folder of the peer's public interface. */
export interface PeerFolder {
  setText(path: string, text: string): Promise<unknown>
  getText(path: string): Promise<string>
}

/** Two folders of one account of the published core, in its own fake world in memory. */
export interface PeerItems {
  /** `account.disklet`: every item is sealed in a box. */
  readonly sealed: PeerFolder
  /** `account.localDisklet`: the same way there, without a box. */
  readonly plain: PeerFolder
}

interface PeerCore {
  lockEdgeCorePlugins(): void
  makeFakeEdgeWorld(users: readonly [], options: object): Promise<PeerWorld>
}

interface PeerWorld {
  makeEdgeContext(options: object): Promise<{ createAccount(options: object): Promise<PeerAccount> }>
}

interface PeerAccount {
  readonly disklet: PeerFolder
  readonly localDisklet: PeerFolder
}

/** Starts the published core as its users do and makes an account in it. */
export const openPeerItems = async (peerFolder: string): Promise<PeerItems> => {
  const load = createRequire(join(peerFolder, 'package.json'))
  const core = load('edge-core-js') as PeerCore
  core.lockEdgeCorePlugins()
  const world = await core.makeFakeEdgeWorld([], { onLog() {} })
  const context = await world.makeEdgeContext({ apiKey: 'bench', appId: '', plugins: {} })
  const account = await context.createAccount({
    username: 'bench user',
    password: 'correct horse',
    pin: '1111'
  })
  return { sealed: account.disklet, plain: account.localDisklet }
}
