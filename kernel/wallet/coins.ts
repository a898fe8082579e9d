import { nativeAmount } from '../base/amount.ts'
import { compact } from '../base/compact.ts'
import { copyList } from '../base/copy-data.ts'
import { WalletError } from '../base/errors.ts'
import { isRecord, type JsonObject, parseJson } from '../base/json.ts'
import { isWellFormed } from '../crypto/encoding.ts'
import { JsonFile } from '../sync/json-file.ts'
import type { CurrencyEngine, EngineCoin } from '../types/engine.ts'
import type { PluginId } from '../types/ids.ts'
import type { EngineSupervisor } from './engine/supervisor.ts'
import { isBalance } from './engine/validate.ts'
import type { WalletContext } from './options.ts'

/** What a person says of a coin, on all devices; it stays once the coin is spent. */
export interface CoinNote {
  /** `txid:vout`. */
  readonly outpoint: string
  /** No payment, replacement, maximum or sweep takes it. */
  readonly isFrozen: boolean
  readonly label?: string
}

/** A change of a coin; what is left out stays, and an empty label goes. */
export interface CoinChange {
  readonly isFrozen?: boolean
  readonly label?: string
}

/** An unspent coin of a wallet, with what a person says of it. */
export interface WalletCoin extends EngineCoin, Omit<CoinNote, 'outpoint'> {}

/** The folder of the notes, a file each: two devices that change different coins change different files. */
const FOLDER = 'Coins'

/** Returns true for the path of a note. */
export const isCoinPath = (path: string): boolean => path.startsWith(`${FOLDER}/`)

/** The wallet whose notes are read. */
type NoteContext = Pick<WalletContext, 'hashOf' | 'info' | 'repo' | 'report'>

const pathOf = ({ hashOf }: Pick<NoteContext, 'hashOf'>, outpoint: string): string =>
  `${FOLDER}/${hashOf(outpoint)}.json`

/** Every note of a wallet; a file that cannot be read is kept and handed to `report`. */
export const readCoinNotes = async (context: NoteContext): Promise<readonly CoinNote[]> =>
  (await readNotes(context)).notes

interface ReadNotes {
  readonly notes: readonly CoinNote[]
  /** The paths of files that say nothing: what they said may have been that a coin is frozen. */
  readonly unread: ReadonlySet<string>
}

const readNotes = async (context: NoteContext): Promise<ReadNotes> => {
  const { repo, report } = context
  const notes: CoinNote[] = []
  const unread = new Set<string>()
  for (const path of await repo.list(FOLDER)) {
    try {
      const note = await readNote(context, path)
      if (note !== undefined) notes.push(note)
    } catch (error) {
      unread.add(path)
      report(error)
    }
  }
  return { notes, unread }
}

const readNote = async (context: NoteContext, path: string): Promise<CoinNote | undefined> => {
  const text = await context.repo.getText(path)
  if (text === undefined) return undefined
  const note = noteOf(parseJson(text, 'coin file'))
  if (path !== pathOf(context, note.outpoint))
    throw new TypeError('A coin file is of another coin than its name says')
  return note
}

const noteOf = (value: unknown): CoinNote => {
  if (!isRecord(value) || !isOutpoint(value.outpoint)) throw new TypeError('A coin file has the wrong shape')
  const { outpoint, isFrozen, label } = value
  return {
    outpoint,
    isFrozen: isFrozen === true,
    ...compact({ label: isLabel(label) && label !== '' ? label : undefined })
  }
}

const isOutpoint = (value: unknown): value is string =>
  typeof value === 'string' && /^[^\s:]{1,200}:\d{1,10}$/.test(value)

const isLabel = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_LABEL && isWellFormed(value)

const MAX_LABEL = 100_000

/** A wallet whose coins are listed or changed. */
interface CoinOwner {
  readonly context: Pick<WalletContext, 'clock' | 'disk' | 'hashOf' | 'info' | 'mutex' | 'repo' | 'report'>
  readonly engine: EngineSupervisor
}

/** Lists the unspent coins of a wallet, with their notes. @throws NOT_SUPPORTED, BOGUS_DATA */
export const listCoins = async ({ context, engine }: CoinOwner): Promise<readonly WalletCoin[]> => {
  const { pluginId } = context.info
  const coins = await engine.call('listing coins', async made => {
    if (made.listCoins === undefined) throw new WalletError('NOT_SUPPORTED', { what: 'lists of coins' })
    return readCoins(pluginId, await made.listCoins())
  })
  const { notes, unread } = await readNotes(context)
  const known = new Map(notes.map(note => [note.outpoint, note]))
  return coins.map((coin): WalletCoin => {
    const outpoint = `${coin.txid}:${coin.vout}`
    // A note that cannot be read freezes its coin, as it does for a payment.
    const isUnread = unread.size > 0 && unread.has(pathOf(context, outpoint))
    const { isFrozen = isUnread, label } = known.get(outpoint) ?? {}
    return Object.freeze({ ...coin, isFrozen, ...compact({ label }) })
  })
}

