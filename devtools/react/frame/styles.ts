/**
 * Dresses a shadow root with one constructed style sheet, shared by all panels of a page.
 *
 * No `<style>` is written, so a strict content security policy holds.
 */
export const applyStyles = (root: ShadowRoot): void => {
  sheet ??= constructed()
  root.adoptedStyleSheets = [sheet]
}

/** Colours and measures. Every pair of text and ground has at least 4.5 : 1, in both themes. */
const themeStyles = `
:host { all: initial; display: block; block-size: 100%; min-block-size: 0 }
*, *::before, *::after { box-sizing: border-box }
.panel {
  all: initial;
  box-sizing: border-box;
  color-scheme: light dark;
  --ground: light-dark(#f6f6f3, #121619);
  --raised: light-dark(#ffffff, #191e22);
  --sunk: light-dark(#eeeeea, #0e1214);
  --line: light-dark(#dfdfd9, #2a3137);
  --edge: light-dark(#85887f, #69757f);
  --ink: light-dark(#1b1f1d, #e5e9e8);
  --soft: light-dark(#565d59, #9ca8a9);
  --accent: light-dark(#0b665c, #63cdbd);
  --accent-ground: light-dark(#e0f1ed, #16312e);
  --on-accent: light-dark(#ffffff, #06211d);
  --good: light-dark(#0b665c, #63cdbd);
  --busy: light-dark(#2b5cb3, #8fb6ff);
  --warn: light-dark(#865200, #e6b860);
  --bad: light-dark(#ae2318, #ff9a8f);
  --bad-ground: light-dark(#fceeec, #361c1a);
  --warn-ground: light-dark(#fbf3e2, #30270f);
  --source-0: light-dark(#0b665c, #63cdbd);
  --source-1: light-dark(#2b5cb3, #8fb6ff);
  --source-2: light-dark(#7a3e9d, #cfa2ee);
  --source-3: light-dark(#a23a5d, #f49bb7);
  --source-4: light-dark(#865200, #e6b860);
  --source-5: light-dark(#3f6b1d, #a8d57c);
  --source-6: light-dark(#9a4413, #f3a57a);
  --source-7: light-dark(#4a5568, #b4bfcc);
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", "JetBrains Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  container-type: inline-size;
  display: flex;
  flex-direction: column;
  block-size: 100%;
  min-block-size: 0;
  overflow: hidden;
  background: var(--ground);
  color: var(--ink);
  font: 13px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif;
  font-variant-numeric: tabular-nums;
  text-align: start;
}
.panel[data-theme="light"] { color-scheme: light }
.panel[data-theme="dark"] { color-scheme: dark }
.panel :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; border-radius: 4px }
.mono { font-family: var(--mono); font-size: 12px }
.soft { color: var(--soft) }
.good { color: var(--good) } .busy { color: var(--busy) } .warn { color: var(--warn) } .bad { color: var(--bad) }
.hidden-text { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
h1, h2, h3, p, dl, dd, ol, ul { margin: 0; padding: 0 }
ol, ul { list-style: none }
h2 { font-size: 14px; font-weight: 650 }
h3 { font-size: 13px; font-weight: 650 }
code, kbd { font-family: var(--mono); font-size: 12px }
kbd { border: 1px solid var(--line); border-block-end-width: 2px; border-radius: 4px; padding: 0 5px; background: var(--raised) }
@media (prefers-reduced-motion: no-preference) {
  .busy .mark-spin { animation: turn 1.2s linear infinite; transform-origin: center }
  @keyframes turn { to { transform: rotate(360deg) } }
  .bar.going > span { animation: flow 1s linear infinite }
  @keyframes flow { from { background-position-x: 0 } to { background-position-x: 12px } }
}
`

