// Renews this node's lease, and knows which other nodes are alive. Both by this process's own monotonic clock.
import { EngineUnavailable, type Table } from "../engine.ts";
import { keepWatching } from "./keep-watching.ts";

/** What a node tells the others with each renewal. */
export interface NodeState {
  /** Of this process: another one with the same address is told apart. */
  instance: string;
  /** How the other nodes reach its backend port. */
  address: string;
  version: string;
  /** Epoch ms of this renewal by the node's own clock, which may differ from those of the others. */
  at: number;
  /** It gives its cells up: it was asked to, or no other machine reaches it. */
  isDraining: boolean;
  /** Of the machines that this one asks: those that it reaches at their addresses, and those that it can't. See reach.ts. */
  reached?: readonly string[] | undefined;
  unreached?: readonly string[] | undefined;
  /** Of cells that it holds: the number of the last entry that it has applied. Without a cell that it can't follow. */
  copies: Readonly<Record<string, number>>;
  /** Cells of other processes of its machine that it could not follow a moment ago. Earlier versions don't say. */
  stuck?: readonly number[];
  /** What `berth cluster status` shows. */
  load: { agents: number; turnsPerSecond: number };
}

export interface Lease {
  /** Whether nobody else may have taken this node for dead. */
  isTrusted(): boolean;
  /** Milliseconds for which it is trusted without a renewal. */
  trustedMs(): number;
  /** Whether it was trusted for so long that every node that is alive has been seen. */
  isSettled(): boolean;
  /** The nodes that are alive, this one among them while its lease is trusted. */
  alive(): NodeState[];
  /** What the clock of a node shows now, in epoch ms, as its last renewal tells; undefined for one that was never seen. */
  clockOf(address: string): number | undefined;
  /**
   * Resolves once the lease is settled and every other node has renewed its own since the call, or is dead: what they say of themselves is not old then.
   * Throws `EngineUnavailable` when the own lease runs out.
   */
  seeAll(): Promise<void>;
  /** Gives the lease back, so that the others know at once. It goes on watching them. */
  release(): Promise<void>;
  /** Gives the lease back, unless that was done, and ends the watch. */
  stop(): Promise<void>;
}

export interface LeaseDeps {
  table: Table;
  state(): NodeState;
  /** Whether it is to be renewed; default: always. */
  isAble?(): boolean;
  /** Called when a node is new, has changed or is gone, and when the own lease is lost or trusted again. */
  onChange(): void;
  onError(error: unknown): void;
  times?: typeof LEASE_TIMES;
  /** Monotonic milliseconds. */
  now?(): number;
}

export const LEASE_TIMES = {
  renewMs: 1_000,
  /** A node that has not renewed for so long is dead for the others. */
  deadMs: 4_000,
  /** It trusts its own lease for less, counted from before it asked. */
  trustMs: 3_000,
};

