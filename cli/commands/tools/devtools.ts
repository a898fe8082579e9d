import { makeActionHandler } from '../../../app/actions/actions.ts'
import { type Devtools, makeDevtools } from '../../../devtools/core/devtools.ts'
import { makeFakeWorldControl } from '../../../fake-server/chain-control.ts'
import { compact } from '../../../kernel/base/compact.ts'
import { readRecording, recordFile, writeRecordingPage } from '../../devtools/recording.ts'
import { Approvals, portOf, servePanel } from '../../devtools/serve-panel.ts'
import { CliError } from '../../errors/cli-error.ts'
import { proposalBook } from '../../mcp/answer-proposal.ts'
import { pausedWalletsIn } from '../../profile/state-files.ts'
import type { CommandRun } from '../../session/command.ts'
import { openEach, openWallet } from '../../session/find-wallets.ts'
import { methodBySecret } from '../../session/log-in.ts'
import type { Session } from '../../session/session.ts'

/** Serves the panel of this profile's kernel, or of a recording, to a browser on this machine until it is stopped. */
export const devtools: CommandRun = async (session, path) => {
  const port = portOf(session)
  const html = session.text('html')
  if (path === undefined) {
    if (html !== undefined)
      throw new CliError('USAGE', 'Name the recording for the page: devtools <recording> --html <file>')
    await serveKernel(session, port)
    return undefined
  }
  const recording = await recordingFor(session, path)
  if (html !== undefined) return writeRecordingPage(html, recording)
  await servePanel(session, port, { recording: () => recording, may: 'sees the recording' })
  return undefined
}

/** Reads a recording, which needs neither login nor kernel. @throws CliError USAGE for flags of the kernel */
const recordingFor = async (session: Session, path: string): Promise<Uint8Array> => {
  for (const [name, flag] of kernelFlags) {
    if (session.flags[name] === undefined) continue
    throw new CliError('USAGE', `${flag} has no effect on a recording`)
  }
  return readRecording(path)
}

const kernelFlags = [
  ['readOnly', '--read-only'],
  ['hideAddresses', '--hide-addresses'],
  ['record', '--record'],
  ['with', '--with']
] as const

const serveKernel = async (session: Session, port: number): Promise<void> => {
  const { io, control, isShared, real } = await session.world()
  const { profile, usualProfile } = session.globals
  const isReadOnly = session.isOn('readOnly')
  const isHiding = session.isOn('hideAddresses')
  const watching =
    session.agent === undefined ? makeDevtools({ clock: io.clock }) : await session.agentDevtools()
  const kept: Pick<Devtools, 'attach'> = {
    attach: (channel, options) => watching.attach(channel, { ...options, hideAddresses: isHiding })
  }
  const recordPath = session.text('record')
  const endRecording =
    recordPath === undefined
      ? undefined
      : recordFile(recordPath, { devtools: kept, now: () => io.clock.now(), statusLine: session.statusLine })
  let endWorld: (() => void) | undefined
  try {
    // The panel shows the whole log; the terminal prints the usual part.
    if (session.agent === undefined) session.addDevtools(watching)
    const context = await session.context()
    if (await wantsLogin(session)) {
      // The engines report their own progress.
      void openEach((await session.account()).getSnapshot().activeWalletIds, id => openWallet(session, id))
    }
    session.signal.throwIfAborted()
    const approvals = new Approvals(session.payingGraceMs, payment => session.agent?.duringPayment(payment))
    const world = real === undefined ? makeFakeWorldControl(control) : undefined
    // Other commands change it, too.
    endWorld = session.agent?.onWorldChange(() => void world?.look().catch(() => {}))
    const pausedWallets = pausedWalletsIn(session.paths.session)
    const proposals = session.agent && proposalBook(session, session.agent.programs.proposals)
    await servePanel(session, port, {
      may: isReadOnly ? 'sees the wallet' : 'controls the wallet',
      attach(channel) {
        // One handler a panel: a draft can be approved by its own panel only, and is declined when that disconnects.
        const handler = makeActionHandler({
          context,
          io,
          world,
          pausedWallets,
          proposals,
          isReadOnly,
          isAlone: !isShared
        })
        const track = approvals.track(handler)
        // Other commands may have changed the world since the last panel connected.
        if (world !== undefined) watching.watchWorld(world)
        const detach = kept.attach(channel, {
          runAction(name, input) {
            session.agent?.noteUse()
            return track(name, input)
          },
          // A panel that is left open is no use that keeps an account open.
          watchAction: handler.watch,
          hasWorld: world !== undefined,
          ...compact({
            hasLoginServer: context.hasLoginServer ? undefined : false,
            network: real?.network,
            profile: profile === usualProfile ? undefined : profile
          }),
          isReadOnly,
          isSlow: () => channel.isSlow()
        })
        return () => {
          detach()
          handler.close()
        }
      },
      onStop: () => approvals.settled(session.signal.reason)
    })
  } finally {
    endWorld?.()
    endRecording?.()
  }
}

/** Returns true if an account or a secret was given; otherwise the panel logs in. */
const wantsLogin = async (session: Session): Promise<boolean> =>
  session.globals.account !== undefined ||
  session.text('with') !== undefined ||
  (await methodBySecret(session.secrets)) !== undefined
