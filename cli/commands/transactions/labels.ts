import { type FileHandle, open } from 'node:fs/promises'
import { decimalText } from '../../../app/format/amounts.ts'
import {
  type CurrencyWallet,
  compact,
  importLabels,
  type JsonObject,
  type LabelResult,
  type MetadataChange
} from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import { failureOf, PARTIAL } from '../../errors/failure.ts'
import { parseCount } from '../../grammar/options.ts'
import { metadataJson } from '../../output/transaction-texts.ts'
import type { CommandResult } from '../../output/view.ts'
import { chosenAsset } from '../../session/assets.ts'
import type { CommandRun } from '../../session/command.ts'
import { chooseWallets, findWallet, syncWallets } from '../../session/find-wallets.ts'
import type { Session } from '../../session/session.ts'
import type { Tone } from '../../terminal/terminal.ts'

/** Changes the metadata of a transaction, on all devices. */
export const txLabel: CommandRun = async (session, text = '', txid = '') => {
  const makeChange = readChange(session)
  const wallet = await session.synced(await findWallet(session, text))
  const asset = await chosenAsset(session, wallet)
  const before = await wallet.getTransaction(txid, asset.tokenId)
  if (!session.globals.dryRun) {
    await wallet.saveTxMetadata(txid, makeChange(wallet.getSnapshot().fiatCurrencyCode), asset.tokenId)
    if (!session.globals.offline) await session.withTimeout('Syncing', () => wallet.sync())
  }
  const after = await wallet.getTransaction(txid, asset.tokenId)
  const { metadata } = after
  return {
    data: {
      txid,
      before: metadataJson(before),
      metadata: metadataJson(after),
      dryRun: session.globals.dryRun
    },
    view: {
      kind: 'record',
      fields: [
        ['txid', txid],
        ['name', metadata.name ?? ''],
        ['category', metadata.category ?? ''],
        ['notes', metadata.notes ?? ''],
        ...Object.entries(metadata.exchangeAmount ?? {}).map(
          ([code, value]) => ['worth then', `${decimalText(value)} ${code.replace('iso:', '')}`] as const
        )
      ]
    }
  }
}

const FIELDS = ['name', 'category', 'notes', 'fiat', 'biz-id'] as const
type Field = (typeof FIELDS)[number]

/** The change, once the fiat currency of the wallet is known. @throws CliError USAGE */
const readChange = (session: Session): ((fiatCode: string) => MetadataChange) => {
  const cleared = new Set(session.texts('clear'))
  const given = new Map<Field, string | null>()
  for (const field of FIELDS) {
    const text = session.text(field === 'biz-id' ? 'bizId' : field)
    if (text !== undefined && cleared.has(field)) {
      throw new CliError('USAGE', `Use either --${field} or --clear ${field}`)
    }
    if (text !== undefined) given.set(field, text)
    if (cleared.has(field)) given.set(field, null)
  }
  if (given.size === 0) {
    throw new CliError(
      'USAGE',
      'Name a field to write: --name, --category, --notes, --fiat, --biz-id or --clear'
    )
  }
  const fiat = given.get('fiat')
  const worth = typeof fiat === 'string' ? parseFiat(fiat) : undefined
  const id = given.get('biz-id')
  const bizId = typeof id === 'string' ? parseCount(id, 'id', [0, MAX_ID]) : null
  return fiatCode => ({
    ...textsOf(given),
    ...compact({
      bizId: id === undefined ? undefined : bizId,
      exchangeAmount: fiat === undefined ? undefined : { [worth?.code ?? fiatCode]: worth?.value ?? null }
    })
  })
}

const MAX_ID = 999_999_999

const textsOf = (given: ReadonlyMap<Field, string | null>): MetadataChange =>
  Object.fromEntries([...given].filter(([field]) => field !== 'fiat' && field !== 'biz-id'))

/** Reads `12.50`, in the wallet's own fiat currency, or `12.50 EUR`. */
const parseFiat = (text: string): { readonly value: number; readonly code: string | undefined } => {
  const [, number, code] = /^\s*(\d{1,15}(?:\.\d{1,10})?)\s*(?:(?:iso:)?([A-Z]{3}))?\s*$/.exec(text) ?? []
  if (number === undefined) throw new CliError('USAGE', 'A value looks like 12.50 or "12.50 EUR"')
  return { value: Number(number), code: code === undefined ? undefined : `iso:${code}` }
}