const readCoins = (pluginId: PluginId, value: unknown): readonly EngineCoin[] => {
  const bogus = (path: string): WalletError =>
    new WalletError('BOGUS_DATA', { pluginId, what: 'list of coins', path })
  const list = copyList(value, MAX_COINS)
  if (list === undefined) throw bogus('')
  return list.map((coin, at): EngineCoin => {
    const { txid, vout, publicAddress, nativeAmount: amount, blockHeight, state } = isRecord(coin) ? coin : {}
    if (!isOutpoint(`${txid}:${vout}`)) throw bogus(`${at}.txid`)
    if (typeof publicAddress !== 'string' || publicAddress.length > 1000) throw bogus(`${at}.publicAddress`)
    if (!isBalance(amount)) throw bogus(`${at}.nativeAmount`)
    if (typeof blockHeight !== 'number' || !Number.isSafeInteger(blockHeight))
      throw bogus(`${at}.blockHeight`)
    if (!STATES.has(state)) throw bogus(`${at}.state`)
    return {
      ...{ txid: String(txid), vout: Number(vout), publicAddress, blockHeight },
      ...{ nativeAmount: nativeAmount(amount), state: state as EngineCoin['state'] }
    }
  })
}

const MAX_COINS = 1_000_000
const STATES: ReadonlySet<unknown> = new Set([
  'frozen',
  'immature',
  'incoming',
  'reserved',
  'spendable'
] satisfies EngineCoin['state'][])

/**
 * Freezes a coin, frees it, or changes its label, on all devices. Once it resolves no draft takes a frozen coin, and none that has it is
 * signed.
 *
 * @throws OPTION_INVALID; NOT_SUPPORTED where the currency freezes no coins; STORAGE_FULL, STORAGE_FAILED
 */
export const changeCoin = async (
  { context, engine }: CoinOwner,
  outpoint: string,
  { isFrozen, label }: CoinChange
): Promise<void> => {
  if (!isOutpoint(outpoint))
    throw new WalletError('OPTION_INVALID', { option: 'outpoint', rule: 'must be txid:number' })
  if (label !== undefined && !isLabel(label))
    throw new WalletError('OPTION_INVALID', { option: 'label', rule: 'is no text of a note' })
  if (isFrozen !== undefined && typeof isFrozen !== 'boolean')
    throw new WalletError('OPTION_INVALID', { option: 'isFrozen', rule: 'must be true or false' })
  await engine.call('freezing a coin', async made => {
    if (made.freezeCoins === undefined) throw new WalletError('NOT_SUPPORTED', { what: 'coin control' })
  })
  await context.mutex.run(async () => {
    await new JsonFile(context, pathOf(context, outpoint)).edit(present => [
      { path: ['outpoint'], value: outpoint },
      ...(isFrozen === undefined && !isKeptBack(present, outpoint)
        ? []
        : [{ path: ['isFrozen'], value: isFrozen ?? true }]),
      ...(label === undefined ? [] : [{ path: ['label'], value: label === '' ? undefined : label }])
    ])
    if (isFrozen === undefined) return
    await engine.call('freezing a coin', async made =>
      made.freezeCoins?.((await frozenCoinsOf(context, made)).frozen)
    )
  })
}

/** Returns true for a note that cannot be read, which freezes its coin until a person frees it. */
const isKeptBack = (present: JsonObject | undefined, outpoint: string): boolean => {
  if (present === undefined) return false
  try {
    return noteOf(present).outpoint !== outpoint
  } catch {
    return true
  }
}

/** The coins that no draft may take. */
export interface FrozenCoins {
  readonly frozen: readonly string[]
  /** A note cannot be read and is of none of the coins that the engine has now: its coin may come later. */
  readonly hasStrayNote: boolean
}

/**
 * Lists the coins that no draft may take: those that a note freezes, and those of the wallet whose note cannot be read now, which the name
 * of its file tells. @throws STORAGE_FAILED, BOGUS_DATA
 */
export const frozenCoinsOf = async (
  context: NoteContext,
  engine: Pick<CurrencyEngine, 'listCoins'>
): Promise<FrozenCoins> => {
  const { notes, unread } = await readNotes(context)
  const frozen = notes.flatMap(({ outpoint, isFrozen }) => (isFrozen ? [outpoint] : []))
  if (unread.size === 0 || engine.listCoins === undefined) return { frozen, hasStrayNote: false }
  const coins = readCoins(context.info.pluginId, await engine.listCoins())
  const outpoints = coins.map(({ txid, vout }) => `${txid}:${vout}`)
  const keptBack = outpoints.filter(outpoint => unread.has(pathOf(context, outpoint)))
  return { frozen: [...frozen, ...keptBack], hasStrayNote: keptBack.length < unread.size }
}

/** Those of some coins that a note freezes, or whose note cannot be read now; only their notes are read. */
export const frozenAmong = async (
  context: NoteContext,
  outpoints: readonly string[]
): Promise<readonly string[]> => {
  const frozen: string[] = []
  for (const outpoint of outpoints) {
    const note = await readNote(context, pathOf(context, outpoint)).catch(() => 'unread')
    if (note === 'unread' || (typeof note === 'object' && note.isFrozen)) frozen.push(outpoint)
  }
  return frozen
}
