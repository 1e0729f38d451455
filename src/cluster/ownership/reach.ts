// Finds machines that the others can't reach at their NODE_ADDRESS, as with a wrong address or a closed port: what they own would be out
// of everybody's reach. Each machine asks a few others; one that none of those reaches gives its cells away.
import type { NodeState } from "./lease.ts";

type Seen = Pick<NodeState, "address" | "unreached">;

/** Each machine is asked by so many others: the ones before it, by address. */
const PROBERS = 3;
/** A pause of the network, or of a busy machine, is not worth moving cells. */
const FAILURES = 3;
const EVERY_MS = 5_000;
const AGAIN_MS = 1_000;

export interface ReachDeps {
  /** Of this machine. */
  address: string;
  /** The machines that are alive, this one among them. */
  alive(): readonly Seen[];
  /** Resolves if the machine answers; else rejects with the reason. */
  probe(address: string): Promise<void>;
  /** This machine can't reach another one, or can again (without `why`). */
  onReach(address: string, why?: unknown): void;
  /** No machine reaches this one, or one does again. */
  onReached(isReached: boolean): void;
  times?: { everyMs: number; againMs: number };
}

export interface Reach {
  /** Machines that this one could not reach a moment ago. */
  unreached(): readonly string[];
  /** Whether all those say so of this one that ask it. */
  readonly isUnreachable: boolean;
  stop(): void;
}

/** The machines that ask another one, and those that it asks. */
export function probersOf(address: string, alive: readonly Seen[]): string[] {
  const circle = alive.map((one) => one.address).toSorted();
  const at = circle.indexOf(address);
  const before = Array.from({ length: Math.min(PROBERS, circle.length - 1) }, (_, n) => circle.at(at - 1 - n) ?? "");
  return at < 0 ? [] : before;
}

/** A machine that nobody asks, as one that is alone, is reachable. */
export function isUnreachable(address: string, alive: readonly Seen[]): boolean {
  const probers = probersOf(address, alive);
  const says = (prober: string) => alive.find((one) => one.address === prober)?.unreached?.includes(address) ?? false;
  return probers.length > 0 && probers.every(says);
}

export function watchReach({ address, alive, probe, onReach, onReached, times }: ReachDeps): Reach {
  const { everyMs, againMs } = times ?? { everyMs: EVERY_MS, againMs: AGAIN_MS };
  /** By address: the failures in a row, and when it is asked next, in monotonic ms. */
  const asked = new Map<string, { failures: number; next: number; isUnderWay: boolean }>();
  let wasUnreachable = false;

  async function ask(of: string, state: { failures: number; next: number; isUnderWay: boolean }): Promise<void> {
    state.isUnderWay = true;
    try {
      await probe(of);
      if (state.failures >= FAILURES) onReach(of);
      state.failures = 0;
    } catch (error) {
      state.failures++;
      if (state.failures === FAILURES) onReach(of, error);
    }
    state.next = performance.now() + (state.failures > 0 ? againMs : everyMs);
    state.isUnderWay = false;
  }

  function look(): void {
    const nodes = alive();
    const targets = nodes.filter((one) => probersOf(one.address, nodes).includes(address)).map((one) => one.address);
    for (const known of asked.keys()) if (!targets.includes(known)) asked.delete(known);
    for (const target of targets) {
      const state = asked.get(target) ?? { failures: 0, next: 0, isUnderWay: false };
      asked.set(target, state);
      if (!state.isUnderWay && performance.now() >= state.next) void ask(target, state);
    }
    const is = isUnreachable(address, nodes);
    if (is !== wasUnreachable) onReached(!is);
    wasUnreachable = is;
  }

  const timer = setInterval(look, againMs / 2);
  timer.unref();
  return {
    unreached: () => [...asked].filter(([, { failures }]) => failures >= FAILURES).map(([of]) => of),
    get isUnreachable() {
      return wasUnreachable;
    },
    stop: () => clearInterval(timer),
  };
}
