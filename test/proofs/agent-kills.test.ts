import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import {
  ended,
  homeFor,
  MAIN,
  type Ran,
  runHoldfast,
  startHoldfast,
  WITH_AGENT
} from '../helpers/command-line.ts'
import { drawSeed, logCounts, makeSeededRandom, runCount } from '../helpers/drawn-runs.ts'

const PIN = '2468'
const input = JSON.stringify({ pin: PIN })
const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'

/** Whole, a thousand kills: about half an hour. */
const KILLS = runCount(1000, 25)

interface Agent {
  readonly child: ChildProcess
  readonly ended: Promise<unknown>
}

/** Starts an agent in a process that the test can kill, and opens the account in it. */
const startAgent = async (t: ExecutionContext, home: string): Promise<Agent> => {
  const child = spawn(process.execPath, [MAIN, 'agent', 'run', '--idle', 'never'], {
    env: { PATH: process.env.PATH ?? '', HOLDFAST_HOME: home },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc']
  })
  t.teardown(() => child.kill('SIGKILL'))
  let said = ''
  child.stderr?.on('data', text => {
    said += String(text)
  })
  const over = new Promise<unknown>(resolve => child.once('exit', resolve))
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve())
    child.once('exit', code => reject(new Error(`the agent ended with ${code}: ${said}`)))
  })
  return { child, ended: over }
}

const succeeded = (ran: Ran): Ran['json']['data'] => {
  if (ran.code !== 0) throw new Error(`${ran.code}: ${ran.stdout} ${ran.stderr}`)
  return ran.json.data
}

test('kills of the agent or of a client at random moments double no payment, lose none, and leave no lock', async t => {
  t.timeout(60_000 + KILLS * 8000)
  const random = makeSeededRandom(drawSeed(t))
  const home = homeFor(t)
  const run = async (...args: readonly string[]): Promise<Ran['json']['data']> =>
    succeeded(await runHoldfast([...args, '--json'], { home, env: WITH_AGENT }))
  let agent = await startAgent(t, home)
  succeeded(
    await runHoldfast(['account', 'create', '--light', '--secrets-stdin', '--json'], {
      home,
      input,
      env: WITH_AGENT
    })
  )
  await run('wallets', 'create', 'bitcoin', '--name', 'Savings')
  for (let coin = 0; coin < 8; coin += 1) await run('fake', 'chain', 'fund', 'Savings', '0.5 BTC')
  await run('fake', 'chain', 'mine', '3')

  const counts = new Map<string, number>()
  const acknowledged = new Map<string, string>()
  for (let round = 0; round < KILLS; round += 1) {
    const amount = String(10_000 + round)
    const victim = random.oneIn(2) ? 'agent' : 'client'
    const client = startHoldfast(
      ['send', 'Savings', '--to', PAYEE, '--amount', `${amount} native`, '--yes', '--again', '--json'],
      { home, env: WITH_AGENT }
    )
    client.stdin?.end()
    const sent = ended(client)
    const delay = random.below(700)
    await Promise.race([sleep(delay), sent])
    if (victim === 'agent') {
      agent.child.kill('SIGKILL')
      await agent.ended
    } else client.kill('SIGKILL')
    const { code, stdout } = await sent
    const outcome = code === 0 ? 'acknowledged' : code === null ? 'killed' : 'failed'
    counts.set(
      `${victim} killed, payment ${outcome}`,
      (counts.get(`${victim} killed, payment ${outcome}`) ?? 0) + 1
    )
    if (code === 0) acknowledged.set(amount, JSON.parse(stdout).data.txid)
    if (victim === 'agent') {
      agent = await startAgent(t, home)
      succeeded(
        await runHoldfast(['agent', 'unlock', '--secrets-stdin', '--json'], { home, input, env: WITH_AGENT })
      )
    }
    if (round % 5 === 4 || round === KILLS - 1) await run('fake', 'chain', 'mine')
  }

  // The history comes from the chain, by address: a second payment would be there, whoever made it.
  const { transactions } = await run('tx', 'list', 'Savings', '--limit', '5000')
  const paid = new Map<string, string[]>()
  for (const { txid, direction } of transactions) {
    if (direction !== 'out') continue
    const { tx } = await run('tx', 'show', 'Savings', txid)
    if (tx.sentState === 'replaced') continue
    for (const { amount } of tx.spendTargets ?? [])
      paid.set(amount.native, [...(paid.get(amount.native) ?? []), txid])
  }
  for (const [amount, txids] of paid) t.is(txids.length, 1, `${amount} was paid ${txids.length} times`)
  for (const [amount, txid] of acknowledged)
    t.deepEqual(paid.get(amount), [txid], `${amount} was acknowledged`)
  logCounts(t, `${KILLS} kills, ${paid.size} payments`, counts)
  agent.child.kill('SIGTERM')
  await agent.ended
  // No lock is left: a process of its own opens the profile.
  t.is((await runHoldfast(['account', 'list', '--no-agent'], { home })).code, 0)
})
