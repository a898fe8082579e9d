import { makeFakeWorld } from '../fake-server/fake-world.ts'
import { serveFakeWorld } from '../fake-server/http/serve-fake-world.ts'
import { makeNodeIo } from '../platform/node/index.ts'
import type { WorldReply, WorldRequest } from './world-messages.ts'

// The servers and the chain in a process of their own, so that their work is not counted as the wallet's.

const PER_BLOCK = 20
const FIRST_AMOUNT = 100_000

const world = makeFakeWorld({ io: makeNodeIo() })
const { authServer, infoServers, syncServers, electrumServers } = await serveFakeWorld(world)
const reply = (message: WorldReply): void => void process.send?.(message)

process.on('message', ({ fund }: WorldRequest) => {
  let total = 0n
  for (const [i, address] of fund.entries()) {
    const amount = FIRST_AMOUNT + i
    world.chain.fund(address, String(amount))
    total += BigInt(amount)
    if (i % PER_BLOCK === PER_BLOCK - 1) world.chain.mine(1)
  }
  world.chain.mine(1)
  reply({ total: String(total) })
})
process.on('disconnect', () => process.exit(0))
reply({ servers: { authServer, infoServers, syncServers, electrumServers } })
