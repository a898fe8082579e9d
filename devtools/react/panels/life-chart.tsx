import type { ReactElement } from 'react'
import type { EngineRow } from '../../core/rows/engine-rows.ts'

/** The life of an engine as a picture: where it has been, where it is and where it may go. The same is told as a list. */
export const LifeChart = ({ row }: { readonly row: EngineRow }): ReactElement => {
  const marks = marksOf(row)
  return (
    <div className="life">
      <svg viewBox="0 0 272 96" aria-hidden="true">
        {edges.map(({ to, path }) => (
          <path key={to} className={`life-edge ${marks[to]}`} d={path} />
        ))}
        {names.map(name => (
          <Place key={name} name={name} mark={marks[name]} />
        ))}
      </svg>
      <ol className="hidden-text" aria-label="Life of the engine">
        {names
          .filter(name => marks[name] !== 'ahead')
          .map(name => (
            <li key={name} aria-current={marks[name].startsWith('present') ? 'step' : undefined}>
              {name}
            </li>
          ))}
      </ol>
    </div>
  )
}

const names = ['created', 'started', 'paused', 'stopped', 'failed'] as const
type Name = (typeof names)[number]

/** `ahead`: it may come yet, or did not come. */
type Mark = 'ahead' | 'passed' | 'present' | 'present bad' | 'present idle'

const centres: Readonly<Record<Name, readonly [x: number, y: number]>> = {
  created: [35, 38],
  started: [136, 38],
  paused: [136, 82],
  stopped: [237, 16],
  failed: [237, 60]
}

const edges: readonly { readonly to: Name; readonly path: string }[] = [
  { to: 'started', path: 'M68 38H102' },
  { to: 'stopped', path: 'M169 34C190 34 183 16 203 16' },
  { to: 'failed', path: 'M169 42C190 42 183 60 203 60' },
  { to: 'paused', path: 'M136 51V69' }
]

const marksOf = ({ isPaused, steps }: EngineRow): Readonly<Record<Name, Mark>> => {
  const marks: Record<Name, Mark> = {
    ...{ created: 'ahead', started: 'ahead', stopped: 'ahead', failed: 'ahead' },
    paused: isPaused ? 'present idle' : 'ahead'
  }
  for (const { name, mark } of steps) {
    if (mark === 'passed') marks[name] = 'passed'
    else if (mark === 'present') marks[name] = name === 'failed' ? 'present bad' : 'present'
  }
  return marks
}

const Place = ({ name, mark }: { readonly name: Name; readonly mark: Mark }): ReactElement => {
  const [x, y] = centres[name]
  return (
    <g className={`life-place ${mark}`} transform={`translate(${x} ${y})`}>
      <rect x="-33" y="-13" width="66" height="26" rx={name === 'created' || name === 'started' ? 6 : 13} />
      <text>{name}</text>
    </g>
  )
}
