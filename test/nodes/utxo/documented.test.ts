import { readFileSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import test from 'ava'
import { commandSpecs } from '../../../cli/commands/commands.ts'
import { makeFakeWorld } from '../../../fake-server/fake-world.ts'
import { serveFakeWorld } from '../../../fake-server/http/serve-fake-world.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { homeFor, type Ran } from '../../helpers/command-line.ts'
import { runInProcess } from '../../helpers/in-process.ts'
import { blocksOf } from '../../helpers/pages.ts'
import { selfSigned, serveTls } from '../../helpers/tls-certificates.ts'
import { eventually, withNode } from './node-lab.ts'

const PAGE = 'docs/real-networks.md'
const password = 'Correct Horse 1'

/** The commands of the page, without `holdfast`, in their order. */
const lines = blocksOf(PAGE, readFileSync(PAGE, 'utf8'))
  .filter(({ language }) => language === 'console')
  .flatMap(({ text }) => text.split('\n'))
  .filter(line => line.startsWith('$ holdfast '))
  .map(line => line.slice('$ holdfast '.length))

/** What a script answers for a person. */
const ANSWERS: Readonly<Record<string, string>> = {
  'profile create': '--yes --confirm yes',
  'profile trust': '--yes',
  'account move-to-server': '--yes',
  'message sign': '--yes'
}

withNode(
  test,
  'each command of the page about real networks does what it says, on servers in front of a real node and on the node itself',
  async (t, lab) => {
    const home = homeFor(t)
    const { rpc } = lab.node
    if (rpc === undefined) return void t.fail('the node takes no requests')
    const tls = await serveTls(t, selfSigned(), (socket: Socket) => {
      const inner = connect(Number(new URL(lab.server).port), '127.0.0.1')
      for (const [from, to] of [[socket, inner] as const, [inner, socket] as const]) {
        from.on('error', () => to.destroy())
        from.pipe(to)
      }
    })
    const world = makeFakeWorld({ io: makeNodeIo() })
    const servers = await serveFakeWorld(world)
    t.teardown(async () => {
      await servers.close()
      await world.close()
    })
    writeFileSync(join(home, 'key'), 'a-key\n', { mode: 0o600 })
    const known = { '<address>': '?', '<signature>': '?' }
    const real = (line: string): string =>
      Object.entries({
        ...{ 'bitcoin=': 'litecoin=', ' bitcoin ': ' litecoin ', '$HOME/.bitcoin/.cookie': rpc.cookieFile },
        ...{ '--network test': '--network regtest', '--network main': '--network regtest' },
        ...{
          'electrum.example.org:60002': `127.0.0.1:${tls.port}`,
          '127.0.0.1:8332': new URL(rpc.origin).host
        },
        ...{ 'alice.backup': join(home, 'alice.backup'), ...known }
      }).reduce((text, [from, to]) => text.replaceAll(from, to), line)
    const run = async (line: string): Promise<Ran['json']['data']> => {
      const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word = '']) => quoted ?? word)
      const [spec] = commandSpecs
        .filter(({ name }) => line.startsWith(`${name} `))
        .sort((one, other) => other.name.length - one.name.length)
      const hasSecrets = (spec?.secrets ?? []).length > 0
      const flags = [...(hasSecrets ? ['--secrets-stdin'] : []), '--json', '--no-input']
      const { code, stdout, stderr, json } = await runInProcess([...words, ...flags], {
        home,
        input: JSON.stringify({ password })
      })
      if (code !== 0) throw new Error(`${line}: ${stdout}${stderr}`)
      return json.data
    }
    /** Pays a wallet, and waits until it shows that as money to spend. */
    const receive = async (name: string, profile: string): Promise<void> => {
      const { address } = await run(`address show ${name} --profile ${profile}`)
      await lab.pay(address, 1.5)
      await lab.mine(1)
      await eventually(async () => {
        const { balances } = await run(`balance ${name} --profile ${profile}`)
        return balances[0].spendable.native === '150000000'
      })
    }
    const before: Readonly<Record<string, () => Promise<unknown>>> = {
      'account restore': async () => {
        await run('logout --profile trial')
        await run('account forget alice --yes --confirm alice --profile trial')
      },
      'account move-to-server': async () => {
        await run('login alice --profile trial')
        const [login, sync] = [servers.authServer, servers.syncServers[0]]
        await run(
          `profile edit trial --login-server ${login} --sync-server ${sync} --api-key-file ${join(home, 'key')}`
        )
      }
    }
    const after: Readonly<Record<string, (data: Ran['json']['data']) => unknown>> = {
      'profile create own': async () => {
        await run('account create bob --profile own')
        await run('wallets create litecoin --name Own --profile own')
        await receive('Own', 'own')
      },
      'profile trust trial --forget': () => run('profile trust trial --yes'),
      'profile show': ({ hosts }) => t.deepEqual(hosts, [`127.0.0.1:${tls.port}`]),
      'wallets create': () => receive('Savings', 'trial'),
      'account restore': async () => {
        await run('login alice --profile trial')
        const { balances } = await run('balance Savings --profile trial')
        t.is(balances[0].native, '150000000')
      },
      'account move-to-server': async () => {
        const { accounts } = await run('account list --profile trial')
        t.is(accounts[0].deviceOnly, false)
      },
      'message sign': ({ address, signature }) =>
        Object.assign(known, { '<address>': address, '<signature>': signature })
    }
    const find = <T>(table: Readonly<Record<string, T>>, line: string): T | undefined =>
      Object.entries(table)
        .sort(([one], [other]) => other.length - one.length)
        .find(([start]) => line.startsWith(start))?.[1]
    const [tour, ...commands] = lines
    // It has a test of its own.
    t.is(tour, 'demo --network regtest')
    for (const line of commands) {
      t.log(line)
      await find(before, line)?.()
      const isAnswered = !line.includes('--forget')
      const data = await run([real(line), ...(isAnswered ? [find(ANSWERS, line) ?? ''] : [])].join(' '))
      await find(after, line)?.(data)
    }
    t.true(tls.received.length > 0)
  }
)
