/** The frame: head, tabs, tools, body and the line of the command. */
export const frameStyles = `
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
