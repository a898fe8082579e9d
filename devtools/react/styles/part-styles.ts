/** Tables, buttons, fields, dialogs and the other parts. */
export const partStyles = `
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
input::placeholder { color: var(--soft); opacity: 1 }
.fields { display: flex; flex-wrap: wrap; gap: 8px 10px; align-items: start }
.fields > .button, .fields > .biases { margin-block-start: 20px }
.field { display: flex; flex-direction: column; gap: 3px; flex: 1 1 130px; min-inline-size: 0 }
.field > span { color: var(--soft); font-size: 12px }
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
.keys { display: grid; grid-template-columns: auto 1fr; gap: 6px 14px; align-items: baseline }
.keys dt { display: flex; gap: 3px; white-space: nowrap }
.qr { inline-size: 168px; block-size: 168px; background: #fff; padding: 8px; border-radius: 6px; border: 1px solid var(--line) }
.qr path { fill: #000 }
.big { font-size: 19px; font-weight: 600; letter-spacing: -.01em; overflow-wrap: anywhere }
.big .soft { font-size: 13px; font-weight: 400; letter-spacing: 0 }
.breaking { overflow-wrap: anywhere }
.open-payments { display: flex; flex-direction: column; gap: 12px }
.open-payments li { display: flex; flex-direction: column; gap: 4px; overflow-wrap: anywhere }
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
  .slight { display: none }
  tbody td, tbody th, thead th { padding-inline: 6px }
  table { table-layout: auto }
  col { inline-size: auto !important }
  tbody th, tbody td.prose { inline-size: 100%; max-inline-size: 0; min-inline-size: 76px }
  tbody th:has(.mono) { inline-size: auto; max-inline-size: none }
  .bar { display: none }
}
`
