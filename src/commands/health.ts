// `berth health`: for container health checks.
import { environment, loadConfig } from "../config.ts";

export async function healthCommand(): Promise<number> {
  const { role, web, backend } = loadConfig(environment());
  const { host, port } = role === "backend" ? backend : web;
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
  const place = `${name}:${port}`;
  try {
    const { ok, status } = await fetch(`http://${place}/healthz`, { signal: AbortSignal.timeout(3_000) });
    if (ok) return 0;
    process.stderr.write(`berth: ${place} answers ${status}.\n`);
  } catch (error) {
    process.stderr.write(`berth: nothing answers on ${place} (${error instanceof Error ? error.name : error}).\n`);
  }
  return 1;
}
