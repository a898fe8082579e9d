/** What keeps its meaning where the visitor's own colours replace ours; stands last, to win. */
export const forcedStyles = `
@media (forced-colors: active) {
  .bar, .track { border: 1px solid CanvasText }
  .bar > span, .bar.going > span, .track > span { background: Highlight; forced-color-adjust: none }
  .tab { border-color: Canvas }
  .tab[aria-selected="true"] { border-block-end-color: Highlight }
  .button[aria-pressed="true"], .palette [aria-selected="true"] { background: Highlight !important; color: HighlightText; forced-color-adjust: none }
  .palette [aria-selected="true"] > :not(kbd) { color: HighlightText }
  kbd { color: CanvasText; background: Canvas }
  tr[data-chosen="true"] > * { border-block-end: 2px solid Highlight }
  .route-edge, .life-edge { color: CanvasText; stroke: CanvasText }
  .route-arrow { fill: CanvasText }
  .route-node rect, .route-node.chosen rect, .life-place:not(.present) rect { fill: Canvas; stroke: CanvasText }
  .route-node text, .route-label text, .route-label.chosen text, .life-place:not(.present) text { fill: CanvasText }
  .route-label text { stroke: Canvas }
  .route-edge.chosen, .route-node.chosen rect, .life-edge.present, .life-edge.passed { stroke: Highlight; forced-color-adjust: none }
  .life-place.present rect { fill: Highlight !important; stroke: Highlight !important }
  .life-place.present text { fill: HighlightText !important }
  .qr { forced-color-adjust: none }
}
`
