import { type Io, type Json, WalletError } from '../../../../kernel/plugin-api.ts'
import type { WatchedBranch } from '../wallet/scripts.ts'
import { NO_WALLET, NodeRefusal, NodeRpc } from './node-rpc.ts'
import { asObject } from './polled-connection.ts'
import type { OnBusy } from './request-queue.ts'

/** A node that the user has named, and what its wallet is learning. */
export class NodeWallet {
  readonly url: string
  readonly #base: string
  /** Goes on when the connection that began it is closed. */
  #learning: Promise<void> | undefined
  #loading: Promise<void> | undefined
  #progress: Promise<WalletError> | undefined

  constructor(url: string, base: string) {
    this.url = url
    this.#base = base
  }

  rpc(io: Io, circuit: string | undefined, onBusy?: OnBusy): NodeRpc {
    const rpc: NodeRpc = new NodeRpc(io, {
      ...{ base: this.#base, circuit, wallet: WALLET, onBusy },
      onUnloaded: () => this.#load(rpc)
    })
    return rpc
  }

  /** Has the node load its wallet, or make it. */
  async open(rpc: NodeRpc): Promise<void> {
    try {
      await this.#load(rpc)
    } catch (error) {
      if (!(error instanceof NodeRefusal && error.code === NO_WALLET)) throw error
      await rpc.node('createwallet', {
        ...{ wallet_name: WALLET, disable_private_keys: true },
        ...{ blank: true, load_on_startup: true }
      })
    }
  }

  /** Has the node load its wallet unless it has. A reload is waited for. @throws NodeRefusal where there is none */
  #load(rpc: NodeRpc): Promise<void> {
    this.#loading ??= loadWallet(rpc).finally(() => (this.#loading = undefined))
    return this.#loading
  }

  /**
   * Has the node look through its mempool for payments to keys that are new, which it does when it loads a wallet. A search of the chain
   * leaves them out in Litecoin Core 0.21, so that what waited already would be missed until a block has it.
   */
  async #reload(rpc: NodeRpc): Promise<void> {
    const { size } = asObject(await rpc.node('getmempoolinfo'))
    const { scanning } = asObject(await rpc.wallet('getwalletinfo'))
    // A search for another wallet would be waited for, and ends with a reload of its own.
    if (size === 0 || (scanning !== false && scanning !== undefined)) return
    await this.#loading?.catch(() => undefined)
    const reload = async (): Promise<void> => {
      try {
        await rpc.node('unloadwallet', [WALLET], LOAD_MS)
      } catch (error) {
        // A search has just begun.
        if (!(error instanceof NodeRefusal)) throw error
      }
      await loadWallet(rpc)
    }
    this.#loading = reload().finally(() => (this.#loading = undefined))
    await this.#loading
  }

  /**
   * Lets the wallet of the node watch branches, and search the chain for what they have received. One search at a time; it may
   * take hours.
   */
  learn(io: Io, circuit: string | undefined, branches: () => readonly WatchedBranch[]): Promise<void> {
    this.#learning ??= this.#learnOrLose(io, circuit, branches()).finally(() => (this.#learning = undefined))
    return this.#learning
  }

  /** Rejects, too, if the node searches nothing any more: its answer is lost, as when the connection broke without a word. */
  async #learnOrLose(io: Io, circuit: string | undefined, branches: readonly WatchedBranch[]): Promise<void> {
    const rpc = this.rpc(io, circuit)
    let cancel: (() => void) | undefined
    const lost = new Promise<void>((_resolve, reject) => {
      let idle = 0
      const lookLater = (): void => {
        cancel = io.clock.after(SEARCH_LOOK_MS, async () => {
          try {
            const { scanning } = asObject(await rpc.wallet('getwalletinfo'))
            idle = scanning === false ? idle + 1 : 0
          } catch {
            // A node that is busy, or away, says nothing of its search.
          }
          if (idle === MAX_IDLE) reject(this.#problem('its search for the payments of this wallet was lost'))
          else if (cancel !== undefined) lookLater()
        })
      }
      lookLater()
    })
    try {
      await Promise.race([this.#learn(rpc, branches), lost])
    } finally {
      cancel?.()
      cancel = undefined
      rpc.close()
    }
  }

  async #learn(rpc: NodeRpc, branches: readonly WatchedBranch[]): Promise<void> {
    const ends = await searchedEnds(rpc, branches)
    const fresh = branches.filter(({ count }, at) => (ends[at] ?? 0) < count)
    if (fresh.length === 0) return
    const { pruned } = asObject(await rpc.node('getblockchaininfo'))
    if (pruned === true) throw this.#problem('it has deleted blocks (it is pruned), and cannot search them')
    const { descriptors: isNew } = asObject(await rpc.wallet('getwalletinfo'))
    const requests: Json[] = []
    for (const { descriptors, count } of fresh) {
      const range = [0, count + AHEAD - 1]
      const desc = await checkedOf(rpc, descriptors)
      if (desc === undefined) throw this.#problem('it takes none of the keys of this wallet')
      requests.push(
        isNew === true
          ? { desc, range, timestamp: 0, active: false }
          : { desc, range, timestamp: 0, watchonly: true, keypool: false }
      )
    }
    const replies =
      isNew === true
        ? await rpc.wallet('importdescriptors', [requests], NO_END)
        : await rpc.wallet('importmulti', [requests, { rescan: true }], NO_END)
    const failed = Array.isArray(replies) ? replies.find(reply => asObject(reply).success !== true) : null
    if (failed !== undefined)
      throw this.#problem(
        `its wallet does not take the keys (${String(asObject(asObject(failed).error).code)})`
      )
    // It comes last: what a stop has cut short is searched again.
    await rpc.many(
      fresh.map(({ first, count }) => ({ method: 'setlabel', params: [first, `${WALLET} ${count + AHEAD}`] }))
    )
    // But for this, which hours of searching need not be repeated for.
    await this.#reload(rpc)
  }

  /** The error of a wallet whose keys the node's wallet does not know yet. */
  notYet(rpc: NodeRpc): Promise<WalletError> {
    // Asked for by many scripts at once, it would keep those that search from their turn.
    this.#progress ??= this.#readProgress(rpc).finally(() => (this.#progress = undefined))
    return this.#progress
  }

  async #readProgress(rpc: NodeRpc): Promise<WalletError> {
    const { progress } = asObject(asObject(await rpc.wallet('getwalletinfo')).scanning)
    const done = typeof progress === 'number' ? `, ${Math.floor(progress * 100)} % done` : ''
    return this.#problem(`it searches its blocks for the payments of this wallet${done}`)
  }

  #problem(reason: string): WalletError {
    return new WalletError('NETWORK', { path: 'node', server: this.url, reason })
  }
}

