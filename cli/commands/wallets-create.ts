import type { CurrencyWallet, NewWallet, WalletKeys } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import type { CommandResult } from '../command-result.ts'
import { CliError } from '../errors/cli-error.ts'
import { parsePairs } from '../grammar/values.ts'
import { syncCell, walletJson } from '../output/facts.ts'
import { parseSecretObject } from '../secrets/parse-secret-object.ts'
import { readSecretFile } from '../secrets/secret-sources.ts'
import { walletTypeOf } from '../session/new-wallets.ts'
import { upload } from '../session/upload.ts'
import { assetsOf } from '../session/wallet-assets.ts'
import type { Session } from '../session.ts'
import { walletsBatch } from './wallets-batch.ts'

/** Makes a wallet with new keys or a copy of given ones, or a wallet for each row of a file. */
export const walletsCreate: CommandRun = async (session, type = undefined) => {
  const batch = session.text('batch')
  if (batch !== undefined) return walletsBatch(session, batch, type)
  if (type === undefined) {
    throw new CliError('USAGE', 'Say which type of wallet', {
      next: [
        { command: 'holdfast wallets types', why: 'see the types' },
        { command: 'holdfast wallets create bitcoin', why: 'make a Bitcoin wallet' }
      ]
    })
  }
  const path = session.text('keysFile')
  return make(session, type, path === undefined ? {} : { keys: await readKeys(path) })
}

/** Makes a wallet from words or a key that a person has. */
export const walletsImport: CommandRun = async (session, type = '') => {
  const given = await session.secrets.given('private-key')
  const account = await session.account()
  const importText =
    given ??
    (await session.secrets.ask('private-key', {
      message: 'Words or key of the wallet:',
      check: text => (text.trim() === '' ? 'Type the words, or the key' : undefined)
    }))
  const before = new Set(account.listWallets().map(({ walletId }) => walletId))
  const result = await make(session, type, { importText })
  const isKnown = before.has(String((result.data.wallet as { id: string }).id))
  return isKnown
    ? { ...result, warnings: [...(result.warnings ?? []), 'the account had this wallet already'] }
    : result
}

const make = async (session: Session, type: string, source: NewWallet): Promise<CommandResult> => {
  const account = await session.account()
  const name = session.text('name')
  const fiat = session.text('fiat')
  const keyOptions = parsePairs(session.texts('keyOption'), 'key option')
  const wallet = await session.doing('Making the wallet', () =>
    account.createCurrencyWallet(walletTypeOf(type), {
      ...source,
      ...(name === undefined ? {} : { name }),
      ...(fiat === undefined ? {} : { fiatCurrencyCode: fiat }),
      ...(Object.keys(keyOptions).length === 0 ? {} : { keyOptions })
    })
  )
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
    new CliError('SECRET_SOURCE', 'The file of --keys-file must hold one JSON object of keys', {
      next: [
        {
          command: 'holdfast wallets keys <wallet> --raw --reveal -o <file>',
          why: 'write the keys of a wallet'
        }
      ]
    })
  return parseSecretObject(await readSecretFile('keys', path), refuse) as WalletKeys
}
