import { homeFor, runHoldfast } from '../helpers/command-line.ts'
import { onTerminal, runOnTerminal } from '../helpers/on-terminal.ts'
import { replayScreen } from '../helpers/replay-screen.ts'

const PIN = [/PIN of/, '7316\r'] as const

onTerminal(
  'on a terminal quotes are shown as they come, one is chosen and reviewed, and y swaps',
  async t => {
    const home = homeFor(t)
    const input = '7316'
    await runHoldfast(['account', 'create', '--light', '--pin-stdin'], { home, input })
    const made = await runHoldfast(
      ['wallets', 'create', 'bitcoin', '--name', 'Savings', '--pin-stdin', '--json'],
      { home, input }
    )
    await runHoldfast(['wallets', 'create', 'litecoin', '--name', 'Lite', '--pin-stdin'], { home, input })
    await runHoldfast(['fake', 'chain', 'fund', made.json.data.address, '1 BTC', '--confirm'], { home })
    const quote = ['swap', 'quote', '--from', 'Savings', '--to', 'Lite', '--amount', '0.01 BTC']

    const closed = await runOnTerminal(t, quote, { home, typed: [PIN, [/all quotes are here/, 'q']] })
    t.is(closed.code, 0, closed.screen)
    t.regex(closed.screen, /1 {2}\d+\.\d+ LTC for 0\.01 BTC {2}\S+ \(CEX\) {2}\d+:\d\d left/)
    // What was on the screen when all had answered: each provider once, whatever stood there before.
    const quoteList = replayScreen(
      closed.drawn.slice(0, closed.drawn.lastIndexOf('q quit') + 'q quit'.length)
    )
    t.is(quoteList.filter(line => line === '0.01 BTC from Savings to Lite').length, 1, quoteList.join('\n'))
    for (const name of ['ChangeNOW (CEX)', 'SideShift.ai (CEX)', 'THORChain (DEX)', 'Transfer (DEX)']) {
      t.is(quoteList.filter(line => line.includes(name)).length, 1, `${name} in\n${quoteList.join('\n')}`)
    }
    t.false(quoteList.some(line => line.includes('waiting for a reply')))
    t.regex(quoteList.join('\n'), /❯ 1 .*\n {4}\d+:\d\d left {2}a better rate, fee /)

    const [, id = ''] = /holdfast swap approve ([0-9a-f]{8}-\d+)/.exec(closed.screen) ?? []
    t.true(closed.screen.includes(`   ${id}  a better rate, fee `), closed.screen)
    const approve = ['swap', 'approve', id]
    const declined = await runOnTerminal(t, approve, { home, typed: [PIN, [/\[y\/N\]/, 'n']] })
    t.is(declined.code, 5, declined.screen)
    const halted = await runOnTerminal(t, approve, { home, typed: [PIN, [/\[y\/N\]/, '\u0003']] })
    t.is(halted.code, 130, halted.screen)

    const typed = [PIN, [/all quotes are here/, '\r']] as const
    const stopped = await runOnTerminal(t, quote, { home, typed: [...typed, [/\[y\/N\]/, '\u0003']] })
    t.is(stopped.code, 130, stopped.screen)
    t.regex(stopped.screen, /swap with +ChangeNOW \(CEX\)/)
    const left = await runOnTerminal(t, quote, { home, typed: [PIN, [/0\.01 BTC from/, '\u0003']] })
    t.is(left.code, 130, left.screen)
    const none = await runHoldfast(['swap', 'history', '--pin-stdin', '--json'], { home, input })
    t.deepEqual(none.json.data.swaps, [], 'none of these has paid')
    const approved = await runOnTerminal(t, approve, { home, typed: [PIN, [/\[y\/N\]/, 'y']] })
    t.is(approved.code, 0, approved.screen)
    const twice = await runOnTerminal(t, approve, { home, typed: [] })
    t.is(twice.code, 46, twice.screen)
    t.regex(twice.screen, /The quote was already approved/)
    await runHoldfast(['fake', 'chain', 'mine'], { home })

    const done = await runOnTerminal(t, quote, { home, typed: [...typed, [/\[y\/N\]/, 'y']] })
    t.is(done.code, 0, done.screen)
    t.regex(done.screen, /txid +[0-9a-f]{64}/)
    const past = await runOnTerminal(t, ['swap', 'history'], { home, typed: [PIN] })
    t.regex(
      past.screen,
      /\d+\.\d+ LTC for 0\.01\d* BTC\r?\n {2}ChangeNOW, order \w+\r?\n {2}https:\/\/\S+\r?\n {2}txid [0-9a-f]{64}/
    )
  }
)
