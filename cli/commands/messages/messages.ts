import { messageActions } from '../../../app/actions/messages.ts'
import { compact, type MessageVerdict } from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import type { Cell } from '../../output/view.ts'
import { knownCurrency } from '../../session/assets.ts'
import type { CommandRun } from '../../session/command.ts'
import { findWallet } from '../../session/find-wallets.ts'
import { readValue } from '../../session/input.ts'
import type { Session } from '../../session/session.ts'

/** Signs a text with the key of an address of a wallet. */
export const messageSign: CommandRun = async (session, text = '') => {
  const message = await messageOf(session)
  if (message === '') throw new CliError('USAGE', 'The message is empty')
  const { id: walletId } = await findWallet(session, text)
  const [named, format] = [session.text('address'), session.text('format')]
  const { publicAddress, signature } = await session.run(messageActions['message.sign'], {
    ...{ walletId, message },
    ...compact({
      publicAddress: named,
      format: format === 'legacy' || format === 'bip322' ? format : undefined
    })
  })
  return {
    data: { walletId, address: publicAddress, message, signature },
    view: {
      kind: 'record',
      fields: [
        ['address', publicAddress],
        ['signature', signature]
      ]
    }
  }
}

/** Verifies the signature of a text; needs no account. */
export const messageVerify: CommandRun = async (session, text = '', address = '', signature = '') => {
  const message = await messageOf(session)
  const { pluginId } = await knownCurrency(session, text)
  const { verdict } = await session.run(messageActions['message.verify'], {
    ...{ pluginId, message, publicAddress: address, signature }
  })
  return {
    data: { pluginId, address, message, signature, verdict },
    view: { kind: 'record', fields: [['signature', cells[verdict]]] },
    exitCode: verdict === 'valid' ? 0 : NOT_VALID
  }
}

const messageOf = async (session: Session): Promise<string> => {
  const message = session.text('message')
  const others = [session.text('file') !== undefined, session.isOn('valueStdin')].filter(Boolean).length
  if (others + (message === undefined ? 0 : 1) !== 1)
    throw new CliError(
      'USAGE',
      'Name one source of the message: --message <text>, --file <file> or --value-stdin'
    )
  return message ?? readValue(session)
}

const cells: Readonly<Record<MessageVerdict, Cell>> = {
  valid: { text: 'valid', tone: 'good' },
  invalid: { text: 'invalid', tone: 'bad' },
  inconclusive: { text: 'inconclusive: this version does not judge this kind', tone: 'warn' }
}

/** Of a result that is no. */
const NOT_VALID = 1
