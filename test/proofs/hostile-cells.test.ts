import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { isWalletError } from '../../kernel/index.ts'
import { applied, HONEST, openCellStage, pricesOf, rateCode } from '../helpers/cell-stage.ts'
import { waitFor } from '../helpers/device.ts'
import { HOSTILE } from '../helpers/hostile-plugins.ts'

const CANARY = 'canary-7f3d1c9b'
const folder = mkdtempSync(join(tmpdir(), 'holdfast-canary-'))
writeFileSync(join(folder, 'key'), CANARY)
const keyFile = JSON.stringify(join(folder, 'key'))
process.env.HOLDFAST_CANARY = CANARY

test('sixty hostile plugins are contained: each call ends, the neighbour answers, and nothing leaks', async t => {
  t.timeout(280_000)
  t.true(HOSTILE.length >= 60)
  const server = createServer((_, reply) => reply.end('reached'))
  let hits = 0
  const problems: string[] = []
  server.on('request', () => void hits++)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const port = String((server.address() as AddressInfo).port)
  for (const { name, call = '', apply = '', code, outcome } of HOSTILE) {
    const stage = openCellStage({ busyMs: 1000 })
    const honest = applied(stage, await stage.load(HONEST, { id: 'honest' }))
    const bundle = code ?? rateCode(call.replaceAll('PORT', port).replaceAll('KEYFILE', keyFile), apply)
    const started = Date.now()
    const loaded = await stage.load(bundle, { hosts: ['allowed.example'] }).catch((error: unknown) => error)
    let error: unknown
    if (loaded instanceof Error) error = loaded
    else {
      const taps = applied(stage, loaded as never)
      const late = new Promise((_, reject) => setTimeout(() => reject(new Error('LATE')), 15_000))
      error = await Promise.race([pricesOf(stage, taps), late]).then(
        () => undefined,
        thrown => thrown
      )
    }
    const duration = Date.now() - started
    const end =
      loaded instanceof Error
        ? 'refused'
        : error === undefined
          ? 'answers'
          : isWalletError(error, 'PLUGIN_FAILED')
            ? 'ends'
            : (error as Error | undefined)?.message === 'LATE'
              ? 'waits'
              : 'throws'
    const message = error instanceof Error ? error.message.slice(0, 120) : ''
    t.log(`${name}: ${end} in ${duration} ms ${message}`)
    if (end !== outcome || message.startsWith('GOT')) problems.push(`${name}: ${end}: ${message}`)
    const isBack = async (): Promise<boolean> => {
      const [price] = await pricesOf(stage, honest).catch(() => [])
      return price === 64_000
    }
    await waitFor(isBack, 5000).catch(() => problems.push(`${name}: the neighbour does not answer`))
    if (JSON.stringify(stage.seen).includes(CANARY)) problems.push(`${name}: the canary is out`)
    if (({} as Record<string, unknown>).polluted !== undefined) problems.push(`${name}: polluted`)
    const blamed = stage.faults.filter(({ pluginId }) => pluginId !== 'bad')
    if (blamed.length > 0) problems.push(`${name}: ${JSON.stringify(blamed)}`)
    stage.cells.close()
  }
  server.close()
  t.is(hits, 0)
  t.deepEqual(problems, [])
})
