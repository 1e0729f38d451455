// Tests shared files over the engine in memory and over NATS.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Nats, startNats } from "../../../tests/support/nats.ts";
import { temporaryDir } from "../../../tests/support/process.ts";
import { createLog } from "../../kernel/telemetry/log.ts";
import type { BlobStore, Engine } from "../engine.ts";
import { createMemoryEngine } from "../memory-engine.ts";
import { openNatsEngine } from "../nats/nats-engine.ts";
import { createSharedFiles } from "./shared-files.ts";

const log = createLog({ level: "silent", format: "json" });

describe.each(["memory", "NATS"])("%s", (kind) => {
  let nats: Nats | undefined;
  let engine: Engine;
  let blobs: BlobStore;
  beforeAll(async () => {
    nats = kind === "NATS" ? await startNats() : undefined;
    engine = nats ? await openNatsEngine({ address: nats.address, name: "test" }) : createMemoryEngine().connect();
    blobs = await engine.blobs("files");
  });
  afterAll(async () => {
    await engine?.close();
    await nats?.[Symbol.asyncDispose]();
  });

  test("a file that one machine keeps comes to another one, once for all who ask", async () => {
    const [here, there] = [temporaryDir(), temporaryDir()];
    let downloads = 0;
    const counted: BlobStore = {
      ...bound(blobs),
      get(name) {
        downloads++;
        return blobs.get(name);
      },
    };
    const first = createSharedFiles({ blobs, dataDir: here.path, log });
    const second = createSharedFiles({ blobs: counted, dataDir: there.path, log });
    const content = Buffer.concat(Array.from({ length: 20 }, () => crypto.getRandomValues(new Uint8Array(65_536))));
    await mkdir(join(here.path, "uploads/a"), { recursive: true });
    await Bun.write(join(here.path, "uploads/a/one"), content);
    await first.keep("uploads/a/one");
    expect(await second.list("uploads/a/")).toEqual([{ path: "uploads/a/one", size: content.length }]);
    expect(await second.list("backups/")).toEqual([]);

    expect(await Promise.all([1, 2, 3].map(() => second.bring("uploads/a/one")))).toEqual([true, true, true]);
    expect(downloads).toBe(1);
    expect(content.equals(await Bun.file(join(there.path, "uploads/a/one")).bytes())).toBe(true);
    expect(await readdir(join(there.path, "uploads/a"))).toEqual(["one"]);

    await second.forget(["uploads/a/one", "uploads/a/never"]);
    expect(await first.list("uploads/")).toEqual([]);
    expect(await first.bring("uploads/a/one")).toBe(false);
    here.remove();
    there.remove();
  });
});

test("an engine that is away is 503, and a download that breaks off leaves nothing", async () => {
  const dir = temporaryDir();
  const engine = createMemoryEngine().connect();
  const blobs = await engine.blobs("files");
  const files = createSharedFiles({ blobs, dataDir: dir.path, log });
  await Bun.write(join(dir.path, "uploads/a/one"), "one");
  engine.isAway = true;
  const unavailable = { status: 503, code: "FILES_UNAVAILABLE" };
  const calls = [files.keep("uploads/a/one"), files.bring("x"), files.list("uploads/")];
  for (const outcome of await Promise.allSettled(calls))
    expect(outcome).toMatchObject({ status: "rejected", reason: unavailable });

  const broken: BlobStore = {
    ...bound(blobs),
    get: async () =>
      new ReadableStream({
        pull(controller) {
          controller.error(new Error("The connection broke."));
        },
      }),
  };
  const breaking = createSharedFiles({ blobs: broken, dataDir: dir.path, log });
  await expect(breaking.bring("uploads/a/two")).rejects.toMatchObject(unavailable);
  expect(await readdir(join(dir.path, "uploads/a"))).toEqual(["one"]);
  dir.remove();
});

/** The methods of a store, so that a test can replace one of them. */
const bound = (blobs: BlobStore): BlobStore => ({
  put: (name, content) => blobs.put(name, content),
  get: (name) => blobs.get(name),
  remove: (name) => blobs.remove(name),
  list: () => blobs.list(),
  sweep: () => blobs.sweep(),
});
