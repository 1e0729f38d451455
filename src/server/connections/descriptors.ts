// Tells how many descriptors (open files and connections) the process may have, and how many it has.
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from "node:fs";

/** Fewer than this is little for a service that holds a descriptor for each connection, bot and stream. */
const LOW_LIMIT = 4096;

/** Bun raises the soft limit to the hard one when the process starts. Undefined: there is no limit, or it is unknown. */
export function descriptorLimit(): number | undefined {
  const limits = "/proc/self/limits";
  const text = existsSync(limits)
    ? /^Max open files +(\d+)/m.exec(readFileSync(limits, "utf8"))?.[1]
    : Bun.spawnSync(["sh", "-c", "ulimit -n"]).stdout.toString().trim();
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** A warning for the operator; undefined if the limit is high enough. */
export const lowLimitWarning = (limit: number | undefined): string | undefined =>
  limit === undefined || limit >= LOW_LIMIT
    ? undefined
    : `This process may have only ${limit} open files and connections. Raise the limit, for example with "ulimit -n 65536", ` +
      "LimitNOFILE=65536 in a systemd unit, or --ulimit nofile=65536:65536 for a container.";

/**
 * Returns the lowest free descriptor, which the system gives to the next file. All below it are in use, so it is a lower
 * bound of their number. Undefined if all are in use. Takes a few microseconds.
 */
export function lowestFreeDescriptor(): number | undefined {
  try {
    const descriptor = openSync("/dev/null", "r");
    closeSync(descriptor);
    return descriptor;
  } catch {
    return undefined;
  }
}

/** Returns the descriptors in use. `limit` is used when not even the folder that lists them can be opened. */
export function openDescriptors(limit: number): number[] {
  try {
    return readdirSync(existsSync("/proc/self/fd") ? "/proc/self/fd" : "/dev/fd").map(Number);
  } catch {
    return Array.from({ length: limit }, (_, descriptor) => descriptor);
  }
}
