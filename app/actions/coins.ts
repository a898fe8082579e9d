import { compact, nativeAmount } from '../../kernel/index.ts'
import { aboutWallet, bump, sweep } from './command-line.ts'
import type { DeclarationsOf } from './declaration.ts'
import { DraftApprovals } from './draft-approvals.ts'
import { feeOf, refusalOf, reviewSpend } from './payments.ts'
import {
  about,
  address,
  amount,
  count,
  type Field,
  flag,
  list,
  type Nothing,
  nothing,
  object,
  oneOf,
  optional,
  shortText,
  signedAmount,
  text,
  untrusted
} from './schema.ts'
import { walletOf } from './services.ts'
import { type Page, pageFields, pageOf } from './shared-fields.ts'
import {
  coinField,
  customFeeField,
  type DraftedPayment,
  draftedPayment,
  feeField,
  type ReplaceRequest,
  replaceRequest,
  type SpendRequest,
  type SweepRequest,
  type WalletRef,
  walletId
} from './spend-review.ts'

interface CoinQuery extends WalletRef, Page {
  /** Of these alone, those that are still there. */
  readonly coins?: readonly string[]
}

interface Coin {
  readonly coin: string
  readonly publicAddress: string
  readonly nativeAmount: string
  readonly blockHeight: number
  readonly state: 'frozen' | 'immature' | 'incoming' | 'reserved' | 'spendable'
  readonly isFrozen: boolean
  readonly untrusted: { readonly label?: string }
}

interface CoinPage {
  readonly coins: readonly Coin[]
  readonly total: number
}

interface ChangedCoin extends WalletRef {
  readonly coin: string
  readonly isFrozen?: boolean
  readonly label?: string
}

/** Actions about single coins, and the keys that hold them. */
export interface CoinActions {
  readonly 'coin.list': { readonly in: CoinQuery; readonly out: CoinPage }
  readonly 'coin.change': { readonly in: ChangedCoin; readonly out: Nothing }
  readonly 'spend.bump': { readonly in: ReplaceRequest; readonly out: DraftedPayment }
  readonly 'spend.sweep': { readonly in: SweepRequest; readonly out: DraftedPayment }
}

const MAX_KEYS = 100
const [MAX_COINS, USUAL_COINS] = [10_000, 100]

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

