import {
  type CurrencyEngine,
  type CurrencyInfo,
  type CurrencyPlugin,
  type CurrencyTools,
  compact,
  type EngineCallbacks,
  type EngineFiles,
  type EngineRequest,
  type Json,
  type JsonObject,
  type Reply,
  type SigningOptions,
  type TokenMap,
  WalletError
} from '../kernel/plugin-api.ts'
import { engineMethods, type MethodNames, toolMethods } from '../kernel/plugins/method-names.ts'
import type { Cell } from './cell.ts'
import type { CellCall, ContextFunctions } from './cell-call.ts'
import { hostFunctions, logNotes } from './host-functions.ts'
import { type ContainedOptions, checkOptions, tapLifecycle, tapsOf, writeStore } from './plugin-calls.ts'
import { bytesOf, type CellTap, decoded, numberOf, standIn, textOf } from './protocol.ts'

/**
 * The plugin that the kernel applies in place of a currency in a cell. Its process holds no other cell: it gets the keys of its
 * wallets, for the calls that need them.
 */
export const currencyPlugin = ({ cell, head, grants, options }: ContainedOptions): CurrencyPlugin => {
  const { given } = head
  const { pluginId: id } = cell
  const { info } = given as CurrencyPlugin
  return {
    ...(given as CurrencyPlugin),
    ...{ kind: 'currency', id },
    apply(host) {
      checkOptions(cell, options, host)
      cell.attach(hostFunctions(cell, { ...host, hosts: grants.hosts }), host.io.clock)
      const { hooks } = host
      tapLifecycle(cell, head, hooks)
      for (const { target, order } of tapsOf(head, 'makeTools'))
        hooks.makeTools.tapPromise(id, () => makeTools(cell, target), order)
      for (const { target, order } of tapsOf(head, 'makeEngine'))
        hooks.makeEngine.tapPromise(id, request => makeEngine({ cell, target, info }, request), order)
      for (const { target, order } of tapsOf(head, 'builtinTokens'))
        hooks.builtinTokens.tapPromise(
          id,
          async () => (decoded(await cell.call({ target, isRepeatable: true })) ?? undefined) as TokenMap,
          order
        )
    }
  }
}

/** An object that the plugin has made: its number in the cell, and which of the known methods it has. */
interface Handle {
  readonly object: number
  readonly methods: readonly string[]
}

/** Thrown for an answer that is no object, which the kernel is to judge as it is. */
class NoObject extends Error {
  readonly answer: unknown

  constructor(answer: unknown) {
    super('It is no object')
    this.answer = answer
  }
}

/** An object of the plugin that is made again in each life of its cell, by the first call in it, until it is ended. */
class CellObject {
  readonly #cell: Cell
  readonly #make: (isAgain: boolean) => Promise<Handle>
  #made: { readonly life: Cell['life']; readonly handle: Promise<Handle> } | undefined
  #isAgain = false
  #isEnded = false

  constructor(cell: Cell, make: (isAgain: boolean) => Promise<Handle>) {
    this.#cell = cell
    this.#make = make
  }

