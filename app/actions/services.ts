import {
  type Account,
  type Context,
  type CurrencyWallet,
  type Io,
  type OpenPaymentSnapshot,
  type PaymentApproval,
  type SignOptions,
  type SwapConfirmation,
  type SwapResult,
  type SwapReview,
  type Transaction,
  type Txid,
  WalletError,
  type WalletId
} from '../../kernel/index.ts'
import type { DraftApprovals } from './draft-approvals.ts'
import { DraftStore } from './drafts.ts'
import { OpenRounds } from './open-rounds.ts'
import type { FakeWorldControl } from './world-control.ts'

/** The kernel and the device state that actions work on. */
export interface ActionHost {
  readonly context: Context
  /** The accounts that are seen, for a command: that of its login. Left out: all that are open. */
  readonly accounts?: (() => readonly Account[]) | undefined
  /** The kernel's own. */
  readonly io: Pick<Io, 'clock' | 'random' | 'crypto'>
  /** Absent where the chains are real. */
  readonly world?: FakeWorldControl | undefined
  /** Left out where a pause lasts no longer than the wallet is open. */
  readonly pausedWallets?: PausedWallets | undefined
  /** What programs propose, where an agent keeps it. */
  readonly proposals?: ProposalBook | undefined
  /** For a panel that may only look: what it asks leaves nothing behind. That it does no more is for the session to see to. */
  readonly isReadOnly?: boolean | undefined
  /** No other device can answer: the fake world is of this process alone. */
  readonly isAlone?: boolean | undefined
}

/**
 * What an action is run with: the host, and the drafts and rounds of quotes of one client. A client approves only its
 * own drafts; accounts are found wherever they were opened.
 */
export interface ActionServices extends ActionHost {
  readonly spends: DraftStore<SpendDraft>
  readonly swaps: DraftStore<SwapDraft>
  readonly rounds: OpenRounds
  readonly approval?: ApprovalListener | undefined
  /** Follows a search that can take minutes, and stops it. */
  readonly search?: Pick<SignOptions, 'onProgress' | 'signal'> | undefined
  readonly isClosed: boolean
  /** Declines every draft, and closes every round of quotes; no action is run any more. */
  close(): void
}

/** Follows the approval of one payment, for a command that waits for it. */
export interface ApprovalListener extends Pick<SignOptions, 'onProgress' | 'signal'> {
  /** Called if open payments pay the same, which nobody has reviewed. @throws unless it is to be paid beside them */
  allowAgain(txids: readonly Txid[]): Promise<void>
  /** Waits for the approval of another device, if a rule wants one; left out: such a payment is refused. @throws to stop it */
  secondDevice?(draft: Transaction): Promise<PaymentApproval | undefined>
  /** Called right before it is signed. @throws to stop it */
  onStart(): void
  /** Called with what was sent. */
  onSent(tx: Transaction): void
}

/** A payment that was made, and not signed. */
export interface SpendDraft extends OwnedWallet {
  readonly draft: Transaction
  /** Of a second device. */
  readonly approvals: DraftApprovals
  /** The proposal of a program that it is of. */
  readonly proposalId?: string | undefined
}

/** A payment that a program proposes, and how that stands. */
export interface ProposedPayment {
  readonly id: string
  /** The name that a person gave to the program. */
  readonly client: string
  readonly accountId: string
  readonly walletId: WalletId
  readonly draft: Transaction
  /** What the program says that it is for. */
  readonly note?: string
  /** True for an address in a form that another currency uses, too. */
  readonly isLegacyAddress: boolean
  readonly state: 'waiting' | 'sending' | 'sent' | 'refused' | 'unsure'
  /** The code of a refusal or failure. */
  readonly reason?: string
  readonly txid?: string
  /** The rule that lets no program pay it by itself. */
  readonly rule?: string
  /** Milliseconds since 1970. */
  readonly created: number
  readonly ends: number
}

