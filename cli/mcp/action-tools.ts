import { actions, runAction } from '../../app/actions/actions.ts'
import { makeActionServices } from '../../app/actions/services.ts'
import {
  type Account,
  type Context,
  type JsonObject,
  Mutex,
  type SwapOptions,
  type SwapRequest,
  WalletError
} from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { pausedWalletsIn } from '../profile/state-files.ts'
import type { ProgramClient } from '../programs/clients.ts'
import type { Session } from '../session/session.ts'
import type { ProgramTool } from './serve-tools.ts'

/** Options of {@link actionTools}. */
export interface ActionToolOptions {
  readonly session: Session
  readonly client: ProgramClient
  /** @throws LOGGED_OUT */
  account(): Account
}

/** The actions that a client may use, as tools. */
export interface ActionTools {
  readonly tools: readonly ProgramTool[]
  /** Drops what they hold. */
  close(): void
}

/**
 * Makes tools of the actions that a client may use: those that read, and with the scope `change` those that change what can be
 * changed back. What pays or loses something is never a tool.
 */
export const actionTools = async (options: ActionToolOptions): Promise<ActionTools> => {
  const { session, client, account } = options
  // Without an agent it only reads.
  const mayChange = session.agent !== undefined && client.scopes.includes('change')
  const services = makeActionServices({
    context: boundedContext(await session.context(), options),
    io: await session.io(),
    pausedWallets: pausedWalletsIn(session.paths.session),
    isReadOnly: !mayChange
  })
  const allowed = actions.filter(
    ({ faces, effect }) => faces.mcp === 'tool' && (effect === 'reads' || (mayChange && effect === 'changes'))
  )
  return {
    close: () => services.close(),
    tools: allowed.map(({ name, title, summary, effect, input, output }) => ({
      name: toolNameOf(name),
      title,
      description: summary,
      input: input.schema,
      output: output.schema,
      isReading: effect === 'reads',
      isIdempotent: effect === 'reads',
      async run(given) {
        // Before anything else, so that a locked agent says the same whatever was asked.
        const open = account()
        const run = async (): Promise<JsonObject> =>
          (await runAction(services, name, given as never)) as unknown as JsonObject
        if (name !== 'wallet.create') return run()
        return creations.run(() => {
          checkWalletCount(open)
          return run()
        })
      }
    }))
  }
}

/** Of all programs: those that create wallets at once would not see each other's. */
const creations = new Mutex()
/** The most wallets beside which a program creates another one: a wallet is for ever, and each is counted for rules. */
const MAX_WALLETS = 100

/** @throws CliError CLIENT_REFUSED */
const checkWalletCount = (account: Account): void => {
  const { length } = account.listWallets().filter(({ isWallet }) => isWallet)
  if (length >= MAX_WALLETS)
    throw new CliError('CLIENT_REFUSED', `The account has ${length} wallets; only a person creates more`)
}

/** `wallet.receive` as a client may write it. */
const toolNameOf = (name: string): string =>
  name.replaceAll('.', '_').replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/** The context of a kernel, as far as a client may see it: its account, the rates, and what needs no account. */
const boundedContext = (context: Context, { account, client }: ActionToolOptions): Context =>
  limited(context, {
    rates: () => context.rates,
    currencies: () => context.currencies,
    swapInfos: () => context.swapInfos,
    verifyMessage: () => context.verifyMessage.bind(context),
    accounts: () => {
      const open = account()
      return [client.walletIds === undefined ? open : boundedAccount(open, client.walletIds)]
    }
  })

/** An account with some of its wallets; whatever else it has is hidden. */
const boundedAccount = (account: Account, walletIds: readonly string[]): Account => {
  const isSeen = (walletId: string): boolean => walletIds.includes(walletId)
  return limited(account, {
    id: () => account.id,
    username: () => account.username,
    isLoggedIn: () => account.isLoggedIn,
    getSnapshot: () => () => {
      const { accountId, username, isPaused, walletIds: all, activeWalletIds } = account.getSnapshot()
      return {
        ...{ accountId, username, isPaused },
        walletIds: all.filter(isSeen),
        activeWalletIds: activeWalletIds.filter(isSeen)
      }
    },
    listRepos: () => () => account.listRepos().filter(({ ownerId }) => isSeen(ownerId)),
    wallet: () => (walletId: string) => {
      if (!isSeen(walletId)) throw new WalletError('WALLET_NOT_FOUND', { walletId })
      return account.wallet(walletId)
    },
    // Both wallets of its request were found in this account.
    openQuoteRound: () => (request: SwapRequest, options?: SwapOptions) =>
      account.openQuoteRound(request, options),
    currencyConfig: () => (pluginId: string) => account.currencyConfig(pluginId),
    swapConfig: () => (pluginId: string) => account.swapConfig(pluginId),
    listWallets: () => () => account.listWallets().filter(({ walletId }) => isSeen(walletId)),
    openWallet: () => async (walletId: string, openOptions?: { isPaused?: boolean }) => {
      if (!isSeen(walletId)) throw new WalletError('WALLET_NOT_FOUND', { walletId })
      return account.openWallet(walletId, openOptions)
    }
  })
}

/** An object with some of its members; the others are refused, so that a new member is hidden until it is allowed here. */
const limited = <T extends object>(object: T, allowed: { readonly [K in keyof T]?: () => unknown }): T =>
  new Proxy(object, {
    get(_, name) {
      // A promise looks at it.
      if (typeof name === 'symbol' || name === 'then') return undefined
      const member = Object.hasOwn(allowed, name) ? allowed[name as keyof T] : undefined
      if (member !== undefined) return member()
      throw new CliError('CLIENT_REFUSED', 'The client may not do this')
    },
    set: () => false,
    has: (_, name) => Object.hasOwn(allowed, name)
  })
