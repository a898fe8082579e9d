/** What keeps its meaning where the visitor's own colours replace ours; stands last, to win. */
export const forcedStyles = `
@media (forced-colors: active) {
  .bar { border: 1px solid CanvasText }
  .bar > span { background: Highlight; forced-color-adjust: none }
  .tab { border-color: Canvas }
  .tab[aria-selected="true"] { border-block-end-color: Highlight }
  .button[aria-pressed="true"] { background: Highlight; color: HighlightText; forced-color-adjust: none }
  .steps li + li::before { background: CanvasText; forced-color-adjust: none }
  tr[data-chosen="true"] > * { border-block-end: 2px solid Highlight }
  .route-edge.chosen { stroke: Highlight; forced-color-adjust: none }
  .qr { forced-color-adjust: none }
}
`
