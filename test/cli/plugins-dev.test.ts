import { join } from 'node:path'
import test from 'ava'
import { CliError } from '../../cli/errors/cli-error.ts'
import { homeFor } from '../helpers/command-line.ts'
import { waitFor } from '../helpers/device.ts'
import { runInProcess } from '../helpers/in-process.ts'
import { makePriceShopProject, PRICE_SHOP } from '../helpers/price-shop-project.ts'

interface DevEvent {
  readonly event: string
  // biome-ignore lint/suspicious/noExplicitAny: assertions look at any shape
  readonly data: any
}

test('a plugin is loaded again after each change, checked, and survives mistakes until the session is stopped', async t => {
  const home = homeFor(t)
  const folder = join(home, 'shop')
  const write = makePriceShopProject(folder)
  const controller = new AbortController()
  let output = ''
  const running = runInProcess(['plugins', 'dev', folder, '--json'], {
    home,
    signal: controller.signal,
    onOutput: text => {
      output += text
    }
  })
  const events = (): readonly DevEvent[] =>
    output
      .split('\n')
      .slice(0, -1)
      .map(line => JSON.parse(line))
  const next = async (event: string, after = 0): Promise<DevEvent> => {
    const found = (): DevEvent | undefined =>
      events()
        .slice(after)
        .find(each => each.event === event)
    await waitFor(() => found() !== undefined, 60_000)
    return found() as DevEvent
  }
  const loaded = await next('loaded')
  t.deepEqual(
    [loaded.data.id, loaded.data.kind, loaded.data.hosts, loaded.data.version],
    ['priceshop', 'rates', ['shop.example.org'], 1]
  )
  const tests = await next('tests')
  t.is(tests.data.stage, 'done')
  t.true(tests.data.passed > 5)
  t.deepEqual(tests.data.failures, [])

  let seen = events().length
  write(PRICE_SHOP.replace('kind:', 'kind;:'))
  const failed = await next('failed', seen)
  t.regex(failed.data.problem, /: src\/index\.ts:\d+:\d+: Expected/)
  t.is(failed.data.runs, 1)

  seen = events().length
  write(
    PRICE_SHOP.replace(
      'apply({ hooks, io }) {',
      "apply({ hooks, io }) {\n    if (io) throw new Error('not yet')"
    )
  )
  t.regex((await next('failed', seen)).data.problem, /not yet \(at src\/index\.ts:\d+:/)

  seen = events().length
  write(
    PRICE_SHOP.replace('apply({ hooks, io }) {', 'async apply({ hooks, io }) {').replace(
      /^ {2}\}\n\}$/m,
      "    await null\n    throw new Error('not later')\n  }\n}"
    )
  )
  const late = await next('failed', seen)
  t.regex(late.data.problem, /applied: not later \(at src\/index\.ts:\d+:/)

  seen = events().length
  write(PRICE_SHOP.replace("'iso:USD' }, rate)", "'iso:USD' }, rate * 2)"))
  t.is((await next('loaded', seen)).data.version, 2)
  const { data } = await next('tests', seen)
  t.is(data.stage, 'failed')
  t.true(data.failures.some(({ title }: { title: string }) => title === 'rates.valid BTC iso:USD'))

  controller.abort(new CliError('INTERRUPTED', 'Stopped'))
  t.is((await running).code, 0)
})
