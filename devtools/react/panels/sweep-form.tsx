import { type ReactElement, useRef, useState } from 'react'
import type { WalletId } from '../../../kernel/index.ts'
import { ActionForm, useCanRun } from '../parts/action-forms.tsx'
import { Section } from '../parts/details.tsx'
import { FeeFields, feeAt, feeTemplateOf, readFee } from '../parts/fee-fields.tsx'
import { SecretField } from '../parts/fields.tsx'
import { useView } from '../state/panel-state.ts'
import { hasCoins } from './coin-choice.tsx'

/**
 * Moves what keys of single addresses hold into a wallet, after a review. A typed key stays in its field, which is emptied once there is
 * a review: no state, command or event has it.
 */
export const SweepForm = ({ walletId }: { readonly walletId: WalletId }): ReactElement | null => {
  const field = useRef<HTMLInputElement>(null)
  const [isTyped, setTyped] = useState(false)
  const [fee, setFee] = useState(feeAt('standard'))
  const [feeError, setFeeError] = useState<string | undefined>()
  const view = useView()
  const template = feeTemplateOf(view, walletId)
  const request = readFee(fee, template)
  const canRun = useCanRun('spend.sweep')
  const isShown = hasCoins(view, walletId)
  // The field goes, and what was typed with it.
  if (!canRun && isTyped) setTyped(false)
  if (!canRun || !isShown) return null
  return (
    <Section title="Sweep a key">
      <p className="soft">
        A private key of a single address, such as one of a paper wallet. The server learns that its addresses
        and those of this wallet belong together.
      </p>
      <ActionForm
        name="spend.sweep"
        input={{ walletId, privateKeys: [], ...request }}
        complete={input => ({ ...input, privateKeys: keysIn(field.current?.value) })}
        label="Review the sweep…"
        isReady={isTyped && request !== undefined}
        onFailure={({ code, message }) => {
          const isOfFee = code === 'FEE_INVALID' && fee.level === 'custom'
          setFeeError(isOfFee ? `${message}. Type another one.` : undefined)
          return isOfFee
        }}
        onDone={() => {
          if (field.current !== null) field.current.value = ''
          setTyped(false)
        }}
      >
        <SecretField label="Key to sweep" field={field} onType={setTyped} />
        <FeeFields
          label="Sweep at"
          {...{ template, value: fee, error: feeError }}
          onChange={typed => {
            setFee(typed)
            setFeeError(undefined)
          }}
        />
      </ActionForm>
    </Section>
  )
}

/** Several may be pasted at once. */
const keysIn = (text = ''): readonly string[] => text.split(/\s+/).filter(key => key !== '')
