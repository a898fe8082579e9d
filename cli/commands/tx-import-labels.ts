import { type FileHandle, open } from 'node:fs/promises'
import { type CurrencyWallet, importLabels, type JsonObject, type LabelResult } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import type { CommandResult } from '../command-result.ts'
import { CliError } from '../errors/cli-error.ts'
import { PARTIAL } from '../errors/exit-codes.ts'
import { failureOf } from '../errors/failure.ts'
import type { Tone } from '../output/paint.ts'
import { chooseWallets } from '../session/find-wallet.ts'
import { syncWallets } from '../session/sync-wallets.ts'
import type { Session } from '../session.ts'

/** Takes labels in that another wallet wrote (BIP-329), and tells of each what became of it. */
export const txImportLabels: CommandRun = async (session, path = '', ...texts) => {
  const file = await openLabels(path)
  try {
    const wallets = await chooseWallets(session, texts)
    const warnings = await syncWallets(session, wallets)
    const results = await importFile(session, file, wallets)
    const hasNews = results.some(({ status }) => status === 'applied') && !session.globals.dryRun
    const troubles = hasNews ? await saveEverywhere(session, wallets) : []
    return resultOf(results, {
      wallets,
      dryRun: session.globals.dryRun,
      warnings: [...warnings, ...troubles]
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
    session.talk.step(`line ${result.line}…`)
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
      empty: 'There is no label in this file.'
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
  ...(fields === undefined ? {} : { fields }),
  ...(reason === undefined ? {} : { reason })
})

const whyOf = ({ status, fields = [], reason = '' }: LabelResult): string =>
  status === 'conflict' ? `another ${fields.join(' and ')} is noted` : reason

const adviceOf = (results: readonly LabelResult[], dryRun: boolean): readonly string[] => [
  ...(results.length > 0 ? [countSentence(results)] : []),
  ...(dryRun ? ['Nothing was written; leave --dry-run out to write it'] : []),
  ...(results.some(({ status }) => status === 'conflict')
    ? ['Where another text is noted, it stays; --overwrite lets the file win']
    : [])
]

const countSentence = (results: readonly LabelResult[]): string =>
  Object.entries(countsOf(results))
    .map(([status, count]) => `${count} ${status}`)
    .join(', ')

const saveEverywhere = async (
  session: Session,
  wallets: readonly { sync(): Promise<void> }[]
): Promise<readonly string[]> => {
  if (session.globals.offline) return []
  try {
    await session.doing('Syncing', () => Promise.all(wallets.map(wallet => wallet.sync())))
    return []
  } catch (error) {
    if (session.signal.aborted) throw error
    return [`the labels are safe here, but not on the server yet: ${failureOf(error).message}`]
  }
}
