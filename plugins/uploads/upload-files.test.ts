// Tests the files of uploads beside the deletion of their agent.
import { expect, test } from "bun:test";
import { temporaryDir } from "../../tests/support/process.ts";
import { createUploadFiles } from "./upload-files.ts";

test("a file that arrives while its agent is deleted is refused, and leaves nothing", async () => {
  const dir = temporaryDir();
  const files = createUploadFiles({ dataDir: dir.path });
  const agentId = Bun.randomUUIDv7();
  const codes = new Set<string>();
  for (let round = 0; round < 30; round++) {
    const outcomes = await Promise.allSettled([
      ...Array.from({ length: 8 }, (_, n) => files.write(agentId, `${round}-${n}`, new Uint8Array(64))),
      files.removeAgent(agentId),
    ]);
    for (const outcome of outcomes) if (outcome.status === "rejected") codes.add(outcome.reason.code);
  }
  expect([...codes].filter((code) => code !== "AGENT_NOT_FOUND")).toEqual([]);
  dir.remove();
});
