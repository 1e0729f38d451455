// Follows the logs of agents: reads the new lines once for all listeners of an agent.
import type { Config } from "../../src/kernel/config/config.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { Log } from "../../src/kernel/telemetry/log.ts";
import { SECOND } from "../../src/kernel/util/time.ts";
import type { agents as agentsPlugin, LogLine } from "../agents/index.ts";

export interface LogTail {
  /** Calls the listener with every line that is written from now on, oldest first. Returns the function that ends it. */
  follow(agentId: string, listener: (line: LogLine) => void): () => void;
}

/** Lines read at once. */
const BATCH = 50;
/** The interval of reading, where another process writes the lines. */
const POLL_INTERVAL = SECOND;

interface Deps {
  config: Pick<Config, "role">;
  log: Log;
  logs: Pick<ServiceOf<typeof agentsPlugin>["logs"], "newestId" | "listSince" | "onWritten">;
}

interface TailedLog {
  listeners: Set<(line: LogLine) => void>;
  /** Reads the new lines; a call during a read makes it read once more. */
  readNew(): void;
}

export function createLogTail({ config, log, logs }: Deps): LogTail {
  const tails = new Map<string, TailedLog>();
  const readNewOf = (agentIds: Iterable<string>) => {
    for (const agentId of agentIds) tails.get(agentId)?.readNew();
  };
  let stopListening: (() => void) | undefined;

  function listen(): () => void {
    if (config.role === "all") return logs.onWritten(readNewOf);
    const timer = setInterval(() => readNewOf(tails.keys()), POLL_INTERVAL).unref();
    return () => clearInterval(timer);
  }

  function startTail(agentId: string): TailedLog {
    const listeners = new Set<(line: LogLine) => void>();
    let last: string | undefined;
    let reading = false;
    let readAgain = false;

    async function read(): Promise<void> {
      reading = true;
      try {
        last ??= await logs.newestId(agentId);
        while (readAgain && listeners.size > 0) {
          const lines = await logs.listSince(agentId, last, { limit: BATCH });
          readAgain = lines.length === BATCH;
          last = lines.at(-1)?.id ?? last;
          for (const line of lines) for (const listener of listeners) listener(line);
        }
      } catch (error) {
        log.warn("an agent's log could not be read; trying again", { agentId, error });
      } finally {
        reading = false;
      }
    }

    const readNew = () => {
      readAgain = true;
      if (!reading) void read();
    };
    readNew();
    return { listeners, readNew };
  }

  return {
    follow(agentId, listener) {
      const one = tails.get(agentId) ?? startTail(agentId);
      tails.set(agentId, one);
      one.listeners.add(listener);
      stopListening ??= listen();
      return () => {
        one.listeners.delete(listener);
        if (one.listeners.size > 0 || tails.get(agentId) !== one) return;
        tails.delete(agentId);
        if (tails.size > 0) return;
        stopListening?.();
        stopListening = undefined;
      };
    },
  };
}
