// Runs `berth health`: exits with 0 if /healthz responds. For health checks of containers.

import { environment } from "../../kernel/config/config.ts";
import { loadAllSettings } from "../settings.ts";

export async function healthCommand(): Promise<number> {
  const { role, web, backend } = loadAllSettings(environment());
  const { host, port } = role === "backend" ? backend : web;
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
  const address = `${name}:${port}`;
  try {
    const { ok, status } = await fetch(`http://${address}/healthz`, { signal: AbortSignal.timeout(3_000) });
    if (ok) return 0;
    process.stderr.write(`berth: ${address} answers ${status}.\n`);
  } catch (error) {
    process.stderr.write(`berth: nothing answers on ${address} (${error instanceof Error ? error.name : error}).\n`);
  }
  return 1;
}
