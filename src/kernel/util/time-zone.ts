// Checks names of time zones against the runtime's own list.

/** Whether this names a time zone: an IANA name in any case, such as `Europe/Berlin`, or an offset such as `+01:00`. */
export function isTimeZone(name: string): boolean {
  // The first other name loads the runtime's list, which takes ten milliseconds.
  if (name === "UTC") return true;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).format(0) !== "";
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
