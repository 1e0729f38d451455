// New lines of the logs of those agents that somebody listens to, read once for all who do.
import type { Config } from "../../src/config.ts";
import type { Log } from "../../src/log.ts";
import type { ServiceOf } from "../../src/plugin.ts";
import type { agents as agentsPlugin, LogLine } from "../agents/index.ts";

export interface LogLines {
  /** Tells every line written from now on, oldest first. Returns the way to end it. */
  follow(agentId: string, listener: (line: LogLine) => void): () => void;
}

/** Lines read at once. */
const BATCH = 50;
/** Where another process writes the lines: milliseconds between two looks. */
const POLL = 1_000;

interface Deps {
  config: Pick<Config, "role">;
  log: Log;
  logs: Pick<ServiceOf<typeof agentsPlugin>["logs"], "newest" | "since" | "onWritten">;
}

interface Followed {
  listeners: Set<(line: LogLine) => void>;
  /** Reads what is new, once more if asked for meanwhile. */
  look(): void;
}

export function createLogLines({ config, log, logs }: Deps): LogLines {
  const followed = new Map<string, Followed>();
  const lookAt = (agentIds: Iterable<string>) => {
    for (const agentId of agentIds) followed.get(agentId)?.look();
  };
  let rest: (() => void) | undefined;

  function listen(): () => void {
    if (config.role === "all") return logs.onWritten(lookAt);
    const timer = setInterval(() => lookAt(followed.keys()), POLL).unref();
    return () => clearInterval(timer);
  }

  function begin(agentId: string): Followed {
    const listeners = new Set<(line: LogLine) => void>();
    let last: string | undefined;
    let busy = false;
    let again = false;

    async function read(): Promise<void> {
      busy = true;
      try {
        last ??= await logs.newest(agentId);
        while (again && listeners.size > 0) {
          const lines = await logs.since(agentId, last, { limit: BATCH });
          again = lines.length === BATCH;
          last = lines.at(-1)?.id ?? last;
          for (const line of lines) for (const listener of listeners) listener(line);
        }
      } catch (error) {
        log.warn("an agent's log could not be read; trying again", { agentId, error });
      } finally {
        busy = false;
      }
    }

    const look = () => {
      again = true;
      if (!busy) void read();
    };
    look();
    return { listeners, look };
  }

  return {
    follow(agentId, listener) {
      const one = followed.get(agentId) ?? begin(agentId);
      followed.set(agentId, one);
      one.listeners.add(listener);
      rest ??= listen();
      return () => {
        one.listeners.delete(listener);
        if (one.listeners.size > 0 || followed.get(agentId) !== one) return;
        followed.delete(agentId);
        if (followed.size > 0) return;
        rest?.();
        rest = undefined;
      };
    },
  };
}
