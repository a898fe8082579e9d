import { type ReactElement, useState } from 'react'
import type { ReplaceRequest } from '../../../app/actions/spend-review.ts'
import { compact, type Txid, type WalletId } from '../../../kernel/index.ts'
import { ActionButton } from '../parts/action-forms.tsx'
import { FeeFields, feeAt, feeTemplateOf, readFee } from '../parts/fee-fields.tsx'
import { ChoiceField } from '../parts/fields.tsx'
import { visibleText } from '../parts/texts.ts'
import { type PanelFailure, useView } from '../state/panel-state.ts'

/** The ways to hasten a payment: one in its place, or one more that spends what it left to the wallet and pays for both. */
type Way = 'bump' | 'replace'

/** Chooses the fee of a payment that no block has, and the way to raise it; a review follows. */
export const RaiseFee = (props: {
  readonly walletId: WalletId
  readonly txid: Txid
  /** It is one of the wallet's open payments; an incoming one cannot be replaced. */
  readonly isOwn: boolean
  readonly onClose: () => void
}): ReactElement => {
  const { walletId, txid, isOwn, onClose } = props
  const [chosen, choose] = useState<Way>('replace')
  const [fee, setFee] = useState(feeAt('high'))
  const [refusal, setRefusal] = useState<Refusal | undefined>()
  const template = feeTemplateOf(useView(), walletId)
  const way = isOwn ? chosen : 'bump'
  const request = readFee(fee, template)
  const input: ReplaceRequest = { walletId, txid, ...request }
  const onFailure = (failure: PanelFailure): boolean => {
    const found = feeRefusalOf(failure, { way, isOwn, isCustom: fee.level === 'custom' })
    setRefusal(found)
    return found !== undefined
  }
  const shared = {
    ...{ input, isMain: true, isDisabled: request === undefined },
    ...{ onDone: onClose, onFailure, children: 'Review…' }
  }
  return (
    <>
      {isOwn ? (
        <ChoiceField
          label="Way"
          value={way}
          choices={WAYS}
          onChange={value => {
            choose(value === 'bump' ? 'bump' : 'replace')
            setRefusal(undefined)
          }}
        />
      ) : null}
      <p className="soft">{wayTexts[way]}</p>
      <FeeFields
        value={fee}
        template={template}
        onChange={typed => {
          setFee(typed)
          setRefusal(undefined)
        }}
        error={refusal?.isOfNumbers === true ? visibleText(refusal.text) : undefined}
      />
      {refusal === undefined || refusal.isOfNumbers ? null : (
        <p className="warn breaking" role="alert">
          {visibleText(refusal.text)}
        </p>
      )}
      <div className="dialog-acts">
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
        {way === 'replace' ? (
          <ActionButton key={way} name="spend.replace" {...shared} />
        ) : (
          <ActionButton key={way} name="spend.bump" {...shared} />
        )}
      </div>
    </>
  )
}

const WAYS: readonly (readonly [Way, string])[] = [
  ['replace', 'Replace it'],
  ['bump', 'Pay for it with a second one']
]

const wayTexts: Readonly<Record<Way, string>> = {
  replace: 'The same payees are paid the same, at a higher fee. The network can take only one of the two.',
  bump: 'A second payment, from the wallet to itself, spends what this one left to it. Its fee is for both, so that miners take both.'
}

/** Why a fee is not raised. */
interface Refusal {
  readonly text: string
  /** The typed numbers are why, so that it stands below them. */
  readonly isOfNumbers: boolean
}

/** Says why a fee is not raised, and what to do; undefined for a failure that has nothing to do with this payment (pure). */
const feeRefusalOf = (
  { code, message, hint }: Pick<PanelFailure, 'hint' | 'message'> & { readonly code: string },
  { way, isOwn, isCustom }: { readonly way: Way; readonly isOwn: boolean; readonly isCustom: boolean }
): Refusal | undefined => {
  const help = compact({
    NOT_SUPPORTED:
      way === 'replace'
        ? 'Choose the other way: pay for it with a second one.'
        : isOwn
          ? 'Choose the other way: replace it. Or wait until a block has it.'
          : 'Wait until a block has it, or ask its sender to raise the fee.',
    FEE_INVALID: isCustom ? 'Type another one.' : 'Choose a higher fee, or a custom one.',
    INSUFFICIENT_FUNDS: 'Choose a lower fee.',
    PENDING_FUNDS: 'Choose a lower fee, or wait until a block has the payment.',
    TX_NOT_FOUND: 'A block may have it by now, or the network has dropped it: there is nothing to hasten.'
  })
  const todo = new Map(Object.entries(help)).get(code)
  if (todo === undefined) return undefined
  const text = `${[message, hint].filter(Boolean).join('. ')}. ${todo}`
  return { text, isOfNumbers: isCustom && code === 'FEE_INVALID' }
}
