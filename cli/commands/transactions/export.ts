import { historyOf, type TransactionFilter } from '../../../app/actions/find-transactions.ts'
import type { CurrencyWallet } from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import { type CsvColumn, csvColumns, csvFormat, isoTimeIn } from '../../export/csv.ts'
import { type ExportFormat, jsonFormat, labelFormat, ndjsonFormat } from '../../export/formats.ts'
import { PastRates } from '../../export/past-rates.ts'
import { openExportSink } from '../../export/sink.ts'
import { fiatCodeOf } from '../../rates/worth.ts'
import type { CommandRun } from '../../session/command.ts'
import { chooseWallets, leftOutWarnings, syncWallets } from '../../session/find-wallets.ts'
import type { Session } from '../../session/session.ts'
import { chosenAssets, filterOf } from '../../session/transaction-selection.ts'

/** Exports the history of wallets in pieces: it is never in memory as a whole. */
export const txExport: CommandRun = async (session, ...texts) => {
  const format = formatOf(session)
  const fiat = fiatOf(session)
  const filter = filterOf(session)
  const sink = await openExportSink(session)
  try {
    const wallets = await chooseWallets(session, texts)
    const warnings = [...(await leftOutWarnings(session, texts)), ...(await syncWallets(session, wallets))]
    const pastRates = fiat === undefined ? undefined : await PastRates.open(session, fiat)
    await sink.write(format.begin())
    let count = 0
    for (const wallet of wallets) {
      count += await writeWallet(session, wallet, {
        format,
        fiatCode: fiat ?? wallet.getSnapshot().fiatCurrencyCode,
        filter,
        pastRates,
        write: async (text, rows) => {
          await sink.write(text)
          session.statusLine.step(`${count + rows} transactions…`)
        }
      })
    }
    await sink.write(format.end())
    const facts = { format: formatName(session), wallets: wallets.length, rows: count }
    return await sink.end(facts, [...warnings, ...(pastRates?.warnings() ?? [])])
  } finally {
    await sink.discard()
  }
}

interface WalletExport {
  readonly format: ExportFormat
  readonly fiatCode: string
  readonly filter: TransactionFilter
  /** Undefined without `--fiat`. */
  readonly pastRates: PastRates | undefined
  /** `rows`: the number of rows of this wallet so far. */
  write(text: string, rows: number): Promise<void>
}

const writeWallet = async (
  session: Session,
  wallet: CurrencyWallet,
  { format, fiatCode, filter, pastRates, write }: WalletExport
): Promise<number> => {
  let count = 0
  const walletName = wallet.name ?? ''
  for (const place of await chosenAssets(session, [wallet])) {
    for await (const batch of historyOf(place, filter, { onBatch: () => session.signal.throwIfAborted() })) {
      count += batch.length
      const rows = batch.map(tx => ({ tx, asset: place.asset, walletName, fiatCode }))
      await write(format.rows(await (pastRates?.fill(rows) ?? rows)), count)
    }
  }
  if (format.addresses !== undefined) {
    await write(format.addresses(wallet.id, await wallet.savedAddresses()), count)
  }
  if (format.coins !== undefined) await write(format.coins(wallet.id, await wallet.coinNotes()), count)
  return count
}

const formatName = (session: Session): string => session.text('format') ?? 'csv'

const formatOf = (session: Session): ExportFormat => {
  const name = formatName(session)
  const timeZone = checkZone(session.text('tz') ?? 'UTC')
  if (name === 'csv')
    return csvFormat({ columns: columnsOf(session), timeZone, hasMark: session.isOn('bom') })
  const misplaced = ['columns', 'tz', 'bom'].find(flag => session.flags[flag] !== undefined)
  if (misplaced !== undefined) throw new CliError('USAGE', `--${misplaced} is for --format csv`)
  return name === 'json' ? jsonFormat() : name === 'ndjson' ? ndjsonFormat() : labelFormat()
}

const columnsOf = (session: Session): readonly CsvColumn[] => {
  const text = session.text('columns')
  if (text === undefined) {
    return csvColumns.filter(({ isOfRates }) => isOfRates !== true || session.text('fiat') !== undefined)
  }
  return text.split(',').map(name => {
    const column = csvColumns.find(known => known.name === name.trim())
    if (column !== undefined) return column
    throw new CliError('USAGE', `There is no column "${name.trim()}"`, {
      hint: `The columns are ${csvColumns.map(known => known.name).join(', ')}.`
    })
  })
}

const checkZone = (timeZone: string): string => {
  try {
    isoTimeIn(new Date(0), timeZone)
    return timeZone
  } catch (error) {
    throw new CliError('USAGE', `There is no time zone "${timeZone}"`, {
      hint: 'Use UTC, or a name such as Europe/Berlin.',
      cause: error
    })
  }
}

const fiatOf = (session: Session): string | undefined => {
  const code = session.text('fiat')
  if (code === undefined) return undefined
  if (formatName(session) === 'bip329') throw new CliError('USAGE', '--fiat is not for --format bip329')
  return fiatCodeOf(code)
}
