import type { FakeChain } from '../../../fake-server/chain/fake-chain.ts'
import {
  type ElectrumLimits,
  type ElectrumSession,
  makeElectrumSession
} from '../../../fake-server/electrum/session.ts'

/** The parts of replies and notifications that tests read. */
export interface Reply {
  readonly id?: number | string | null
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
  readonly method?: string
  readonly params?: readonly unknown[]
}

/** A client of one session. `call` gives the reply; `take` gives and forgets what else was sent. */
export interface SessionClient {
  readonly session: ElectrumSession
  readonly sent: string[]
  take(): Reply[]
  call(method: string, ...params: unknown[]): Reply
}

/** A client that calls the session directly and remembers all that it is sent. */
export const makeClient = (chain: FakeChain, limits?: Partial<ElectrumLimits>): SessionClient => {
  const sent: string[] = []
  const session = makeElectrumSession(chain, text => sent.push(text), limits)
  const take = (): Reply[] => sent.splice(0).map(text => JSON.parse(text))
  const call = (method: string, ...params: unknown[]): Reply => {
    session.receive(JSON.stringify({ id: 7, method, params }))
    const [reply, ...rest] = take()
    sent.push(...rest.map(item => JSON.stringify(item)))
    return reply ?? {}
  }
  call('server.version', 'test', '1.4')
  return { session, sent, take, call }
}
