import { shellWord } from '../../../app/format/safe-text.ts'
import { type JsonObject, WalletError, type WalletListing } from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import type { CommandResult } from '../../output/view.ts'
import type { CommandRun } from '../../session/command.ts'
import { confirm } from '../../session/confirm.ts'
import { findListing, openWallet } from '../../session/find-wallets.ts'
import { upload } from '../../session/make-change.ts'
import type { Session } from '../../session/session.ts'
import { walletTypeOf } from './create.ts'

/** Splits a wallet: its keys are used on another chain that shares the history of the first, after a confirmation. */
export const walletsSplit: CommandRun = async (session, text = '') => {
  const to = session.text('to')
  if (session.isOn('list') === (to !== undefined)) {
    throw new CliError('USAGE', 'Use --list, or --to <type>', {
      next: [{ command: `holdfast wallets split ${shellWord(text)} --list`, why: 'see the types' }]
    })
  }
  if (to === undefined) return listTypes(session, await findListing(session, text))
  const type = await knownType(session, to)
  return split(session, await findListing(session, text), type)
}

/** Checks that a plugin supports the type, before any confirmation. @throws PLUGIN_FOR_TYPE */
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
  const newId = await session.withProgress('Splitting the wallet', () => account.splitWallet(walletId, type))
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

/** Splits before which the kernel makes payments: a payment on one chain could be replayed on the other. */
const REPLAYABLE: ReadonlySet<string> = new Set(['wallet:bitcoincash wallet:bitcoinsv'])

const checkReplay = (session: Session): void => {
  if (session.isOn('replayProtect')) {
    session.statusLine.warn(
      'before the split, the wallet makes two payments to its own addresses, at a high fee'
    )
    return
  }
  throw new CliError('USAGE', 'A payment on one of these chains could be repeated on the other', {
    hint: 'Before the split, the wallet sends all coins to its own addresses, twice, at a high fee. Agree with --replay-protect.',
    next: [{ command: `${session.commandLine} --replay-protect`, why: 'protect the coins, then split' }]
  })
}
