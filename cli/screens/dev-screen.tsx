import type { WriteStream } from 'node:tty'
import { Box, Text, useInput } from 'ink'
import type { ReactElement } from 'react'
import { durationText } from '../../app/format/times.ts'
import { safeText } from '../terminal/safe-text.ts'
import { type Terminal, widthOf, wrapText } from '../terminal/terminal.ts'
import { renderOnTerminal } from './question.tsx'

/** What the screen of `plugins dev` shows; all texts may come from the plugin. */
export interface DevLines {
  /** Such as `corner (rates)`. */
  readonly title: string
  readonly stage: 'failed' | 'loaded' | 'loading'
  /** Such as `version 3, live after 312 ms`. */
  readonly about: string
  readonly problem: string | undefined
  readonly tests: string
  readonly hasFailures: boolean
  readonly failures: readonly string[]
  readonly calls: readonly { readonly hook: string; readonly durationMs: number; readonly outcome: string }[]
  readonly log: readonly string[]
  readonly wallets: readonly string[]
  readonly isOnline: boolean
  /** The address of the devtools; undefined while they are closed. */
  readonly url: string | undefined
}

/** The actions of the keys. */
export type DevKey = 'devtools' | 'fund' | 'network' | 'quit' | 'reload' | 'test'

/** A screen that is redrawn with {@link DevScreen}. */
export interface OpenedDevScreen {
  draw(lines: DevLines): void
  /** Leaves the last frame on the terminal. */
  close(): Promise<void>
}

/** Opens the screen of `plugins dev`; `q` and Ctrl-C are the same key to it. */
export const openDevScreen = (
  terminal: Terminal,
  { isAscii, onKey }: { readonly isAscii: boolean; onKey(key: DevKey): void }
): OpenedDevScreen => {
  const height = (): number => ((terminal.stderr as WriteStream).rows ?? 24) - 1
  const node = (lines: DevLines) => (
    <DevScreen
      lines={lines}
      height={height()}
      width={widthOf(terminal.stderr)}
      isAscii={isAscii}
      onKey={onKey}
    />
  )
  let screen: ReturnType<typeof renderOnTerminal> | undefined
  return {
    draw(lines) {
      if (screen === undefined) screen = renderOnTerminal(node(lines), terminal)
      else screen.rerender(node(lines))
    },
    async close() {
      screen?.unmount()
      await screen?.waitUntilExit()
    }
  }
}

/** Props of {@link DevScreen}. */
export interface DevScreenProps {
  readonly lines: DevLines
  /** The number of lines that it may take. */
  readonly height: number
  /** In columns. */
  readonly width: number
  readonly isAscii: boolean
  readonly onKey: (key: DevKey) => void
}

/** The plugin, its checks, its calls and its log, with the keys in the last line. */
export const DevScreen = ({ lines, height, width, isAscii, onKey }: DevScreenProps): ReactElement => {
  useDevKeys(onKey)
  const { title, stage, about, tests, hasFailures, wallets, isOnline, url } = lines
  const problem = lines.problem === undefined ? [] : wrapText(lines.problem, width - 2).split('\n')
  const parts = shares(height - FIXED_LINES - Math.ceil((url ?? '').length / width), [
    problem.slice(0, 8),
    lines.failures,
    lines.calls.map(callText),
    lines.log
  ])
  const [problems = [], failures = [], calls = [], log = []] = parts
  return (
    <Box flexDirection="column">
      <Text wrap="truncate-end">
        <Text color={COLORS[stage]}>{markOf(stage, isAscii)}</Text> <Text bold>{safeText(title)}</Text>{' '}
        <Text dimColor>{safeText(about)}</Text>
      </Text>
      <Lines lines={problems} color="red" />
      <Text wrap="truncate-end" color={hasFailures ? 'red' : 'green'}>
        {tests}
      </Text>
      <Lines lines={failures} color="red" />
      <Text bold>Calls</Text>
      <Lines lines={calls.length === 0 ? ['none yet'] : calls} />
      <Text bold>Log</Text>
      <Lines lines={log.length === 0 ? ['nothing'] : log} />
      <Text wrap="truncate-end">
        <Text color={isOnline ? 'green' : 'yellow'}>{isOnline ? 'online' : 'offline'}</Text>
        {wallets.map(wallet => `   ${safeText(wallet)}`).join('')}
      </Text>
      {url === undefined ? null : <Text dimColor>{url}</Text>}
      <Text dimColor wrap="truncate-end">
        {`r reload  t full tests  f fund  o ${isOnline ? 'offline' : 'online'}  d devtools  q quit`}
      </Text>
    </Box>
  )
}

// Title, checks, two headings, the world, the keys.
const FIXED_LINES = 6

const COLORS = { failed: 'red', loaded: 'green', loading: 'cyan' } as const

const markOf = (stage: DevLines['stage'], isAscii: boolean): string => {
  if (isAscii) return { failed: 'x', loaded: '*', loading: '.' }[stage]
  return { failed: '✘', loaded: '●', loading: '…' }[stage]
}

const Lines = ({
  lines,
  color
}: {
  readonly lines: readonly string[]
  readonly color?: string
}): ReactElement => (
  <>
    {lines.map((line, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: equal lines may stand side by side
      <Text key={at} wrap="truncate-end" {...(color === undefined ? { dimColor: true } : { color })}>
        {`  ${safeText(line)}`}
      </Text>
    ))}
  </>
)

const callText = ({ hook, durationMs, outcome }: DevLines['calls'][number]): string =>
  `${hook}  ${durationText(durationMs)}  ${outcome}`

/** The newest lines of each part: what must be seen first takes what it needs, and the rest share what is left. */
const shares = (room: number, parts: readonly (readonly string[])[]): readonly (readonly string[])[] => {
  let left = room
  return parts.map((part, at) => {
    const isLast = at === parts.length - 1
    const most = Math.max(1, at < 2 ? Math.floor(left / 2) : isLast ? left : Math.ceil(left / 2))
    const shown = at < 2 ? part.slice(0, most) : part.slice(-most)
    left -= Math.max(shown.length, at < 2 ? 0 : 1)
    return shown
  })
}

const useDevKeys = (onKey: (key: DevKey) => void): void => {
  useInput((input, key) => {
    if (key.ctrl && input === 'c') onKey('quit')
    else {
      const pressed = KEYS.get(input)
      if (pressed !== undefined) onKey(pressed)
    }
  })
}

const KEYS: ReadonlyMap<string, DevKey> = new Map([
  ['r', 'reload'],
  ['t', 'test'],
  ['f', 'fund'],
  ['o', 'network'],
  ['d', 'devtools'],
  ['q', 'quit']
])
