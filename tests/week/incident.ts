// What an incident of the week is: something happens, the operator sees it and acts, users notice little.
import type { Monitor } from "./monitor.ts";
import type { World } from "./world.ts";

export interface Incident {
  /** As the table's first column has it. */
  readonly name: string;
  /** Plays it from its beginning until all is well again. Throws if something is lost, or is not seen. */
  play(world: World, monitor: Monitor): Promise<Account>;
}

/** Sentences for the table. */
export interface Account {
  saw: string[];
  did: string[];
  noticed: string[];
}

/** Expects the alert, and says when it came. */
export async function alerted(monitor: Monitor, name: string): Promise<string> {
  const alerts = await monitor.alerts();
  const found = alerts.find((alert) => alert.name === name);
  if (!found) throw new Error(`${name} did not fire; these did: ${JSON.stringify(alerts)}`);
  return `alert ${name} after ${found.minute} min`;
}

/** The line of a command's output that has these words; throws with the output if there is none. */
export function lineWith(output: string, words: string): string {
  const line = output.split("\n").find((one) => one.includes(words));
  if (line === undefined) throw new Error(`No line says "${words}":\n${output}`);
  return line.trim();
}

/** Minutes pass: the clock moves, people write, and the monitor scrapes. */
export async function pass(world: World, monitor: Monitor, minutes: number, each?: () => Promise<void>): Promise<void> {
  for (let minute = 0; minute < minutes; minute++) {
    await world.clock.forward(60_000);
    await each?.();
    await monitor.minute();
  }
}
