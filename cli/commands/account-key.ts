import type { CommandRun } from '../command.ts'
import { secretJson, secretText } from '../output/revealed.ts'

/** Shows the key that logs in on this device without any other secret, with `--reveal`. */
export const accountKey: CommandRun = async session => {
  const account = await session.account()
  const loginKey = await account.getLoginKey()
  return {
    data: { loginKey: secretJson(session, loginKey) },
    view: { kind: 'record', fields: [['login key', secretText(session, loginKey)]] }
  }
}
