import { readFile } from 'node:fs/promises'
import { makeFakeWorld } from '../fake-server/fake-world.ts'
import { serveFakeWorld } from '../fake-server/http/serve-fake-world.ts'
import { loadFakeUser } from '../fake-server/users/load-user.ts'
import { compact } from '../kernel/base/compact.ts'
import type { Json } from '../kernel/index.ts'
import { makeNodeIo } from '../platform/node/index.ts'
import type { WorldContent, WorldReply, WorldRequest } from './world-messages.ts'

// The servers and the chain in a process of their own, so that their work is not counted as the wallet's.

const PER_BLOCK = 20
const FIRST_AMOUNT = 100_000

const { saved, user } = JSON.parse(process.argv[2] ?? '{}') as WorldContent
const read = async (path: string): Promise<Json> => JSON.parse(await readFile(path, 'utf8'))
const io = makeNodeIo()
const world = makeFakeWorld({
  io,
  ...compact({ saved: saved === undefined ? undefined : await read(saved) })
})
const { clock, server } = world
if (user !== undefined) loadFakeUser({ db: server.db, crypto: io.crypto, clock }, await read(user))
const { authServer, infoServers, syncServers, chainServers } = await serveFakeWorld(world)
const reply = (message: WorldReply): void => void process.send?.(message)

process.on('message', ({ fund, chain: name }: WorldRequest) => {
  const chain = world.chains[name]
  let total = 0n
  for (const [i, address] of fund.entries()) {
    const amount = FIRST_AMOUNT + i
    chain.fund(address, String(amount))
    total += BigInt(amount)
    if (i % PER_BLOCK === PER_BLOCK - 1) chain.mine(1)
  }
  chain.mine(1)
  reply({ total: String(total) })
})
process.on('disconnect', () => process.exit(0))
reply({
  servers: {
    ...{ authServer, infoServers, syncServers },
    electrumServers: chainServers.bitcoin,
    litecoinServers: chainServers.litecoin
  }
})
