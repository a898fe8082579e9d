import type { ReactElement } from 'react'
import { Dialog } from '../parts/dialog.tsx'
import { keyHelp } from '../state/keyboard.ts'
import type { Preferences } from '../state/preferences.ts'

/** All keys, and the switch that turns them off. */
export const HelpDialog = (props: {
  readonly preferences: Preferences
  readonly onChange: (changes: Partial<Preferences>) => void
  readonly onClose: () => void
}): ReactElement => (
  <Dialog title="Keys" onClose={props.onClose}>
    <dl className="keys">
      {keyHelp.map(([keys, meaning]) => (
        <Key key={keys} keys={keys} meaning={meaning} />
      ))}
    </dl>
    <label className="check">
      <input
        type="checkbox"
        checked={props.preferences.hasShortcuts}
        onChange={event => props.onChange({ hasShortcuts: event.target.checked })}
      />
      Listen to these keys. In a text field only Ctrl K works.
    </label>
    <div className="dialog-acts">
      <button type="button" className="button" onClick={props.onClose}>
        Close
      </button>
    </div>
  </Dialog>
)

const Key = ({ keys, meaning }: { readonly keys: string; readonly meaning: string }): ReactElement => (
  <>
    <dt>
      {keys.split(' ').map(key =>
        key === 'then' ? (
          <span key={key} className="soft">
            {' '}
            then{' '}
          </span>
        ) : (
          <kbd key={key}>{key}</kbd>
        )
      )}
    </dt>
    <dd>{meaning}</dd>
  </>
)
