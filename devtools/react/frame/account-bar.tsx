import { type ReactElement, useEffect, useState } from 'react'
import { type AccountSnapshot, compact } from '../../../kernel/index.ts'
import { ActionButton, ActionForm, useCanRun } from '../parts/action-forms.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { ChoiceField, TextField } from '../parts/fields.tsx'
import { visibleText } from '../parts/texts.ts'
import { usePanel, useStatus, useView } from '../state/panel-state.ts'
import { DeviceAccount, RestoreDialog } from './device-account.tsx'

/** Shows the open accounts, and the first steps: an account, a wallet, blocks and the network of the fake world. */
export const AccountBar = (): ReactElement | null => {
  const accounts = [...useView().accounts.values()].filter(({ isLoggedIn }) => isLoggedIn)
  const [open, setOpen] = useState<'create' | 'login' | 'restore' | 'wallet' | undefined>()
  const [restored, setRestored] = useState<string | undefined>()
  const canRun = useCanRun('account.create')
  const close = (): void => setOpen(undefined)
  // A dialog that a lost connection closed does not come back by itself.
  if (!canRun && open !== undefined) close()
  if (!canRun) return null
  return (
    <section className="strip" aria-label="Start">
      {accounts.map(account => (
        <LoggedInAccount key={account.accountId} account={account} />
      ))}
      <button
        type="button"
        className={accounts.length === 0 ? 'button main-act' : 'button plain'}
        onClick={() => setOpen('create')}
      >
        Create an account…
      </button>
      <button
        type="button"
        className={accounts.length === 0 ? 'button' : 'button plain'}
        onClick={() => {
          setRestored(undefined)
          setOpen('login')
        }}
      >
        Log in…
      </button>
      {accounts.length === 0 ? null : (
        <button type="button" className="button" onClick={() => setOpen('wallet')}>
          Create a wallet…
        </button>
      )}
      <WorldActions />
      {open === 'create' ? (
        <AccountDialog title="Create an account" name="account.create" onClose={close} />
      ) : null}
      {open === 'login' ? (
        <AccountDialog
          title="Log in"
          name="account.login"
          onClose={close}
          onRestore={() => setOpen('restore')}
          {...compact({ restored })}
        />
      ) : null}
      {open === 'restore' ? (
        <RestoreDialog
          onClose={close}
          onDone={username => {
            setRestored(username)
            setOpen('login')
          }}
        />
      ) : null}
      {open === 'wallet' ? <WalletDialog accounts={accounts} onClose={close} /> : null}
    </section>
  )
}

/** An account, and how it comes back: one that nothing opens again is left only after a second question. */
const LoggedInAccount = ({ account }: { readonly account: AccountSnapshot }): ReactElement => {
  const { accountId, username, loginMethods, isDeviceOnly } = account
  const [isPrompting, setPrompting] = useState(false)
  const canRun = useCanRun('account.logout')
  const isLost = loginMethods?.length === 0
  useEffect(() => {
    if (!isLost || !canRun) return
    const query = (event: BeforeUnloadEvent): void => event.preventDefault()
    window.addEventListener('beforeunload', query)
    return () => window.removeEventListener('beforeunload', query)
  }, [isLost, canRun])
  const leave = (
    <ActionButton name="account.logout" input={{ accountId }} onDone={() => setPrompting(false)}>
      {isPrompting ? 'Log out for good' : 'Log out'}
    </ActionButton>
  )
  return (
    <span className="acts who">
      <strong>{visibleText(username ?? 'Light account')}</strong>
      {isDeviceOnly === true ? <span className="soft">on this device only</span> : null}
      {username === undefined ? <span className="soft">{loginMethodsText(loginMethods)}</span> : null}
      {isLost && !isPrompting ? (
        <button type="button" className="button" onClick={() => setPrompting(true)}>
          Log out…
        </button>
      ) : null}
      {isLost ? null : leave}
      <DeviceAccount account={account} />
      {isLost && isPrompting ? (
        <Dialog title="This account cannot be opened again" onClose={() => setPrompting(false)}>
          <p>
            It has no password, no PIN and no recovery. You lose its wallets when you log out or reload the
            page, unless you save its login key, or first give it a username and a password.
          </p>
          <div className="dialog-acts">
            {leave}
            <button type="button" className="button" onClick={() => setPrompting(false)}>
              Stay
            </button>
          </div>
        </Dialog>
      ) : null}
    </span>
  )
}

const loginMethodsText = (methods: AccountSnapshot['loginMethods']): string => {
  if (methods === undefined) return ''
  const ways = methods.map(method => METHOD_TEXTS[method])
  return ways.length === 0 ? 'cannot be opened again' : `opens again by ${ways.join(' or ')}`
}

const METHOD_TEXTS: Readonly<Record<NonNullable<AccountSnapshot['loginMethods']>[number], string>> = {
  password: 'password',
  pin: 'PIN on this device',
  recovery: 'recovery',
  edge: 'approval'
}

