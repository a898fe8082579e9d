import { type AddressRecord, addressLabel, labelLine, transactionLabel } from '../../kernel/index.ts'
import { type ExportRow, exportRowJson } from './export-row.ts'

/** How rows become the text of a file, piece by piece: a history never has to be in memory whole. */
export interface ExportFormat {
  begin(): string
  /** Some rows in a row, at least one. */
  rows(rows: readonly ExportRow[]): string
  /** The saved addresses of a wallet, where the format has a place for them. */
  addresses?(walletId: string, records: readonly AddressRecord[]): string
  end(): string
}

/** One JSON object a line. */
export const ndjsonFormat = (): ExportFormat => ({
  begin: () => '',
  rows: rows => rows.map(row => `${JSON.stringify(exportRowJson(row))}\n`).join(''),
  end: () => ''
})

/** One JSON object with all of them. */
export const jsonFormat = (): ExportFormat => {
  let isFirst = true
  return {
    begin: () => '{"schema":"tx.export/1","transactions":[',
    rows(rows) {
      const comma = isFirst ? '\n' : ',\n'
      isFirst = false
      return comma + rows.map(row => JSON.stringify(exportRowJson(row))).join(',\n')
    },
    end: () => '\n]}\n'
  }
}

/** The labels alone, for other wallets (BIP-329). */
export const labelFormat = (): ExportFormat => ({
  begin: () => '',
  rows: rows => linesOf(rows.map(({ tx }) => transactionLabel(tx))),
  addresses: (walletId, records) => linesOf(records.map(record => addressLabel(walletId, record))),
  end: () => ''
})

const linesOf = (labels: readonly ReturnType<typeof transactionLabel>[]): string =>
  labels.map(label => (label === undefined ? '' : `${labelLine(label)}\n`)).join('')
