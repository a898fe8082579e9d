import { compact, nativeAmount } from '../../kernel/index.ts'
import { feeFlags } from './command-line.ts'
import type { DeclarationsOf } from './declaration.ts'
import { DraftApprovals } from './draft-approvals.ts'
import { feeOf, reviewSpend } from './payments.ts'
import { about, amount, type Field, flag, list, object, optional, text } from './schema.ts'
import { walletOf } from './services.ts'
import {
  customFeeField,
  type DraftedPayment,
  draftedPayment,
  feeField,
  type SpendRequest,
  type SweepRequest,
  walletId
} from './spend-review.ts'

/** Actions about single coins, and the keys that hold them. */
export interface CoinActions {
  readonly 'spend.sweep': { readonly in: SweepRequest; readonly out: DraftedPayment }
}

const MAX_KEYS = 100

const fees: {
  readonly fee: ReturnType<typeof optional<Required<SpendRequest>['fee']>>
  readonly customFee: ReturnType<typeof optional<Required<SpendRequest>['customFee']>>
} = { fee: optional(feeField), customFee: optional(customFeeField) }

const sweepRequest: Field<SweepRequest> = object<SweepRequest>({
  walletId,
  privateKeys: about(list(text(200), MAX_KEYS), 'Keys of single addresses, in wallet import format; secret'),
  ...fees,
  maxNetworkFee: optional(about(amount, 'The most that the network may take, in native units')),
  withUnconfirmed: optional(about(flag, 'True: also what is incoming, which its sender can take back'))
})

/** Sweeps keys. */
export const coinActions: DeclarationsOf<CoinActions> = {
  'spend.sweep': {
    title: 'Sweep a key',
    summary:
      'Signs a transaction that moves what keys of single addresses hold into a wallet, and gives its review. It is sent once it is approved.',
    effect: 'changes',
    input: sweepRequest,
    output: draftedPayment,
    async run(services, { walletId: into, privateKeys, withUnconfirmed, maxNetworkFee, ...fee }) {
      const owned = await walletOf(services, into)
      const swept = await owned.wallet.sweepPrivateKeys({
        ...{ tokenId: null, spendTargets: [], privateKeys, ...feeOf(fee) },
        ...compact({
          noUnconfirmed: withUnconfirmed === undefined ? undefined : !withUnconfirmed,
          maxNetworkFee: maxNetworkFee === undefined ? undefined : nativeAmount(maxNetworkFee)
        })
      })
      const approvals = new DraftApprovals(owned.account, [])
      const draftId = services.spends.put({ ...owned, draft: swept, approvals })
      return { draftId, review: reviewSpend(owned.wallet, swept) }
    },
    commandLine({ walletId: into, withUnconfirmed, maxNetworkFee, ...fee }, names) {
      const { word, account } = names.walletOf(into)
      const most = maxNetworkFee === undefined ? undefined : `${maxNetworkFee} native`
      const flags = { ...feeFlags(fee), 'max-fee': most, unconfirmed: withUnconfirmed, account }
      return { words: ['sweep', word], flags }
    },
    faces: {
      cli: 'sweep',
      panel: { none: 'a private key is typed at a terminal, where nothing records it' },
      mcp: { none: 'secrets are typed by a person and never pass through a program' }
    }
  }
}