/** The frame: head, tabs, tools, body and the line of the command. */
const frameStyles = `
.head { display: flex; flex: none; align-items: stretch; gap: 4px 14px; padding: 0 12px; background: var(--raised); border-block-end: 1px solid var(--line); flex-wrap: wrap }
.brand { display: flex; align-items: center; gap: 7px; font-weight: 650; letter-spacing: .01em; padding-block: 8px; font-size: 13px }
.brand svg { inline-size: 16px; block-size: 16px; color: var(--accent) }
.tabs { display: flex; gap: 2px; min-inline-size: 0; overflow-x: auto; scrollbar-width: none; flex: 1 1 auto }
.tab { appearance: none; border: 0; border-block-end: 2px solid transparent; border-block-start: 2px solid transparent; background: none; color: var(--soft); font: inherit; padding: 7px 10px; cursor: pointer; white-space: nowrap; display: flex; gap: 6px; align-items: center }
.tab:hover { color: var(--ink) }
.tab[aria-selected="true"] { color: var(--ink); border-block-end-color: var(--accent); font-weight: 600 }
.panel .tab:focus-visible { outline-offset: -3px }
.count { font-size: 12px; font-weight: 400; color: var(--soft) }
.count.bad { color: var(--bad) }
.head-side { display: flex; align-items: center; gap: 10px; padding-block: 4px; margin-inline-start: auto }
.tools { display: flex; flex: none; flex-wrap: wrap; align-items: center; gap: 8px; padding: 8px 12px }
.tools > .field { flex: 0 1 auto; flex-direction: row; align-items: center; gap: 6px }
.tools > .field > span { white-space: nowrap }
.tools .spacer { flex: 1 1 0 }
.filter { position: relative; display: flex; flex: 0 1 260px; min-inline-size: 140px }
.filter input { inline-size: 100%; padding-inline-end: 26px }
.filter::after { content: "/" / ""; position: absolute; inset-inline-end: 6px; inset-block-start: 5px; padding: 0 5px; border: 1px solid var(--line); border-radius: 4px; font: 12px/15px var(--mono); color: var(--soft); pointer-events: none }
.filter:focus-within::after { display: none }
.tab-body { display: flex; flex-direction: column; flex: 1 1 auto; min-block-size: 0 }
.body { display: flex; flex: 1 1 auto; min-block-size: 0 }
.main { container-type: inline-size; display: flex; flex-direction: column; flex: 1 1 auto; min-inline-size: 0; min-block-size: 0; overflow: auto }
.side { flex: 0 0 clamp(300px, 34%, 460px); min-inline-size: 0; overflow: auto; background: var(--raised); border-inline-start: 1px solid var(--line); padding: 12px 14px 20px; display: flex; flex-direction: column; gap: 14px }
.side-head { display: flex; align-items: start; gap: 8px }
.side-head > :first-child { flex: 1 1 auto; min-inline-size: 0; overflow-wrap: anywhere }
.foot { display: flex; flex: none; align-items: center; gap: 10px; min-block-size: 34px; padding: 3px 12px; border-block-start: 1px solid var(--line); background: var(--raised); color: var(--soft) }
.foot code { flex: 1 1 auto; min-inline-size: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.foot code b { color: var(--accent); font-weight: 400 }
.notice { display: flex; flex: none; gap: 10px; align-items: start; padding: 8px 12px; background: var(--bad-ground); border-block-start: 1px solid var(--line) }
.notice.warn-ground { background: var(--warn-ground) }
.notice > :nth-child(2) { flex: 1 1 auto; min-inline-size: 0; overflow-wrap: anywhere }
.strip { position: relative; display: flex; flex: none; flex-wrap: wrap; align-items: center; gap: 6px; padding: 7px 12px; border-block-end: 1px solid var(--line) }
fieldset.bare { border: 0; margin: 0; padding: 0; min-inline-size: 0 }
fieldset.field > .acts { margin-block-start: 5px }
.strip .who { margin-inline-end: 6px }
.who strong { max-inline-size: 24ch; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.strip .world { margin-inline-start: auto } .strip .world .soft { margin-inline-start: 4px }
.strip.past { background: var(--warn-ground); gap: 6px 12px }
.scrub { display: flex; flex: 1 1 320px; align-items: center; gap: 6px }
.scrub input { flex: 1 1 auto; min-inline-size: 90px; padding: 0; accent-color: var(--accent) }
.scrub output { flex: none }
@container (max-width: 960px) {
  .tabs { order: 3; flex-basis: 100%; margin-inline: -12px; padding-inline: 6px }
  .head { padding-block-end: 0 }
  .strip .world { margin-inline-start: 0 }
}
@container (max-width: 760px) {
  .body { flex-direction: column; overflow: auto }
  .body.has-side .main { flex: 0 0 auto; max-block-size: 45% }
  .side { flex: 1 0 auto; border-inline-start: 0; border-block-start: 1px solid var(--line); overflow: visible }
  .filter { flex: 1 1 160px }
  .strip, .strip .acts { flex-wrap: nowrap }
  .strip { overflow-x: auto; scrollbar-width: thin }
  .strip > * { flex: none }
  .strip.past { flex-wrap: wrap; overflow-x: visible }
  .strip.past > * { flex: 0 1 auto }
  .strip.past > .scrub { flex: 1 1 100%; flex-wrap: wrap }
  .head-side { flex-wrap: wrap; gap: 4px 10px }
}
@container (max-width: 400px) {
  .head { column-gap: 4px }
  .head-side { gap: 0 } .head-side .button { padding-inline: 5px }
}
`

