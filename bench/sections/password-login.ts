import { makeFakeWorld } from '../../fake-server/fake-world.ts'
import type { Account, Io, Kernel } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { openWorldDevice, type ScryptFigures } from '../bench-device.ts'
import { type Cost, measure, medianCost } from '../measure.ts'
import { race } from '../race.ts'
import { atMost, check, type Row, rowOf, type Section } from '../section.ts'
import { pause } from '../wait.ts'

/** Password login on a device that knows the account, without network, and on a new one, against bare scrypt. */
export const passwordLogin: Section = async () => {
  const rows = [
    ...(await raceAt({ n: 16384, r: 8, p: 1 }, 11)),
    ...(await raceAt({ n: 131072, r: 8, p: 1 }, 9))
  ]
  return {
    rows,
    notes: [
      'Scrypt bare: one derivation of the box key by the platform (Node: OpenSSL). The logins also do the fixed ' +
        'derivations of the protocol (user id and password authentication, 16384/1/1 each) where the server is ' +
        'asked, and open the account and its repo; their figures include the work of the fake login server, which ' +
        'runs in the same process.',
      'The goal compares a login with the scrypt inside that very login: the same derivation varies between two ' +
        'runs by more than the rest of a login takes. “Above the bare one” compares with the run beside it.'
    ]
  }
}

const raceAt = async (cost: ScryptFigures, rounds: number): Promise<readonly Row[]> => {
  const { n, r, p } = cost
  const world = makeFakeWorld({ io: makeNodeIo() })
  let isOnline = true
  const timed = makeTimedScrypt(cost)
  const { base } = timed
  const known = await openWorldDevice(world, { base, cost, isOnline: () => isOnline })
  const account = await known.context.createAccount(USER)
  const { id } = account
  const wallet = await account.createCurrencyWallet('wallet:bitcoin')
  await account.logout()
  isOnline = false
  const isSame = (opened: Account): void =>
    check(opened.id === id && opened.getSnapshot().walletIds[0] === wallet.id, 'the account that opened')
  const { crypto, random } = makeNodeIo()
  const above = { known: [] as Cost[], new: [] as Cost[] }
  let fresh: Kernel
  const result = await race(
    [
      { name: 'scrypt', run: () => crypto.scrypt(random(20), random(32), cost, 32) },
      { name: 'fixed', run: () => crypto.scrypt(random(20), random(32), { n: 16384, r: 1, p: 1 }, 32) },
      {
        name: 'known',
        run: () => known.context.loginWithPassword(USER.username, USER.password),
        async after(opened, spent) {
          above.known.push(timed.without(spent))
          isSame(opened as Account)
          await (opened as Account).logout()
          await pause(SETTLE_MS)
        }
      },
      {
        name: 'new',
        async before() {
          fresh = await openWorldDevice(world, { base, cost })
        },
        run: () => fresh.context.loginWithPassword(USER.username, USER.password),
        async after(opened, spent) {
          above.new.push(timed.without(spent))
          isSame(opened as Account)
          await fresh.close()
          await pause(SETTLE_MS)
        }
      }
    ],
    { rounds }
  )
  await known.close()
  await world.close()
  const figures = `${n}/${r}/${p}`
  const login = (title: string, name: 'known' | 'new'): Row => {
    const rest = medianCost(above[name].slice(-rounds))
    const beside = result.excess('scrypt', name)
    return rowOf(title, result.cost(name), {
      facts: {
        'CPU ms above the bare one': beside.cpuMs,
        'wall ms above its scrypt': rest.wallMs
      },
      goals: [atMost('at most 20 ms of CPU above its scrypt', rest.cpuMs, 20)]
    })
  }
  return [
    rowOf(`scrypt ${figures} bare`, result.cost('scrypt')),
    rowOf('a fixed derivation 16384/1/1', result.cost('fixed')),
    login(`login, known device, offline, ${figures}`, 'known'),
    login(`login, new device, ${figures}`, 'new')
  ]
}

const USER = { username: 'bench user', password: 'correct horse battery staple' }

/** The refresh behind a login ends before the next sample begins. */
const SETTLE_MS = 10

interface TimedScrypt {
  /** Node's io; it notes what each derivation of the given cost takes. */
  readonly base: Io
  /** What a login took, without its derivation. */
  without(login: Cost): Cost
}

const makeTimedScrypt = ({ n, r, p }: ScryptFigures): TimedScrypt => {
  const io = makeNodeIo()
  let own: Cost = { cpuMs: Number.NaN, wallMs: Number.NaN }
  const crypto: Io['crypto'] = {
    ...io.crypto,
    async scrypt(data, salt, cost, length) {
      const { value, ...spent } = await measure(() => io.crypto.scrypt(data, salt, cost, length))
      if (cost.n === n && cost.r === r && cost.p === p) own = spent
      return value
    }
  }
  return {
    base: { ...io, crypto },
    without({ cpuMs, wallMs }) {
      const rest = { cpuMs: cpuMs - own.cpuMs, wallMs: wallMs - own.wallMs }
      own = { cpuMs: Number.NaN, wallMs: Number.NaN }
      return rest
    }
  }
}
