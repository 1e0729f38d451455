// Starts another gateway for comparison: the npm package @portkey-ai/gateway, run by the same Bun with the same upstream.

import { join } from "node:path";
import { bun } from "../../tests/support/process.ts";
import { type Program, root } from "./service.ts";
import { freePort } from "./starting.ts";

/** The headers that make the gateway forward a request to this upstream. */
export const portkeyHeaders = (upstream: string) => ({
  authorization: "Bearer sk-bench",
  "x-portkey-provider": "openai",
  "x-portkey-custom-host": `${upstream}/v1`,
});

/** Starts it on a free port; disposal kills it. Throws if it does not respond within 20 s. */
export async function startPortkey(): Promise<Program> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const file = join(root, "node_modules/@portkey-ai/gateway/build/start-server.js");
  const child = Bun.spawn([bun, file, `--port=${port}`, "--headless"], {
    cwd: root,
    env: { NODE_ENV: "production" },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  const stop = async () => {
    child.kill("SIGKILL");
    await child.exited;
  };
  const until = performance.now() + 20_000;
  while (!(await answers(origin))) {
    if (child.exitCode === null && performance.now() < until) continue;
    await stop();
    throw new Error("@portkey-ai/gateway does not start.");
  }
  return { origin, pid: child.pid, [Symbol.asyncDispose]: stop };
}

async function answers(origin: string): Promise<boolean> {
  try {
    return (await fetch(origin)).ok;
  } catch {
    // The port is not open yet.
    await Bun.sleep(50);
    return false;
  }
}
