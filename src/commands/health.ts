// `berth health`: for container health checks.
import { environment, loadConfig } from "../config.ts";

export async function healthCommand(): Promise<number> {
  const { role, web, backend } = loadConfig(environment());
  const { host, port } = role === "backend" ? backend : web;
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  try {
    const answer = await fetch(`http://${name}:${port}/healthz`, { signal: AbortSignal.timeout(3_000) });
    return answer.ok ? 0 : 1;
  } catch (error) {
    process.stderr.write(`berth: nothing answers on ${name}:${port} (${(error as Error).name}).\n`);
    return 1;
  }
}
