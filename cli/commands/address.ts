import { type CurrencyWallet, type FreshAddress, parseAmount } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import type { CommandResult } from '../command-result.ts'
import { CliError } from '../errors/cli-error.ts'
import { parseCount } from '../grammar/values.ts'
import { isMax } from '../output/amounts.ts'
import { qrLines } from '../output/qr.ts'
import { findWallet } from '../session/find-wallet.ts'
import { upload } from '../session/upload.ts'
import { chosenAsset } from '../session/wallet-assets.ts'
import type { Session } from '../session.ts'

/** Shows an address to receive on: the same one until it is used or locked. */
export const address: CommandRun = async (session, text = '') => {
  const wallet = await session.synced(await findWallet(session, text))
  return show(session, wallet, await receiveAddress(session, wallet))
}

/** Gives an address that nobody was given: the one that was fresh is locked first, so that the next is another. */
export const addressNew: CommandRun = async (session, text = '') => {
  const wallet = await session.synced(await findWallet(session, text))
  const { publicAddress } = await receiveAddress(session, wallet)
  await wallet.lockReceiveAddress(publicAddress, notesOf(session))
  const next = await receiveAddress(session, wallet)
  const result = await show(session, wallet, next)
  const warnings = await upload(session, wallet)
  if (next.publicAddress !== publicAddress) return { ...result, warnings }
  return { ...result, warnings: [...warnings, `${wallet.currencyInfo.displayName} has one address only`] }
}

/** Counts an address as used, so that it is never offered again; the present one unless another is named. */
export const addressLock: CommandRun = (session, text = '', named = undefined) =>
  note(session, [text, named], {
    done: 'locked',
    call: (wallet, publicAddress) => wallet.lockReceiveAddress(publicAddress, notesOf(session))
  })

/** Notes something on an address, which stays fresh. */
export const addressSave: CommandRun = (session, text = '', named = undefined) =>
  note(session, [text, named], {
    done: 'saved',
    call: (wallet, publicAddress) => wallet.saveReceiveAddress(publicAddress, notesOf(session))
  })

const MAX_INDEX = 1_000_000

const receiveAddress = async (session: Session, wallet: CurrencyWallet): Promise<FreshAddress> => {
  const index = session.text('index')
  const { tokenId } = await chosenAsset(session, wallet)
  return wallet.getReceiveAddress({
    tokenId,
    ...(index === undefined ? {} : { forceIndex: parseCount(index, 'index', [0, MAX_INDEX]) })
  })
}

const show = async (
  session: Session,
  wallet: CurrencyWallet,
  { publicAddress, segwitAddress, legacyAddress }: FreshAddress
): Promise<CommandResult> => {
  const { amount, label, message } = textsOf(session)
  if (amount !== undefined && isMax(amount)) throw new CliError('USAGE', 'Ask for an amount, not for max')
  const asset = await chosenAsset(session, wallet)
  const uri = await wallet.encodeUri({
    publicAddress,
    ...(amount === undefined ? {} : { nativeAmount: parseAmount(amount, asset) }),
    ...(label === undefined ? {} : { label }),
    ...(message === undefined ? {} : { message })
  })
  const wantsUri = session.isOn('uri') || [amount, label, message].some(text => text !== undefined)
  const line = wantsUri ? uri : publicAddress
  const code = session.isOn('qr') ? await qrLines(uri, session.globals.ascii) : []
  return {
    data: {
      walletId: wallet.id,
      address: publicAddress,
      segwitAddress: segwitAddress ?? null,
      legacyAddress: legacyAddress ?? null,
      uri
    },
    view: { kind: 'text', lines: code.length === 0 ? [line] : [...code, '', line] }
  }
}

const textsOf = (session: Session) => ({
  amount: session.text('amount'),
  label: session.text('label'),
  message: session.text('message')
})

const notesOf = (session: Session): { readonly name?: string; readonly notes?: string } => {
  const [name, notes] = [session.text('name'), session.text('notes')]
  return { ...(name === undefined ? {} : { name }), ...(notes === undefined ? {} : { notes }) }
}

/** What becomes of an address. */
interface AddressChange {
  readonly done: string
  call(wallet: CurrencyWallet, publicAddress: string): Promise<void>
}

const note = async (
  session: Session,
  [text, named]: readonly [string, string | undefined],
  { done, call }: AddressChange
): Promise<CommandResult> => {
  const wallet = await session.synced(await findWallet(session, text))
  const given = named === undefined ? await receiveAddress(session, wallet) : await wallet.parseUri(named)
  const { publicAddress = '' } = given
  await call(wallet, publicAddress)
  const warnings = await upload(session, wallet)
  const { metadata, recycleable } = (await wallet.savedAddresses()).find(
    record => record.address === publicAddress
  ) ?? { metadata: {}, recycleable: true }
  return {
    data: {
      walletId: wallet.id,
      address: publicAddress,
      locked: !recycleable,
      name: metadata.name ?? null,
      notes: metadata.notes ?? null
    },
    warnings,
    view: {
      kind: 'record',
      fields: [
        ['address', publicAddress],
        ['state', { text: done, tone: 'good' }],
        ['name', metadata.name ?? ''],
        ['notes', metadata.notes ?? '']
      ]
    }
  }
}
