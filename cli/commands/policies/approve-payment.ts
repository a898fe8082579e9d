import {
  type Account,
  amountText,
  coinFeeOf,
  isNativeAmount,
  type OwnerProof,
  type Transaction,
  unusualFeeOf
} from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import { readLobbyId } from '../../output/texts.ts'
import { promptText } from '../../secrets/prompt.ts'
import { coinOf, findAsset } from '../../session/assets.ts'
import type { CommandRun } from '../../session/command.ts'
import { openWallet } from '../../session/find-wallets.ts'
import { nameOf } from '../../session/make-change.ts'
import type { Session } from '../../session/session.ts'
import { unusualFeeWarnings } from '../../spend/approve-spend.ts'
import { type SpendSummary, summaryLines, summaryOf, withWarnings } from '../../spend/summary.ts'
import { safeText, untrustedText } from '../../terminal/safe-text.ts'
import { canPrompt } from '../../terminal/terminal.ts'

/** Shows the public key with which this device approves payments. */
export const policyDevice: CommandRun = async session => {
  const { policies } = await session.account()
  const key = await policies.device()
  const { rules } = await policies.list()
  const isListed = (devices: unknown): boolean => JSON.stringify(devices ?? null).includes(`"${key}"`)
  const ids = rules.filter(({ devices }) => isListed(devices)).map(({ id }) => id)
  return {
    data: { key, rules: ids },
    view: {
      kind: 'record',
      fields: [
        ['key', key],
        ['approves for', ids.length === 0 ? 'no rule' : safeText(ids.join(', '))]
      ]
    },
    advice: [`On the device that pays: holdfast policy add big second-device --approver <name>=${key}`]
  }
}

/**
 * Shows the payment of another device of the account as that would review it, and answers: a typed yes and the PIN or password
 * approve it, a no refuses it, and Ctrl-C answers nothing. `--yes` is not enough: a program could type it.
 */
export const policyApprove: CommandRun = async (session, text = '') => {
  const { globals, terminal, statusLine } = session
  if (globals.yes || !globals.input || !canPrompt(terminal))
    throw new CliError('CONFIRMATION_REQUIRED', 'A payment of another device is approved at a terminal', {
      hint: 'Leave out --yes.'
    })
  const account = await session.account()
  const question = await session.withProgress('Fetching the payment', () =>
    account.policies.fetchApproval(readLobbyId(text))
  )
  const { tx, requestedBy, walletId, lobbyId } = question
  const wallet = await session.synced(await openWallet(session, walletId))
  const asset = tx.tokenId === null ? coinOf(wallet) : await findAsset(session, wallet, tx.tokenId)
  const fee = unusualFeeOf(tx)
  const summed = await withSwap(account, tx, summaryOf(wallet, tx, asset))
  const summary = withWarnings(summed, unusualFeeWarnings(wallet, fee === undefined ? [] : [fee]))
  const requester = requestedBy === undefined ? 'a person' : `the program "${untrustedText(requestedBy)}"`
  statusLine.info(`Another device of ${nameOf(account)} wants to pay, for ${requester}:`)
  for (const line of summaryLines(summary)) statusLine.info(line)
  const typed = await promptText(terminal, 'Type "yes" to approve this payment, "no" to refuse it:')
  const data = { lobbyId, walletId, networkFee: coinFeeOf(tx), summary: summary.json }
  if (typed.trim() !== 'yes') {
    if (typed.trim() !== 'no') throw new CliError('DECLINED', 'Neither yes nor no; nothing was answered')
    await question.refuse()
    return { data: { ...data, approved: false }, view: { kind: 'text', lines: ['Refused; nothing is paid'] } }
  }
  await question.approve(await proofOf(session, account))
  return {
    data: { ...data, approved: true },
    view: { kind: 'text', lines: ['Approved; the other device signs and sends it'] }
  }
}

/** Adds what a swap pays out, and where: its payment alone goes to an address of the provider. The texts are those of the other device. */
const withSwap = async (
  account: Account,
  { swapData }: Transaction,
  summary: SpendSummary
): Promise<SpendSummary> => {
  if (swapData === undefined) return summary
  const textOf = (value: unknown): string => untrustedText(typeof value === 'string' ? value : '?')
  const { payoutNativeAmount, payoutWalletId, payoutCurrencyCode, payoutAddress, plugin } = swapData
  const find = () => account.listWallets().find(({ walletId }) => walletId === payoutWalletId)
  // The other device may have made it a moment ago.
  if (find() === undefined) await account.sync().catch(() => {})
  const payout = find()
  const info = payout?.currencyInfo
  const isCoin = info !== undefined && info.currencyCode === payoutCurrencyCode
  const amount =
    isCoin && isNativeAmount(payoutNativeAmount)
      ? amountText(payoutNativeAmount, info)
      : `${textOf(payoutNativeAmount)} native units of ${textOf(payoutCurrencyCode)}`
  const lines = [
    ['swap', `by ${textOf(plugin?.displayName)}, for ${amount}`],
    ['paid out to', textOf(payoutAddress)]
  ] as const
  const warnings =
    payout === undefined ? ['it is paid out to no wallet of this account that is known here'] : []
  return withWarnings({ ...summary, lines: [...summary.lines, ...lines] }, warnings)
}

/** Asks for the PIN or the password, also where the account is open. @throws CliError INTERRUPTED */
const proofOf = async ({ secrets }: Session, account: Account): Promise<OwnerProof> => {
  const name = account.credentials.hasPin ? 'pin' : 'password'
  const words = name === 'pin' ? 'PIN' : 'Password'
  return { [name]: await secrets.prompt(name, { message: `${words} of ${nameOf(account)}, to approve it:` }) }
}
