import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { untilTrue } from '../../cli/demo/tour-setup.ts'
import { runTourSwap } from '../../cli/demo/tour-swap.ts'
import { kernelSettings } from '../../cli/profile/open-profile.ts'
import { makeDevtools } from '../../devtools/core/devtools.ts'
import { record } from '../../devtools/core/recording/record.ts'
import { openRecording } from '../../devtools/core/recording/timeline.ts'
import { FAKE_ADDRESSES, makeFakeWorld } from '../../fake-server/fake-world.ts'
import { createKernel, nativeAmount } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { defaultPlugins } from '../../plugins/default-plugins.ts'
import { fileStorage } from '../../plugins/storage/file/file-storage.ts'
import { shapeOf } from './shape.ts'

/**
 * Records what the devtools see of an account that receives, pays, syncs and swaps in a fake world.
 *
 * @returns the lines of a recording
 */
export const recordSession = async (): Promise<readonly string[]> => {
  const io = makeNodeIo()
  const world = makeFakeWorld({ io })
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-freeze-'))
  const devtools = makeDevtools({ clock: io.clock })
  const lines: string[] = []
  const stop = record(devtools, { now: Date.now, write: line => lines.push(line) })
  const { signal } = new AbortController()
  const kernel = await createKernel({
    ...kernelSettings(FAKE_ADDRESSES),
    io: world.ioFor(io),
    logLevel: 'info',
    plugins: [devtools.plugin, fileStorage(join(folder, 'device')), ...defaultPlugins]
  })
  try {
    const account = await kernel.context.createAccount({ username: 'frozen', password: 'correct horse' })
    const wallet = await account.createCurrencyWallet('wallet:bitcoin', { name: 'Savings' })
    await untilTrue(wallet, signal, async () => true)
    world.chain.fund((await wallet.getReceiveAddress()).publicAddress, nativeAmount('5000000'))
    world.chain.mine(1)
    await untilTrue(wallet, signal, async () => wallet.balanceOf(null) !== '0')
    const spendTargets = [{ publicAddress: PAYEE, nativeAmount: nativeAmount('1250000') }]
    await wallet.spend(await wallet.makeSpend({ tokenId: null, spendTargets }))
    world.chain.mine(1)
    await account.sync()
    await runTourSwap({
      ...{ world, kernel, account, wallet, signal },
      step: async (_, __, work) => (await work()).value
    })
    await account.logout()
  } finally {
    await kernel.close()
    stop()
    await world.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return lines
}

const PAYEE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'

/** The header of a recording, and each kind of event and row in it with the shape of what it says. */
export const recordingShapes = (lines: readonly string[]): string => {
  const shapes = new Set<string>()
  for (const line of lines) {
    const { slices = {}, patches = [], events = [], ...message } = JSON.parse(line) as RecordingLine
    shapes.add(
      `line ${message.type ?? JSON.stringify([message.format, message.version])} ${shapeOf(message)}`
    )
    for (const name of Object.keys(slices)) shapes.add(`slice ${name}`)
    for (const { slice, ...patch } of patches)
      for (const shape of partShapes(patch)) shapes.add(`patch ${slice} ${shape}`)
    for (const event of events)
      for (const shape of partShapes(event)) shapes.add(`event ${event.hook} ${shape}`)
  }
  return `${[...shapes].sort().join('\n')}\n`
}

interface RecordingLine {
  readonly type?: string
  readonly format?: string
  readonly version?: number
  readonly slices?: Readonly<Record<string, unknown>>
  readonly patches?: readonly { readonly slice: string }[]
  readonly events?: readonly { readonly hook: string }[]
}

/** Each field with its shape, because which fields stand together depends on the time. */
const partShapes = (value: unknown, path = ''): readonly string[] => {
  if (Array.isArray(value)) return value.flatMap(item => partShapes(item, `${path}[]`))
  if (typeof value !== 'object' || value === null)
    return [`${path} ${value === null ? 'null' : typeof value}`]
  return Object.entries(value).flatMap(([name, item]) =>
    partShapes(item, `${path}.${/^[a-z][A-Za-z]*$/.test(name) ? name : '<key>'}`)
  )
}

/** What the panel of this tree shows of a recording, perhaps of another commit: its rows and events by their shapes. */
export const shownOfRecording = (lines: readonly string[]): string => {
  const client = openRecording(lines)
  const shapes = new Set<string>([`cut: ${client.isCut}`])
  for (let index = 0; index < client.momentCount; index += 1) {
    client.seek(index)
    for (const [slice, rows] of Object.entries(client.view.getSnapshot()))
      for (const shape of partShapes(rows)) shapes.add(`${slice} ${shape}`)
  }
  for (const event of client.events.getSnapshot())
    for (const shape of partShapes(event)) shapes.add(`event ${event.hook} ${shape}`)
  return `${[...shapes].sort().join('\n')}\n`
}
