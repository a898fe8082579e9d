import { walletActions } from '../../../app/actions/wallets.ts'
import {
  type CurrencyWallet,
  compact,
  type JsonObject,
  type NewWallet,
  type NewWalletOfType,
  parseJsonText,
  type WalletKeys,
  type WalletResult
} from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import { failureOf, PARTIAL } from '../../errors/failure.ts'
import { parsePairs } from '../../grammar/options.ts'
import type { CommandResult } from '../../output/view.ts'
import { syncCell, walletJson } from '../../output/wallet-texts.ts'
import { parseSecretObject, readSecretFile, secretAdvice } from '../../secrets/secret-sources.ts'
import { assetsOf } from '../../session/assets.ts'
import type { CommandRun } from '../../session/command.ts'
import { isJsonObject, readTextFile, readValue } from '../../session/input.ts'
import { upload } from '../../session/make-change.ts'
import type { Session } from '../../session/session.ts'

/** Creates a wallet with new keys or a copy of given ones, or one for each row of a file. */
export const walletsCreate: CommandRun = async (session, type = undefined) => {
  const batch = session.text('batch')
  if (batch !== undefined) return walletsBatch(session, batch, type)
  if (type === undefined) {
    throw new CliError('USAGE', 'Name the type of the wallet', {
      next: [
        { command: 'holdfast wallets types', why: 'see the types' },
        { command: 'holdfast wallets create bitcoin', why: 'create a Bitcoin wallet' }
      ]
    })
  }
  const path = session.text('keysFile')
  return make(session, type, path === undefined ? undefined : { keys: await readKeys(path) })
}

/** Imports a wallet from words, with their passphrase where one was given, or a private key. */
export const walletsImport: CommandRun = async (session, type = '') => {
  const given = await session.secrets.given('private-key')
  const account = await session.account()
  const importText =
    given ??
    (await session.secrets.prompt('private-key', {
      message: 'Words or key of the wallet:',
      check: text => (text.trim() === '' ? 'Type the words, or the key' : undefined)
    }))
  const passphrase = await session.secrets.given('key-passphrase')
  const before = new Set(account.listWallets().map(({ walletId }) => walletId))
  const result = await make(session, type, {
    importText,
    ...compact({ keyOptions: passphrase === undefined ? undefined : { passphrase } })
  })
  const isKnown = before.has(String((result.data.wallet as { id: string }).id))
  return isKnown
    ? { ...result, warnings: [...(result.warnings ?? []), 'the account already had this wallet'] }
    : result
}

/** Adds a wallet that only watches, from an extended public key or an output descriptor. */
export const walletsWatch: CommandRun = async (session, type = '') => {
  const importText = await readValue(session)
  const result = await make(session, type, { importText, keyOptions: { watch: true } })
  return {
    ...result,
    warnings: [...(result.warnings ?? []), 'this wallet only watches: it shows and receives, and cannot pay']
  }
}

const make = async (
  session: Session,
  type: string,
  source: NewWallet | undefined
): Promise<CommandResult> => {
  const account = await session.account()
  const name = session.text('name')
  const fiat = session.text('fiat')
  const named = parsePairs(session.texts('keyOption'), 'key option')
  if (Object.keys(named).some(name => /^passphrase$/i.test(name)))
    throw new CliError(
      'SECRET_SOURCE',
      'A command line never contains a secret, such as the passphrase of words',
      {
        hint: secretAdvice('key-passphrase')
      }
    )
  const keyOptions = { ...named, ...source?.keyOptions }
  const options = compact({
    name,
    fiatCurrencyCode: fiat,
    keyOptions: Object.keys(keyOptions).length === 0 ? undefined : keyOptions
  })
  const walletType = walletTypeOf(type)
  const wallet = await session.withProgress('Creating the wallet', async () => {
    // Keys of elsewhere are secrets, which no action takes.
    if (source !== undefined) return account.createCurrencyWallet(walletType, { ...source, ...options })
    const request = { accountId: account.id, walletType, ...options }
    return account.openWallet((await session.run(walletActions['wallet.create'], request)).walletId)
  })
  await session.synced(wallet)
  return resultOf(session, wallet, await upload(session, wallet))
}

const resultOf = async (
  session: Session,
  wallet: CurrencyWallet,
  warnings: readonly string[]
): Promise<CommandResult> => {
  const account = await session.account()
  const { publicAddress } = await wallet.getReceiveAddress()
  const listing = account.listWallets().find(({ walletId }) => walletId === wallet.id)
  const assets = await assetsOf(session, wallet)
  return {
    data: {
      wallet: listing === undefined ? { id: wallet.id } : walletJson(wallet, listing, assets),
      address: publicAddress
    },
    warnings,
    view: {
      kind: 'record',
      fields: [
        ['id', wallet.id],
        ['name', wallet.name ?? ''],
        ['type', wallet.type],
        ['address', publicAddress],
        ['state', syncCell(wallet.engine.getSnapshot())]
      ]
    }
  }
}

