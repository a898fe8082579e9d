/** Colours and measures. Every pair of text and ground has at least 4.5 : 1, in both themes. */
export const themeStyles = `
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
