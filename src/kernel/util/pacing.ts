// Lets long loops give way to other work on the event loop.
import { setImmediate as yieldToEventLoop } from "node:timers/promises";

/** Milliseconds of work between two turns of the event loop. */
const SLICE_MS = 5;

/**
 * Returns a function for a long loop to await in each round: it yields to the event loop if the loop has run for some
 * milliseconds since it did so last.
 */
export function createPacer(): () => Promise<void> | undefined {
  let sliceStart = performance.now();
  return () => {
    if (performance.now() - sliceStart < SLICE_MS) return undefined;
    return yieldToEventLoop().then(() => {
      sliceStart = performance.now();
    });
  };
}
