// The end of a day, which tests that add up days must not run over: what is counted by UTC day begins anew there.

const DAY = 86_400_000;

/** Comes back when at least so many milliseconds are left of the day (UTC): at once, but for that last moment of it. */
export async function awayFromMidnight(needed = 20_000): Promise<void> {
  const left = DAY - (Date.now() % DAY);
  // A little into the next one, for clocks that are read in whole seconds.
  if (left < needed) await Bun.sleep(left + 1_000);
}
