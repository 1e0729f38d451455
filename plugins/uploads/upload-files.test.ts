// Tests the files of uploads beside the deletion of their agent.
import { expect, test } from "bun:test";
import { createSharedFiles } from "../../src/cluster/files/shared-files.ts";
import { createMemoryEngine } from "../../src/cluster/memory-engine.ts";
import { silent } from "../../tests/support/database.ts";
import { temporaryDir } from "../../tests/support/process.ts";
import { createUploadFiles } from "./upload-files.ts";

test("a file that arrives while its agent is deleted is refused, and leaves nothing", async () => {
  const dir = temporaryDir();
  const files = createUploadFiles({ dataDir: dir.path, files: undefined });
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

test("in a cluster a file is found on another machine, and goes everywhere with its agent", async () => {
  const [here, there] = [temporaryDir(), temporaryDir()];
  const engine = createMemoryEngine().connect();
  const blobs = await engine.blobs("files");
  const [first, second] = [here, there].map(({ path }) =>
    createUploadFiles({ dataDir: path, files: createSharedFiles({ blobs, dataDir: path, log: silent }) }),
  ) as [ReturnType<typeof createUploadFiles>, ReturnType<typeof createUploadFiles>];
  const agentId = Bun.randomUUIDv7();
  await first.write(agentId, "one", new TextEncoder().encode("first"));
  await first.write(agentId, "two", new TextEncoder().encode("second"));
  expect(await (await second.find(agentId, "one"))?.text()).toBe("first");
  expect(await second.find(agentId, "never")).toBeUndefined();

  // Younger than an hour, and of agents that this database does not know: both stay.
  const rows = { idsOf: async () => new Set(["one"]), exists: async (id: string) => id === agentId };
  await second.removeOrphans(rows);
  await second.removeOrphans({ ...rows, exists: async () => false });
  expect(await blobs.list()).toHaveLength(2);

  await second.remove(agentId, ["one"]);
  expect((await blobs.list()).map(({ name }) => name)).toEqual([`uploads/${agentId}/two`]);
  await second.removeAgent(agentId);
  expect(await blobs.list()).toEqual([]);

  engine.isAway = true;
  await expect(first.write(agentId, "three", new Uint8Array(8))).rejects.toMatchObject({ code: "FILES_UNAVAILABLE" });
  engine.isAway = false;
  expect(await first.find(agentId, "three")).toBeUndefined();
  here.remove();
  there.remove();
});
