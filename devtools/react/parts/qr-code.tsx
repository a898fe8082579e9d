import { type ReactElement, useMemo } from 'react'
import { encode } from 'uqr'

/** A QR code: black on white in every theme, since readers want that. */
export const QrCode = (props: { readonly text: string; readonly label: string }): ReactElement => {
  const { path, size } = useMemo(() => drawn(props.text), [props.text])
  return (
    <svg
      className="qr"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={props.label}
      shapeRendering="crispEdges"
    >
      <path d={path} />
    </svg>
  )
}

const drawn = (text: string): { readonly path: string; readonly size: number } => {
  const { data, size } = encode(text, { border: 2 })
  const path = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return { path, size }
}
