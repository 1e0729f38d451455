// What `berth cluster status` shows of a node's work: its agents, and its turns a second over the last seconds.
import type { NodeState } from "../../cluster/ownership/lease.ts";
import type { Kernel } from "../../kernel/plugin.ts";

const LOOK_MS = 10_000;
const NONE: NodeState["load"] = { agents: 0, turnsPerSecond: 0 };

export function createLoad() {
  let current = NONE;
  let timer: Timer | undefined;
  return {
    read: () => current,
    begin({ database, metrics }: Pick<Kernel, "database" | "metrics">) {
      let turns: number | undefined;
      let at = performance.now();
      const look = async () => {
        const { rows } = await database.read("SELECT count(*) FROM agents");
        const ended = metrics.sum("berth_turns_total");
        const now = performance.now();
        // A new owner ends in its first moment what the former one had begun.
        const turnsPerSecond = turns === undefined ? 0 : ((ended - turns) / (now - at)) * 1_000;
        current = { agents: Number(rows[0]?.[0]), turnsPerSecond };
        [turns, at] = [ended, now];
      };
      // The database of a cell that moves is closed; the next owner counts anew.
      const lookAgain = () => void look().catch(() => undefined);
      lookAgain();
      timer = setInterval(lookAgain, LOOK_MS);
      timer.unref();
    },
    end() {
      clearInterval(timer);
      current = NONE;
    },
  };
}
