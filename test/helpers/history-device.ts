import { nativeAmount } from '../../kernel/base/amount.ts'
import { fileHashOf } from '../../kernel/keys/ids.ts'
import type { CurrencyInfo, TokenMap } from '../../kernel/types/currency.ts'
import type { EngineTransaction } from '../../kernel/types/transaction.ts'
import { History } from '../../kernel/wallet/history/history.ts'
import { type Device, type DeviceOptions, dataKey, openDevice } from './repo-device.ts'
import type { SyncStore } from './sync-store.ts'
import { toyTransaction } from './toy-currency.ts'

/** A device with the history of one wallet on it. */
export interface HistoryDevice extends Device {
  readonly table: History
  /** What the wallet is shown in; a test may change it. */
  readonly settings: { fiatCode: string }
  /** The txids whose files a sync changed, as far as they were told. */
  readonly reported: string[]
  /** The hash of a txid in the names of its files. */
  hashOf(txid: string): string
  /** Resolves when everything that a sync brought has been taken in. */
  settled(): Promise<void>
  /** The same disk as after a power cut, or after a close if `isClosed`. */
  again(options?: { readonly isClosed?: boolean } & HistoryOptions): Promise<HistoryDevice>
}

/** What may differ between histories. */
export interface HistoryOptions extends DeviceOptions {
  readonly info?: Partial<CurrencyInfo>
  /** Codes of tokens by id. */
  readonly tokens?: Readonly<Record<string, string>>
}

const INFO: CurrencyInfo = {
  pluginId: 'toycoin',
  displayName: 'Toy Coin',
  walletType: 'wallet:toycoin',
  currencyCode: 'TOY',
  denominations: [{ name: 'TOY', multiplier: '100' }]
}

/** Opens the shared repo on a device, with a history in it. */
export const openHistory = async (
  store: Pick<SyncStore, 'fetch'>,
  options: HistoryOptions = {}
): Promise<HistoryDevice> => {
  const device = await openDevice(store, options)
  const settings = { fiatCode: 'iso:USD' }
  const hashOf = (text: string): string => fileHashOf(device.io, dataKey, text)
  const table = new History({
    walletId: 'wallet',
    info: { ...INFO, ...options.info },
    repo: device.repo,
    clock: device.clock,
    sawSwap: () => {},
    hashOf,
    fiatCode: () => settings.fiatCode,
    config: { getSnapshot: () => ({ allTokens: tokensOf(options.tokens ?? {}) }) },
    report: error => void device.reports.push(error)
  })
  const reported: string[] = []
  let taking: Promise<unknown> = Promise.resolve()
  device.repo.onServerChange(paths => {
    taking = table.applyFiles(paths).then(txids => reported.push(...txids))
  })
  return {
    ...device,
    table,
    settings,
    reported,
    hashOf,
    async settled() {
      await taking
    },
    async again({ isClosed = false, ...changes } = {}) {
      if (isClosed) {
        await table.close()
        await device.repo.close()
      }
      const files = isClosed ? device.files : new Map(device.files)
      return openHistory(store, { ...options, files, ...changes })
    }
  }
}

const tokensOf = (codes: Readonly<Record<string, string>>): TokenMap =>
  Object.fromEntries(
    Object.entries(codes).map(([tokenId, currencyCode]) => [
      tokenId,
      { currencyCode, displayName: currencyCode, denominations: [{ name: currencyCode, multiplier: '1' }] }
    ])
  )

/** What an engine may report of a transaction that comes in. */
export const incoming: typeof toyTransaction = toyTransaction

/** The same of one that leaves. */
export const outgoing = (txid: string, changes: Partial<EngineTransaction> = {}): EngineTransaction =>
  incoming(txid, { nativeAmount: nativeAmount('-5'), ...changes })
