/** The graph of rates. */
export const routeStyles = `
.graph { flex: none; overflow: auto; background: var(--raised); border-block: 1px solid var(--line); padding: 14px 12px; max-block-size: 420px; text-align: center }
.graph svg { display: inline-block; max-inline-size: none; overflow: visible }
.route-node rect { fill: var(--ground); stroke: var(--edge); stroke-width: 1 }
.route-node.chosen rect { fill: var(--accent-ground); stroke: var(--accent); stroke-width: 2 }
.route-node text { fill: var(--ink); font: 600 12px var(--mono); text-anchor: middle; dominant-baseline: central }
.route-edge { fill: none; stroke: currentColor; stroke-width: 1.25 }
.route-edge.chosen { stroke-width: 3.5 }
.route-edge.ageing { stroke-dasharray: 16 3 }
.route-edge.stale { stroke-dasharray: 5 4 }
.aside .route-edge, .aside .route-arrow { opacity: .55 }
.route-arrow { fill: currentColor }
.route-label text { fill: var(--soft); font: 12px system-ui, sans-serif; text-anchor: middle; dominant-baseline: central; stroke: var(--raised); stroke-width: 4px; stroke-linejoin: round; paint-order: stroke }
.route-label.chosen text { fill: var(--ink); font-weight: 600 }
.legend { display: flex; flex: none; flex-wrap: wrap; gap: 4px 16px; padding: 8px 12px; color: var(--soft) }
.legend span { display: inline-flex; align-items: center; gap: 6px }
.legend svg { inline-size: 22px; block-size: 8px }
.source-0 { color: var(--source-0) } .source-1 { color: var(--source-1) } .source-2 { color: var(--source-2) } .source-3 { color: var(--source-3) }
.source-4 { color: var(--source-4) } .source-5 { color: var(--source-5) } .source-6 { color: var(--source-6) } .source-7 { color: var(--source-7) }
`
