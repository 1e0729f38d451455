// Makes a value of a tool's result, which the runtime has as text: the same in streams and in stored messages.

/** A result as a value, where it is JSON. */
export function outputOf(result: string): unknown {
  if (!/^\s*[[{]/.test(result)) return result;
  try {
    return JSON.parse(result) as unknown;
  } catch {
    // It is cut, or a text that begins like JSON.
    return result;
  }
}
