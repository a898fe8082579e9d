import type { ObserverPlugin, SpendProgressSnapshot } from 'holdfast/observer'

/** A cell of a CSV file: quoted where it must be, and never one that a spreadsheet takes for a formula. */
const cell = (text: string): string => {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/**
 * An observer that keeps a journal of payments: a CSV line for each step of each payment, with the name of its wallet.
 *
 * @param write - takes a line, for example to append it to a file, or to send it to a web hook; what it throws is a fault of this
 *   plugin and stops no payment
 * @param now - the time, for the first column
 */
export const paymentJournal = (write: (line: string) => void, now: () => Date): ObserverPlugin => ({
  kind: 'observer',
  id: 'payment-journal',
  apply({ hooks }) {
    const names = new Map<string, string>()
    const seen = new Set<string>()
    const line = (...cells: readonly string[]): void => write(`${cells.map(cell).join(',')}\n`)

    hooks.ready.tapPromise('payment-journal', async () => line('time', 'wallet', 'stage', 'txid', 'payment'))
    hooks.walletChanged.tap('payment-journal', ({ walletId, name }) => {
      names.set(walletId, name ?? walletId)
    })
    hooks.spendChanged.tap('payment-journal', (spend: SpendProgressSnapshot) => {
      const { correlationId, walletId, stage, txid = '' } = spend
      // A snapshot may be repeated; a step is written once.
      const key = `${correlationId} ${stage}`
      if (seen.has(key)) return
      seen.add(key)
      line(now().toISOString(), names.get(walletId) ?? walletId, stage, txid, correlationId)
    })
  }
})