/** The payments that programs propose. Each is answered once, in whatever face. */
export interface ProposalBook {
  /** Oldest first. */
  list(): readonly ProposedPayment[]
  /** Calls a listener at each change of {@link list}, until the returned function is called. */
  onChange(listener: () => void): () => void
  /** Finds one that waits. @throws if there is none, or its program may no longer ask */
  waiting(id: string): ProposedPayment
  /**
   * Pays one that waits, and keeps how that ended.
   *
   * @returns undefined if nothing was signed, because its coins are spent by now: it waits again, with another draft
   */
  pay(id: string, owned: OwnedWallet, pay: () => Promise<Transaction>): Promise<Transaction | undefined>
  /** Refuses one that waits; nothing is signed. @throws if it no longer waits */
  decline(id: string): void
}

/** A quote that is being approved, and waits for a person to say yes. */
export interface SwapDraft {
  readonly accountId: string
  readonly roundId: string
  /** Says yes or no, once; a no ends the quote. A yes can allow more than usual. */
  answer(said: boolean | SwapConfirmation): void
  /** The wallet that pays. */
  readonly wallet: CurrencyWallet
  /** Of a second device. */
  readonly approvals: DraftApprovals
  /** The order, and the payments that are signed. */
  readonly review: SwapReview
  /** The open payments that pay the same at present. @throws LOGGED_OUT */
  similar(): readonly OpenPaymentSnapshot[]
  /** The result of the approval. */
  readonly result: Promise<SwapResult>
}

/**
 * Makes the services of one client of a kernel, such as a panel or a program.
 *
 * @example
 * ```ts
 * const services = makeActionServices({ context, io })
 * const { wallets } = await runAction(services, 'wallet.list', {})
 * services.close()
 * ```
 */
export const makeActionServices = (host: ActionHost): ActionServices => {
  const spends = new DraftStore<SpendDraft>({ io: host.io, drop: ({ approvals }) => approvals.cancel() })
  const swaps = new DraftStore<SwapDraft>({
    io: host.io,
    drop({ approvals, answer }) {
      approvals.cancel()
      answer(false)
    }
  })
  const rounds = new OpenRounds(roundId => swaps.discardWhere(draft => draft.roundId === roundId))
  let isClosed = false
  return {
    ...host,
    ...{ spends, swaps, rounds },
    get isClosed() {
      return isClosed
    },
    close() {
      isClosed = true
      spends.close()
      swaps.close()
      rounds.closeAll()
    }
  }
}

/** A wallet with the account that it is in. */
export interface OwnedWallet {
  readonly account: Account
  readonly wallet: CurrencyWallet
}

/** The open accounts that the actions of a client see. */
export const accountsOf = ({ context, accounts }: ActionHost): readonly Account[] =>
  accounts?.() ?? context.accounts

/** The account with that id, however it was opened. @throws LOGGED_OUT unless it is open */
export const accountOf = (services: ActionHost, accountId: string): Account => {
  const found = accountsOf(services).find(({ id }) => id === accountId)
  if (found === undefined) throw new WalletError('LOGGED_OUT', {})
  return found
}

/** Finds a wallet in the open accounts, and opens it if it is not. @throws WALLET_NOT_FOUND, what opening one can meet */
export const walletOf = async (services: ActionHost, walletId: WalletId): Promise<OwnedWallet> => {
  const account = ownerOf(services, walletId)
  return { account, wallet: await openWalletIn(services, account, walletId) }
}

/** The open account that a wallet is in, which need not be open. @throws WALLET_NOT_FOUND */
export const ownerOf = (services: ActionHost, walletId: WalletId): Account => {
  const account = accountsOf(services).find(one =>
    one.listWallets().some(listing => listing.isWallet && listing.walletId === walletId && !listing.deleted)
  )
  if (account === undefined) throw new WalletError('WALLET_NOT_FOUND', { walletId })
  return account
}

/** Opens a wallet of an account; one that was paused stays at rest. @throws what opening one can meet */
export const openWalletIn = (
  { pausedWallets }: Pick<ActionHost, 'pausedWallets'>,
  account: Account,
  walletId: WalletId
): Promise<CurrencyWallet> =>
  account.openWallet(walletId, { isPaused: pausedWallets?.has(walletId) === true })

/** The wallets that somebody has paused on this device, kept beyond the life of a kernel. */
export interface PausedWallets {
  has(walletId: WalletId): boolean
  /** Remembers that a wallet is paused, or no longer is. */
  change(walletId: WalletId, isPaused: boolean): void
}
