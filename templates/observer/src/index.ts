// An observer: it sees what happens in the wallet as frozen data without secrets, and can change nothing.
import type { ObserverPlugin } from 'holdfast/observer'

/** Writes a line for each step of a payment and for new transactions. */
export const watch = (write: (line: string) => void): ObserverPlugin => ({
  kind: 'observer',
  // The name of this plugin in settings, logs and lists; it stays the same for ever.
  id: 'my-plugin',
  apply({ hooks }) {
    // A payment goes through stages: intended, signed, broadcast, saved.
    hooks.spendChanged.tap('my-plugin', ({ walletId, stage }) => write(`payment of ${walletId}: ${stage}`))

    // Lists have the txids; a large change comes in several calls.
    hooks.transactionsChanged.tap('my-plugin', ({ walletId, created }) => {
      if (created.length > 0) write(`${walletId} has ${created.length} new: ${created.join(', ')}`)
    })

    // What other plugins do wrong. docs/hooks.md of holdfast lists all hooks with what they carry.
    hooks.pluginFault.tap('my-plugin', ({ pluginId, message }) => write(`${pluginId} failed: ${message}`))
  }
})

// In a cell the console is the log of the wallet: `holdfast --verbose` shows it.
export const plugin: ObserverPlugin = watch(line => console.info(line))
