// Tests which lines of a cell that has moved are left out.
import { expect, test } from "bun:test";
import { cellMoved } from "../../cluster/away.ts";
import { StartError } from "../../kernel/errors.ts";
import { createLog } from "../../kernel/telemetry/log.ts";
import { quietWhenMoved } from "./quiet-log.ts";

test("what failed because the cell has moved is for debugging; every other failure stays", () => {
  const lines: string[] = [];
  const log = quietWhenMoved(createLog({ level: "info", format: "json", write: (line) => lines.push(line) }));
  log.error("a turn could not be stored", { error: cellMoved() });
  log.child({ agentId: "a" }).warn("started too late", { error: new StartError("…", { cause: cellMoved() }) });
  log.error("a real one", { error: new Error("no") });
  log.info("said", { error: cellMoved() });
  expect(lines.map((line) => JSON.parse(line).message)).toEqual(["a real one", "said"]);
});
