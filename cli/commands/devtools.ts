import { join } from 'node:path'
import { makeActor } from '../../devtools/core/actor.ts'
import { makeDevtools } from '../../devtools/core/devtools.ts'
import { readPanelFiles } from '../../devtools/server/panel-files.ts'
import { type DevtoolsServer, serveDevtools } from '../../devtools/server/serve-devtools.ts'
import { driveWorld } from '../../fake-server/world-driver.ts'
import type { CommandRun } from '../command.ts'
import { Approvals } from '../devtools/approvals.ts'
import { openBrowser } from '../devtools/open-browser.ts'
import { CliError } from '../errors/cli-error.ts'
import { parseCount } from '../grammar/values.ts'
import { packageFolder } from '../package-folder.ts'
import { methodBySecret } from '../session/choose-method.ts'
import { openEach, openWallet } from '../session/open-wallet.ts'
import type { Session } from '../session.ts'

/** Serves the panel of this profile's kernel to a browser on this machine until it is stopped. */
export const devtools: CommandRun = async session => {
  const text = session.text('port')
  const port = text === undefined ? 0 : parseCount(text, 'port', [1, 65_535])
  const opened = openPanels(session)
  const approvals = new Approvals()
  const server = await serve(session, { port, opened, approvals })
  try {
    await session.print({
      data: { url: server.url, port: server.port, pid: process.pid },
      view: { kind: 'text', lines: [server.url] }
    })
    if (session.isOn('open')) opened.open(server.url)
    const may = session.isOn('readOnly') ? 'sees' : 'drives'
    session.talk.say(`Whoever has this address ${may} the wallet. Stop with Ctrl-C.`)
    await stopped(session.signal)
    await approvals.settled(session.signal.reason)
  } finally {
    opened.forget()
    await server.close()
  }
  return undefined
}

const serve = async (
  session: Session,
  {
    port,
    opened,
    approvals
  }: { readonly port: number; readonly opened: OpenPanels; readonly approvals: Approvals }
): Promise<DevtoolsServer> => {
  const { io, control } = await session.world()
  const isReadOnly = session.isOn('readOnly')
  const kept = makeDevtools({ clock: io.clock, hideAddresses: session.isOn('hideAddresses') })
  // The panel shows the log; the terminal prints what it always does.
  session.addObserver(kept.plugin, 'debug')
  const context = await session.context()
  if (await wantsLogin(session)) {
    // How each of them does is told by its engine.
    void openEach((await session.account()).getSnapshot().activeWalletIds, id => openWallet(session, id))
  }
  session.signal.throwIfAborted()
  return serveDevtools({
    port,
    files: readPanelFiles(join(packageFolder()?.path ?? '', 'dist/devtools/panel')),
    attach(channel) {
      opened.forget()
      // Of its own: what a panel drafted, that panel alone approves, and it is declined when the panel has gone.
      const actor = makeActor({ context, io, world: driveWorld(control), isReadOnly })
      const detach = kept.attach(channel, {
        act: approvals.counting(actor),
        hasWorld: true,
        isReadOnly,
        isSlow: () => channel.isSlow()
      })
      return () => {
        detach()
        actor.close()
      }
    }
  }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES') throw error
    throw new CliError('USAGE', `The port ${port} cannot be used (${error.code})`, { cause: error })
  })
}

/** Somebody was named, or a secret was given; otherwise the login is left to the panel. */
const wantsLogin = async (session: Session): Promise<boolean> =>
  session.globals.account !== undefined ||
  session.text('with') !== undefined ||
  (await methodBySecret(session.secrets)) !== undefined

interface OpenPanels {
  open(url: string): void
  /** Removes what leads a browser here. */
  forget(): void
}

const openPanels = ({ talk, terminal: { environment } }: Session): OpenPanels => {
  let forget = (): void => {}
  return {
    open(url) {
      const onFailure = (): void => talk.warn('No browser could be opened; open the address yourself')
      forget = openBrowser(url, { platform: process.platform, environment, onFailure })
    },
    forget: () => forget()
  }
}

const stopped = (signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
