import type { Json, JsonObject } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { writeOutputFile } from '../output/output-file.ts'
import { findWallet } from '../session/find-wallet.ts'
import { syncWallets } from '../session/sync-wallets.ts'

/**
 * Tells what support needs to know of a wallet and its engine. Private keys are never in it; without `--reveal`, neither
 * is what says whose wallet it is: its name, amounts, addresses and ids.
 */
export const walletsDump: CommandRun = async (session, text = '') => {
  const wallet = await findWallet(session, text)
  const warnings = await syncWallets(session, [wallet])
  const dump = {
    ...(await session.within('Asking the engine', () => wallet.dumpData()))
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
