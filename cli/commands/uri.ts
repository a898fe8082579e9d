import { amountText, parseAmount } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { CliError } from '../errors/cli-error.ts'
import { amountJson, isMax } from '../output/amounts.ts'
import { qrLines } from '../output/qr.ts'
import { uriKindOf } from '../output/uri-kind.ts'
import { findWallet } from '../session/find-wallet.ts'
import { chosenAsset, coinOf } from '../session/wallet-assets.ts'

/** Reads an address or link, and says of which kind it is. */
export const uriParse: CommandRun = async (session, text = '', uri = '') => {
  const kind = uriKindOf(uri)
  if (kind === 'key sweep') {
    throw new CliError('SECRET_SOURCE', 'This is a private key, and it has stood on the command line', {
      hint: 'Other programs can read a command line: consider the key known, and move what it holds.'
    })
  }
  if (kind !== 'payment') {
    const [what, next] = OTHERS[kind]
    return {
      data: { kind, payment: null },
      view: { kind: 'record', fields: [['kind', kind]] },
      advice: next === undefined ? [what] : [what, `Go on with: ${next}`]
    }
  }
  const wallet = await findWallet(session, text, 'any')
  const coin = coinOf(wallet)
  const { publicAddress, nativeAmount, currencyCode, label, message } = await wallet.parseUri(uri)
  return {
    data: {
      kind,
      payment: {
        address: publicAddress ?? null,
        amount: nativeAmount === undefined ? null : amountJson(nativeAmount, coin),
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
        ['amount', nativeAmount === undefined ? '' : amountText(nativeAmount, coin)],
        ['label', label ?? ''],
        ['message', message ?? '']
      ]
    }
  }
}

/** Writes a payment link. */
export const uriEncode: CommandRun = async (session, text = '', address = '') => {
  const wallet = await findWallet(session, text, 'any')
  const asset = await chosenAsset(session, wallet)
  const [amount, label, message] = ['amount', 'label', 'message'].map(flag => session.text(flag))
  if (amount !== undefined && isMax(amount)) throw new CliError('USAGE', 'Ask for an amount, not for max')
  const uri = await wallet.encodeUri({
    publicAddress: address,
    ...(amount === undefined ? {} : { nativeAmount: parseAmount(amount, asset) }),
    ...(label === undefined ? {} : { label }),
    ...(message === undefined ? {} : { message })
  })
  const code = session.isOn('qr') ? await qrLines(uri, session.globals.ascii) : []
  return { data: { uri }, view: { kind: 'text', lines: [...code, ...(code.length === 0 ? [] : ['']), uri] } }
}

const OTHERS: Readonly<
  Record<'login' | 'payment protocol' | 'WalletConnect', readonly [what: string, next?: string]>
> = {
  login: ['A device or app asks to be logged in.', 'holdfast lobby show <id-or-link>'],
  'payment protocol': ['A shop wants to be asked for the payment; this version does not do that yet.'],
  WalletConnect: ['An app wants to be connected; this version does not do that.']
}
