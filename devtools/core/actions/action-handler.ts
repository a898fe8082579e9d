import { type Account, compact, typedPair, type WalletId } from '../../../kernel/index.ts'
import { ActionError } from '../model/action-error.ts'
import type { ActionHandler, ActionName, Actions } from '../model/actions.ts'
import type { FakeWorldControl } from '../model/world-control.ts'
import { DraftStore } from './drafts.ts'
import { inputError, readInput } from './input.ts'
import { type ActionServices, accountOf, type HandlersOf, openWalletIn, walletOf } from './services.ts'
import { type SpendDraft, spendHandlers } from './spend.ts'
import { OpenRounds, type SwapDraft, swapHandlers } from './swap.ts'

/** Does actions until it is closed; then every draft is declined, and every round of quotes closed. */
export type KernelActionHandler = ActionHandler & { close(): void }

/**
 * Does the actions of a panel on a kernel.
 *
 * Inputs are checked here, whoever sends them. A handler approves only its own drafts; accounts are found wherever they
 * were opened. It refuses with an `ActionError` or with what the kernel throws; neither repeats a password or PIN.
 */
export const makeActionHandler = (services: ActionServices): KernelActionHandler => {
  const spends = new DraftStore<SpendDraft>({ io: services.io, drop() {} })
  const swaps = new DraftStore<SwapDraft>({ io: services.io, drop: ({ answer }) => answer(false) })
  const rounds = new OpenRounds(roundId => swaps.discardWhere(draft => draft.roundId === roundId))
  let isClosed = false
  const handlers: Handlers = {
    ...accountHandlers(services, ({ id }) => {
      spends.discardWhere(({ account }) => account.id === id)
      swaps.discardWhere(({ accountId }) => accountId === id)
      rounds.closeOfAccount(id)
    }),
    ...walletHandlers(services),
    ...spendHandlers(services, spends),
    ...swapHandlers(services, { rounds, drafts: swaps }),
    ...rateHandlers(services),
    ...worldHandlers(services)
  }
  const runAction = async <K extends ActionName>(
    name: K,
    input: Actions[K]['in']
  ): Promise<Actions[K]['out']> => {
    const read = readInput(name, input)
    if (isClosed)
      throw new ActionError({
        code: 'GONE',
        message: 'The devtools have been closed',
        details: { what: 'devtools' }
      })
    return handlers[name](read)
  }
  return Object.assign(runAction, {
    close(): void {
      isClosed = true
      spends.close()
      swaps.close()
      rounds.closeAll()
    }
  })
}

type Handlers = {
  readonly [K in ActionName]: (input: Actions[K]['in']) => Promise<Actions[K]['out']>
}

/** Logs in and out. `leaving` receives an account before it logs out. */
const accountHandlers = (
  services: ActionServices,
  onLogout: (account: Account) => void
): HandlersOf<'account'> => ({
  'account.create': async account => openWallets(services, await services.context.createAccount(account)),
  'account.login': async input => openWallets(services, await logIn(services, input)),
  async 'account.logout'({ accountId }) {
    const account = accountOf(services, accountId)
    onLogout(account)
    await account.logout()
    return {}
  }
})

const logIn = (
  { context }: ActionServices,
  { username, loginId, password, pin }: Actions['account.login']['in']
): Promise<Account> => {
  if (username === undefined && (loginId === undefined || pin === undefined))
    throw inputError(
      'username',
      'A login needs a username, or the id of an account of this device with its PIN'
    )
  if (username !== undefined && password !== undefined && pin === undefined)
    return context.loginWithPassword(username, password)
  if (pin !== undefined && password === undefined)
    return context.loginWithPIN(username === undefined ? { loginId: loginId ?? '' } : { username }, pin)
  throw inputError('password', 'A login needs either the password or the PIN')
}

