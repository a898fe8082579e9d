import { makeActionHandler } from '../../app/actions/actions.ts'
import type { Cells } from '../../cells/node/open-cells.ts'
import { type Devtools, makeDevtools } from '../../devtools/core/devtools.ts'
import type { DevtoolsServerOptions } from '../../devtools/server/serve-devtools.ts'
import { makeChainControl, makeFakeWorldControl } from '../../fake-server/chain-control.ts'
import { FAKE_ADDRESSES, type FakeWorld, makeFakeWorld } from '../../fake-server/fake-world.ts'
import {
  type Account,
  amountText,
  type CurrencyWallet,
  createKernel,
  type Io,
  type Kernel,
  type LogLine,
  nativeAmount,
  type Plugin
} from '../../kernel/index.ts'
import { defaultPlugins } from '../../plugins/default-plugins.ts'
import { memoryStorage } from '../../plugins/storage/memory.ts'
import { CliError } from '../errors/cli-error.ts'
import { followPlugin, throwIfFailed } from '../plugins/followed-plugin.ts'
import { grantsOf, openPluginCells } from '../plugins/load-plugins.ts'
import type { PluginBundle } from '../plugins/plugin-list.ts'
import { sourcePlaces } from '../plugins/source-places.ts'
import { kernelSettings } from '../profile/open-profile.ts'
import { withOwnServers } from '../profile/open-world.ts'

/** A plugin that runs in a {@link DevWorld}. */
export interface DevPlugin {
  readonly id: string
  readonly kind: string
  readonly hosts: readonly string[]
}

/** A tap of the plugin that has run. */
export interface DevCall {
  readonly hook: string
  readonly durationMs: number
  readonly outcome: 'answered' | 'done' | 'failed'
}

/** Options of {@link DevWorld}. */
export interface DevWorldOptions {
  readonly io: Io
  /** Called with each line of the log about the plugin. */
  onLog(line: LogLine): void
  onCall(call: DevCall): void
}

interface Running {
  readonly plugin: DevPlugin
  readonly cells: Cells
  readonly kernel: Kernel
  account: Account | undefined
}

/**
 * A fake world that stays while a plugin changes: the chain, the account and its wallets are those of before, and each version
 * of the plugin runs in a fresh cell and kernel. The kernel of the version before is closed, and with it the plugin by its own
 * `closing` and engines by `killEngine`.
 */
export class DevWorld {
  readonly devtools: Devtools
  readonly #io: Io
  readonly #world: FakeWorld
  readonly #control: ReturnType<typeof makeFakeWorldControl>
  readonly #files = new Map<string, string>()
  readonly #options: DevWorldOptions
  #loginKey: string | undefined
  #running: Running | undefined

  constructor(options: DevWorldOptions) {
    this.#options = options
    this.#world = makeFakeWorld({ io: options.io })
    this.#io = withOwnServers(this.#world, options.io)
    this.#control = makeFakeWorldControl(makeChainControl(this.#world))
    this.devtools = makeDevtools({ clock: this.#io.clock })
  }

  get isOnline(): boolean {
    return this.#world.network.current.isOnline
  }

  /** True while a version runs: not after one that failed when its kernel opened, since the one before has ended by then. */
  get isRunning(): boolean {
    return this.#running?.account !== undefined
  }

  /** The wallets with their balances and the states of their engines, a line each. */
  get wallets(): readonly string[] {
    return this.#wallets().map(wallet => {
      const { name, currencyInfo } = wallet
      return `${name ?? currencyInfo.displayName}  ${amountText(wallet.balanceOf(null), currencyInfo)}`
    })
  }

  /**
   * Starts a version of the plugin in place of the one before, which goes on if the new one is no plugin, or throws in
   * `apply`.
   *
   * @throws CliError PLUGIN_REFUSED, and what the plugin throws
   */
  async load({ code, sha512, map }: PluginBundle): Promise<DevPlugin> {
    const { onLog } = this.#options
    const placeOf = sourcePlaces(() => map)
    const cells = await openPluginCells(onLog, this.devtools)
    try {
      const { id, kind, hosts, keys } = await cells.inspect(code, placeOf)
      const asks = grantsOf({ kind, hosts, seesKeys: keys })
      const { pluginOptions } = kernelSettings(FAKE_ADDRESSES)
      const options = pluginOptions?.[id] ?? {}
      const followed = followPlugin(await cells.plugin({ id, code, sha512, asks, options, placeOf }))
      const { plugin } = followed
      await this.#stop()
      const kernel = await this.#openKernel(plugin)
      this.#running = { plugin: { id, kind, hosts }, cells, kernel, account: undefined }
      throwIfFailed(kernel)
      await followed.ended(this.#io.clock)
      const account = await this.#logIn(kernel, plugin)
      this.#running.account = account
      this.#use(kernel, account, plugin).catch((error: unknown) => {
        if (!account.isLoggedIn) return
        const text = error instanceof Error ? error.message : 'It failed'
        onLog({ source: id, level: 'warn', text, at: new Date().toISOString() })
      })
      return this.#running.plugin
    } catch (error) {
      if (this.#running?.cells !== cells) cells.close()
      throw error
    }
  }

