import { methodActions } from '../../../app/actions/methods.ts'
import { compact, type Json, parseJsonText } from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import type { CommandResult } from '../../output/view.ts'
import type { CommandRun } from '../../session/command.ts'
import { findWallet } from '../../session/find-wallets.ts'
import { isJsonObject, readTextFile } from '../../session/input.ts'
import type { Session } from '../../session/session.ts'
import { safeText } from '../../terminal/safe-text.ts'

/** Lists the methods that only the currency of a wallet has, or calls one. */
export const walletsMethods: CommandRun = async (session, text = '', name) => {
  const [json, path] = [session.text('args'), session.text('argsFile')]
  if (json !== undefined && path !== undefined)
    throw new CliError('USAGE', 'Use either --args or --args-file')
  const { id: walletId } = await findWallet(session, text)
  if (name === undefined) {
    if (json !== undefined || path !== undefined) throw new CliError('USAGE', 'Name the method to call')
    return listMethods(session, walletId)
  }
  const args = path === undefined ? json : await readTextFile(path)
  if (args !== undefined) checkArguments(args)
  const { untrusted } = await session.run(methodActions['wallet.call'], {
    ...{ walletId, name },
    ...compact({ args })
  })
  const result = parseJsonText(untrusted.result) as Json
  const lines = typeof result === 'string' ? [result] : JSON.stringify(result, null, 2).split('\n')
  return {
    data: { walletId, method: name, result },
    view: { kind: 'text', lines: lines.map(line => safeText(line)) }
  }
}

/** @throws CliError USAGE for a text that is no JSON object */
const checkArguments = (args: string): void => {
  let value: unknown
  try {
    value = parseJsonText(args)
  } catch (cause) {
    throw new CliError('USAGE', 'The arguments are no JSON', { cause })
  }
  if (!isJsonObject(value)) throw new CliError('USAGE', 'The arguments must be a JSON object')
}

const listMethods = async (session: Session, walletId: string): Promise<CommandResult> => {
  const { methods } = await session.run(methodActions['wallet.methods'], { walletId })
  return {
    data: {
      walletId,
      methods: methods.map(({ name, untrusted }) => ({
        name,
        description: untrusted.description,
        arguments: parseJsonText(untrusted.arguments) as Json,
        result: parseJsonText(untrusted.result) as Json
      }))
    },
    view: {
      kind: 'table',
      columns: [
        { title: 'METHOD' },
        { title: 'DOES', canShrink: true },
        { title: 'ARGUMENTS', canShrink: true }
      ],
      rows: methods.map(({ name, untrusted }) => [name, untrusted.description, untrusted.arguments]),
      empty: 'The currency of this wallet has no methods of its own.'
    }
  }
}