/** Tables, buttons, fields, dialogs and the other parts. */
const partStyles = `
.button { appearance: none; display: inline-flex; align-items: center; gap: 6px; border: 1px solid var(--edge); border-radius: 5px; background: var(--raised); color: var(--ink); font: inherit; line-height: 1.3; padding: 3px 10px; min-block-size: 26px; cursor: pointer; white-space: nowrap; text-decoration: none }
.button:hover:not(:disabled) { border-color: var(--accent); color: var(--accent) }
.button:disabled { color: var(--soft); border-color: var(--line); cursor: default }
.button.main-act { background: var(--accent); border-color: var(--accent); color: var(--on-accent); font-weight: 600 }
.button.main-act:hover:not(:disabled) { color: var(--on-accent); filter: brightness(1.08) }
.button.main-act:disabled { background: var(--sunk); border-color: var(--line); color: var(--soft) }
.button[aria-busy="true"] { cursor: progress; opacity: .7 }
.button.plain { border-color: transparent; background: none; padding-inline: 6px; color: var(--soft) }
.button.plain:hover:not(:disabled) { color: var(--accent) }
.button[aria-pressed="true"] { background: var(--accent-ground); border-color: var(--accent); color: var(--accent) }
[hidden] { display: none !important }
.wallet-acts { display: contents }
.acts { display: flex; flex-wrap: wrap; gap: 6px; align-items: center }
input, select { font: inherit; color: var(--ink); background: var(--raised); border: 1px solid var(--edge); border-radius: 5px; padding: 3px 8px; block-size: 26px; min-inline-size: 0 }
input[type="checkbox"] { accent-color: var(--accent); inline-size: 14px; block-size: 14px; margin: 0 }
input[type="file"] { block-size: auto }
input::placeholder { color: var(--soft); opacity: 1 }
.fields { display: flex; flex-wrap: wrap; gap: 8px 10px; align-items: start }
.fields > .button, .fields > .biases { margin-block-start: 20px }
.fields > .wide + .button { margin-block-start: 4px }
.field { display: flex; flex-direction: column; gap: 3px; flex: 1 1 130px; min-inline-size: 0 }
.field > span, .field > legend { padding: 0; color: var(--soft); font-size: 12px }
.field > select { inline-size: 100% }
.field > .field { flex: none }
.field.wide { flex-basis: 100% }
.field > .field { flex: none }
.in-unit { display: flex; gap: 6px; align-items: baseline }
.in-unit > input { flex: 1 1 auto; inline-size: 100% }
.in-unit > span { flex: none; color: var(--ink) }
.field-error { color: var(--bad); font-size: 12px; overflow-wrap: anywhere }
.field-error:empty { display: none }
input[aria-invalid="true"] { border-color: var(--bad) }
.check { display: flex; gap: 7px; align-items: center }
.scroll { flex: 1 1 auto; min-block-size: 0; overflow: auto; background: var(--raised); border-block-start: 1px solid var(--line) }
.scroll.short { flex: none; border-block-end: 1px solid var(--line) }
table { border-collapse: separate; border-spacing: 0; inline-size: 100%; table-layout: fixed }
thead th { position: sticky; inset-block-start: 0; z-index: 1; background: var(--sunk); color: var(--soft); font-size: 12px; font-weight: 500; text-align: start; border-block-end: 1px solid var(--line); padding: 4px 8px; white-space: nowrap; overflow: hidden; text-overflow: ellipsis }
tbody td, tbody th { font-weight: 400; text-align: start; padding: 0 8px; block-size: 28px; border-block-end: 1px solid var(--line); overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
tbody th { font-weight: 550 } tbody th .soft { font-weight: 400 }
tr > :last-child { padding-inline-end: 12px }
tr > :first-child { padding-inline-start: 12px }
tr > .number { text-align: end }
tbody tr:not(.space):hover > * { background: var(--ground) }
tr[data-chosen="true"] > * { background: var(--accent-ground) !important }
.space td { padding: 0; border: 0; block-size: auto }
.row-open { appearance: none; border: 0; background: none; color: inherit; font: inherit; padding: 2px 0; cursor: pointer; max-inline-size: 100%; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; text-align: start }
.row-open:hover { color: var(--accent); text-decoration: underline; text-underline-offset: 3px }
.state { display: inline-flex; vertical-align: middle; max-inline-size: 100%; align-items: center; gap: 6px; white-space: nowrap }
.state > span { min-inline-size: 0; overflow: hidden; text-overflow: ellipsis }
.state svg { inline-size: 11px; block-size: 11px; flex: none }
.bar { display: inline-block; vertical-align: middle; inline-size: 56px; block-size: 5px; border-radius: 3px; background: var(--line); overflow: hidden; margin-inline-end: 8px }
.bar > span { display: block; block-size: 100%; background: var(--accent) }
.took { display: inline-block; min-inline-size: 58px }
.bar.quiet > span { background: var(--soft) } .bar.bad > span, .bar.warn > span { background: currentColor }
.bar.going > span { background: repeating-linear-gradient(90deg, var(--busy) 0 6px, transparent 6px 12px) }
.facts { display: grid; grid-template-columns: fit-content(38%) 1fr; gap: 4px 12px }
.facts dt { color: var(--soft) }
.facts dd { overflow-wrap: anywhere; min-inline-size: 0 }
.empty { margin: auto; padding: 28px 20px; max-inline-size: 56ch; text-align: center; display: flex; flex-direction: column; gap: 10px; align-items: center; color: var(--soft) }
.empty h2 { color: var(--ink) }
.empty .acts { justify-content: center }
.tag { display: inline-block; border: 1px solid var(--line); border-radius: 9px; padding: 0 7px; font-size: 12px; line-height: 17px; color: var(--soft); white-space: nowrap }
.tag.warn { border-color: var(--warn) } .tag.bad { border-color: var(--bad) } .tag.good { border-color: var(--good) }
.section { display: flex; flex-direction: column; gap: 8px }
.section + .section { border-block-start: 1px solid var(--line); padding-block-start: 14px }
.command { display: flex; gap: 6px; align-items: center; padding: 4px 4px 4px 10px; background: var(--sunk); border-radius: 5px; color: var(--soft) }
.command code { flex: 1 1 auto; overflow-wrap: anywhere; padding-block: 3px; color: var(--ink) }
.tools > form { flex: 1 1 auto; flex-flow: row wrap; align-items: end; gap: 8px 12px }
.tools > form > .fields { flex: 0 1 auto }
.tools > form > .command { flex: 1 1 400px; min-block-size: 26px; padding-block: 0 }
.command.waiting { display: none } .tools > form > .waiting { display: flex }
.tools .field { max-inline-size: 240px }
.fields > .biases[open] { flex-basis: 100% } .fields > .biases[open], .fields > .biases[open] + .button { margin-block-start: 0 } .biases .fields { margin-block-start: 8px }
.command code b { color: var(--accent); font-weight: 400 }
dialog { margin: auto; border: 1px solid var(--line); border-radius: 9px; background: var(--raised); color: var(--ink); padding: 16px 18px; inline-size: min(520px, calc(100vw - 24px)); max-block-size: calc(100vh - 24px); overflow: auto; box-shadow: 0 12px 40px rgb(0 0 0 / .3); font: inherit }
dialog::backdrop { background: rgb(8 12 14 / .45) }
dialog > .stack > .field { flex: none }
dialog > .stack { display: flex; flex-direction: column; gap: 14px }
.dialog-acts { display: flex; flex-wrap: wrap; gap: 8px; justify-content: end }
.keys { display: grid; grid-template-columns: fit-content(45%) minmax(0, 1fr); gap: 6px 14px; align-items: baseline }
.keys dt { display: flex; flex-wrap: wrap; gap: 3px; white-space: nowrap }
.qr { inline-size: 168px; block-size: 168px; background: #fff; padding: 8px; border-radius: 6px; border: 1px solid var(--line) }
.qr path { fill: #000 }
.second-device { display: flex; flex-wrap: wrap; gap: 14px } .second-device > .qr { flex: none } .second-device > div { flex: 1 1 240px; display: flex; flex-direction: column; gap: 10px; min-inline-size: 0 }
.big { font-size: 19px; font-weight: 600; letter-spacing: -.01em; overflow-wrap: anywhere }
.big .soft { font-size: 13px; font-weight: 400; letter-spacing: 0 }
.breaking { overflow-wrap: anywhere }
.rules > section { padding-block: 12px 4px }
.rules > section > :not(.table, table, div) { margin: 0 12px 8px }
.rules > section > ul { padding: 0; list-style: none }
.open-payments { display: flex; flex-direction: column; gap: 12px }
.open-payments li { display: flex; flex-direction: column; gap: 4px; overflow-wrap: anywhere }
.open-payments label + .soft { padding-inline-start: 20px }
.open-payments .state { white-space: normal; align-items: baseline }
.events { display: flex; flex-direction: column; gap: 4px }
.events li { display: flex; flex-wrap: wrap; gap: 2px 10px; align-items: center }
.link { appearance: none; border: 0; padding: 0; background: none; color: var(--accent); font: inherit; text-align: start; cursor: pointer }
.link:hover { text-decoration: underline; text-underline-offset: 3px }
.foot .link { flex: none; color: inherit }
.palette-field { inline-size: 100%; block-size: 32px; flex: none }
.palette { display: flex; flex-direction: column; margin-inline: -8px; block-size: min(420px, 50vh); overflow: auto }
.palette > div { display: flex; flex: none; align-items: center; gap: 10px; min-block-size: 28px; padding: 2px 8px; border-radius: 5px; cursor: pointer }
.palette > div:hover { background: var(--ground) }
.palette [aria-selected="true"] { background: var(--accent-ground) !important }
.palette-title { flex: 0 1 auto; min-inline-size: 40%; overflow-wrap: anywhere }
.palette-detail { flex: 1 1 0; min-inline-size: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; color: var(--soft); font: 12px var(--mono) }
.palette [aria-selected="true"] .palette-detail { white-space: normal; overflow-wrap: anywhere }
dialog:has(.palette) { inline-size: min(660px, calc(100vw - 24px)) }
.palette-kind { flex: none; color: var(--soft); font-size: 12px }
.paths { padding-inline-start: 14px; overflow-wrap: anywhere }
summary { cursor: pointer }
pre { margin: 0; font-family: var(--mono); font-size: 12px; white-space: pre-wrap; overflow-wrap: anywhere; background: var(--sunk); border-radius: 5px; padding: 8px 10px }
@container (max-width: 1000px) { .spare { display: none } }
@container (max-width: 720px) { .minor { display: none } }
@container (max-width: 520px) {
  .fields > .button, .fields > .biases { margin-block-start: 4px }
  .fields > .field + .button:not(.wide + .button) { align-self: end }
  .slight { display: none }
  tbody td, tbody th, thead th { padding-inline: 6px }
  table { table-layout: auto }
  col { inline-size: auto !important }
  tbody th, tbody td.prose { inline-size: 100%; max-inline-size: 0; min-inline-size: 76px }
  tbody th:has(.mono) { inline-size: auto; max-inline-size: none }
  .bar { display: none }
}
`

/** The pictures of engines' lives and of what an action did. */
const chartStyles = `
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

/** The graph of rates. */
const routeStyles = `
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

/** The styles for forced colours, where the visitor's own colours replace ours; stands last, to win. */
const forcedStyles = `
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

/** All that the panel wears: text for one constructed style sheet in its shadow root. */
const panelStyles: string = [
  themeStyles,
  frameStyles,
  partStyles,
  chartStyles,
  routeStyles,
  forcedStyles
].join('\n')

let sheet: CSSStyleSheet | undefined

const constructed = (): CSSStyleSheet => {
  const made = new CSSStyleSheet()
  made.replaceSync(panelStyles)
  return made
}
