import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { durationText } from '../../../app/format/times.ts'
import { serveDevtools } from '../../../devtools/server/serve-devtools.ts'
import type { JsonObject } from '../../../kernel/index.ts'
import { type DevEvent, DevLoop, type DevState } from '../../dev/dev-loop.ts'
import { DevWorld } from '../../dev/dev-world.ts'
import { watchProject } from '../../dev/watch-project.ts'
import { DevPanel, openBrowser, panelFiles } from '../../devtools/serve-panel.ts'
import { isCliError } from '../../errors/cli-error.ts'
import { entryOf, packageAbove } from '../../plugins/bundle.ts'
import { findProject, type PluginProject } from '../../plugins/plugin-project.ts'
import { type DevKey, type DevLines, openDevScreen } from '../../screens/dev-screen.tsx'
import type { CommandRun } from '../../session/command.ts'
import { openEventStream } from '../../session/event-stream.ts'
import type { Session } from '../../session/session.ts'
import { safeText } from '../../terminal/safe-text.ts'
import { canPrompt, writeText } from '../../terminal/terminal.ts'

/**
 * Loads a plugin into a fake world, again after each change of its files, with a screen of its checks and calls; without a
 * terminal as lines, with `--json` as events.
 */
export const pluginsDev: CommandRun = async (session, path = '.') => {
  const { terminal, globals, signal } = session
  const entry = entryOf(resolve(path))
  const folder = statSync(path).isDirectory() ? resolve(path) : packageAbove(dirname(entry))
  const project = projectIn(folder)
  const hasScreen = !globals.json && canPrompt(terminal)
  const print = hasScreen ? () => {} : printerOf(session)
  const world: DevWorld = new DevWorld({
    io: await session.io(),
    onLog: ({ level, text }) => loop.addLine(`${level} ${text}`),
    onCall: call => loop.addCall(call)
  })
  const watching = watchProject(folder, savedAt => loop.reload(savedAt))
  const loop: DevLoop = new DevLoop({
    ...{ entry, folder, project, world, signal, onEvent: print },
    onFiles: files => watching.follow(files)
  })
  const panel = new DevPanel({
    serve: () => serveDevtools({ attach: world.attach, files: panelFiles() }),
    // The address stands on the screen where no browser can be opened.
    browse: url =>
      openBrowser(url, {
        ...{ platform: process.platform, environment: terminal.environment },
        onFailure: () => {}
      })
  })
  loop.reload()
  try {
    if (project === undefined) loop.addLine('There is no test/plugin.test.ts, so that nothing is checked')
    if (hasScreen) await showScreen(session, { loop, world, panel })
    else await stopped(signal)
  } finally {
    watching.close()
    const closed = [panel.close(), loop.close().finally(() => world.close())]
    await Promise.allSettled(closed)
    await Promise.all(closed)
  }
  return undefined
}

const projectIn = (folder: string): PluginProject | undefined => {
  try {
    return findProject(folder)
  } catch (error) {
    if (isCliError(error) && error.code === 'NOT_FOUND') return undefined
    throw error
  }
}

interface Stage {
  readonly loop: DevLoop
  readonly world: DevWorld
  readonly panel: DevPanel
}

/** Shows the screen until it is left. */
const showScreen = async (session: Session, { loop, world, panel }: Stage): Promise<void> => {
  const { terminal, globals, signal } = session
  let leave = (): void => {}
  const left = new Promise<void>(resolve => {
    leave = resolve
  })
  signal.addEventListener('abort', leave, { once: true })
  const keys: Readonly<Record<DevKey, () => Promise<void> | void>> = {
    reload: () => loop.reload(),
    test: () => loop.test('full'),
    network: () => world.setOnline(!world.isOnline),
    devtools: () => panel.open(loop.state.getSnapshot().plugin?.id ?? ''),
    quit: leave,
    async fund() {
      for (const line of await world.fund()) loop.addLine(`The faucet paid ${line}`)
    }
  }
  const press = async (key: DevKey): Promise<void> => {
    try {
      await keys[key]()
    } catch (error) {
      loop.addLine(error instanceof Error ? error.message : 'It failed')
    }
    draw()
  }
  const screen = openDevScreen(terminal, { isAscii: globals.ascii, onKey: key => void press(key) })
  const draw = (): void => screen.draw(linesOf(loop.state.getSnapshot(), world, panel.url))
  draw()
  // Balances change without the loop.
  const timer = setInterval(draw, FRAME_MS)
  const unsubscribe = loop.state.subscribe(draw)
  try {
    await left
  } finally {
    clearInterval(timer)
    unsubscribe()
    await screen.close()
  }
}

const FRAME_MS = 250

const linesOf = (state: DevState, world: DevWorld, url: string | undefined): DevLines => {
  const { plugin, stage, version, durationMs, problem, tests, calls, lines } = state
  const live = `version ${version}, live after ${durationText(durationMs)}`
  const runs = version === 0 ? '' : plugin === undefined ? `version ${version} has ended` : live
  return {
    ...{ stage, problem, calls, log: lines, url, wallets: world.wallets, isOnline: world.isOnline },
    title:
      plugin === undefined
        ? `no version runs${version === 0 ? ' yet' : ''}`
        : `${plugin.id} (${plugin.kind})`,
    about: stage === 'failed' && version > 0 ? `${runs}; the newest cannot be loaded` : runs,
    tests: testsText(tests),
    hasFailures: tests.stage === 'failed',
    failures: tests.failures.map(({ title, message }) => `${title}: ${message}`)
  }
}

const testsText = ({ stage, level, passed, skipped, failures, problem }: DevState['tests']): string => {
  if (stage === 'none') return 'no checks yet'
  if (problem !== undefined) return problem
  const counts = `${level} checks: ${passed} passed, ${failures.length} failed, ${skipped} skipped`
  return stage === 'running' ? `${counts}…` : counts
}

/** Prints what happens, as lines or as events. */
const printerOf = (session: Session): ((event: DevEvent, state: DevState) => void) => {
  const stream = openEventStream(session)
  return (event, state) => {
    const write = session.globals.json
      ? stream.emit(event, eventJson(event, state))
      : writeText(session.terminal.stdout, `${eventLines(event, state).map(safeText).join('\n')}\n`)
    // A reader that has gone ends the command elsewhere.
    write.catch(() => {})
  }
}

const eventJson = (
  event: DevEvent,
  { plugin, version, durationMs, problem, tests }: DevState
): JsonObject => {
  if (event === 'failed') return { problem: problem ?? null, runs: version === 0 ? null : version }
  if (event === 'tests') {
    const { failures, ...counts } = tests
    return { ...counts, failures: failures.map(each => ({ ...each })) }
  }
  const { id = '', kind = '', hosts = [] } = plugin ?? {}
  return { id, kind, hosts: [...hosts], version, durationMs }
}

const eventLines = (event: DevEvent, { plugin, version, durationMs, problem, tests }: DevState): string[] => {
  if (event === 'failed') return [`not loaded: ${problem ?? ''}`]
  if (event === 'loaded')
    return [
      `loaded ${plugin?.id} (${plugin?.kind}), version ${version}, live after ${durationText(durationMs)}`
    ]
  return [testsText(tests), ...tests.failures.map(({ title, message }) => `✘ ${title}: ${message}`)]
}

const stopped = (signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
