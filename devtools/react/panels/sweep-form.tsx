import { type ReactElement, useId, useRef, useState } from 'react'
import { compact, type WalletId } from '../../../kernel/index.ts'
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
  const [takesIncoming, setTakesIncoming] = useState(false)
  const [incomingError, setIncomingError] = useState<string | undefined>()
  const noteId = useId()
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
        input={{
          ...{ walletId, privateKeys: [], ...request },
          ...compact({ withUnconfirmed: takesIncoming || undefined })
        }}
        complete={input => ({ ...input, privateKeys: keysIn(field.current?.value) })}
        label="Review the sweep…"
        isReady={isTyped && request !== undefined}
        onFailure={({ code, message, details }) => {
          const isOfFee = code === 'FEE_INVALID' && fee.level === 'custom'
          const isOfIncoming = code === 'PENDING_FUNDS' && !takesIncoming && isAmount(details?.incoming)
          setFeeError(isOfFee ? `${message}. Type another one.` : undefined)
          setIncomingError(isOfIncoming ? INCOMING_ONLY : undefined)
          return isOfFee || isOfIncoming
        }}
        onDone={() => {
          if (field.current !== null) field.current.value = ''
          setTyped(false)
          setTakesIncoming(false)
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
        <div className="field wide">
          <label className="check">
            <input
              type="checkbox"
              checked={takesIncoming}
              aria-describedby={noteId}
              onChange={event => {
                setTakesIncoming(event.target.checked)
                setIncomingError(undefined)
              }}
            />
            Also take incoming coins
          </label>
          <p id={noteId} className="soft">
            No block has them yet, and until then their sender can take them back.
          </p>
          <p className="field-error" aria-live="polite">
            {incomingError}
          </p>
        </div>
      </ActionForm>
    </Section>
  )
}

const INCOMING_ONLY = 'The key holds incoming coins alone. Wait until a block has them, or take them too.'

const isAmount = (native: unknown): boolean => typeof native === 'string' && native !== '0'

/** Several may be pasted at once. */
const keysIn = (text = ''): readonly string[] => text.split(/\s+/).filter(key => key !== '')
