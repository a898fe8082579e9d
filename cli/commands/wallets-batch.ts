import type { JsonObject, NewWalletOfType, WalletResult } from '../../kernel/index.ts'
import type { CommandResult } from '../command-result.ts'
import { CliError } from '../errors/cli-error.ts'
import { PARTIAL } from '../errors/exit-codes.ts'
import { failureOf } from '../errors/failure.ts'
import { readBatch } from '../session/new-wallets.ts'
import { upload } from '../session/upload.ts'
import type { Session } from '../session.ts'

/** Makes a wallet for each row of a file, with one request; one result each, and the failure of one harms no other. */
export const walletsBatch = async (
  session: Session,
  path: string,
  type: string | undefined
): Promise<CommandResult> => {
  for (const flag of ['name', 'fiat', 'keyOption', 'keysFile']) {
    if (session.flags[flag] !== undefined)
      throw new CliError('USAGE', 'With --batch, the rows of the file say how each wallet is to be')
  }
  const rows = await readBatch(path, type)
  if (session.globals.dryRun) return dryResult(rows)
  countWallets(session, rows.length)
  const account = await session.account()
  const results = await session.doing(`Making ${rows.length} wallets`, () =>
    account.createCurrencyWallets(rows)
  )
  const failures = results.filter(({ ok }) => !ok).length
  const warnings = failures === results.length ? [] : await upload(session)
  return {
    data: {
      made: results.length - failures,
      failed: failures,
      results: results.map((one, at) => jsonOf(one, rows[at]))
    },
    exitCode: failures === 0 ? 0 : PARTIAL,
    warnings,
    view: {
      kind: 'table',
      columns: [
        { title: 'ROW', align: 'right' },
        { title: 'RESULT' },
        { title: 'TYPE' },
        { title: 'NAME', canShrink: true },
        { title: 'ID', canShrink: true },
        { title: 'WHY', canShrink: true }
      ],
      rows: results.map((result, at) => [
        String(at + 1),
        result.ok ? { text: 'made', tone: 'good' } : { text: 'failed', tone: 'bad' },
        rows[at]?.type ?? '',
        rows[at]?.name ?? '',
        result.walletId ?? '',
        result.ok ? '' : failureOf(result.error).message
      ]),
      empty: 'There is no row in this file.'
    }
  }
}

const inputOf = (row: NewWalletOfType | undefined): JsonObject => ({
  type: row?.type ?? null,
  name: row?.name ?? null
})

const jsonOf = (result: WalletResult, row: NewWalletOfType | undefined): JsonObject => {
  const input = inputOf(row)
  if (result.ok) return { ok: true, input, data: { walletId: result.walletId } }
  const { code, exitCode, message, details } = failureOf(result.error)
  return { ok: false, input, error: { code, exitCode, message, details } }
}

const dryResult = (rows: readonly NewWalletOfType[]): CommandResult => ({
  data: { dryRun: true, rows: rows.map(inputOf) },
  view: { kind: 'text', lines: [`Nothing was made; without --dry-run: ${rows.length} wallets`] }
})

/** Says how far it is: wallets tell of themselves as they open. */
const countWallets = (session: Session, count: number): void => {
  const seen = new Set<string>()
  session.observe(({ hooks }) =>
    hooks.walletChanged.tap('batch', ({ walletId }) => {
      seen.add(walletId)
      session.talk.step(`${seen.size} of ${count} wallets…`)
    })
  )
}
