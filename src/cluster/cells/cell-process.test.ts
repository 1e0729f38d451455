// Tests how the process of a cell is started, with a program in its place.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { silent } from "../../../tests/support/database.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { bun, temporaryDir } from "../../../tests/support/process.ts";
import { startCellProcess } from "./cell-process.ts";

const folder = temporaryDir();
let cell: ReturnType<typeof startCellProcess> | undefined;
beforeEach(async () => {
  await Bun.write(
    join(folder.path, "cell.ts"),
    `import { createCalls } from ${JSON.stringify(join(import.meta.dir, "calls.ts"))};
     const calls = createCalls((message) => process.send(message), { alive: () => "yes", stop: () => process.exit(0) });
     process.on("message", (message) => calls.receive(message));
     await calls.call("ready", { address: "http://127.0.0.1:1" });`,
  );
});
afterEach(async () => {
  await cell?.stop(1_000);
  folder.remove();
});

test("a process that the system does not start now is started once it does", async () => {
  const program = join(folder.path, "program");
  const errors: string[] = [];
  cell = startCellProcess({
    cell: 1,
    command: [program, join(folder.path, "cell.ts")],
    env: {},
    handlers: {},
    log: { ...silent, error: (message) => void errors.push(message) },
    onChange: () => undefined,
  });
  await eventually(() => errors.length >= 2);
  expect(errors[0]).toBe("a process of a cell can't be started; it is tried again");
  symlinkSync(bun, program);
  await cell.started;
  expect(cell.address).toBe("http://127.0.0.1:1");
});
