import { compact } from '../../../kernel/base/compact.ts'
import type { JsonObject, NextCommand } from '../../../kernel/index.ts'
import { openNodeChain, requireLitecoinNode } from '../../demo/node-chain.ts'
import { runTour, type TourResult } from '../../demo/tour.ts'
import {
  makeRunStep,
  type OnTourStep,
  openTourWorld,
  plainProgress,
  type TourWorld
} from '../../demo/tour-setup.ts'
import { CliError } from '../../errors/cli-error.ts'
import type { CellLike } from '../../output/view.ts'
import { writeCurrentAccount } from '../../profile/state-files.ts'
import type { TourStep } from '../../screens/tour-screen.tsx'
import type { CommandRun } from '../../session/command.ts'
import type { Session } from '../../session/session.ts'

const USERNAME = 'tourist'
// The account holds play money, and must be opened again only after --keep.
const PASSWORD = 'only for the tour'
const SLOW_MS = 1200

/**
 * Runs the one-minute tour on a fresh fake world, without prompts or network; with `--network regtest` the coins are those of a
 * real node that runs for the tour.
 */
export const demo: CommandRun = async session => {
  const io = await session.io()
  const isOnNode = session.text('network') === 'regtest'
  if (isOnNode) {
    if (session.isOn('keep'))
      throw new CliError('USAGE', 'The chain of the node ends with the tour, so its world cannot be kept')
    requireLitecoinNode()
  }
  const tourWorld = await openTourWorld({
    io,
    isKept: session.isOn('keep'),
    holder: session.holder,
    environment: session.terminal.environment
  })
  session.whenClosed(() => tourWorld.close())
  const steps: TourStep[] = []
  const progress = await openProgress(session)
  const onStep: OnTourStep = step => {
    if (step.state !== 'running') steps.push(step)
    progress.onStep(step)
  }
  const pauseMs = session.text('speed') === 'slow' ? SLOW_MS : 0
  const opening = isOnNode ? openNodeChain(makeRunStep(onStep, pauseMs), io) : undefined
  // Also a node that is still starting when the tour is stopped.
  session.whenClosed(async () => (await opening?.catch(() => undefined))?.close())
  try {
    const chain = await opening
    const result = await runTour({
      world: tourWorld.world,
      ...compact({ chain }),
      io,
      folder: tourWorld.folder,
      firstDevice: 'device',
      username: USERNAME,
      password: PASSWORD,
      signal: session.signal,
      pauseMs,
      onStep
    })
    await progress.close()
    checkSame(result)
    if (tourWorld.profile !== undefined) {
      writeCurrentAccount(tourWorld.paths.state, { loginId: result.loginId, username: USERNAME })
    }
    const next = nextCommands(tourWorld)
    return {
      data: dataOf(result, { steps, tourWorld }),
      view: { kind: 'text', lines: lastLines(result, next) }
    }
  } finally {
    await progress.close()
  }
}

interface Progress {
  readonly onStep: OnTourStep
  close(): Promise<void>
}

/** Opens the display of the steps: drawn on a terminal, plain lines in a pipe, nothing with JSON. */
const openProgress = async ({ terminal, globals }: Session): Promise<Progress> => {
  const { stdout, stderr } = terminal
  const close = async (): Promise<void> => {}
  if (globals.json || globals.quiet) return { onStep: () => {}, close }
  if (stderr.isTTY !== true || stdout.isTTY !== true || terminal.environment.TERM === 'dumb') {
    return { onStep: plainProgress(line => void stdout.write(`${line}\n`)), close }
  }
  const { openTourScreen } = await import('../../screens/tour-screen.tsx')
  const screen = openTourScreen(terminal, globals.ascii)
  let isOpen = true
  return {
    onStep: step => screen.onStep(step),
    async close() {
      if (isOpen) await screen.close()
      isOpen = false
    }
  }
}

const checkSame = ({ sameWallet, sameHistory, sameNote }: TourResult): void => {
  if (sameWallet && sameHistory && sameNote) return
  throw new CliError('TOUR_DIFFERS', 'The second device shows a different state than the first one', {
    details: { sameWallet, sameHistory, sameNote }
  })
}

interface TourEnd {
  readonly steps: readonly TourStep[]
  readonly tourWorld: TourWorld
}

const dataOf = (result: TourResult, { steps, tourWorld }: TourEnd): JsonObject => ({
  txid: result.txid,
  confirmations: result.confirmations,
  note: result.note,
  ...compact({ swap: result.swap && { ...result.swap }, node: result.testimony }),
  secondDevice: { sameHistory: result.sameHistory, sameNote: result.sameNote },
  steps: steps.map(({ id, title, detail = '', durationMs = 0 }) => ({
    id,
    title,
    detail,
    durationMs: Math.round(durationMs)
  })),
  ...compact({ profile: tourWorld.profile })
})

const lastLines = (
  { txid, confirmations, note, testimony }: TourResult,
  next: readonly NextCommand[]
): readonly CellLike[] => [
  '',
  'next:',
  ...next.flatMap(({ command, why }) => [{ text: `  # ${why}`, tone: 'dim' } as const, `  ${command}`]),
  '',
  { text: `txid: ${txid}`, tone: 'strong' },
  { text: `confirmations: ${confirmations}`, tone: 'good' },
  ...(testimony === undefined ? [] : [{ text: `node: ${testimony}`, tone: 'good' } as const]),
  `note: ${note}`,
  { text: 'second device: same history, same note', tone: 'good' }
]

const nextCommands = ({ profile }: TourWorld): readonly NextCommand[] => {
  if (profile !== undefined) {
    const run = `npm run holdfast -- --profile ${profile}`
    return [
      { command: `${run} login`, why: `the password is "${PASSWORD}"` },
      { command: `${run} wallets list`, why: 'see the wallet of the tour' },
      { command: `${run} tx list Savings`, why: 'see its history' }
    ]
  }
  return [
    { command: 'npm run holdfast -- account create alice', why: 'create your own account' },
    { command: 'npm run holdfast -- wallets create bitcoin --name Savings', why: 'create a wallet in it' },
    { command: 'npm run holdfast -- fake chain fund Savings "0.5 BTC" --confirm', why: 'get play money' }
  ]
}
