// The log of a cell that may move: what could not be written since it has moved is no error, the next owner does it.
import { isOfLostCell } from "../../cluster/away.ts";
import type { Log, LogFields } from "../../kernel/telemetry/log.ts";

export function quietWhenMoved(log: Log): Log {
  const quiet =
    (level: "warn" | "error") =>
    (message: string, fields?: LogFields): void =>
      log[isOfLostCell(fields?.error) ? "debug" : level](message, fields);
  return { ...log, warn: quiet("warn"), error: quiet("error"), child: (fields) => quietWhenMoved(log.child(fields)) };
}
