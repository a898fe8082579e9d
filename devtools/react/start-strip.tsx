import { type ReactElement, useState } from 'react'
import type { AccountSnapshot } from '../../kernel/index.ts'
import { usePanel, useStatus, useView } from './panel-state.ts'
import { ActButton, useCanDo } from './parts/act-button.tsx'
import { ActForm } from './parts/act-form.tsx'
import { Dialog } from './parts/dialog.tsx'
import { ChoiceField, TextField } from './parts/fields.tsx'
import { visibleText } from './texts.ts'

/** Who is here, and what one starts with: an account, a wallet, blocks and the network of the fake world. */
export const StartStrip = (): ReactElement | null => {
  const accounts = [...useView().accounts.values()].filter(({ isLoggedIn }) => isLoggedIn)
  const [open, setOpen] = useState<'create' | 'login' | 'wallet' | undefined>()
  const canAct = useCanDo('account.create')
  const close = (): void => setOpen(undefined)
  // A dialog that a lost connection closed does not come back by itself.
  if (!canAct && open !== undefined) close()
  if (!canAct) return null
  return (
    <section className="strip" aria-label="Start">
      {accounts.map(account => (
        <Who key={account.accountId} account={account} />
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
        onClick={() => setOpen('login')}
      >
        Log in…
      </button>
      {accounts.length === 0 ? null : (
        <button type="button" className="button" onClick={() => setOpen('wallet')}>
          Create a wallet…
        </button>
      )}
      <WorldActs />
      {open === 'create' ? (
        <AccountDialog title="Create an account" name="account.create" onClose={close} />
      ) : null}
      {open === 'login' ? <AccountDialog title="Log in" name="account.login" onClose={close} /> : null}
      {open === 'wallet' ? <WalletDialog accounts={accounts} onClose={close} /> : null}
    </section>
  )
}

const Who = ({ account }: { readonly account: AccountSnapshot }): ReactElement => (
  <span className="acts who">
    <strong>{visibleText(account.username ?? 'Light account')}</strong>
    <ActButton name="account.logout" input={{ accountId: account.accountId }}>
      Log out
    </ActButton>
  </span>
)

const AccountDialog = (props: {
  readonly title: string
  readonly name: 'account.create' | 'account.login'
  readonly onClose: () => void
}): ReactElement => {
  const { title, name, onClose } = props
  const users = [...useView().users.values()].flatMap(user => user.username ?? [])
  const [username, setUsername] = useState(name === 'account.login' ? (users[0] ?? '') : '')
  const [password, setPassword] = useState('')
  const [pin, setPin] = useState('')
  const secrets = { ...(password === '' ? {} : { password }), ...(pin === '' ? {} : { pin }) }
  const isCreate = name === 'account.create'
  return (
    <Dialog title={title} onClose={onClose}>
      {isCreate ? (
        <p className="soft">
          All fields may stay empty: that makes a light account, which can be given a name later.
        </p>
      ) : null}
      <ActForm
        name={name}
        input={isCreate && username === '' ? secrets : { username, ...secrets }}
        label={title}
        isReady={isCreate || (username !== '' && (password !== '' || pin !== ''))}
        onDone={onClose}
      >
        <TextField label="Username" value={username} onChange={setUsername} autoComplete="username" />
        <TextField
          label="Password"
          type="password"
          value={password}
          onChange={setPassword}
          autoComplete={isCreate ? 'new-password' : 'current-password'}
        />
        <TextField label="PIN" type="password" value={pin} onChange={setPin} inputMode="numeric" />
      </ActForm>
      <CloseLine onClose={onClose} />
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
      <ActForm
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
      </ActForm>
      <CloseLine onClose={onClose} />
    </Dialog>
  )
}

const CloseLine = ({ onClose }: { readonly onClose: () => void }): ReactElement => (
  <div className="dialog-acts">
    <button type="button" className="button" onClick={onClose}>
      Cancel
    </button>
  </div>
)

const WorldActs = (): ReactElement | null => {
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
        <ActButton key={pluginId} name="world.mine" input={{ pluginId, count: 1 }}>
          <span className="hidden-text">Mine </span>
          {pluginId}
        </ActButton>
      ))}
      <ActButton name="world.network" input={{ isOnline: !isOnline }}>
        {isOnline ? 'Go offline' : 'Go online'}
      </ActButton>
    </fieldset>
  )
}
