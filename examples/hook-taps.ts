// One tap of each hook that no plugin of the other examples shows; docs/hooks has a page for each hook.
import type { ObserverHost } from 'holdfast/observer'
import { amountText, type CurrencyHost, nativeAmount, type RateHost } from 'holdfast/plugin'

/** Writes a token of the chain into the list that every wallet of the currency knows. */
export const builtinTokens = ({ hooks }: CurrencyHost): void => {
  const contractAddress = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
  const denominations = [{ name: 'USDC', multiplier: '1000000' }]
  hooks.builtinTokens.tapPromise('ethereum', async () => ({
    a0b86991c6218b36c1d19d4a2e9eb0ce3606eb48: {
      currencyCode: 'USDC',
      displayName: 'USD Coin',
      denominations,
      networkLocation: { contractAddress }
    }
  }))
}

/** Reads what the plugin kept last time, once the kernel has everything. */
export const ready = ({ hooks, disk, log }: RateHost): void => {
  hooks.ready.tapPromise('priceshop', async () => {
    const day = await disk.getText('last-day')
    log.info(day === undefined ? 'runs for the first time' : `ran last on ${day}`)
  })
}

/** Keeps something for the next time. It has five seconds, and a process that is killed never calls it. */
export const closing = ({ hooks, disk, io }: RateHost): void => {
  hooks.closing.tapPromise('priceshop', async () => {
    await disk.setText('last-day', new Date(io.clock.now()).toISOString().slice(0, 10))
  })
}

/** Says which plugins cannot be used, and why. */
export const pluginChanged = ({ hooks }: ObserverHost): void => {
  hooks.pluginChanged.tap('watch', ({ pluginId, state, message = 'no reason' }) => {
    if (state !== 'applied') console.log(`${pluginId} is ${state}: ${message}`)
  })
}

/** Lists the users of this device for a login screen. */
export const usersChanged = ({ hooks }: ObserverHost): void => {
  hooks.usersChanged.tap('watch', users => {
    for (const { username = 'a light account', isPinLoginEnabled } of users)
      console.log(isPinLoginEnabled ? `${username}, by PIN` : username)
  })
}

/** Shows how far a login is. */
export const loginChanged = ({ hooks }: ObserverHost): void => {
  hooks.loginChanged.tap('watch', ({ method, stage, errorCode }) => {
    console.log(
      stage === 'failed' ? `login by ${method} failed: ${errorCode}` : `login by ${method}: ${stage}`
    )
  })
}

/** Notices accounts that only their login key opens again, since they have no other login method. */
export const accountChanged = ({ hooks }: ObserverHost): void => {
  hooks.accountChanged.tap('watch', ({ username = 'this account', isLoggedIn, loginMethods }) => {
    if (isLoggedIn && loginMethods?.length === 0) console.log(`${username} is not backed up`)
  })
}

/** Says who has approved a login request. */
export const lobbyChanged = ({ hooks }: ObserverHost): void => {
  hooks.lobbyChanged.tap('watch', ({ state, username = 'someone', skippedReplies = 0 }) => {
    if (state === 'started') console.log(`${username} approves; ${skippedReplies} replies were no use`)
  })
}

/** Counts what waits to be saved on the servers. */
export const repoChanged = ({ hooks }: ObserverHost): void => {
  const waiting = new Map<string, number>()
  hooks.repoChanged.tap('watch', ({ repoId, pendingCount, isOpen }) => {
    if (isOpen) waiting.set(repoId, pendingCount)
    else waiting.delete(repoId)
    console.log(`${[...waiting.values()].reduce((sum, count) => sum + count, 0)} changes wait`)
  })
}

/** Notices what other devices have changed. */
export const filesExchanged = ({ hooks }: ObserverHost): void => {
  hooks.filesExchanged.tap('watch', ({ repoId, received }) => {
    if (received.length > 0) console.log(`${received.length} files of ${repoId} came from other devices`)
  })
}

/** Shows the balances of a wallet. */
export const walletChanged = ({ hooks }: ObserverHost): void => {
  hooks.walletChanged.tap('watch', ({ name, type, balances, tokens }) => {
    console.log(`${name ?? type}: ${balances[''] ?? '0'} native units`)
    for (const token of tokens) {
      console.log(`${name ?? type}: ${amountText(nativeAmount(balances[token.tokenId] ?? '0'), token)}`)
    }
  })
}

