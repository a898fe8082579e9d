import type { TransactionFilter, TxState } from '../../app/actions/find-transactions.ts'
import { compact } from '../../kernel/base/compact.ts'
import type { CurrencyWallet } from '../../kernel/index.ts'
import { CliError } from '../errors/cli-error.ts'
import { parseDate } from '../grammar/options.ts'
import type { Effect } from '../output/transaction-texts.ts'
import { assetsOf, findAsset, matchAsset } from './assets.ts'
import type { Session } from './session.ts'

/** Reads `--since`, `--until`, `--before`, `--state`, `--in` and `--out`. @throws CliError USAGE */
export const filterOf = (session: Session, search?: string): TransactionFilter => {
  const [since, until] = [session.text('since'), session.text('until')]
  const [isIn, isOut] = [session.isOn('in'), session.isOn('out')]
  if (isIn && isOut) throw new CliError('USAGE', 'Use either --in or --out; leave both out for all')
  return compact({
    since: since === undefined ? undefined : parseDate(since, 'start'),
    until: until === undefined ? undefined : parseDate(until, 'end'),
    before: session.text('before'),
    search,
    state: session.text('state') as TxState | undefined,
    direction: isIn ? 'in' : isOut ? 'out' : undefined
  })
}

/** Returns the assets that a command selects: those of `--token`, or all of each wallet. @throws CliError NOT_FOUND */
export const chosenAssets = async (
  session: Session,
  wallets: readonly CurrencyWallet[]
): Promise<readonly Omit<Effect, 'tx'>[]> => {
  const token = session.text('token')
  const chosen: Omit<Effect, 'tx'>[] = []
  for (const wallet of wallets) {
    const assets = await assetsOf(session, wallet)
    const one = token === undefined ? undefined : matchAsset(assets, token)
    if (token === undefined) chosen.push(...assets.map(asset => ({ wallet, asset })))
    else if (one !== undefined) chosen.push({ wallet, asset: one })
  }
  const [only] = wallets
  if (chosen.length === 0 && token !== undefined && only !== undefined) await findAsset(session, only, token)
  return chosen
}
