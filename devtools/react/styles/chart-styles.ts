/** The pictures of engines' lives and of what an action did. */
export const chartStyles = `
.life svg { display: block; inline-size: 272px; max-inline-size: 100%; overflow: visible }
.life-edge { fill: none; stroke: var(--edge); stroke-width: 1.25; stroke-dasharray: 3 3 }
.life-edge.passed, .life-edge.present { stroke: var(--accent); stroke-width: 2; stroke-dasharray: none }
.life-place rect { fill: none; stroke: var(--edge); stroke-width: 1; stroke-dasharray: 3 3 }
.life-place text { fill: var(--soft); font: 12px system-ui, sans-serif; text-anchor: middle; dominant-baseline: central }
.life-place.passed rect { stroke: var(--accent); stroke-dasharray: none }
.life-place.passed text { fill: var(--ink) }
.life-place.present rect { fill: var(--accent); stroke: var(--accent); stroke-dasharray: none }
.life-place.present text { fill: var(--on-accent); font-weight: 600 }
.life-edge.bad { stroke: var(--bad) } .life-place.bad rect { fill: var(--bad-ground); stroke: var(--bad); stroke-width: 2 }
.life-place.bad text { fill: var(--bad) }
.life-edge.idle { stroke: var(--soft) } .life-place.idle rect { fill: var(--sunk); stroke: var(--soft); stroke-width: 2 }
.life-place.idle text { fill: var(--ink) }
.timeline { display: grid; grid-template-columns: minmax(0, 2fr) minmax(60px, 1fr) auto; gap: 2px 10px; align-items: center }
.timeline li { display: grid; grid-column: 1 / -1; grid-template-columns: subgrid; align-items: center }
.timeline li[aria-current] .row-open { font-weight: 600 }
.timeline li > :last-child { text-align: end }
.track { position: relative; block-size: 6px; border-radius: 3px; background: var(--line) }
.track > span { position: absolute; inset-block: 0; min-inline-size: 3px; max-inline-size: 100%; border-radius: 3px; background: var(--accent) }
.track > .bad { background: var(--bad) }
`