/** Wallets open when they are first asked for; here that is now. The engine of each reports its progress. */
const openWallets = ({ pausedWallets }: ActionServices, account: Account): { accountId: string } => {
  void account.openAllWallets(walletId => pausedWallets?.has(walletId) === true).catch(() => {})
  return { accountId: account.id }
}

/** Wallets, their engines and their files. */
const walletHandlers = (services: ActionServices): HandlersOf<'wallet' | 'engine' | 'repo'> => ({
  async 'wallet.create'({ accountId, walletType, name }) {
    const account = accountOf(services, accountId)
    const wallet = await account.createCurrencyWallet(walletType, name === undefined ? {} : { name })
    return { walletId: wallet.id }
  },
  async 'wallet.receive'({ walletId }) {
    const { wallet } = await walletOf(services, walletId)
    const { publicAddress } = await wallet.getReceiveAddress()
    return { publicAddress, uri: await wallet.encodeUri({ publicAddress }) }
  },
  'engine.pause': ({ walletId }) => changePaused(services, walletId, true),
  'engine.resume': ({ walletId }) => changePaused(services, walletId, false),
  async 'engine.resync'({ walletId }) {
    const { wallet } = await walletOf(services, walletId)
    await wallet.resyncBlockchain()
    return {}
  },
  async 'repo.sync'({ repoId }) {
    await syncRepo(services, repoId)
    return {}
  }
})

const changePaused = async (
  services: ActionServices,
  walletId: WalletId,
  isPaused: boolean
): Promise<Record<string, never>> => {
  const { wallet } = await walletOf(services, walletId)
  // First, since a disk can refuse it: what failed has changed nothing.
  services.pausedWallets?.change(walletId, isPaused)
  await wallet.changePaused(isPaused)
  return {}
}

/** A wallet is synced alone; the files of an account go with all that belongs to it. */
const syncRepo = async (services: ActionServices, repoId: string): Promise<void> => {
  for (const account of services.context.accounts) {
    const repo = account.listRepos().find(each => each.repoId === repoId)
    if (repo === undefined) continue
    const isWallet = account.listWallets().some(one => one.isWallet && one.walletId === repo.ownerId)
    if (!isWallet) return account.sync()
    return (await openWalletIn(services, account, repo.ownerId)).sync()
  }
  throw new ActionError({ code: 'GONE', message: 'This repo is not open', details: { what: 'repo' } })
}

/** Exchange rates and the routes through them. */
const rateHandlers = ({ context, isReadOnly = false }: ActionServices): HandlersOf<'rates'> => ({
  async 'rates.route'({ from, to, biases, alternatives }) {
    const { fromCurrency, toCurrency } = typedPair(context.rates.pairs(), from, to)
    const found = context.rates.findRoute(fromCurrency, toCurrency, {
      isLookOnly: isReadOnly,
      ...compact({ biases, alternatives })
    })
    if (found === undefined) return { route: null, alternatives: [] }
    const { alternatives: others, ...route } = found
    return { route, alternatives: others }
  },
  async 'rates.refresh'() {
    await context.rates.refresh()
    return {}
  }
})

/** Drives the fake world. Each refuses with NO_WORLD where there is none. */
const worldHandlers = (services: ActionServices): HandlersOf<'world'> => ({
  async 'world.fund'({ walletId, nativeAmount }) {
    const world = worldOf(services)
    const { wallet } = await walletOf(services, walletId)
    const { publicAddress } = await wallet.getReceiveAddress()
    return { txid: await world.fund(wallet.currencyInfo.pluginId, publicAddress, nativeAmount) }
  },
  async 'world.mine'({ pluginId, count }) {
    return { height: await worldOf(services).mine(pluginId, count) }
  },
  async 'world.network'({ isOnline }) {
    await worldOf(services).setOnline(isOnline)
    return { isOnline }
  }
})

const worldOf = ({ world }: ActionServices): FakeWorldControl => {
  if (world === undefined)
    throw new ActionError({ code: 'NO_WORLD', message: 'This kernel does not use a fake world' })
  return world
}