/** Imports the labels of another wallet (BIP-329), with one result a line. */
export const txImportLabels: CommandRun = async (session, path = '', ...texts) => {
  const file = await openLabels(path)
  try {
    const wallets = await chooseWallets(session, texts)
    const warnings = await syncWallets(session, wallets)
    const results = await importFile(session, file, wallets)
    const hasChanges = results.some(({ status }) => status === 'applied') && !session.globals.dryRun
    const uploadWarnings = hasChanges ? await syncLabels(session, wallets) : []
    return resultOf(results, {
      wallets,
      dryRun: session.globals.dryRun,
      warnings: [...warnings, ...uploadWarnings]
    })
  } finally {
    await file.close()
  }
}

const importFile = async (
  session: Session,
  file: FileHandle,
  wallets: readonly CurrencyWallet[]
): Promise<readonly LabelResult[]> => {
  const results: LabelResult[] = []
  const mayReplace = session.isOn('overwrite')
  const { dryRun } = session.globals
  for await (const result of importLabels(file.readLines(), { wallets, dryRun, mayReplace })) {
    session.signal.throwIfAborted()
    results.push(result)
    session.statusLine.step(`line ${result.line}…`)
  }
  return results
}

interface Import {
  readonly wallets: readonly CurrencyWallet[]
  readonly dryRun: boolean
  readonly warnings: readonly string[]
}

const resultOf = (results: readonly LabelResult[], { wallets, dryRun, warnings }: Import): CommandResult => {
  const names = new Map(wallets.map(({ id, name }) => [id, name ?? id]))
  return {
    data: { dryRun, counts: countsOf(results), results: results.map(resultJson) },
    exitCode: results.some(({ status }) => FAILED.has(status)) ? PARTIAL : 0,
    warnings,
    view: {
      kind: 'table',
      columns: [
        { title: 'LINE', align: 'right' },
        { title: 'STATUS' },
        { title: 'TYPE' },
        { title: 'REF', canShrink: true },
        { title: 'WALLET', canShrink: true },
        { title: 'WHY', canShrink: true }
      ],
      rows: results.map(result => [
        String(result.line),
        { text: result.status, tone: TONES[result.status] },
        result.type,
        result.ref,
        names.get(result.walletId ?? '') ?? '',
        whyOf(result)
      ]),
      empty: 'This file has no labels.'
    },
    advice: adviceOf(results, dryRun)
  }
}

const FAILED: ReadonlySet<LabelResult['status']> = new Set(['conflict', 'invalid'])

const TONES: Readonly<Record<LabelResult['status'], Tone>> = {
  applied: 'good',
  same: 'plain',
  conflict: 'warn',
  unknown: 'dim',
  ignored: 'dim',
  invalid: 'bad'
}

const MAX_FILE = 64_000_000

const openLabels = async (path: string): Promise<FileHandle> => {
  const unreadable = (cause?: unknown): CliError =>
    new CliError('NOT_FOUND', `The file ${path} cannot be read`, { cause })
  const file = await open(path, 'r').catch((error: unknown) => {
    throw unreadable(error)
  })
  const facts = await file.stat()
  if (!facts.isDirectory() && facts.size <= MAX_FILE) return file
  await file.close()
  throw facts.isDirectory() ? unreadable() : new CliError('USAGE', `The file ${path} is too large`)
}

const countsOf = (results: readonly LabelResult[]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const { status } of results) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

const resultJson = ({ line, status, type, ref, walletId, fields, reason }: LabelResult): JsonObject => ({
  ok: !FAILED.has(status),
  line,
  status,
  type,
  ref,
  walletId: walletId ?? null,
  ...compact({ fields, reason })
})

const whyOf = ({ status, fields = [], reason = '' }: LabelResult): string =>
  status === 'conflict' ? `another ${fields.join(' and ')} is noted` : reason

const adviceOf = (results: readonly LabelResult[], dryRun: boolean): readonly string[] => [
  ...(results.length > 0 ? [countSentence(results)] : []),
  ...(dryRun ? ['Nothing was written; leave out --dry-run to write the notes'] : []),
  ...(results.some(({ status }) => status === 'conflict')
    ? ['Existing notes stay; --overwrite replaces them']
    : [])
]

const countSentence = (results: readonly LabelResult[]): string =>
  Object.entries(countsOf(results))
    .map(([status, count]) => `${count} ${status}`)
    .join(', ')

const syncLabels = async (
  session: Session,
  wallets: readonly { sync(): Promise<void> }[]
): Promise<readonly string[]> => {
  if (session.globals.offline) return []
  try {
    await session.withProgress('Syncing', () => Promise.all(wallets.map(wallet => wallet.sync())))
    return []
  } catch (error) {
    if (session.signal.aborted) throw error
    return [`the labels are saved on this device, but not on the server yet: ${failureOf(error).message}`]
  }
}
