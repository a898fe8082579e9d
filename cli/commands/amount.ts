import { toDenomination } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { CliError } from '../errors/cli-error.ts'
import { amountJson, isMax, parseAmount } from '../output/amounts.ts'
import { findWallet } from '../session/find-wallet.ts'
import { chosenAsset } from '../session/wallet-assets.ts'

/** Converts an amount between the units of a wallet's asset, exactly. */
export const amount: CommandRun = async (session, text = '', typed = '') => {
  const to = session.text('to')
  if (to?.toLowerCase().startsWith('iso:') === true) {
    throw new CliError(
      'NOT_YET',
      'Amounts in fiat need exchange rates, which this version does not ask for',
      {
        hint: 'Leave --to out to see the amount in every unit of its own.'
      }
    )
  }
  if (isMax(typed)) throw new CliError('USAGE', 'Convert an amount, not max')
  const asset = await chosenAsset(session, await findWallet(session, text, 'any'))
  const native = parseAmount(typed, asset)
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
