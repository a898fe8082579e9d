import { type ConnectionLoss, compact, WalletError } from '../../../../kernel/plugin-api.ts'
import { ChainRefusal } from '../chain/header-chain.ts'
import { type ChainServer, ElectrumFault, reasonOf } from './connection.ts'
import { isOwn, type ServerScores } from './server-scores.ts'

/** The servers that one pool tries in turn, and how they have failed. */
export class ServerTurn {
  readonly #scores: ServerScores
  readonly #user: object
  readonly #mayShare: boolean
  /** The place in the list, and the rounds of it that have failed. */
  #failures = 0
  /** How often a connection failed since a server was last ready for a while. */
  #untrusted = 0
  /** How often one of the user's own is tried again before the next server learns of the wallets. */
  #patience = 0
  /** True if the server that failed last is the next one to be tried. */
  #isRetrying = false
  /** The servers that failed since then. */
  readonly #failed = new Set<string>()
  /** Of the server that failed last. */
  loss: ConnectionLoss | undefined

  /** @param options.mayShare - true if a server is asked that another user asks, too */
  constructor(
    scores: ServerScores,
    { user, mayShare }: { readonly user: object; readonly mayShare: boolean }
  ) {
    this.#scores = scores
    this.#user = user
    this.#mayShare = mayShare
  }

  /** True if the server that failed last gets another try: it counts as failed only after that. */
  get isRetrying(): boolean {
    return this.#isRetrying
  }

  /** Begins with another server than the first. */
  startAt(place: number): void {
    this.#patience = 0
    this.#failures = place
    this.#untrusted = 0
    this.#failed.clear()
    this.loss = undefined
  }

  /** The server that is tried now: one that no other user asks, if there is one. */
  next(): ChainServer | undefined {
    const { servers } = this.#scores
    if (!this.#mayShare) this.#failures = this.#scores.place(this.#user, this.#failures)
    const server = servers[this.#failures % Math.max(1, servers.length)]
    if (server !== undefined) this.#scores.take(this.#user, server)
    return server
  }

  onReady(server: ChainServer): void {
    this.#scores.noteReady(server)
    this.loss = undefined
  }

  /** Keeps the place in the list, and forgets the failed rounds: the server has been there for a while. */
  trust(server: ChainServer): void {
    const { length } = this.#scores.servers
    this.#failures %= length
    this.#patience = length > 1 && isOwn(server) ? OWN_RETRY_MS.length : 0
    this.#untrusted = 0
    this.#failed.clear()
    this.#scores.noteTrust(server)
  }

  fail(server: ChainServer, error: unknown): ConnectionLoss {
    // One of the user's own that has been there for a while is perhaps only restarting. Silence and lies are no such thing.
    this.#isRetrying =
      this.#patience > 0 && !(error instanceof ElectrumFault) && !(error instanceof ChainRefusal)
    if (this.#isRetrying) this.#patience--
    else {
      this.#patience = 0
      this.#scores.noteFailure(server)
      this.#failures++
      this.#untrusted++
      this.#failed.add(server.url)
    }
    const refused = error instanceof ChainRefusal ? error.reason : undefined
    this.loss = { server: server.url, reason: reasonOf(error), ...compact({ refused }) }
    return this.loss
  }

  /** The pause before the next try: longer after each round of the servers that are left to it. `random`: 0 to 255. */
  delayMs(random = 0): number {
    if (this.#isRetrying) return OWN_RETRY_MS[OWN_RETRY_MS.length - 1 - this.#patience] ?? 0
    const { servers } = this.#scores
    const length = this.#mayShare ? servers.length : this.#scores.countFor(this.#user)
    const round = Math.floor((this.#untrusted - 1) / length)
    const isNextRound = this.#untrusted % length === 0
    const delay = isNextRound
      ? Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(round, 20))
      : FIRST_RETRY_MS / 2
    return Math.round(delay * (1 + random / 512))
  }

  /** The error where no server can be asked: it names those that were. @param reason - why there is none, where none has failed */
  unreachable(reason: string): WalletError {
    const { servers } = this.#scores
    const next = servers[this.#failures % Math.max(1, servers.length)]
    const { refused, ...lost } = this.loss ?? { server: next?.url ?? 'the chain', reason }
    if (refused !== undefined) return new WalletError('CHAIN_REFUSED', { ...lost, refused })
    const many = this.#failed.size
    return new WalletError('NETWORK', {
      path: 'electrum',
      server: many < 2 ? lost.server : `any of ${many} servers, the last of them ${lost.server}`,
      reason: lost.reason
    })
  }

  /** What a wallet met while a server was there: the loss of it, or of every server if none stays. */
  lossOf(url: string, error: unknown): WalletError {
    if (this.#untrusted >= this.#scores.servers.length) return this.unreachable(reasonOf(error))
    const { refused, ...lost } = this.loss ?? {
      server: url,
      reason: reasonOf(error),
      refused: error instanceof ChainRefusal ? error.reason : undefined
    }
    if (refused !== undefined) return new WalletError('CHAIN_REFUSED', { ...lost, refused }, error)
    return new WalletError('CONNECTION_LOST', lost, error)
  }
}

const FIRST_RETRY_MS = 250
const MAX_RETRY_MS = 60_000
/** Before each of the tries that a server of the user's own gets. */
const OWN_RETRY_MS = [500, 3000]