/** The keys that `wallets keys --raw --reveal -o` wrote. */
const readKeys = async (path: string): Promise<WalletKeys> => {
  const refuse = (): CliError =>
    new CliError('SECRET_SOURCE', 'The file of --keys-file must contain one JSON object of keys', {
      next: [
        {
          command: 'holdfast wallets keys <wallet> --raw --reveal -o <file>',
          why: 'write the keys of a wallet'
        }
      ]
    })
  return (await parseSecretObject(await readSecretFile('keys', path), refuse)) as WalletKeys
}

/** Creates a wallet for each row of a file in one request; each row has a result of its own. */
const walletsBatch = async (
  session: Session,
  path: string,
  type: string | undefined
): Promise<CommandResult> => {
  for (const flag of ['name', 'fiat', 'keyOption', 'keysFile']) {
    if (session.flags[flag] !== undefined)
      throw new CliError('USAGE', 'With --batch, the rows of the file describe each wallet')
  }
  const rows = await readBatch(path, type)
  if (session.globals.dryRun) return dryResult(rows)
  countWallets(session, rows.length)
  const account = await session.account()
  const results = await session.withProgress(`Making ${rows.length} wallets`, () =>
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
      empty: 'This file has no rows.'
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
  view: { kind: 'text', lines: [`Nothing was created; without --dry-run: ${rows.length} wallets`] }
})

/** Shows the progress by the wallets that have opened. */
const countWallets = (session: Session, count: number): void => {
  const seen = new Set<string>()
  session.observe(({ hooks }) =>
    hooks.walletChanged.tap('batch', ({ walletId }) => {
      seen.add(walletId)
      session.statusLine.step(`${seen.size} of ${count} wallets…`)
    })
  )
}

/** Adds the prefix `wallet:` to a type where it is missing. */
export const walletTypeOf = (text: string): string => (text.startsWith('wallet:') ? text : `wallet:${text}`)

/**
 * Reads a file with one new wallet a row: a JSON list of objects, or one object a line, each with `type`, `name`,
 * `fiat`, `keyOptions` and `tokens`. All but the type are optional.
 *
 * @param type - the type of rows without one
 * @throws CliError NOT_FOUND, USAGE naming the row; nothing is created then
 */
const readBatch = async (path: string, type: string | undefined): Promise<readonly NewWalletOfType[]> => {
  const rows = rowsOf(await readTextFile(path), path)
  if (rows.length > MAX_ROWS) throw new CliError('USAGE', `The file ${path} has more than ${MAX_ROWS} rows`)
  return rows.map((row, index) => newWalletOf(row, { place: `Row ${index + 1} of ${path}`, type }))
}

const MAX_ROWS = 1000

const rowsOf = (text: string, path: string): readonly unknown[] => {
  try {
    if (text.trimStart().startsWith('[')) return parseJsonText(text) as unknown[]
    return text
      .split('\n')
      .filter(line => line.trim() !== '')
      .map(line => parseJsonText(line))
  } catch (error) {
    throw new CliError('USAGE', `The file ${path} is neither a JSON list nor one JSON object per line`, {
      hint: 'A row looks like {"type": "bitcoin", "name": "Savings", "fiat": "iso:EUR"}.',
      cause: error
    })
  }
}

const newWalletOf = (
  row: unknown,
  { place, type: usual }: { readonly place: string; readonly type: string | undefined }
): NewWalletOfType => {
  const refuse = (rule: string): CliError => new CliError('USAGE', `${place} ${rule}`)
  if (!isJsonObject(row)) throw refuse('is not an object')
  const { type = usual, name, fiat, keyOptions, tokens, ...others } = row
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw refuse(`has a field "${unknown}" that means nothing`)
  if (typeof type !== 'string') throw refuse('has no type, and the command names none')
  if (!isMaybeText(name) || !isMaybeText(fiat)) throw refuse('has a name or fiat that is not text')
  if (keyOptions !== undefined && !isJsonObject(keyOptions))
    throw refuse('has keyOptions that are not an object')
  if (tokens !== undefined && !isTexts(tokens)) throw refuse('has tokens that are not a list of ids')
  return {
    type: walletTypeOf(type),
    ...compact({ name, fiatCurrencyCode: fiat, keyOptions, enabledTokenIds: tokens })
  }
}

const isMaybeText = (value: unknown): value is string | undefined =>
  value === undefined || typeof value === 'string'

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(item => typeof item === 'string')
