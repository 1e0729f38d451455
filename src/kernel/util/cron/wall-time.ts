// Finds the moment of a time on the wall in a time zone, also where the clocks change.

/**
 * The moment at which a clock of the zone shows this time: for a time that is skipped when the clocks change, the end of what is
 * skipped; for one that comes twice, the first.
 */
export function momentOf(wall: Temporal.PlainDateTime, timezone: string): number {
  const earlier = wall.toZonedDateTime(timezone, { disambiguation: "earlier" });
  if (earlier.toPlainDateTime().equals(wall)) return earlier.epochMilliseconds;
  return (earlier.getTimeZoneTransition("next") ?? earlier).epochMilliseconds;
}
