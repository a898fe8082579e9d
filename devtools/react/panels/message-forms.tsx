import { type ReactElement, useState } from 'react'
import type { Actions } from '../../../app/actions/actions.ts'
import { compact, type PluginId, type WalletId } from '../../../kernel/index.ts'
import { ActionForm, useCanRun } from '../parts/action-forms.tsx'
import { Section } from '../parts/details.tsx'
import { ChoiceField, TextField } from '../parts/fields.tsx'

const FORMATS = [
  ['usual', 'Usual'],
  ['legacy', 'Legacy'],
  ['bip322', 'BIP-322']
] as const

type Format = (typeof FORMATS)[number][0]

/** Signs messages and verifies their signatures; nothing where nothing may be changed. */
export const Messages = (props: {
  readonly walletId: WalletId
  readonly pluginId: PluginId
  /** False for a wallet without private keys. */
  readonly canSign: boolean
}): ReactElement | null =>
  useCanRun('message.sign') ? (
    <>
      {props.canSign ? <SignMessage walletId={props.walletId} /> : null}
      <VerifyMessage pluginId={props.pluginId} />
    </>
  ) : null

/** Signs a text with the key of an address of a wallet. */
const SignMessage = ({ walletId }: { readonly walletId: WalletId }): ReactElement => {
  const [typed, setTyped] = useState({ message: '', address: '', format: 'usual' as Format })
  const [signed, setSigned] = useState<Actions['message.sign']['out'] | undefined>()
  const change = (changes: Partial<typeof typed>): void => {
    setTyped({ ...typed, ...changes })
    setSigned(undefined)
  }
  const { message, address, format } = typed
  const input: Actions['message.sign']['in'] = {
    ...{ walletId, message },
    ...compact({
      publicAddress: address === '' ? undefined : address,
      format: format === 'usual' ? undefined : format
    })
  }
  return (
    <Section title="Sign a message">
      <ActionForm
        name="message.sign"
        input={input}
        label="Sign"
        isReady={message !== ''}
        onDone={output => setSigned(output)}
      >
        <TextField label="Message" isWide value={message} onChange={text => change({ message: text })} />
        <TextField
          label="Signer"
          isWide
          placeholder="the address to receive on"
          value={address}
          onChange={text => change({ address: text })}
        />
        <ChoiceField
          label="Form"
          value={format}
          choices={FORMATS}
          onChange={chosen => change({ format: FORMATS.find(([known]) => known === chosen)?.[0] ?? 'usual' })}
        />
      </ActionForm>
      {signed === undefined ? null : (
        <p className="mono" style={{ overflowWrap: 'anywhere' }} aria-live="polite">
          {signed.publicAddress} {signed.signature}
        </p>
      )}
    </Section>
  )
}

/** Verifies the signature of a text by an address of a currency. */
const VerifyMessage = ({ pluginId }: { readonly pluginId: PluginId }): ReactElement => {
  const [typed, setTyped] = useState({ message: '', publicAddress: '', signature: '' })
  const [verdict, setVerdict] = useState<string | undefined>()
  const change = (changes: Partial<typeof typed>): void => {
    setTyped({ ...typed, ...changes })
    setVerdict(undefined)
  }
  const { message, publicAddress, signature } = typed
  return (
    <Section title="Verify a message">
      <ActionForm
        name="message.verify"
        input={{ pluginId, message, publicAddress, signature }}
        label="Verify"
        isReady={message !== '' && publicAddress !== '' && signature !== ''}
        onDone={output => setVerdict(output.verdict)}
      >
        <TextField
          label="Signed message"
          isWide
          value={message}
          onChange={text => change({ message: text })}
        />
        <TextField
          label="Signed by"
          isWide
          value={publicAddress}
          onChange={text => change({ publicAddress: text })}
        />
        <TextField
          label="Signature"
          isWide
          value={signature}
          onChange={text => change({ signature: text })}
        />
      </ActionForm>
      {verdict === undefined ? null : <p aria-live="polite">The signature is {verdict}.</p>}
    </Section>
  )
}