/** Lists coins, freezes them, and sweeps keys. */
export const coinActions: DeclarationsOf<CoinActions> = {
  'coin.list': {
    title: 'List coins',
    summary: 'Lists the unspent coins of a wallet, the newest first, with what is noted of them.',
    effect: 'reads',
    isAboutAddresses: true,
    input: object<CoinQuery>({
      walletId,
      ...pageFields(MAX_COINS, USUAL_COINS),
      coins: optional(about(list(coinField, 1000), 'Of these alone, those that are still there'))
    }),
    output: object<CoinPage>({
      coins: list(
        object<Coin>({
          coin: coinField,
          publicAddress: address,
          nativeAmount: signedAmount,
          blockHeight: about(count(0, Number.MAX_SAFE_INTEGER), '0 while it is in no block'),
          state: about(
            oneOf('spendable', 'incoming', 'immature', 'reserved', 'frozen'),
            'The part of the balance that it belongs to'
          ),
          isFrozen: about(flag, 'No payment takes it, also once it could be spent'),
          untrusted: object<Coin['untrusted']>({ label: optional(untrusted()) })
        }),
        MAX_COINS
      ),
      total: count(0, Number.MAX_SAFE_INTEGER)
    }),
    async run(services, { walletId: shown, coins: only, ...page }) {
      const { wallet } = await walletOf(services, shown)
      const age = (height: number): number => (height === 0 ? Number.POSITIVE_INFINITY : height)
      const wanted = new Set(only)
      const listed = (await wallet.listCoins()).filter(
        ({ txid, vout }) => only === undefined || wanted.has(`${txid}:${vout}`)
      )
      const coins = listed.toSorted((a, b) =>
        age(a.blockHeight) === age(b.blockHeight) ? 0 : age(b.blockHeight) - age(a.blockHeight)
      )
      return {
        coins: pageOf(coins, page, USUAL_COINS).map(
          ({
            txid,
            vout,
            label,
            publicAddress,
            nativeAmount: native,
            blockHeight,
            state,
            isFrozen
          }): Coin => ({
            ...{ coin: `${txid}:${vout}`, publicAddress, nativeAmount: native, blockHeight, state, isFrozen },
            untrusted: compact({ label })
          })
        ),
        total: coins.length
      }
    },
    commandLine: aboutWallet('coins', 'list'),
    faces: {
      cli: 'coins list',
      panel: 'coin-list',
      mcp: 'tool'
    }
  },
  'coin.change': {
    title: 'Freeze or label a coin',
    summary: 'Freezes a coin, so that no payment takes it, frees it, or notes a label, on all devices.',
    effect: 'changes',
    isAboutAddresses: true,
    input: object<ChangedCoin>({
      walletId,
      coin: coinField,
      isFrozen: optional(about(flag, 'True: no payment takes it')),
      label: optional(about(shortText(10_000), 'Its label; empty: none'))
    }),
    output: nothing,
    async run(services, { walletId: changed, coin, ...change }) {
      const { wallet } = await walletOf(services, changed)
      await wallet.changeCoin(coin, change)
      return {}
    },
    commandLine({ walletId: changed, coin, isFrozen, label }, names) {
      const { word, account } = names.walletOf(changed)
      const words = ['coins', isFrozen === undefined ? 'label' : isFrozen ? 'freeze' : 'unfreeze', word, coin]
      return { words, flags: { label: label === '' ? undefined : label, account } }
    },
    faces: {
      cli: 'coins freeze',
      panel: 'coin-list',
      mcp: { none: 'a frozen coin is kept from programs, too' }
    }
  },
  'spend.bump': {
    title: 'Hasten a payment',
    summary:
      'Drafts a payment from a wallet to itself that spends what an unconfirmed one left to it, at a fee for both, so that miners take both.',
    effect: 'changes',
    isAboutAddresses: true,
    input: replaceRequest,
    output: draftedPayment,
    async run(services, { walletId: paying, txid: bumps, ...fee }) {
      const owned = await walletOf(services, paying)
      const draft = await owned.wallet.makeSpend({ tokenId: null, spendTargets: [], bumps, ...feeOf(fee) })
      const refusal = await refusalOf(owned, draft)
      const review = { ...reviewSpend(owned.wallet, draft), bumps, ...compact({ refusal }) }
      const approvals = new DraftApprovals(owned.account, [draft])
      return { draftId: services.spends.put({ ...owned, draft, approvals }), review }
    },
    commandLine: bump,
    faces: {
      cli: 'tx bump',
      panel: 'raise-fee',
      mcp: { none: 'a program proposes, and the agent keeps its draft for a person' }
    }
  },
  'spend.sweep': {
    title: 'Sweep a key',
    summary:
      'Signs a transaction that moves what keys of single addresses hold into a wallet, and gives its review. It is sent once it is approved.',
    effect: 'changes',
    input: sweepRequest,
    output: draftedPayment,
    async run(services, { walletId: into, privateKeys, withUnconfirmed, maxNetworkFee, ...fee }) {
      const owned = await walletOf(services, into)
      const request = {
        ...{ tokenId: null, spendTargets: [], privateKeys, ...feeOf(fee) },
        ...compact({
          noUnconfirmed: withUnconfirmed === undefined ? undefined : !withUnconfirmed,
          maxNetworkFee: maxNetworkFee === undefined ? undefined : nativeAmount(maxNetworkFee)
        })
      }
      const { signal, onProgress } = services.search ?? {}
      const swept = await owned.wallet.sweepPrivateKeys(request, compact({ signal, onProgress }))
      const approvals = new DraftApprovals(owned.account, [])
      const draftId = services.spends.put({ ...owned, draft: swept, approvals })
      return { draftId, review: reviewSpend(owned.wallet, swept) }
    },
    commandLine: sweep,
    faces: {
      cli: 'sweep',
      panel: 'sweep-form',
      mcp: { none: 'secrets are typed by a person and never pass through a program' }
    }
  }
}
