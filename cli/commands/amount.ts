import {
  amountText,
  type NativeAmount,
  parseAmount,
  toDenomination,
  WalletError
} from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import type { CommandResult } from '../command-result.ts'
import { CliError } from '../errors/cli-error.ts'
import { amountJson, isMax } from '../output/amounts.ts'
import type { Asset } from '../output/assets.ts'
import { ageCell, pathText } from '../rates/route-facts.ts'
import { fiatCodeOf, openAppraiser, worthJson, worthText } from '../rates/worth.ts'
import { findWallet } from '../session/find-wallet.ts'
import { chosenAsset } from '../session/wallet-assets.ts'
import type { Session } from '../session.ts'

/** Converts an amount between the units of a wallet's asset, exactly, or into money. */
export const amount: CommandRun = async (session, text = '', typed = '') => {
  const to = session.text('to')
  if (isMax(typed)) throw new CliError('USAGE', 'Convert an amount, not max')
  const asset = await chosenAsset(session, await findWallet(session, text, 'any'))
  const native = parseAmount(typed, asset)
  if (to !== undefined && /^iso:/i.test(to)) return inMoney(session, { asset, native, to })
  const units = [...asset.denominations, { name: 'native', multiplier: '1' }]
  const wanted =
    to === undefined ? units : units.filter(({ name }) => name.toLowerCase() === to.toLowerCase())
  if (wanted.length === 0) {
    throw new CliError('USAGE', `"${to}" is no unit of ${asset.displayName}`, {
      hint: `Use one of ${units.map(({ name }) => name).join(', ')}.`
    })
  }
  const amounts = wanted.map(({ name, multiplier }) => ({
    unit: name,
    amount: toDenomination(native, multiplier)
  }))
  return {
    data: { tokenId: asset.tokenId, ...amountJson(native, asset), amounts },
    view: {
      kind: 'table',
      columns: [{ title: 'AMOUNT', align: 'right' }, { title: 'UNIT' }],
      rows: amounts.map(({ unit, amount: value }) => [value, unit]),
      empty: ''
    }
  }
}

interface Wanted {
  readonly asset: Asset
  readonly native: NativeAmount
  readonly to: string
}

const inMoney = async (session: Session, { asset, native, to }: Wanted): Promise<CommandResult> => {
  const worth = (await openAppraiser(session, to, [asset]))(native, asset)
  if (worth === undefined) {
    throw new WalletError('NO_RATE', { from: asset.currencyCode, to: fiatCodeOf(to) })
  }
  return {
    data: { tokenId: asset.tokenId, ...amountJson(native, asset), fiat: worthJson(worth) },
    view: {
      kind: 'record',
      fields: [
        [amountText(native, asset), { text: worthText(worth), tone: 'strong' }],
        ['age', ageCell(worth.route)],
        ['route', pathText(worth.route)]
      ]
    }
  }
}