  handle(): Promise<Handle> {
    if (this.#isEnded) {
      const about = { pluginId: this.#cell.pluginId, hook: 'makeEngine', reason: 'its engine was ended' }
      return Promise.reject(new WalletError('PLUGIN_FAILED', about))
    }
    if (this.#made !== undefined && !this.#made.life.aborted) return this.#made.handle
    const made = { life: this.#cell.life, handle: this.#make(this.#isAgain) }
    this.#made = made
    made.handle.then(
      () => {
        this.#isAgain = true
      },
      () => {
        if (this.#made === made) this.#made = undefined
      }
    )
    return made.handle
  }

  /** Calls a method. Keys may be among the arguments: nothing is sent twice. */
  async call(method: string, args: readonly unknown[], context?: CellCall['context']): Promise<unknown> {
    const { object } = await this.handle()
    return callObject(this.#cell, { object, method, args, ...compact({ context }) })
  }

  /**
   * Calls a method for the last time, if the object is there in the present life of the cell, and has the cell forget the object.
   * It is never made again.
   */
  async end(method: string): Promise<void> {
    const made = this.#made
    this.#isEnded = true
    this.#made = undefined
    if (made === undefined || made.life.aborted) return
    const { object } = (await made.handle.catch(() => undefined)) ?? {}
    if (object === undefined) return
    try {
      await callObject(this.#cell, { object, method, args: [] })
    } finally {
      if (!made.life.aborted)
        await callObject(this.#cell, { object, method: 'forget', args: [] }).catch(() => {})
    }
  }
}

interface ObjectCall {
  readonly object: number
  readonly method: string
  readonly args: readonly unknown[]
  readonly context?: NonNullable<CellCall['context']>
}

const callObject = async (cell: Cell, { object, method, args, context }: ObjectCall): Promise<unknown> => {
  const call = { target: { object, method }, args, isRepeatable: false, ...compact({ context }) }
  return decoded(await cell.call(call)) ?? undefined
}

/** @throws NoObject */
const handleOf = (reply: Reply): Handle => {
  const answer = reply.object().field('answer')
  if (answer.value !== undefined) throw new NoObject(standIn(answer))
  const methods = reply.field('methods').list(100)
  return { object: numberOf(reply.field('object')), methods: methods.map(name => name.text()) }
}

/** What the kernel gets in place of an object: its methods, or the answer that was none. */
const objectOf = async <T>(
  object: CellObject,
  names: readonly string[],
  run: (name: string, args: readonly unknown[]) => Promise<unknown>
): Promise<T> => {
  try {
    const { methods } = await object.handle()
    return Object.fromEntries(
      methods
        .filter(name => names.includes(name))
        .map(name => [name, (...args: unknown[]) => run(name, args)])
    ) as T
  } catch (error) {
    if (error instanceof NoObject) return error.answer as T
    throw error
  }
}

const makeTools = (cell: Cell, target: CellTap['target']): Promise<CurrencyTools> => {
  const tools = new CellObject(cell, async () =>
    handleOf(await cell.call({ target, methods: TOOLS, isRepeatable: true }))
  )
  return objectOf(tools, TOOLS, (name, args) => tools.call(name, args))
}

/** The engine of a wallet, with what a new life of the plugin has to know of the present one. */
const makeEngine = async (
  {
    cell,
    target,
    info
  }: { readonly cell: Cell; readonly target: CellTap['target']; readonly info: CurrencyInfo },
  request: EngineRequest
): Promise<CurrencyEngine> => {
  const { walletInfo, customTokens, enabledTokenIds, userSettings, seenTxCheckpoint, store } = request
  const others = Object.keys(info.otherMethods ?? {})
  const state: Record<string, unknown> = {
    walletInfo,
    customTokens,
    enabledTokenIds,
    userSettings,
    seenTxCheckpoint
  }
  // One for all lives of the engine.
  const lines = logNotes(cell, request.log)
  const replayed = new Map<string, readonly unknown[]>()
  let contextId = 0
  const engine = new CellObject(cell, async isAgain => {
    cell.forgetContext(contextId)
    const making = cell.call({
      ...{ target, args: [state], isRepeatable: true },
      methods: [...ENGINE, ...others.map(name => `otherMethods.${name}`)],
      context: {
        ...{ at: 0, signal: false, units: null, store: [...store.entries('')], isKept: true },
        notes: { ...engineNotes(request, state), ...lines },
        requests: {
          'store.write': changes => writeStore(store, changes),
          ...fileRequests('localFiles', () => request.localFiles),
          ...fileRequests('syncedFiles', () => request.syncedFiles)
        }
      },
      onStart(id) {
        contextId = id
      }
    })
    const handle = handleOf(
      await making.catch(error => {
        cell.forgetContext(contextId)
        throw error
      })
    )
    // The kernel starts the first itself.
    if (isAgain)
      for (const method of REPLAYED) {
        const args = replayed.get(method)
        if (args !== undefined) await callObject(cell, { object: handle.object, method, args })
      }
    return handle
  })
  const run = async (name: string, args: readonly unknown[]): Promise<unknown> => {
    const field = STATE[name]
    if (field !== undefined) state[field] = args[0]
    if (REPLAYED.includes(name)) replayed.set(name, args)
    if (name === 'signTx') return signTx(engine, args)
    // No engine in a cell searches for so long that it is followed.
    if (name === 'sweepPrivateKeys') return engine.call(name, args.slice(0, 3))
    return name === 'killEngine'
      ? engine.end(name).finally(() => cell.forgetContext(contextId))
      : engine.call(name, args)
  }
  const callOther = (name: string): ((args: JsonObject) => Promise<Json | undefined>) =>
    (async args => engine.call(`otherMethods.${name}`, [args])) as (
      args: JsonObject
    ) => Promise<Json | undefined>
  const made = await objectOf<CurrencyEngine | undefined>(engine, ENGINE, run)
  if (typeof made !== 'object' || made === null) return made as unknown as CurrencyEngine
  const { methods } = await engine.handle()
  const answered = others.filter(name => methods.includes(`otherMethods.${name}`))
  return { ...made, otherMethods: Object.fromEntries(answered.map(name => [name, callOther(name)])) }
}

/** What an engine made again has to be called with before anything else. */
const REPLAYED: readonly string[] = ['reservePayments', 'freezeCoins', 'startEngine', 'changePaused']

/** The files of a wallet, as its engine in a cell asks for them. */
const fileRequests = (name: string, files: () => EngineFiles): NonNullable<ContextFunctions['requests']> => ({
  [`${name}.getText`]: path => files().getText(textOf(path, MAX_PATH)),
  [`${name}.setText`]: async (path, text) => {
    await files().setText(textOf(path, MAX_PATH), textOf(text, MAX_FILE))
    return null
  },
  [`${name}.getData`]: path => files().getData(textOf(path, MAX_PATH)),
  [`${name}.setData`]: async (path, data) => {
    await files().setData(textOf(path, MAX_PATH), bytesOf(data, MAX_FILE))
    return null
  },
  [`${name}.delete`]: async path => {
    await files().delete(textOf(path, MAX_PATH))
    return null
  },
  [`${name}.list`]: async folder => [...(await files().list(textOf(folder, MAX_PATH)))]
})

const MAX_PATH = 1024
const MAX_FILE = 2_000_000

/** A signature may report how far it is. */
const signTx = (engine: CellObject, [transaction, keys, options]: readonly unknown[]): Promise<unknown> => {
  const { onProgress } = (options ?? {}) as SigningOptions
  if (onProgress === undefined) return engine.call('signTx', [transaction, keys])
  return engine.call('signTx', [transaction, keys, {}], {
    ...{ at: 2, signal: false, store: null, units: null },
    notes: { onProgress: ratio => onProgress(Number(ratio.value)) }
  })
}

/** What an engine reports. The kernel checks it, as it does for every engine. */
const engineNotes = (
  { callbacks }: Pick<EngineRequest, 'callbacks'>,
  state: Record<string, unknown>
): Readonly<Record<string, (...args: Reply[]) => void>> => {
  const notes: Record<string, (...args: Reply[]) => void> = {}
  for (const name of CALLBACKS)
    notes[`callbacks.${name}`] = (...args) => {
      const values = args.map(decoded)
      // A later life goes on from there.
      if (name === 'onSeenTxCheckpoint') state.seenTxCheckpoint = values[0]
      ;(callbacks[name] as (...given: unknown[]) => void)(...values)
    }
  return notes
}

const CALLBACKS = Object.keys({
  ...{ onAddressChanged: true, onAddressesChecked: true, onTokenBalanceChanged: true },
  ...{ onBalanceDetailsChanged: true, onBlockHeightChanged: true, onTransactionsChanged: true },
  ...{ onStatus: true, onConnectionChanged: true, onNewTokens: true, onStakingStatusChanged: true },
  ...{ onUnactivatedTokenIdsChanged: true, onSeenTxCheckpoint: true }
} satisfies MethodNames<EngineCallbacks>) as readonly (keyof EngineCallbacks)[]

const TOOLS = Object.keys(toolMethods)
const ENGINE = Object.keys(engineMethods)

/** The field of an engine's request that a later call replaces. */
const STATE: Readonly<Record<string, string>> = {
  changeUserSettings: 'userSettings',
  changeCustomTokens: 'customTokens',
  changeEnabledTokenIds: 'enabledTokenIds'
}
