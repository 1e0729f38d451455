// The log of a cell that may move: what could not be written since it has moved is no error, the next owner does it.
import type { Log, LogFields } from "../../kernel/telemetry/log.ts";

export function quietWhenMoved(log: Log): Log {
  const quiet =
    (level: "warn" | "error") =>
    (message: string, fields?: LogFields): void =>
      log[isMoved(fields?.error) ? "debug" : level](message, fields);
  return { ...log, warn: quiet("warn"), error: quiet("error"), child: (fields) => quietWhenMoved(log.child(fields)) };
}

/** Whether the error or one of its causes is the one of a write after the cell has moved. */
function isMoved(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) if (Reflect.get(at, "code") === "CELL_MOVED") return true;
  return false;
}
