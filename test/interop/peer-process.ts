import {
  peerCredentialCalls,
  peerDuressCalls,
  peerTestWorldCalls,
  peerTwoFactorCalls,
  peerWalletCalls
} from './peer-account-calls.ts'
import { openPeerSession } from './peer-core.ts'
import { peerLoginCalls, peerUserCalls } from './peer-login-calls.ts'
import type { PeerCalls, PeerPlace, PeerReply, PeerRequest } from './peer-messages.ts'
import { peerStorageCalls } from './peer-storage-calls.ts'

// A process of its own for the published core: what it keeps in memory ends with it. It is called by messages.

const session = await openPeerSession(JSON.parse(process.argv[2] ?? '{}') as PeerPlace)

const calls: PeerCalls = {
  ...peerUserCalls(session),
  ...peerLoginCalls(session),
  ...peerCredentialCalls(session),
  ...peerTwoFactorCalls(session),
  ...peerDuressCalls(session),
  ...peerTestWorldCalls(session),
  ...peerWalletCalls(session),
  ...peerStorageCalls(session)
}

const answer = async ({ id, call, args }: PeerRequest): Promise<PeerReply> => {
  try {
    const run = calls[call] as (...args: readonly unknown[]) => Promise<unknown>
    return { id, result: await run(...args) }
  } catch (error) {
    const failure = error instanceof Error ? error : new Error(String(error))
    const plain = JSON.parse(JSON.stringify(failure)) as Record<string, unknown>
    return { id, error: { ...plain, name: failure.name, message: failure.message } }
  }
}

process.on('message', (request: PeerRequest) => {
  void answer(request).then(reply => process.send?.(reply))
})
process.on('disconnect', () => process.exit(0))
process.send?.({ id: 0 } satisfies PeerReply)
