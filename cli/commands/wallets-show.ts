import type { CurrencyWallet, JsonObject, WalletListing } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { balanceText, syncCell, walletJson } from '../output/facts.ts'
import { findListing, findWallet } from '../session/find-wallet.ts'
import { openResting } from '../session/open-wallet.ts'
import { syncWallets } from '../session/sync-wallets.ts'
import { lookedUpAssets } from '../session/wallet-assets.ts'
import { openPaymentJson } from '../spend/open-payments.ts'

/** Shows everything public about one wallet. */
export const walletsShow: CommandRun = async (session, text = '') => {
  const listing = await findListing(session, text)
  const { walletId, archived, deleted } = listing
  const isPutAway = archived || deleted
  const wallet = await (isPutAway ? openResting(session, walletId) : findWallet(session, walletId))
  // What is wrong with its sync is one of the things to show.
  const warnings = isPutAway ? [] : await syncWallets(session, [wallet])
  const assets = await lookedUpAssets(session, wallet)
  const addresses = await addressesOf(wallet)
  const unfinished = wallet.unfinishedSpends().map(({ stage, tx }) => ({ stage, txid: tx.txid }))
  const { enabledTokenIds, detectedTokenIds, unactivatedTokenIds, openPayments } = wallet.getSnapshot()
  return {
    data: {
      ...walletJson(wallet, listing, assets),
      appIds: listing.appIds,
      migratedFromWalletId: listing.migratedFromWalletId ?? null,
      syncStatus: statusJson(wallet),
      address: addresses.publicAddress ?? null,
      addresses,
      tokens: { enabled: enabledTokenIds, detected: detectedTokenIds, unactivated: unactivatedTokenIds },
      unfinishedSpends: unfinished,
      openPayments: openPayments.map(payment => openPaymentJson(wallet, payment))
    },
    warnings: [
      ...warnings,
      ...unfinished.map(({ txid, stage }) => `a payment is not finished (${stage}): ${txid || 'not signed'}`)
    ],
    view: {
      kind: 'record',
      fields: [
        ['id', wallet.id],
        ['name', wallet.name ?? ''],
        ['type', wallet.type],
        ...assets.map((asset, at) => [at === 0 ? 'balance' : '', balanceText(wallet, asset)] as const),
        ...Object.entries(addresses).map(([kind, address]) => [LABELS[kind] ?? kind, address] as const),
        ['state', syncCell(wallet.engine.getSnapshot())],
        ['in words', wallet.syncStatus.sentence],
        ['height', String(wallet.engine.getSnapshot().blockHeight)],
        ['fiat', wallet.getSnapshot().fiatCurrencyCode],
        ['flags', flagsOf(listing, wallet)],
        ['place in the list', String(listing.sortIndex)],
        ['follows', listing.migratedFromWalletId ?? ''],
        ['tokens found', String(detectedTokenIds.length || '')],
        ['not activated', unactivatedTokenIds.join(' ')]
      ]
    }
  }
}

const LABELS: Readonly<Record<string, string>> = {
  publicAddress: 'address',
  segwitAddress: 'segwit address',
  legacyAddress: 'legacy address'
}

/** An engine that cannot start has none to give; its state says why. */
const addressesOf = async (wallet: CurrencyWallet): Promise<Readonly<Record<string, string>>> => {
  try {
    const { publicAddress, segwitAddress, legacyAddress } = await wallet.getReceiveAddress()
    return {
      publicAddress,
      ...(segwitAddress === undefined || segwitAddress === publicAddress ? {} : { segwitAddress }),
      ...(legacyAddress === undefined ? {} : { legacyAddress })
    }
  } catch {
    return {}
  }
}

const statusJson = (wallet: CurrencyWallet): JsonObject => {
  const { ratio, stage, since, sentence, errorCode = null } = wallet.syncStatus
  return { ratio, stage, sentence, since: new Date(since * 1000).toISOString(), error: errorCode }
}

const flagsOf = (listing: WalletListing, wallet: CurrencyWallet): string => {
  const { archived, deleted, hidden } = listing
  const isPaused = wallet.getSnapshot().isPaused && !archived && !deleted
  const flags = { archived, deleted, hidden, 'paused on this device': isPaused }
  return Object.entries(flags)
    .filter(([, isSet]) => isSet)
    .map(([name]) => name)
    .join(', ')
}