/** Says which engines do not work. */
export const engineChanged = ({ hooks }: ObserverHost): void => {
  hooks.engineChanged.tap('watch', ({ walletId, state, syncRatio, failure }) => {
    const progress = `${Math.round(syncRatio * 100)} %`
    console.log(failure === undefined ? `${walletId} ${state}, ${progress}` : `${walletId}: ${failure}`)
  })
}

/** Reads the history of a wallet again when the asset that is shown may have changed. */
export const transactionsChanged = ({ hooks }: ObserverHost): void => {
  hooks.transactionsChanged.tap('watch', ({ walletId, created, changed, tokenIds }) => {
    if (tokenIds !== undefined && !tokenIds.includes('')) return
    console.log(
      `${walletId} has ${created.length} new transactions, and ${changed.length} other ones changed`
    )
  })
}

/** Notices that an address was used, so that a page which shows it asks for the next one. */
export const addressChanged = ({ hooks }: ObserverHost): void => {
  hooks.addressChanged.tap('watch', ({ walletId }) => console.log(`${walletId} has a fresh address`))
}

/** Says which tokens were found. */
export const tokensDetected = ({ hooks }: ObserverHost): void => {
  hooks.tokensDetected.tap('watch', ({ walletId, tokenIds }) => {
    console.log(`${walletId} has received ${tokenIds.join(', ')}`)
  })
}

/** Follows payments. */
export const spendChanged = ({ hooks }: ObserverHost): void => {
  hooks.spendChanged.tap('watch', ({ correlationId, stage, txid = 'no txid yet' }) => {
    console.log(`payment ${correlationId} is ${stage}, ${txid}`)
  })
}

/** Names the sources that failed in a round of rates. */
export const ratesChanged = ({ hooks }: ObserverHost): void => {
  hooks.ratesChanged.tap('watch', ({ pairs, providers }) => {
    const failed = providers.filter(({ state }) => state === 'failed').map(({ displayName }) => displayName)
    console.log(`${pairs.length} prices; failed: ${failed.join(', ') || 'none'}`)
  })
}

/** Shows over which pairs an amount was converted. */
export const routeFound = ({ hooks }: ObserverHost): void => {
  hooks.routeFound.tap('watch', ({ fromCurrency, hops, isStale }) => {
    const way = hops.map(({ toCurrency, source }) => `${toCurrency} (${source})`).join(' → ')
    console.log(`${fromCurrency} → ${way}${isStale ? ', from old prices' : ''}`)
  })
}

/** Shows the offers of a round as they come. */
export const quoteChanged = ({ hooks }: ObserverHost): void => {
  hooks.quoteChanged.tap('watch', ({ displayName, state, toNativeAmount, message, rank }) => {
    if (state === 'resolved') console.log(`${rank}. ${displayName}: ${toNativeAmount}`)
    else console.log(`${displayName}: ${message ?? state}`)
  })
}

/** Says when a swap was paid out. */
export const orderChanged = ({ hooks }: ObserverHost): void => {
  hooks.orderChanged.tap('watch', ({ displayName, state, payoutCurrencyCode, payoutTxid = 'unknown' }) => {
    if (state === 'paidOut') console.log(`${displayName} paid out ${payoutCurrencyCode}: ${payoutTxid}`)
  })
}

/** Collects failures of plugins. */
export const pluginFault = ({ hooks }: ObserverHost): void => {
  hooks.pluginFault.tap('watch', ({ pluginId, hook, errorCode, errorName, message }) => {
    console.log(`${pluginId} failed in ${hook}: ${errorCode ?? errorName}: ${message}`)
  })
}

/** Prints warnings and errors. */
export const logged = ({ hooks }: ObserverHost): void => {
  hooks.logged.tap('watch', ({ at, level, source, text }) => {
    if (level === 'warn' || level === 'error') console.log(`${at} ${source}: ${text}`)
  })
}

/** Notices slow plugins. */
export const tapRan = ({ hooks }: ObserverHost): void => {
  hooks.tapRan.tap('watch', ({ hook, pluginId, durationMs }) => {
    if (durationMs > 1000) console.log(`${pluginId} took ${Math.round(durationMs)} ms in ${hook}`)
  })
}