export function createLease({
  table,
  state,
  isAble = () => true,
  onChange,
  onError,
  times = LEASE_TIMES,
  now = () => performance.now(),
}: LeaseDeps): Lease {
  const stopped = new AbortController();
  /** By key. `isDead`: it had not renewed its lease for so long, while it could be seen; it lives again once it does. */
  const seen = new Map<string, { state: NodeState; at: number; isDead: boolean }>();
  /** By address: how far the node's clock is ahead of this process's monotonic one. A node that is gone may still answer. */
  const clocks = new Map<string, number>();
  const own = state().address;
  let trustedUntil = Number.NEGATIVE_INFINITY;
  /** Since when the lease was trusted without a break. While this node was cut off, the others could not be seen. */
  let trustedSince = Number.POSITIVE_INFINITY;
  let wasTrusted = false;
  let known = "";
  const isTrusted = () => now() < trustedUntil;
  /** When the watch has shown this node's own renewal last: as long as it does, it shows those of the others. */
  let echoAt = Number.NEGATIVE_INFINITY;
  let echoSince = Number.POSITIVE_INFINITY;
  let released: Promise<void> | undefined;
  const isWatching = () => released !== undefined || now() - echoAt < times.trustMs;
  const isSettled = () => isTrusted() && isWatching() && now() - Math.max(trustedSince, echoSince) >= times.deadMs;

  async function renew(): Promise<void> {
    const asked = now();
    await table.put(keyOf(own), JSON.stringify(state()));
    if (!isTrusted()) trustedSince = now();
    trustedUntil = asked + times.trustMs;
  }

  async function renewIfAble(): Promise<void> {
    if (isAble()) await renew();
  }

  /** Does nothing while renewals can't be seen: who was alive then counts as alive. */
  function markDead(): void {
    if (!isTrusted() || !isWatching()) return;
    const current = now();
    for (const one of seen.values()) one.isDead ||= current - Math.max(one.at, trustedSince, echoSince) >= times.deadMs;
  }

  const others = () => {
    markDead();
    return [...seen.values()].filter(({ state: { address }, isDead }) => address !== own && !isDead);
  };
  const alive = () => [...(isTrusted() ? [state()] : []), ...others().map((one) => one.state)];

  /** Tells of what has changed since the last time: time itself changes it, too. */
  function look(): void {
    const nodes = alive().map(({ address, instance, isDraining }) => [address, instance, isDraining]);
    const shown = JSON.stringify([nodes, isSettled()]);
    if (shown === known && wasTrusted === isTrusted()) return;
    [known, wasTrusted] = [shown, isTrusted()];
    try {
      onChange();
    } catch (error) {
      // Neither the renewals nor the watch may end because of it.
      onError(error);
    }
  }

  /** Ends a watch that has become silent, so that another one begins. */
  let restart = new AbortController();
  void keepWatching({
    table,
    signal: stopped.signal,
    onEntry({ key, value }) {
      if (key === keyOf(own)) {
        if (!isWatching()) echoSince = now();
        echoAt = now();
      }
      if (value === undefined) seen.delete(key);
      else {
        const state = JSON.parse(value) as NodeState;
        const former = seen.get(key);
        // A watch that begins anew shows it once more, which is no sign of life.
        if (former?.state.at === state.at && former.state.instance === state.instance) former.state = state;
        else {
          seen.set(key, { state, at: now(), isDead: false });
          clocks.set(state.address, state.at - now());
        }
      }
      look();
    },
    onError,
    restarts() {
      restart = new AbortController();
      return restart.signal;
    },
    retryMs: times.renewMs,
  });

  /** What is sent each second, or now. */
  let renewing: Promise<void> = Promise.resolve();
  async function keepRenewing(): Promise<void> {
    while (!released) {
      const began = now();
      renewing = renewIfAble().catch(onError);
      await renewing;
      if (isTrusted() && !isWatching() && now() - trustedSince > times.trustMs) restart.abort();
      look();
      await Bun.sleep(Math.max(10, times.renewMs - (now() - began)));
    }
  }

  async function giveBack(): Promise<void> {
    await renewing;
    trustedUntil = Number.NEGATIVE_INFINITY;
    await table.remove(keyOf(own)).catch(onError);
  }

  function release(): Promise<void> {
    released ??= giveBack();
    return released;
  }

  // Time passes without a message, too.
  const timer = setInterval(look, times.renewMs / 4);
  void keepRenewing();
  return {
    isTrusted,
    trustedMs: () => Math.max(0, trustedUntil - now()),
    isSettled,
    alive,
    clockOf(address) {
      const ahead = clocks.get(address);
      return ahead === undefined ? undefined : now() + ahead;
    },
    async seeAll() {
      const began = now();
      while (!isSettled() || others().some(({ at }) => at <= began)) {
        if (!isTrusted()) throw new EngineUnavailable("The lease ran out.");
        await Bun.sleep(times.renewMs / 20);
      }
    },
    release,
    async stop() {
      clearInterval(timer);
      await release();
      stopped.abort();
    },
  };
}

/** Keys of NATS have no colons and slashes. */
export const keyOf = (address: string) => Buffer.from(address).toString("base64url");
