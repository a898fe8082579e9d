import { homeFor, runHoldfast, startHoldfast } from '../helpers/command-line.ts'
import { runInProcess } from '../helpers/in-process.ts'
import { onTerminal, runOnTerminal } from '../helpers/on-terminal.ts'

const pin = '4815'
const password = 'Correct Horse 1'

onTerminal(
  'login offers who and how, asks for the code that is missing, and is stopped by an empty one',
  async t => {
    const home = homeFor(t)
    const run = (words: string, secrets: object) =>
      runInProcess([...words.split(' '), '--json', '--secrets-stdin'], {
        home,
        input: JSON.stringify(secrets)
      })
    await run('account create alice', { password, pin })
    await run('2fa enable', { pin })
    const { otpKey } = (await run('2fa key --reveal', { pin })).json.data
    t.regex(otpKey, /^[A-Z2-7]+/)

    const refused = await runOnTerminal(t, ['login', 'alice', '--device', 'phone'], {
      home,
      typed: [
        [/How does alice log in\?/, '\r'],
        [/Password of alice/, `${password}\r`],
        [/Six-digit code/, '12\r'],
        [/Type six digits/, '\b\b\r']
      ]
    })
    t.is(refused.code, 13, refused.screen)
    t.regex(refused.screen, /The account has two-factor on/)
    t.regex(refused.screen, /holdfast voucher approve /)

    const { code } = (await run('2fa code', { pin })).json.data
    const typed = [
      [/How does alice log in\?/, '\r'],
      [/Password of alice/, `${password}\r`],
      [/Six-digit code/, `${code}\r`]
    ] as const
    const entered = await runOnTerminal(t, ['login', 'alice', '--device', 'phone'], { home, typed })
    t.is(entered.code, 0, entered.screen)
    t.notRegex(entered.screen, /Correct Horse/)

    const menu = await runOnTerminal(t, ['login', '--device', 'phone'], {
      home,
      typed: [[/How does alice log in\?/, '\u0003']]
    })
    t.is(menu.code, 130)
    t.regex(
      menu.screen,
      /PIN of this device[\s\S]*Password[\s\S]*Recovery answers[\s\S]*Approval by a logged-in device/
    )
  }
)

onTerminal('a name has to be typed before two-factor goes off, and another name leaves it on', async t => {
  const home = homeFor(t)
  const made = await runInProcess(['account', 'create', '--light', '--pin-stdin', '--json'], {
    home,
    input: pin
  })
  const { loginId } = made.json.data
  await runInProcess(['2fa', 'enable', '--pin-stdin'], { home, input: pin })
  const disable = (name: string) =>
    runOnTerminal(t, ['2fa', 'disable'], {
      home,
      typed: [
        [/PIN of/, `${pin}\r`],
        [/Switch two-factor/, `${name}\r`]
      ]
    })
  const declined = await disable('somebody')
  t.is(declined.code, 5, declined.screen)
  t.regex(declined.screen, /nothing was done\s+\(DECLINED\)/)
  const done = await disable(loginId)
  t.is(done.code, 0, done.screen)
  t.regex(done.screen, /Two-factor is off/)
})

onTerminal('an edge login draws its code within 24 rows, and Ctrl-C cancels it', async t => {
  const home = homeFor(t)
  const server = startHoldfast(['fake', 'start'], { home })
  t.teardown(() => server.kill('SIGKILL'))
  await new Promise(resolve => server.stdout?.once('data', resolve))
  const ran = await runOnTerminal(t, ['login', '--with', 'edge'], {
    home,
    typed: [[/waiting for approval/, '\u0003']]
  })
  t.is(ran.code, 130, ran.screen)
  const lines = ran.screen.split(/\r?\n/)
  const first = lines.findIndex(line => /█{20,}$/.test(line))
  const last = lines.findIndex(line => /waiting for approval, \d+:\d\d left/.test(line))
  t.true(first >= 0 && last > first && last - first < 22, ran.screen)
  for (const line of lines.slice(first + 1, last)) t.true(line.length <= 80, line)
  t.regex(ran.screen, /edge:\/\/edge\/[1-9A-HJ-NP-Za-km-z]+,\s/)
  t.regex(ran.screen, /cancelled/)
  const after = await runHoldfast(['whoami', '--json'], { home })
  t.is(after.json.error.code, 'NOT_LOGGED_IN')
})

onTerminal('screens and questions have colours, and none where the flag forbids them', async t => {
  const home = homeFor(t)
  await runInProcess(['account', 'create', 'alice', '--password-stdin'], { home, input: password })
  await runInProcess(['logout'], { home })
  const forget = async (...flags: string[]): Promise<string> => {
    const args = ['account', 'forget', 'alice', ...flags]
    return (await runOnTerminal(t, args, { home, typed: [[/\[y\/N\]/, 'n']] })).drawn
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: styles are what is looked for
  const style = /\u001b\[[\d;]+m/
  t.regex(await forget(), style)
  t.notRegex(await forget('--color', 'never'), style)
})

onTerminal('a fee far above the usual, and a second payment like an open one, take a typed yes', async t => {
  const home = homeFor(t)
  const pin = '7316'
  const run = (...args: string[]) => runInProcess([...args, '--pin-stdin', '--json'], { home, input: pin })
  await runInProcess(['account', 'create', '--light', '--pin-stdin'], { home, input: pin })
  const made = await run('wallets', 'create', 'bitcoin', '--name', 'Savings')
  await runInProcess(['fake', 'chain', 'fund', made.json.data.address, '1 BTC', '--confirm'], { home })
  const payee = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
  const send = (more: readonly string[], typed: (readonly [RegExp, string])[]) => {
    const args = ['send', 'Savings', '--to', payee, '--amount', '0.01', ...more]
    return runOnTerminal(t, args, { home, typed: [[/PIN of/, `${pin}\r`], [/\[y\/N\]/, 'y'], ...typed] })
  }
  const dear = ['--custom-fee', 'satPerByte=1000']
  const typedY = await send(dear, [[/Type "yes":/, 'y\r']])
  t.is(typedY.code, 5, typedY.screen)
  t.regex(typedY.screen, /You did not allow the network fee; nothing was signed/)
  const stopped = await send(dear, [[/Type "yes":/, '\u0003']])
  t.is(stopped.code, 130, stopped.screen)
  t.deepEqual((await run('tx', 'open', 'Savings')).json.data.openPayments, [])

  const paid = await send(dear, [[/Type "yes":/, 'yes\r']])
  t.is(paid.code, 0, paid.screen)
  const again = await send([], [[/Type "yes"/, 'no\r']])
  t.is(again.code, 5, again.screen)
  const [open, ...more] = (await run('tx', 'open', 'Savings')).json.data.openPayments
  t.true(paid.screen.includes(open.txid), paid.screen)
  t.deepEqual(more, [])
  const second = await send([], [[/Type "yes"/, 'yes\r']])
  t.is(second.code, 0, second.screen)
  t.is((await run('tx', 'open', 'Savings')).json.data.openPayments.length, 2)
})
