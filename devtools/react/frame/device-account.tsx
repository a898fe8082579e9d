import { type ReactElement, useRef, useState } from 'react'
import type { AccountSnapshot } from '../../../kernel/index.ts'
import { ActionForm, useSingleTask } from '../parts/action-forms.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { SecretField } from '../parts/fields.tsx'
import { visibleText } from '../parts/texts.ts'
import { saveFile } from '../state/dom.ts'
import { usePanel, useStatus } from '../state/panel-state.ts'

/** Backs up an account of this device alone, and moves it to a login server; an open dialog stays when it has moved. */
export const DeviceAccount = ({ account }: { readonly account: AccountSnapshot }): ReactElement => {
  const [open, setOpen] = useState<'backup' | 'move' | undefined>()
  const close = (): void => setOpen(undefined)
  return (
    <>
      {account.isDeviceOnly === true ? (
        <>
          <button type="button" className="button" onClick={() => setOpen('backup')}>
            Back up…
          </button>
          <button type="button" className="button" onClick={() => setOpen('move')}>
            Move to a server…
          </button>
        </>
      ) : null}
      {open === 'backup' ? <BackupDialog account={account} onClose={close} /> : null}
      {open === 'move' ? <MoveDialog account={account} onClose={close} /> : null}
    </>
  )
}

interface AccountDialogProps {
  readonly account: AccountSnapshot
  readonly onClose: () => void
}

const BackupDialog = ({ account: { accountId, username }, onClose }: AccountDialogProps): ReactElement => {
  const { live, attempt, say } = usePanel()
  const { backups } = live
  const [isBusy, start] = useSingleTask()
  const field = useRef<HTMLInputElement>(null)
  const [hasRules, setHasRules] = useState(false)
  const [isTyped, setTyped] = useState(false)
  const save = async (isHere: () => boolean): Promise<void> => {
    const backup = await attempt(async () => {
      const made = await backups?.make(accountId, field.current?.value)
      if (made === undefined) setHasRules(true)
      return made
    })
    if (backup === undefined || !isHere()) return
    const name = `${username?.replace(/[^A-Za-z0-9._-]/g, '_') ?? 'account'}.backup`
    saveFile(name, [backup.trimEnd()])
    say(`Saved as ${name}`)
    onClose()
  }
  return (
    <Dialog title={`Back up ${visibleText(username ?? 'this account')}`} onClose={onClose}>
      {backups === undefined ? (
        <Elsewhere does="made" command="account backup" />
      ) : (
        <p>
          The file has all that this device has of the account: its keys, wallets, notes and unfinished
          payments. It is sealed, and only the present password of the account opens it. What you do from now
          on is not in it.
        </p>
      )}
      {hasRules ? (
        <form
          className="fields"
          onSubmit={event => {
            event.preventDefault()
            if (isTyped) start(save)
          }}
        >
          <SecretField label="Its password, for its rules" field={field} onType={setTyped} />
        </form>
      ) : null}
      <div className="dialog-acts">
        <Cancel onClose={onClose} />
        {backups === undefined ? null : (
          <button
            type="button"
            className="button main-act"
            disabled={hasRules && !isTyped}
            aria-busy={isBusy}
            onClick={() => start(save)}
          >
            Save the file
          </button>
        )}
      </div>
    </Dialog>
  )
}

const MoveDialog = ({ account: { accountId, username }, onClose }: AccountDialogProps): ReactElement => {
  const { say } = usePanel()
  const { hasLoginServer = true } = useStatus()
  const field = useRef<HTMLInputElement>(null)
  const [isTyped, setTyped] = useState(false)
  return (
    <Dialog title={`Move ${visibleText(username ?? 'this account')} to the login server`} onClose={onClose}>
      {hasLoginServer ? (
        <>
          <p>
            The server then has all of the account, sealed. Other devices can log in to it with its username
            and password. A move that failed is completed by the next one.
          </p>
          <ActionForm
            name="account.move"
            input={{ accountId, password: '' }}
            complete={input => ({ ...input, password: field.current?.value ?? '' })}
            label="Move it"
            isReady={isTyped}
            onDone={() => {
              say('The account is on the login server')
              onClose()
            }}
          >
            <SecretField label="Its password" field={field} onType={setTyped} />
          </ActionForm>
        </>
      ) : (
        <p className="warn">
          This kernel has no login server. Make a backup, restore it where there is one, and move it there.
        </p>
      )}
      <div className="dialog-acts">
        <Cancel onClose={onClose} />
      </div>
    </Dialog>
  )
}

/** Restores an account from its backup; its password stays in its field, and the file is read here alone. */
export const RestoreDialog = (props: {
  readonly onClose: () => void
  readonly onDone: (username: string | undefined) => void
}): ReactElement => {
  const { live, attempt, say } = usePanel()
  const { backups } = live
  const [isBusy, start] = useSingleTask()
  const [file, setFile] = useState<File | undefined>()
  const field = useRef<HTMLInputElement>(null)
  const [isTyped, setTyped] = useState(false)
  const restore = async (isHere: () => boolean): Promise<void> => {
    const password = field.current?.value ?? ''
    const restored = await attempt(async () => {
      if (file === undefined || file.size > MAX_FILE) throw TOO_LARGE
      return backups?.restore(await file.text(), password)
    })
    if (restored === undefined || !isHere()) return
    say(`${visibleText(restored.username ?? 'The account')} is restored: log in to it`)
    props.onDone(restored.username)
  }
  return (
    <Dialog title="Restore a backup" onClose={props.onClose}>
      {backups === undefined ? (
        <Elsewhere does="restored" command="account restore" />
      ) : (
        <form
          className="fields"
          onSubmit={event => {
            event.preventDefault()
            if (file !== undefined && isTyped) start(restore)
          }}
        >
          <label className="field wide">
            <span>File of the backup</span>
            <input type="file" onChange={event => setFile(event.target.files?.[0])} />
          </label>
          <SecretField label="Password when it was made" field={field} onType={setTyped} />
          <button
            type="submit"
            className="button main-act"
            disabled={file === undefined || !isTyped}
            aria-busy={isBusy}
          >
            Restore it
          </button>
        </form>
      )}
      <div className="dialog-acts">
        <Cancel onClose={props.onClose} />
      </div>
    </Dialog>
  )
}

/** As many bytes as the characters of the largest backup. */
const MAX_FILE = 256 * 1024 * 1024

const TOO_LARGE = { code: 'BACKUP_INVALID', message: 'No backup is as large as this file.' }

/** Says where a backup is made or restored that no panel of this kind can take. */
const Elsewhere = (props: { readonly does: string; readonly command: string }): ReactElement => (
  <p className="warn">
    The kernel of this panel is not in the page, and no backup leaves it for a browser. It is {props.does} by
    the command <code>holdfast {props.command}</code> on its machine.
  </p>
)

const Cancel = ({ onClose }: Pick<AccountDialogProps, 'onClose'>): ReactElement => (
  <button type="button" className="button" onClick={onClose}>
    Cancel
  </button>
)
