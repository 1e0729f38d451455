// Keeps tests that count by UTC day away from midnight, when those counts start again at 0.

const DAY = 86_400_000;

/** Waits for the next UTC day if fewer than `needed` milliseconds of this one are left; else returns at once. */
export async function avoidMidnight(needed = 20_000): Promise<void> {
  const left = DAY - (Date.now() % DAY);
  // One second more, since some clocks are read in whole seconds.
  if (left < needed) await Bun.sleep(left + 1_000);
}
