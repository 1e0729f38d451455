// `berth openapi`: the document that /swagger/json serves, without a server or a data folder of its own.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApp } from "../app.ts";
import { loadConfig } from "../config.ts";
import { openKernel } from "../kernel.ts";

export async function openapiCommand(side = "web"): Promise<number> {
  if (side !== "web" && side !== "backend") {
    process.stderr.write("Usage: berth openapi [web|backend]\n");
    return 2;
  }
  const dir = await mkdtemp(join(tmpdir(), "berth-openapi-"));
  try {
    const kernel = await openKernel(loadConfig({ DATA_DIR: dir, LOG_LEVEL: "error" }, { cwd: dir }));
    try {
      const answer = await createApp(kernel)[side].handle(new Request("http://localhost/swagger/json"));
      process.stdout.write(`${JSON.stringify(await answer.json(), null, 2)}\n`);
      return 0;
    } finally {
      await kernel.close();
    }
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