const AccountDialog = (props: {
  readonly title: string
  readonly name: 'account.create' | 'account.login'
  readonly onClose: () => void
  readonly onRestore?: () => void
  /** The name of the account that was restored just now; the list of users may not have it yet. */
  readonly restored?: string
}): ReactElement => {
  const { title, name, onClose, onRestore, restored } = props
  const known = [...useView().users.values()]
  const users = known.flatMap(user => user.username ?? [])
  // Nobody can type the name of a light account.
  const nameless = known.filter(user => user.username === undefined && user.isPinLoginEnabled)
  const isLogin = name === 'account.login'
  const [username, setUsername] = useState(isLogin ? (restored ?? users[0] ?? '') : '')
  const [loginId, setLoginId] = useState(
    isLogin && restored === undefined && users.length === 0 ? (nameless[0]?.loginId ?? '') : ''
  )
  const [password, setPassword] = useState('')
  const [pin, setPin] = useState('')
  const secrets = compact({ password: password || undefined, pin: pin || undefined })
  const isCreate = name === 'account.create'
  const isWhole = isCreate
    ? username === ''
      ? pin !== '' && password === ''
      : password !== '' || pin !== ''
    : loginId === ''
      ? username !== '' && (password !== '' || pin !== '')
      : pin !== ''
  const named = loginId === '' ? { username, ...secrets } : { loginId, ...compact({ pin: pin || undefined }) }
  return (
    <Dialog title={title} onClose={onClose}>
      {isCreate ? (
        <p className="soft">
          A PIN alone makes a light account: it opens on this device only, by that PIN, and can be given a
          name later.
        </p>
      ) : null}
      <ActionForm
        name={name}
        input={isCreate && username === '' ? secrets : named}
        label={title}
        isReady={isWhole}
        onDone={onClose}
      >
        {isLogin && nameless.length > 0 ? (
          <ChoiceField
            label="Account"
            value={loginId}
            onChange={setLoginId}
            choices={[
              ['', 'With a username'] as const,
              ...nameless.map(user => [user.loginId, `Light account ${user.loginId.slice(0, 6)}`] as const)
            ]}
          />
        ) : null}
        {loginId === '' ? (
          <>
            <TextField label="Username" value={username} onChange={setUsername} autoComplete="username" />
            <TextField
              label="Password"
              type="password"
              value={password}
              onChange={setPassword}
              autoComplete={isCreate ? 'new-password' : 'current-password'}
            />
          </>
        ) : null}
        <TextField label="PIN" type="password" value={pin} onChange={setPin} inputMode="numeric" />
      </ActionForm>
      <div className="dialog-acts">
        {onRestore === undefined ? null : (
          <button type="button" className="button plain" onClick={onRestore}>
            Restore a backup…
          </button>
        )}
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  )
}

const WalletDialog = (props: {
  readonly accounts: readonly AccountSnapshot[]
  readonly onClose: () => void
}): ReactElement => {
  const { accounts, onClose } = props
  const { go } = usePanel()
  const types = [...useView().plugins.values()]
    .filter(({ kind, state }) => kind === 'currency' && state === 'applied')
    .map(({ pluginId, currency }) => [currency?.walletType ?? `wallet:${pluginId}`, pluginId] as const)
  const [accountId, setAccountId] = useState(accounts[0]?.accountId ?? '')
  const [walletType, setType] = useState<string>(types[0]?.[0] ?? '')
  const [name, setName] = useState('')
  return (
    <Dialog title="Create a wallet" onClose={onClose}>
      <ActionForm
        name="wallet.create"
        input={name.trim() === '' ? { accountId, walletType } : { accountId, walletType, name: name.trim() }}
        label="Create it"
        isReady={accountId !== '' && walletType !== ''}
        onDone={({ walletId }) => {
          onClose()
          go({ panel: 'engines', id: walletId })
        }}
      >
        {accounts.length < 2 ? null : (
          <ChoiceField
            label="Account"
            value={accountId}
            onChange={setAccountId}
            choices={accounts.map(
              ({ accountId, username }) => [accountId, username ?? 'Light account'] as const
            )}
          />
        )}
        <ChoiceField label="Currency" value={walletType} onChange={setType} choices={types} />
        <TextField label="Name" value={name} onChange={setName} placeholder="Savings" />
      </ActionForm>
      <div className="dialog-acts">
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  )
}

const WorldActions = (): ReactElement | null => {
  const { hasWorld } = useStatus()
  const { wallets, world } = useView()
  const chains = new Set([...wallets.values()].map(({ pluginId }) => pluginId))
  const isOnline = world.get('world')?.isOnline ?? true
  if (!hasWorld) return null
  return (
    <fieldset className="acts bare world" aria-label="Fake world">
      <span className="tag">fake world</span>
      {chains.size === 0 ? null : (
        <span className="soft" aria-hidden="true">
          mine
        </span>
      )}
      {[...chains].map(pluginId => (
        <ActionButton key={pluginId} name="world.mine" input={{ pluginId, count: 1 }}>
          <span className="hidden-text">Mine </span>
          {pluginId}
        </ActionButton>
      ))}
      <ActionButton name="world.network" input={{ isOnline: !isOnline }}>
        {isOnline ? 'Go offline' : 'Go online'}
      </ActionButton>
    </fieldset>
  )
}
