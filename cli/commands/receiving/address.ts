import { holdingActions } from '../../../app/actions/holdings.ts'
import { inTurn } from '../../../app/actions/open-payment-checks.ts'
import { type ReceiveAddress, walletActions } from '../../../app/actions/wallets.ts'
import { amountJson, isMax } from '../../../app/format/amounts.ts'
import { amountText, type CurrencyWallet, compact, nativeAmount, parseAmount } from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import { parseCount } from '../../grammar/options.ts'
import { qrLines } from '../../output/texts.ts'
import type { CommandResult } from '../../output/view.ts'
import { chosenAsset, coinOf } from '../../session/assets.ts'
import type { CommandRun } from '../../session/command.ts'
import { findWallet } from '../../session/find-wallets.ts'
import { upload } from '../../session/make-change.ts'
import type { Session } from '../../session/session.ts'

/** Shows a receive address: the same one until it is used or locked. */
export const address: CommandRun = async (session, text = '') => {
  const wallet = await session.synced(await findWallet(session, text))
  return addressResult(session, wallet, await receive(session, wallet))
}

/** Locks the current receive address and shows the next one. */
export const addressNew: CommandRun = async (session, text = '') => {
  const wallet = await session.synced(await findWallet(session, text))
  // Two commands at once would lock the same address, and show the same next one.
  const [publicAddress, next] = await inTurn(wallet.id, async () => {
    const { publicAddress } = await receive(session, wallet)
    await wallet.lockReceiveAddress(publicAddress, notesOf(session))
    return [publicAddress, await receive(session, wallet)] as const
  })
  const result = await addressResult(session, wallet, next)
  const warnings = await upload(session, wallet)
  if (next.publicAddress !== publicAddress) return { ...result, warnings }
  return { ...result, warnings: [...warnings, `${wallet.currencyInfo.displayName} has only one address`] }
}

/** Marks an address as used, so that it is never offered again; the current one by default. */
export const addressLock: CommandRun = (session, text = '', named = undefined) =>
  changeAddress(session, [text, named], {
    done: 'locked',
    call: (wallet, publicAddress) => wallet.lockReceiveAddress(publicAddress, notesOf(session))
  })

/** Saves a name and notes of an address, which stays fresh. */
export const addressSave: CommandRun = (session, text = '', named = undefined) =>
  changeAddress(session, [text, named], {
    done: 'saved',
    call: (wallet, publicAddress) => wallet.saveReceiveAddress(publicAddress, notesOf(session))
  })

const MAX_INDEX = 1_000_000

const receive = async (session: Session, wallet: CurrencyWallet): Promise<ReceiveAddress> => {
  const index = session.text('index')
  const { amount, ...texts } = textsOf(session)
  if (amount !== undefined && isMax(amount)) throw new CliError('USAGE', 'Ask for an amount, not for max')
  const asset = await chosenAsset(session, wallet)
  return session.run(walletActions['wallet.receive'], {
    walletId: wallet.id,
    ...compact({
      tokenId: asset.tokenId ?? undefined,
      index: index === undefined ? undefined : parseCount(index, 'index', [0, MAX_INDEX]),
      nativeAmount: amount === undefined ? undefined : parseAmount(amount, asset),
      ...texts
    })
  })
}

const addressResult = async (
  session: Session,
  wallet: CurrencyWallet,
  { publicAddress, segwitAddress, legacyAddress, uri }: ReceiveAddress
): Promise<CommandResult> => {
  const wantsUri = session.isOn('uri') || Object.values(textsOf(session)).some(text => text !== undefined)
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
  return compact({ name, notes })
}

/** A change of an address's record. */
interface AddressChange {
  readonly done: string
  call(wallet: CurrencyWallet, publicAddress: string): Promise<void>
}

