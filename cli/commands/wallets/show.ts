import { amountJson } from '../../../app/format/amounts.ts'
import {
  type Account,
  amountText,
  type CurrencyWallet,
  compact,
  type Json,
  type JsonObject,
  type KeyPaths,
  nativeAmount,
  type WalletId,
  type WalletListing
} from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import { writeOutputFile } from '../../output/output-file.ts'
import { localTime, qrLines } from '../../output/texts.ts'
import type { CommandResult } from '../../output/view.ts'
import { balanceText, syncCell, walletJson } from '../../output/wallet-texts.ts'
import { allowingUse } from '../../session/allow-use.ts'
import { assetsUnlessPaused, coinOf } from '../../session/assets.ts'
import type { CommandRun } from '../../session/command.ts'
import { confirmTyped } from '../../session/confirm.ts'
import { findListing, findWallet, openPaused, syncWallets } from '../../session/find-wallets.ts'
import type { Session } from '../../session/session.ts'
import { openPaymentJson } from '../../spend/open-payments.ts'

/** Shows all public facts of one wallet. */
export const walletsShow: CommandRun = async (session, text = '') => {
  const listing = await findListing(session, text)
  const { walletId, archived, deleted } = listing
  const isPutAway = archived || deleted
  const wallet = await (isPutAway ? openPaused(session, walletId) : findWallet(session, walletId))
  // A failed sync is one of the facts to show.
  const warnings = isPutAway ? [] : await syncWallets(session, [wallet])
  const assets = await assetsUnlessPaused(session, wallet)
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

/** Returns the addresses; none if the engine cannot start, since its state explains that. */
const addressesOf = async (wallet: CurrencyWallet): Promise<Readonly<Record<string, string>>> => {
  try {
    const { publicAddress, segwitAddress, legacyAddress } = await wallet.getReceiveAddress()
    return {
      publicAddress,
      ...compact({
        segwitAddress:
          segwitAddress === undefined || segwitAddress === publicAddress ? undefined : segwitAddress,
        legacyAddress
      })
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
  const { archived, deleted, hidden, isWatchOnly = false } = listing
  const isPaused = wallet.getSnapshot().isPaused && !archived && !deleted
  const flags = {
    ...{ archived, deleted, hidden },
    ...{ 'paused on this device': isPaused, 'watch-only: it cannot pay': isWatchOnly }
  }
  return Object.entries(flags)
    .filter(([, isSet]) => isSet)
    .map(([name]) => name)
    .join(', ')
}

/** Lists the staked amounts of a wallet and their unlock dates. */
export const walletsStaking: CommandRun = async (session, text = '') => {
  const wallet = await session.synced(await findWallet(session, text))
  const coin = coinOf(wallet)
  const staked = wallet
    .getSnapshot()
    .stakingStatus.stakedAmounts.map(({ nativeAmount: native, unlockDate }) => ({
      amount: nativeAmount(native),
      unlockDate: unlockDate ?? null
    }))
  return {
    data: {
      walletId: wallet.id,
      staked: staked.map(({ amount, unlockDate }) => ({ ...amountJson(amount, coin), unlockDate }))
    },
    view: {
      kind: 'table',
      columns: [{ title: 'STAKED', align: 'right' }, { title: 'LOCKED UNTIL' }],
      rows: staked.map(({ amount, unlockDate }) => [
        amountText(amount, coin),
        unlockDate === null ? 'not said' : localTime(new Date(unlockDate))
      ]),
      empty: 'Nothing of this wallet is staked.'
    }
  }
}

/**
 * Shows the public keys of a wallet, or with `--reveal` the private ones.
 *
 * Each command logs in, which is the authentication; a file of private keys needs a typed confirmation (ecosystem 1.4).
 */
export const walletsKeys: CommandRun = async (session, text = '') => {
  const isRaw = session.isOn('raw')
  if (session.isOn('private') && session.isOn('public'))
    throw new CliError('USAGE', 'Use either --public or --private')
  const isPrivate = session.isOn('private') || (isRaw && !session.isOn('public'))
  const path = session.text('output')
  const isRevealed = !isPrivate || session.isOn('reveal')
  if (!isRevealed && (path !== undefined || session.isOn('qr'))) {
    throw new CliError('USAGE', 'Anyone who finds a private key in a file or QR code can read it', {
      hint: 'Say --reveal, too.'
    })
  }
  const { walletId, type } = await findListing(session, text)
  const facts = { walletId, type, kind: isPrivate ? 'private' : 'public', form: isRaw ? 'raw' : 'display' }
  if (isPrivate && path !== undefined) {
    await confirmTyped(session, {
      question: 'The file will contain keys that can spend everything in this wallet.',
      name: walletId.slice(0, TYPED),
      summary: { ...facts, file: path }
    })
  }
  const keys = isRevealed
    ? await allowingUse(session, 'show', async () =>
        readKeys(await session.account(), walletId, { isPrivate, isRaw })
      )
    : undefined
  if (path !== undefined) {
    await writeOutputFile(path, `${textOf(keys)}\n`, session.isOn('force'))
    return { data: { ...facts, file: path }, view: { kind: 'record', fields: [['file', path]] } }
  }
  if (isPrivate && isRevealed)
    session.statusLine.warn('anyone who sees this can spend everything in the wallet')
  const paths = isRaw ? undefined : await (await session.account()).walletKeys.getKeyPaths(walletId)
  if (paths !== undefined && isRevealed) showPaths(session, paths)
  return {
    data: {
      ...facts,
      keys: keys ?? { redacted: true, hint: '--reveal' },
      ...compact({ paths: paths && { ...paths } })
    },
    view: await viewOf(session, keys)
  }
}

/** The number of characters of the wallet id to type. */
const TYPED = 8

interface KeysView {
  readonly isPrivate: boolean
  readonly isRaw: boolean
}

const readKeys = (
  { walletKeys }: Account,
  walletId: WalletId,
  { isPrivate, isRaw }: KeysView
): Promise<Json> => {
  if (isRaw) return isPrivate ? walletKeys.getRawPrivateKey(walletId) : walletKeys.getRawPublicKey(walletId)
  return isPrivate ? walletKeys.getDisplayPrivateKey(walletId) : walletKeys.getDisplayPublicKey(walletId)
}

/** Beside the keys, which stand alone on standard output: who restores the wallet elsewhere has to look there. */
const showPaths = ({ statusLine }: Session, { givenOut, watched }: KeyPaths): void => {
  const others = watched.filter(path => !givenOut.includes(path))
  statusLine.info(`its addresses: ${givenOut.join(' ')}`)
  if (others.length > 0) statusLine.info(`also watched: ${others.join(' ')}`)
}

const textOf = (keys: Json | undefined): string =>
  typeof keys === 'string' ? keys : JSON.stringify(keys, undefined, 2)

const viewOf = async (session: Session, keys: Json | undefined): Promise<CommandResult['view']> => {
  if (keys === undefined) return { kind: 'text', lines: ['(hidden; show it with --reveal)'] }
  const lines = textOf(keys).split('\n')
  if (!session.isOn('qr')) return { kind: 'text', lines }
  const code = typeof keys === 'string' ? keys : JSON.stringify(keys)
  return { kind: 'text', lines: [...(await qrLines(code, session.globals.ascii)), '', ...lines] }
}

/**
 * Dumps the state of a wallet and its engine for support.
 *
 * Private keys are never in it. Without `--reveal` neither are the facts that identify the owner: name, amounts,
 * addresses and ids.
 */
export const walletsDump: CommandRun = async (session, text = '') => {
  const wallet = await findWallet(session, text)
  const warnings = await syncWallets(session, [wallet])
  const dump = {
    ...(await session.withTimeout('Getting the report of the engine', () => wallet.dumpData()))
  } as unknown as JsonObject
  const shown = session.isOn('reveal') ? dump : withoutOwner(dump)
  const lines = JSON.stringify(shown, undefined, 2)
  const path = session.text('output')
  if (path === undefined) {
    return { data: { dump: shown }, warnings, view: { kind: 'text', lines: lines.split('\n') } }
  }
  await writeOutputFile(path, `${lines}\n`, session.isOn('force'))
  return {
    data: { file: path, redacted: !session.isOn('reveal') },
    warnings,
    view: { kind: 'record', fields: [['file', path]] }
  }
}

const REDACTED = { redacted: true, hint: '--reveal' }
const PRIVATE: ReadonlySet<string> = new Set(['name', 'balances', 'stakingStatus'])
/** Addresses, keys, ids and txids: long, and without a space. */
const LONG = /^\S{20,}$/

const withoutOwner = (value: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      PRIVATE.has(name) ? REDACTED : redacted(field ?? null)
    ])
  )

const redacted = (value: Json): Json => {
  if (typeof value === 'string') return LONG.test(value) ? REDACTED : value
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value) ? value.map(item => redacted(item as Json)) : withoutOwner(value as JsonObject)
}
