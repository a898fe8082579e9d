import type { MetadataChange } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { CliError } from '../errors/cli-error.ts'
import { parseCount } from '../grammar/values.ts'
import { decimalText } from '../output/decimals.ts'
import { metadataJson } from '../output/tx-facts.ts'
import { findWallet } from '../session/find-wallet.ts'
import { chosenAsset } from '../session/wallet-assets.ts'
import type { Session } from '../session.ts'

/** Writes what is noted on a transaction, on all devices. */
export const txLabel: CommandRun = async (session, text = '', txid = '') => {
  const makeChange = readChange(session)
  const wallet = await session.synced(await findWallet(session, text))
  const asset = await chosenAsset(session, wallet)
  const before = await wallet.getTransaction(txid, asset.tokenId)
  if (!session.globals.dryRun) {
    await wallet.saveTxMetadata(txid, makeChange(wallet.getSnapshot().fiatCurrencyCode), asset.tokenId)
    if (!session.globals.offline) await session.within('Syncing', () => wallet.sync())
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
  const told = new Map<Field, string | null>()
  for (const field of FIELDS) {
    const text = session.text(field === 'biz-id' ? 'bizId' : field)
    if (text !== undefined && cleared.has(field)) {
      throw new CliError('USAGE', `--${field} and --clear ${field} do not go together`)
    }
    if (text !== undefined) told.set(field, text)
    if (cleared.has(field)) told.set(field, null)
  }
  if (told.size === 0) {
    throw new CliError('USAGE', 'Say what to write: --name, --category, --notes, --fiat, --biz-id or --clear')
  }
  const fiat = told.get('fiat')
  const worth = typeof fiat === 'string' ? parseFiat(fiat) : undefined
  const id = told.get('biz-id')
  const bizId = typeof id === 'string' ? parseCount(id, 'id', [0, MAX_ID]) : null
  return fiatCode => ({
    ...textsOf(told),
    ...(id === undefined ? {} : { bizId }),
    ...(fiat === undefined ? {} : { exchangeAmount: { [worth?.code ?? fiatCode]: worth?.value ?? null } })
  })
}

const MAX_ID = 999_999_999

const textsOf = (told: ReadonlyMap<Field, string | null>): MetadataChange =>
  Object.fromEntries([...told].filter(([field]) => field !== 'fiat' && field !== 'biz-id'))

/** Reads `12.50`, in the wallet's own fiat currency, or `12.50 EUR`. */
const parseFiat = (text: string): { readonly value: number; readonly code: string | undefined } => {
  const [, number, code] = /^\s*(\d{1,15}(?:\.\d{1,10})?)\s*(?:(?:iso:)?([A-Z]{3}))?\s*$/.exec(text) ?? []
  if (number === undefined) throw new CliError('USAGE', 'A value looks like 12.50 or "12.50 EUR"')
  return { value: Number(number), code: code === undefined ? undefined : `iso:${code}` }
}
