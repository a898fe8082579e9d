import { compact } from '../../kernel/index.ts'
import { type AccountActions, accountActions } from './account.ts'
import { ActionError } from './action-error.ts'
import { type ApprovalActions, approvalActions } from './approvals.ts'
import { type CoinActions, coinActions } from './coins.ts'
import { type CommandNames, type CommandWords, shellLine } from './command-line.ts'
import type { ActionDeclaration, DeclarationsOf } from './declaration.ts'
import { type HistoryActions, historyActions } from './history.ts'
import { type HoldingActions, holdingActions } from './holdings.ts'
import { type MessageActions, messageActions } from './messages.ts'
import { type MethodActions, methodActions } from './methods.ts'
import { type PaymentActions, paymentActions } from './payments.ts'
import { type PluginActions, pluginActions } from './plugins.ts'
import { type ProposalActions, proposalActions } from './proposals.ts'
import { type RateActions, rateActions } from './rates.ts'
import { type RuleActions, ruleActions } from './rules.ts'
import { type AnyField, boundedResult, inputError, readFields } from './schema.ts'
import { type ActionHost, type ActionServices, makeActionServices } from './services.ts'
import { type SwapActions, swapActions } from './swaps.ts'
import { type WalletActions, walletActions } from './wallets.ts'
import { type WatchListener, watchResults } from './watch-action.ts'
import { type WorldActions, worldActions } from './world.ts'

/**
 * Everything that a face can do: the input and the result of each action. Both are JSON, so that the same actions go to a
 * kernel in this process and to one in another. Amounts are native units, as decimal text.
 */
export interface Actions
  extends AccountActions,
    HoldingActions,
    WalletActions,
    MethodActions,
    MessageActions,
    PluginActions,
    HistoryActions,
    PaymentActions,
    CoinActions,
    ApprovalActions,
    SwapActions,
    RateActions,
    RuleActions,
    ProposalActions,
    WorldActions {}

/** The name of an action. */
export type ActionName = keyof Actions

/** One action with what it needs. */
export type Action = {
  readonly [K in ActionName]: { readonly name: K; readonly input: Actions[K]['in'] }
}[ActionName]

/** Does actions; rejects with an error that has `code`, `message` and maybe a `hint`. */
export type ActionHandler = <K extends ActionName>(
  name: K,
  input: Actions[K]['in']
) => Promise<Actions[K]['out']>

/** The declaration of each action. */
export const declarations: DeclarationsOf<Actions> = {
  ...accountActions,
  ...holdingActions,
  ...walletActions,
  ...methodActions,
  ...messageActions,
  ...pluginActions,
  ...historyActions,
  ...paymentActions,
  ...coinActions,
  ...approvalActions,
  ...swapActions,
  ...rateActions,
  ...ruleActions,
  ...proposalActions,
  ...worldActions
}

/** The names of all actions; a message may name any of them and nothing else. */
export const actionNames: ReadonlySet<string> = new Set(Object.keys(declarations))

/** An action with its name; `input.schema` and `output.schema` are JSON Schema. */
export interface NamedAction
  extends Omit<
    ActionDeclaration<never, never>,
    'changesAt' | 'commandLine' | 'input' | 'output' | 'run' | 'watch'
  > {
  readonly name: ActionName
  readonly input: AnyField
  readonly output: AnyField
}

/** All actions, for those who offer them one by one; {@link runAction} runs them. */
export const actions: readonly NamedAction[] = (Object.keys(declarations) as ActionName[]).map(name => {
  const { title, summary, effect, isAboutAddresses, input, output, faces } = declarations[name]
  return { name, title, summary, effect, input, output, faces, ...compact({ isAboutAddresses }) }
})

const namesWhere = (isSo: (action: NamedAction) => boolean): ReadonlySet<ActionName> =>
  new Set(actions.filter(isSo).map(({ name }) => name))

/** The actions that change nothing, which a read-only panel may do, too. */
export const readingActions: ReadonlySet<ActionName> = namesWhere(({ effect }) => effect === 'reads')

/** The actions that are about an address or a txid itself: of no use where these are hidden. */
export const addressActions: ReadonlySet<ActionName> = namesWhere(
  ({ isAboutAddresses }) => isAboutAddresses === true
)

/**
 * Checks the input of an action: from a socket it may be anything. Fields that the action does not know are left out,
 * and so are those that are undefined.
 *
 * @throws ActionError BAD_MESSAGE, naming the field
 */
export const readInput = <K extends ActionName>(name: K, input: unknown): Actions[K]['in'] =>
  readFields(name, declarationOf(name).input, input)

const declarationOf = <K extends ActionName>(
  name: K
): ActionDeclaration<Actions[K]['in'], Actions[K]['out']> => {
  // From JavaScript or a socket it may be no text at all.
  if (typeof name !== 'string' || !Object.hasOwn(declarations, name))
    throw inputError('name', 'Unknown action')
  return declarations[name] as unknown as ActionDeclaration<Actions[K]['in'], Actions[K]['out']>
}

/**
 * Does one action of a client on a kernel. The input is checked, whoever sends it, and the result is brought into the
 * bounds of its schema.
 *
 * @throws ActionError, or what the kernel throws; neither repeats a password or PIN
 * @example
 * ```ts
 * const { draftId, review } = await runAction(services, 'spend.draft', { walletId, publicAddress, nativeAmount: '5000' })
 * ```
 */
export const runAction = async <K extends ActionName>(
  services: ActionServices,
  name: K,
  input: Actions[K]['in']
): Promise<Actions[K]['out']> => {
  const read = readInput(name, input)
  if (services.isClosed)
    throw new ActionError({
      code: 'GONE',
      message: 'The devtools have been closed',
      details: { what: 'devtools' }
    })
  const { run, output } = declarationOf(name)
  return boundedResult(output, await run(services, read))
}

/**
 * Watches the result of an action, which is run now and whenever its result may be another one, until the returned function is
 * called. One that is not made to be watched is run once.
 *
 * @throws ActionError, or what the kernel throws
 */
export type ActionWatcher = <K extends ActionName>(
  name: K,
  input: Actions[K]['in'],
  listener: WatchListener<Actions[K]['out']>
) => () => void

/** Does actions until it is closed; then every draft is declined, and every round of quotes closed. */
export type KernelActionHandler = ActionHandler & { readonly watch: ActionWatcher; close(): void }

/** Does the actions of one panel on a kernel, with drafts and rounds of its own. */
export const makeActionHandler = (host: ActionHost): KernelActionHandler => {
  const services = makeActionServices(host)
  const run: ActionHandler = (name, input) => runAction(services, name, input)
  const watch: ActionWatcher = (name, input, listener) => {
    const { watch: onChange, changesAt } = declarationOf(name)
    const read = readInput(name, input)
    const watched = { run: () => runAction(services, name, read), ...compact({ watch: onChange, changesAt }) }
    return watchResults(services, watched, read, listener)
  }
  return Object.assign(run, { watch, close: () => services.close() })
}

/**
 * The command that does the same as an action. What leads to a review is the command that shows the same review and asks
 * before it signs; only what signs nothing at the end, as giving a draft up, is a dry run.
 */
export const commandLineOf = (action: Action, names: CommandNames): string | undefined => {
  const { commandLine } = declarationOf(action.name) as ActionDeclaration<Action['input'], unknown>
  const command: CommandWords | undefined = commandLine(action.input, names)
  return command === undefined ? undefined : shellLine(command)
}