const loadWallet = async (rpc: NodeRpc): Promise<void> => {
  const loaded = await rpc.node('listwallets')
  if (!Array.isArray(loaded) || !loaded.includes(WALLET)) await rpc.node('loadwallet', [WALLET], LOAD_MS)
}

/** The name of the node's wallet. */
const WALLET = 'holdfast'
/** Scripts of a branch that the node watches beyond those that a wallet does. */
const AHEAD = 1000
const NO_END = 7 * 86_400_000
/** A wallet with very many payments is read from its file. */
const LOAD_MS = 600_000
const SEARCH_LOOK_MS = 60_000
/** Before and after it searches, a node reads and writes its wallet. */
const MAX_IDLE = 3

/** How many scripts of each branch the chain was searched for: the label of the first one says it. */
export const searchedEnds = async (
  rpc: NodeRpc,
  branches: readonly Pick<WatchedBranch, 'first'>[]
): Promise<readonly number[]> => {
  const infos = await rpc.many(branches.map(({ first }) => ({ method: 'getaddressinfo', params: [first] })))
  return infos.map(info => {
    const { labels } = info instanceof NodeRefusal ? {} : asObject(info)
    const [label] = Array.isArray(labels) ? (labels as readonly Json[]) : []
    return Number(/^holdfast (\d{1,9})$/.exec(String(label))?.[1] ?? 0)
  })
}

/** The descriptor with its checksum, with the version of extended keys that the node has. */
const checkedOf = async (rpc: NodeRpc, descriptors: readonly string[]): Promise<Json | undefined> => {
  const infos = await rpc.many(descriptors.map(text => ({ method: 'getdescriptorinfo', params: [text] })))
  return infos.flatMap(info => (info instanceof NodeRefusal ? [] : [asObject(info).descriptor ?? null]))[0]
}
