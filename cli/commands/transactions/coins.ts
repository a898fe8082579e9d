import { coinActions } from '../../../app/actions/coins.ts'
import { compact } from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import { coinOf } from '../../session/assets.ts'
import type { CommandRun } from '../../session/command.ts'
import { findWallet } from '../../session/find-wallets.ts'
import { draftSpend, dryResult, maxFeeOf, sentResult, syncAfterPayment } from '../../spend/approve-spend.ts'
import { readFee } from '../../spend/read-spend.ts'

/** Sweeps keys of single addresses into a wallet: one transaction, which is reviewed before it is sent. */
export const sweep: CommandRun = async (session, text = '') => {
  if (session.globals.offline) throw new CliError('USAGE', 'No coins can be looked up with --offline')
  const given = await session.secrets.given('private-key')
  const wallet = await session.synced(await findWallet(session, text))
  const typed =
    given ??
    (await session.secrets.prompt('private-key', {
      message: 'Private key to sweep:',
      check: key => (key.trim() === '' ? 'Type the key' : undefined)
    }))
  const fee = readFee({ fee: session.text('fee'), customFee: session.texts('customFee') })
  const asset = coinOf(wallet)
  const limit = maxFeeOf(session, wallet)
  const { summary, approve, pay } = await draftSpend(session, wallet, {
    ...{ asset, limit },
    make: () =>
      session.run(coinActions['spend.sweep'], {
        ...{ walletId: wallet.id, privateKeys: typed.split(/\s+/).filter(key => key !== ''), ...fee },
        ...compact({ withUnconfirmed: session.isOn('unconfirmed') || undefined, maxNetworkFee: limit })
      })
  })
  if (session.globals.dryRun) return dryResult(summary)
  const sent = await pay(await approve('Send it?'))
  return sentResult(wallet, sent, { asset, warnings: await syncAfterPayment(session, wallet) })
}
