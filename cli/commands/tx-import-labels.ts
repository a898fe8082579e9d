import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { importLabels, type JsonObject, type LabelResult } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { CliError } from '../errors/cli-error.ts'
import { PARTIAL } from '../errors/exit-codes.ts'
import { failureOf } from '../errors/failure.ts'
import type { Tone } from '../output/paint.ts'
import { chooseWallets } from '../session/find-wallet.ts'
import { syncWallets } from '../session/sync-wallets.ts'
import type { Session } from '../session.ts'

/** Takes labels in that another wallet wrote (BIP-329), and tells of each what became of it. */
export const txImportLabels: CommandRun = async (session, path = '', ...texts) => {
  const lines = await openLines(path)
  const wallets = await chooseWallets(session, texts)
  const warnings = [...(await syncWallets(session, wallets))]
  const { dryRun } = session.globals
  const results: LabelResult[] = []
  for await (const result of importLabels(lines, {
    wallets,
    dryRun,
    mayReplace: session.isOn('overwrite')
  })) {
    session.signal.throwIfAborted()
    results.push(result)
    session.talk.step(`line ${result.line}…`)
  }
  const counts = countsOf(results)
  if ((counts.applied ?? 0) > 0 && !dryRun) warnings.push(...(await saveEverywhere(session, wallets)))
  const names = new Map(wallets.map(({ id, name }) => [id, name ?? id]))
  return {
    data: { dryRun, counts, results: results.map(resultJson) },
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

const openLines = async (path: string): Promise<AsyncIterable<string>> => {
  const input = createReadStream(path, 'utf8')
  await new Promise<void>((resolve, reject) => {
    input.once('open', () => resolve())
    input.once('error', error =>
      reject(new CliError('NOT_FOUND', `The file ${path} cannot be read`, { cause: error }))
    )
  })
  return createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })
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
  ...(dryRun ? ['Nothing was written; leave --dry-run out to write it'] : []),
  ...(results.some(({ status }) => status === 'conflict')
    ? ['Where another text is noted, it stays; --overwrite lets the file win']
    : [])
]

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
