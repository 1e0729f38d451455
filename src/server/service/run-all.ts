// Ends several things, each whatever the others do.

/** Runs all steps in order. A failing one does not stop the others; the first failure is thrown in the end. */
export async function runAll(steps: readonly (() => unknown)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
