// Finds machines that the others can't reach at their NODE_ADDRESS, as with a wrong address or a closed port: their accounts would get no
// answer. Each machine asks a few others; if none of those that ask a machine reaches it, it gives its cells away.
import type { NodeState } from "./lease.ts";

type Seen = Pick<NodeState, "address" | "reached" | "unreached">;

/** Each machine is asked by so many others: the ones before it, by address. */
const PROBERS = 3;
/** A pause of the network, or of a busy machine, is not worth moving cells. */
const FAILURES = 3;
const EVERY_MS = 5_000;
const AGAIN_MS = 1_000;
/**
 * For so long all askers must fail before a machine gives its cells away: two that don't reach each other find out at different times, and
 * a word may be from before this machine was started again.
 */
const CERTAIN_MS = 15_000;
/** What is known of a machine that is away. */
const KEPT_MS = 60_000;

export interface ReachDeps {
  /** Of this machine. */
  address: string;
  /** The machines that are alive. */
  alive(): readonly Seen[];
  /** Resolves if the machine answers; else rejects with the reason. */
  probe(address: string): Promise<void>;
  /** This machine can't reach another one, or can again (without `why`). */
  onReach(address: string, why?: unknown): void;
  /** No machine reaches this one, or one does again. */
  onReached(isReached: boolean): void;
  times?: { everyMs: number; againMs: number; certainMs: number };
}

export interface Reach {
  /** What this machine tells the others of those that it asks; nothing before the first answers. */
  words(): Pick<Seen, "reached" | "unreached">;
  /** Whether all askers say that they can't reach this machine. */
  readonly isUnreachable: boolean;
  stop(): void;
}

/** What is known of a machine that is asked. */
interface Asked {
  /** Undefined until the first answer, or the last of so many failures. */
  isReached?: boolean;
  /** In a row. */
  failures: number;
  /** Monotonic ms. */
  next: number;
  isUnderWay: boolean;
  /** Monotonic ms: when this machine had to ask it last. */
  seenAt: number;
}

/** The machines that take part in asking, in a circle. One takes part once its ports are open; earlier versions never do. */
const circleOf = (alive: readonly Seen[]) =>
  alive.filter(({ reached }) => reached !== undefined).toSorted((one, other) => (one.address < other.address ? -1 : 1));

/** Those that ask the machine at this place: before it in the circle. */
const probersOf = (circle: readonly Seen[], at: number): Seen[] =>
  Array.from({ length: Math.min(PROBERS, circle.length - 1) }, (_, n) => circle.at(at - 1 - n)).filter(
    (one) => one !== undefined,
  );

/**
 * Whether an asker reaches the machine with this address; undefined while the askers' words don't decide it. An asker that is itself said
 * to be out of reach counts for nothing: of two machines that are cut from each other, neither gives its cells away.
 */
export function isReached(address: string, alive: readonly Seen[]): boolean | undefined {
  const circle = circleOf(alive);
  const wordsOn = (of: string) => {
    const probers = probersOf(
      circle,
      circle.findIndex((one) => one.address === of),
    );
    return {
      yes: probers.filter(({ reached }) => reached?.includes(of)),
      no: probers.filter(({ unreached }) => unreached?.includes(of)),
      probers,
    };
  };
  if (!circle.some((one) => one.address === address)) return undefined;
  const { yes, no, probers } = wordsOn(address);
  if (yes.length > 0) return true;
  const isInDoubt = (prober: Seen) => {
    const words = wordsOn(prober.address);
    return words.yes.length === 0 && words.no.length > 0;
  };
  const isCertain = no.length === probers.length && no.some((prober) => !isInDoubt(prober));
  return isCertain ? false : undefined;
}

export function watchReach({ address, alive, probe, onReach, onReached, times }: ReachDeps): Reach {
  const { everyMs, againMs, certainMs } = times ?? { everyMs: EVERY_MS, againMs: AGAIN_MS, certainMs: CERTAIN_MS };
  /** By address. */
  const asked = new Map<string, Asked>();
  let isUnreachable = false;
  /** Monotonic ms: since when all say so. */
  let doubtedSince: number | undefined;

  async function ask(of: string, state: Asked): Promise<void> {
    state.isUnderWay = true;
    try {
      await probe(of);
      if (state.isReached === false) onReach(of);
      state.isReached = true;
      state.failures = 0;
    } catch (error) {
      state.failures++;
      if (state.failures === FAILURES) {
        state.isReached = false;
        onReach(of, error);
      }
    }
    state.next = performance.now() + (state.failures > 0 ? againMs : everyMs);
    state.isUnderWay = false;
  }

  function look(): void {
    const nodes = alive();
    const circle = circleOf(nodes);
    const at = circle.findIndex((one) => one.address === address);
    // Those after this one, from the beginning again behind the end.
    const targets =
      at < 0 ? [] : [...circle.slice(at + 1), ...circle.slice(0, at)].slice(0, PROBERS).map((one) => one.address);
    const now = performance.now();
    for (const [known, { seenAt }] of asked) {
      const isOfAnother = at >= 0 && !targets.includes(known) && circle.some((one) => one.address === known);
      if (isOfAnother || now - seenAt > KEPT_MS) asked.delete(known);
    }
    for (const target of targets) {
      const state = asked.get(target) ?? { failures: 0, next: 0, isUnderWay: false, seenAt: now };
      state.seenAt = now;
      asked.set(target, state);
      if (!state.isUnderWay && now >= state.next) void ask(target, state);
    }
    const reached = circle.length === 1 && at === 0 ? true : isReached(address, nodes);
    if (reached !== false) doubtedSince = undefined;
    else doubtedSince ??= now;
    const isCertain = reached === true || (doubtedSince !== undefined && now - doubtedSince >= certainMs);
    if (reached === undefined || !isCertain || reached === !isUnreachable) return;
    isUnreachable = !reached;
    onReached(reached);
  }

  const timer = setInterval(look, againMs / 2);
  timer.unref();
  return {
    words() {
      const of = (isReached: boolean) =>
        [...asked].filter(([, state]) => state.isReached === isReached).map(([name]) => name);
      return { reached: of(true), unreached: of(false) };
    },
    get isUnreachable() {
      return isUnreachable;
    },
    stop: () => clearInterval(timer),
  };
}