const changeAddress = async (
  session: Session,
  [text, named]: readonly [string, string | undefined],
  { done, call }: AddressChange
): Promise<CommandResult> => {
  const wallet = await session.synced(await findWallet(session, text))
  const given = named === undefined ? await receive(session, wallet) : await wallet.parseUri(named)
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

/** Parses an address or link, and shows its kind. */
export const uriParse: CommandRun = async (session, text = '', uri = '') => {
  const kind = uriKindOf(uri)
  if (kind === 'key sweep') {
    throw new CliError('SECRET_SOURCE', 'This is a private key, and it was on the command line', {
      hint: 'Other programs can read a command line: assume that others know the key, and move its funds.'
    })
  }
  if (kind !== 'payment') {
    const [what, next] = OTHERS[kind]
    return {
      data: { kind, payment: null },
      view: { kind: 'record', fields: [['kind', kind]] },
      advice: next === undefined ? [what] : [what, `Continue with: ${next}`]
    }
  }
  const wallet = await findWallet(session, text, 'any')
  const coin = coinOf(wallet)
  const {
    publicAddress,
    nativeAmount: native,
    untrusted
  } = await session.run(holdingActions['wallet.parse'], { walletId: wallet.id, uri })
  const { label, message, currencyCode } = untrusted
  const requested = native === undefined ? undefined : nativeAmount(native)
  return {
    data: {
      kind,
      payment: {
        address: publicAddress ?? null,
        amount: requested === undefined ? null : amountJson(requested, coin),
        currencyCode: currencyCode ?? null,
        label: label ?? null,
        message: message ?? null
      }
    },
    view: {
      kind: 'record',
      fields: [
        ['kind', kind],
        ['address', publicAddress ?? ''],
        ['amount', requested === undefined ? '' : amountText(requested, coin)],
        ['label', label ?? ''],
        ['message', message ?? '']
      ]
    }
  }
}

/** Encodes a payment link. */
export const uriEncode: CommandRun = async (session, text = '', address = '') => {
  const wallet = await findWallet(session, text, 'any')
  const asset = await chosenAsset(session, wallet)
  const [amount, label, message] = ['amount', 'label', 'message'].map(flag => session.text(flag))
  if (amount !== undefined && isMax(amount)) throw new CliError('USAGE', 'Ask for an amount, not for max')
  const uri = await wallet.encodeUri({
    publicAddress: address,
    ...compact({
      nativeAmount: amount === undefined ? undefined : parseAmount(amount, asset),
      label,
      message
    })
  })
  const code = session.isOn('qr') ? await qrLines(uri, session.globals.ascii) : []
  return { data: { uri }, view: { kind: 'text', lines: [...code, ...(code.length === 0 ? [] : ['']), uri] } }
}

const OTHERS: Readonly<
  Record<'login' | 'payment protocol' | 'WalletConnect', readonly [what: string, next?: string]>
> = {
  login: ['A device or app requests a login.', 'holdfast lobby show <id-or-link>'],
  'payment protocol': ['This is a payment request of a shop; this version does not support it yet.'],
  WalletConnect: ['This is a connection request of an app; this version does not support it.']
}

/** The kinds of text that a user may scan or paste. */
export type UriKind = 'key sweep' | 'login' | 'payment protocol' | 'payment' | 'WalletConnect'

/** Detects the kind of a link by its form alone; the currency validates it. */
export const uriKindOf = (uri: string): UriKind => {
  const text = uri.trim()
  if (/^wc:/i.test(text)) return 'WalletConnect'
  if (/^[a-z][a-z0-9+.-]*:\/\/edge\/|^https:\/\/[^/]+\/edge\//i.test(text)) return 'login'
  if (
    /^[a-z]+:(?:\/\/)?\?(?!.*[?&](?:bc|tb|bcrt|r?ltc|tltc)=)(?:.*&)?r=https?(?::|%3a)/i.test(text) ||
    /^https:\/\/[^?]*\/i\//i.test(text)
  )
    return 'payment protocol'
  const bare = text.replace(/^[a-z][a-z0-9+.-]*:(?:\/\/)?/i, '').replace(/\?.*$/, '')
  return isPrivateKey(bare) ? 'key sweep' : 'payment'
}

/** A key in the wallet import format, an extended private key, or words. */
const isPrivateKey = (text: string): boolean =>
  /^(?:[5KL9c][1-9A-HJ-NP-Za-km-z]{50,51}|[a-z]prv[1-9A-HJ-NP-Za-km-z]{100,})$/.test(text) ||
  /^(?:[a-z]{3,8}\s+){11,}[a-z]{3,8}$/.test(text)
