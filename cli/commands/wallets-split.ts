import { shellWord } from '../../devtools/core/shell-word.ts'
import { type JsonObject, WalletError, type WalletListing } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import type { CommandResult } from '../command-result.ts'
import { CliError } from '../errors/cli-error.ts'
import { confirm } from '../session/confirm.ts'
import { findListing } from '../session/find-wallet.ts'
import { walletTypeOf } from '../session/new-wallets.ts'
import { openWallet } from '../session/open-wallet.ts'
import { upload } from '../session/upload.ts'
import type { Session } from '../session.ts'

/** Uses the keys of a wallet on another chain that shares the first one's past, after a question. */
export const walletsSplit: CommandRun = async (session, text = '') => {
  const to = session.text('to')
  if (session.isOn('list') === (to !== undefined)) {
    throw new CliError('USAGE', 'Say what to do: --list, or --to <type>', {
      next: [{ command: `holdfast wallets split ${shellWord(text)} --list`, why: 'see the types' }]
    })
  }
  if (to === undefined) return listTypes(session, await findListing(session, text))
  const type = await knownType(session, to)
  return split(session, await findListing(session, text), type)
}

/** Refuses what no plugin is for before anything is asked. @throws PLUGIN_FOR_TYPE */
const knownType = async (session: Session, text: string): Promise<string> => {
  const type = walletTypeOf(text)
  const types = (await session.currencies()).map(({ walletType }) => walletType)
  if (!types.includes(type)) throw new WalletError('PLUGIN_FOR_TYPE', { walletType: type })
  return type
}

const listTypes = async (session: Session, { walletId }: WalletListing): Promise<CommandResult> => {
  const types = await (await session.account()).listSplittableWalletTypes(walletId)
  return {
    data: { walletId, types },
    view: {
      kind: 'table',
      columns: [{ title: 'TYPE' }],
      rows: types.map(type => [type.replace(/^wallet:/, '')]),
      empty: 'This wallet cannot be split into any other type.'
    }
  }
}

const split = async (session: Session, listing: WalletListing, type: string): Promise<CommandResult> => {
  const { walletId } = listing
  const account = await session.account()
  const needsPayments = REPLAYABLE.has(`${listing.type} ${type}`)
  const summary: JsonObject = { walletId, type, replayProtection: needsPayments }
  if (needsPayments) checkReplay(session)
  if (session.globals.dryRun) {
    return {
      data: { ...summary, dryRun: true },
      view: { kind: 'text', lines: [`Nothing was changed; without --dry-run: split into ${type}`] }
    }
  }
  await confirm(session, {
    question: needsPayments
      ? `Send all coins of this wallet to itself twice, at a high fee, and use its keys for ${type} too?`
      : `Use the keys of this wallet for ${type} too?`,
    summary
  })
  if (needsPayments) await session.synced(await openWallet(session, walletId))
  const newId = await session.doing('Splitting the wallet', () => account.splitWallet(walletId, type))
  const wallet = await openWallet(session, newId)
  return {
    data: { ...summary, newWalletId: newId, name: wallet.name },
    warnings: await upload(session),
    view: {
      kind: 'record',
      fields: [
        ['id', newId],
        ['name', wallet.name ?? ''],
        ['type', type]
      ]
    }
  }
}

/** Splits before which the kernel makes payments: a payment on one chain could be repeated on the other. */
const REPLAYABLE: ReadonlySet<string> = new Set(['wallet:bitcoincash wallet:bitcoinsv'])

const checkReplay = (session: Session): void => {
  if (session.isOn('replayProtect')) {
    session.talk.warn('two payments to the wallet itself, at a high fee, come before the split')
    return
  }
  throw new CliError('USAGE', 'A payment on one of these chains could be repeated on the other', {
    hint: 'Before the split, all coins are sent to the wallet itself, twice, at a high fee. Agree with --replay-protect.',
    next: [{ command: `${session.commandLine} --replay-protect`, why: 'protect the coins, then split' }]
  })
}
