import type { ReactElement, ReactNode } from 'react'
import { visibleText } from '../texts.ts'

/** Names and values, one a line. */
export const Facts = ({ children }: { readonly children: ReactNode }): ReactElement => (
  <dl className="facts">{children}</dl>
)

/** One line; left out without a value. `look` tells ids, codes and errors from words. */
export const Fact = (props: {
  readonly name: string
  readonly look?: 'bad' | 'mono'
  readonly children?: ReactNode
}): ReactElement | null => {
  const { name, look, children } = props
  if (children === undefined || children === '' || children === null) return null
  return (
    <>
      <dt>{name}</dt>
      <dd className={look}>{typeof children === 'string' ? visibleText(children) : children}</dd>
    </>
  )
}