  /** Pays from the faucet to each wallet whose chain the world has. @returns sentences about what was paid */
  async fund(): Promise<readonly string[]> {
    const paid: string[] = []
    for (const wallet of this.#wallets()) {
      const { currencyInfo } = wallet
      const { pluginId, displayName } = currencyInfo
      const native = nativeAmount('5000000')
      try {
        const { publicAddress } = await wallet.getReceiveAddress()
        await this.#control.fund(pluginId, publicAddress, native)
        await this.#control.mine(pluginId, 1)
        paid.push(`${amountText(native, currencyInfo)} to ${displayName}`)
      } catch (error) {
        paid.push(`nothing to ${displayName}: ${error instanceof Error ? error.message : 'it failed'}`)
      }
    }
    return paid
  }

  setOnline(isOnline: boolean): Promise<void> {
    return this.#control.setOnline(isOnline)
  }

  /** Joins a panel to the kernel that runs, and to those that follow it. */
  attach: NonNullable<DevtoolsServerOptions['attach']> = channel => {
    let served:
      | { readonly kernel: Kernel; readonly handler: ReturnType<typeof makeActionHandler> }
      | undefined
    const handler = (): ReturnType<typeof makeActionHandler> => {
      const kernel = this.#running?.kernel
      if (kernel === undefined) throw new CliError('NOT_FOUND', 'No version of the plugin runs')
      if (served?.kernel === kernel) return served.handler
      served?.handler.close()
      const made = makeActionHandler({
        ...{ context: kernel.context, io: this.#io, world: this.#control, isReadOnly: false, isAlone: true }
      })
      served = { kernel, handler: made }
      return made
    }
    this.devtools.watchWorld(this.#control)
    const detach = this.devtools.attach(channel, {
      runAction: async (name, input) => handler()(name, input),
      hasWorld: true,
      isReadOnly: false,
      isSlow: () => channel.isSlow()
    })
    return () => {
      detach()
      served?.handler.close()
    }
  }

  async close(): Promise<void> {
    await this.#stop().finally(() => this.#world.close())
  }

  #wallets(): readonly CurrencyWallet[] {
    const account = this.#running?.account
    if (account === undefined || !account.isLoggedIn) return []
    return [...account.getSnapshot().activeWalletIds].flatMap(id => {
      try {
        return [account.wallet(id)]
      } catch {
        // It is not open yet.
        return []
      }
    })
  }

  /** Ends the version that runs, by the way in which an application ends it. */
  async #stop(): Promise<void> {
    const running = this.#running
    this.#running = undefined
    if (running === undefined) return
    try {
      await running.kernel.close()
    } finally {
      running.cells.close()
    }
  }

  #openKernel(plugin: Plugin): Promise<Kernel> {
    const { onLog, onCall } = this.#options
    const { id } = plugin
    return createKernel({
      ...kernelSettings(FAKE_ADDRESSES),
      io: this.#io,
      deviceDescription: 'holdfast plugins dev',
      // Nothing here is worth a second of scrypt.
      passwordSnrp: { cost: { n: 16, r: 1, p: 1 } },
      logLevel: 'debug',
      plugins: [
        memoryStorage(this.#files),
        this.devtools.plugin,
        {
          kind: 'observer',
          id: 'plugins-dev',
          apply({ hooks }) {
            hooks.logged.tap('plugins-dev', line => {
              if (line.source === id) onLog(line)
            })
            hooks.tapRan.tap('plugins-dev', ran => {
              if (ran.pluginId === id) onCall(ran)
            })
          }
        },
        ...defaultPlugins.filter(each => each.id !== id),
        plugin
      ]
    })
  }

  async #logIn({ context }: Kernel, plugin: Plugin): Promise<Account> {
    const username = 'author'
    if (this.#loginKey === undefined) {
      const account = await context.createAccount({ username, password: 'a plugin in an afternoon' })
      this.#loginKey = await account.getLoginKey()
      await this.#addWallets(account, plugin)
      return account
    }
    const account = await context.loginWithKey({ username }, this.#loginKey)
    await this.#addWallets(account, plugin)
    return account
  }

  /** Calls the plugin as an application would, so that its calls can be seen: for prices, or for a quote. */
  async #use({ context }: Kernel, account: Account, { kind }: Plugin): Promise<void> {
    if (kind === 'rates') {
      context.rates.want([{ fromCurrency: 'BTC', toCurrency: 'iso:USD' }])
      await context.rates.refresh()
    }
    if (kind !== 'swap') return
    await account.openAllWallets()
    const [fromWallet, toWallet] = ['bitcoin', 'litecoin'].map(pluginId =>
      this.#wallets().find(({ currencyInfo }) => currencyInfo.pluginId === pluginId)
    )
    if (fromWallet === undefined || toWallet === undefined) return
    const nativeAmount = SWAP_AMOUNT
    await account.fetchSwapQuotes(
      { fromWallet, toWallet, nativeAmount, quoteFor: 'from' },
      { waitMs: 10_000 }
    )
  }

  /** A Bitcoin wallet, and what the plugin needs beside it, once each. */
  async #addWallets(account: Account, plugin: Plugin): Promise<void> {
    const more = plugin.kind === 'currency' ? [plugin.info.walletType] : []
    const types = ['wallet:bitcoin', ...(plugin.kind === 'swap' ? ['wallet:litecoin'] : more)]
    const has = new Set(account.listWallets().map(({ type }) => type))
    for (const type of types) if (!has.has(type)) await account.createCurrencyWallet(type)
    // Their engines report by themselves.
    void account.openAllWallets()
  }
}

const SWAP_AMOUNT = nativeAmount('1000000')
