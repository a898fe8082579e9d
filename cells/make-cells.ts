import {
  type EngineLog,
  type JsonObject,
  type Plugin,
  type PluginId,
  WalletError
} from '../kernel/plugin-api.ts'
import { Cell } from './cell.ts'
import type { CellTrace } from './cell-call.ts'
import { canFetch, containedPlugin, isSignedFor, shapeOf } from './contained-plugin.ts'
import {
  type CellFault,
  type CellGrants,
  type CellPlatform,
  type CellThread,
  endSentence,
  type ThreadRequest
} from './platform.ts'
import { addPlace, type FromCell, findImport, type PlaceOf, readGiven, readMessage } from './protocol.ts'

/** One plugin to contain. */
export interface ContainedPlugin {
  readonly id: PluginId
  /** One script without imports, which calls `definePlugin`, or leaves its exports in the global `__plugin`. */
  readonly code: string
  /** The SHA-512 of the code as it was when it was added: hex, base64, or as `sha512-…`. */
  readonly sha512: string
  /** As the user has seen it. */
  readonly asks: CellGrants
  /** What the application gives this plugin: the same as in `pluginOptions` of the kernel. */
  readonly options?: JsonObject
  /** Adds to what the plugin throws where its source did; its texts are shown as they are. */
  readonly placeOf?: PlaceOf | undefined
}

/** What a bundle says of itself before it is trusted with anything. */
export interface BundleHead {
  readonly id: string
  readonly kind: string
  /** The hosts that it wants to fetch from; none for a kind that cannot, such as an observer. */
  readonly hosts: readonly string[]
  /** True for a currency, unless the kernel makes its keys and signs with them. */
  readonly keys: boolean
}

/** The cells of one kernel, on any platform. */
export interface CellSet {
  /**
   * Starts a cell, loads the plugin in it and applies it there.
   *
   * @returns a plugin for `createKernel`, whose every function calls the cell
   * @throws PLUGIN_INVALID for code that is not the one that was added or could import something, for a kind that cannot be
   *   contained, or a plugin of another id or kind; PLUGIN_FAILED if it does not load, or what it throws
   */
  plugin(contained: ContainedPlugin): Promise<Plugin>
  /**
   * Reads what a plugin says of itself, which its owner has not agreed to yet: it is evaluated in a cell, and not applied.
   *
   * @throws PLUGIN_INVALID as {@link plugin}, and for hosts that are none; PLUGIN_FAILED if its cell ends, or what it throws
   */
  inspect(code: string, placeOf?: PlaceOf): Promise<BundleHead>
  /** Ends every cell. Calls in flight fail. */
  close(): void
}

/** The SHA-512 of a text as UTF-8. */
export type Digest = (text: string) => { readonly hex: string; readonly base64: string }

/** Options of {@link makeCells}. */
export interface MakeCellsOptions {
  readonly platform: CellPlatform & { close(): void }
  readonly digest: Digest
  readonly log: EngineLog
  /** Called when a cell dies, runs again, or stays stopped. */
  onFault(fault: CellFault): void
  /** Called with each call into a cell that has ended. It is read at each call. */
  readonly onCall?: ((trace: CellTrace) => void) | undefined
}

/** Makes a place for contained plugins of the threads of a platform. */
export const makeCells = (made: MakeCellsOptions): CellSet => {
  const { platform, digest, log, onFault } = made
  const cells = new Set<Cell>()
  return {
    async plugin({ id, code, sha512, asks, options = {}, placeOf }) {
      checkCode(id, code, digest, sha512)
      const { hooks, parts } = shapeOf(id, asks)
      const cell = new Cell({
        ...{
          pluginId: id,
          code,
          grants: asks,
          options,
          hooks,
          parts,
          platform,
          log,
          onFault,
          placeOf
        },
        get onCall() {
          return made.onCall
        }
      })
      cells.add(cell)
      try {
        const head = await cell.open()
        return containedPlugin({ cell, head, grants: asks, options, log })
      } catch (error) {
        cell.close()
        cells.delete(cell)
        throw error
      }
    },
    inspect: (code, placeOf) => inspect(platform, digest, code, placeOf),
    close() {
      for (const cell of cells) cell.close()
      platform.close()
    }
  }
}

const inspect = (
  platform: CellPlatform,
  digest: Digest,
  code: string,
  placeOf: PlaceOf | undefined
): ReturnType<CellSet['inspect']> =>
  new Promise((resolve, reject) => {
    const pluginId = 'plugin'
    const { clock } = platform
    checkCode(pluginId, code, digest)
    const fail = (reason: string): void =>
      reject(new WalletError('PLUGIN_FAILED', { pluginId, hook: 'load', reason }))
    const end = (settle: () => void): void => {
      cancel()
      thread.kill()
      settle()
    }
    const open = { type: 'open', kind: null, options: {}, now: clock.now(), monotonic: clock.monotonic() }
    const request: ThreadRequest = {
      ...{ code, name: 'plugin.js', open: JSON.stringify(open), isAlone: true, busyFactor: 1 },
      onEnd: ({ reason }) => end(() => fail(`its cell ended: ${endSentence(reason)}`)),
      onText: text =>
        end(() => {
          try {
            const message = readMessage(pluginId, text)
            if ('error' in message && message.error !== undefined) addPlace(message.error, placeOf)
            if (message.type === 'unusable') reject(message.error)
            else if (message.type !== 'ready') fail('it sends before it is applied')
            else resolve(headOf(message))
          } catch (error) {
            reject(error)
          }
        })
    }
    let thread: CellThread
    try {
      thread = platform.start(request)
    } catch (error) {
      fail(endSentence('unstarted', error))
      return
    }
    const cancel = clock.after(LOAD_MS, () => end(() => fail('it does not say what it is')))
    thread.hold(true)
  })

const headOf = ({ found }: Extract<FromCell, { type: 'ready' }>): BundleHead => {
  const given = readGiven(found)
  const { id, kind, hosts = [] } = given
  const keys = kind === 'currency' && !isSignedFor(given)
  return { id, kind, hosts: canFetch(kind) ? [...hosts] : [], keys }
}

/** Milliseconds that a plugin may take to say what it is. */
export const LOAD_MS = 15_000

/** @throws PLUGIN_INVALID */
const checkCode = (pluginId: PluginId, code: string, digest: Digest, sha512?: string): void => {
  const refuse = (found: string, expected: string): never => {
    throw new WalletError('PLUGIN_INVALID', { pluginId, field: 'code', found, expected })
  }
  if (code.length > MAX_CODE) refuse(`${code.length} characters`, `at most ${MAX_CODE}`)
  const wanted = sha512?.replace(/^sha512-/, '')
  if (wanted !== undefined && !isDigest(digest(code), wanted))
    refuse('another file', 'the file that was added')
  const at = findImport(code)
  if (at !== undefined) {
    const line = code.slice(0, at).split('\n').length
    refuse(`import in line ${line}`, 'one script without imports')
  }
}

const MAX_CODE = 3_000_000

const isDigest = ({ hex, base64 }: ReturnType<Digest>, wanted: string): boolean =>
  hex === wanted.toLowerCase() || base64 === wanted
