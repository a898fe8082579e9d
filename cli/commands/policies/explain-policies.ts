import { compact, parseAmount } from '../../../kernel/index.ts'
import { chosenAsset } from '../../session/assets.ts'
import type { CommandRun } from '../../session/command.ts'
import { findWallet } from '../../session/find-wallets.ts'
import { explanationJson, explanationView, refusalLine } from '../../spend/rule-texts.ts'

/** Shows how each rule stands. */
export const policyExplain: CommandRun = async session => {
  const { policies } = await session.account()
  const explanation = await policies.explain()
  const isUnjudged = !explanation.isAllowed && explanation.rules.length === 0
  const damaged = isUnjudged ? await policies.damaged() : []
  return {
    data: explanationJson(explanation),
    view: explanationView(explanation),
    ...compact({ warnings: faultOf(refusalLine(explanation)) }),
    advice: damaged.length === 0 ? [] : ['See what cannot be read with: holdfast policy set-aside --dry-run']
  }
}

/** Says what the rules would say of a payment; its network fee counts as 0. */
export const policyTest: CommandRun = async (session, walletText = '', amount = '', payee = '') => {
  const account = await session.account()
  const wallet = await findWallet(session, walletText)
  const asset = await chosenAsset(session, wallet)
  const { publicAddress } = await wallet.parseUri(payee)
  const explanation = await account.policies.test({
    ...{ walletId: wallet.id, tokenId: asset.tokenId, nativeAmount: parseAmount(amount, asset) },
    ...{ payee: publicAddress ?? payee, requestedBy: session.text('client') }
  })
  const refusal = refusalLine(explanation)
  return {
    data: explanationJson(explanation),
    view: explanationView(explanation),
    exitCode: explanation.isAllowed ? 0 : REFUSED,
    warnings: faultOf(refusal) ?? [],
    advice: refusal === undefined ? ['The rules allow it; the network fee counts on top'] : []
  }
}

const faultOf = (line: string | undefined): readonly string[] | undefined =>
  line === undefined ? undefined : [line]

/** Of SIGN_REFUSED. */
const REFUSED = 36
