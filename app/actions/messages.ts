import { compact, type MessageVerdict, type PluginId } from '../../kernel/index.ts'
import { type CommandWords, trimmed } from './command-line.ts'
import type { DeclarationsOf } from './declaration.ts'
import { about, address, object, oneOf, optional, pluginId, text } from './schema.ts'
import { walletOf } from './services.ts'
import { type WalletRef, walletId } from './spend-review.ts'

/** A text to sign with the key of an address of a wallet. */
interface MessageToSign extends WalletRef {
  readonly message: string
  readonly publicAddress?: string
  readonly format?: 'bip322' | 'legacy'
}

/** A text with its signature. */
interface MessageToVerify {
  readonly pluginId: PluginId
  readonly message: string
  readonly publicAddress: string
  readonly signature: string
}

/** Actions about texts that the key of an address signs. */
export interface MessageActions {
  readonly 'message.sign': {
    readonly in: MessageToSign
    readonly out: { readonly publicAddress: string; readonly signature: string }
  }
  readonly 'message.verify': {
    readonly in: MessageToVerify
    readonly out: { readonly verdict: MessageVerdict }
  }
}

const [MAX_MESSAGE, MAX_ADDRESS, MAX_SIGNATURE] = [10_000, 1000, 20_000]
const message = about(text(MAX_MESSAGE), 'The text, letter for letter')
const signature = about(text(MAX_SIGNATURE), 'The signature, as the signer gave it')

/** Signs texts with the keys of addresses, and verifies such signatures. */
export const messageActions: DeclarationsOf<MessageActions> = {
  'message.sign': {
    title: 'Sign a message',
    summary: 'Signs a text with the key of an address of a wallet, which shows who holds it.',
    effect: 'changes',
    isAboutAddresses: true,
    input: object<MessageToSign>({
      walletId,
      message,
      publicAddress: optional(
        about(text(MAX_ADDRESS), 'An address of the wallet; default: the one to receive on')
      ),
      format: optional(about(oneOf('legacy', 'bip322'), 'The form of the signature'))
    }),
    output: object<MessageActions['message.sign']['out']>({ publicAddress: address, signature }),
    async run(services, { walletId: signing, message: signed, publicAddress: named, format }) {
      const { wallet } = await walletOf(services, signing)
      const { publicAddress = '' } =
        named === undefined ? await wallet.getReceiveAddress() : await wallet.parseUri(named)
      const otherParams = { publicAddress, ...compact({ format }) }
      return { publicAddress, signature: await wallet.signMessage(signed, { otherParams }) }
    },
    commandLine: ({ walletId: signing, message: signed, publicAddress, format }, names) => {
      const { word, account } = names.walletOf(signing)
      const flags = { address: publicAddress, format, account }
      return withMessage({ words: ['message', 'sign', word], flags }, signed)
    },
    faces: {
      cli: 'message sign',
      panel: 'message-forms',
      mcp: { none: 'a signed text can bind or identify the owner, so a person asks for it' }
    }
  },
  'message.verify': {
    title: 'Verify a message',
    summary: 'Verifies that the key of an address signed a text.',
    effect: 'reads',
    isAboutAddresses: true,
    input: object<MessageToVerify>({
      pluginId: about(pluginId, 'The currency of the address'),
      message,
      publicAddress: about(text(MAX_ADDRESS), 'The address of the signer'),
      signature
    }),
    output: object<MessageActions['message.verify']['out']>({
      verdict: about(
        oneOf('valid', 'invalid', 'inconclusive'),
        'Inconclusive: a kind of signature that this version does not judge'
      )
    }),
    async run({ context }, { pluginId: currency, message: signed, publicAddress, signature: given }) {
      const verdict = await context.verifyMessage(currency, {
        ...{ message: signed, address: publicAddress, signature: given }
      })
      return { verdict }
    },
    commandLine: ({ pluginId: currency, message: signed, publicAddress, signature: given }) =>
      withMessage({ words: ['message', 'verify', currency, trimmed(publicAddress), trimmed(given)] }, signed),
    faces: { cli: 'message verify', panel: 'message-forms', mcp: 'tool' }
  }
}

/** A command line escapes invisible characters, which would make another text. */
const withMessage = ({ words, flags }: CommandWords, signed: string): CommandWords | undefined =>
  /[\p{C}\p{Zl}\p{Zp}]/u.test(signed) ? undefined : { words, flags: { message: signed, ...flags } }
