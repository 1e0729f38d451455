// Runs `berth openapi`: prints the document of /swagger/json, from an application in a temporary folder.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../kernel/config/config.ts";
import { programName } from "../../kernel/config/program-name.ts";
import { openKernel } from "../../kernel/kernel.ts";
import { createApp } from "../app.ts";
import { allSettings } from "../settings.ts";

export async function openapiCommand(surfaceName = "web"): Promise<number> {
  if (surfaceName !== "web" && surfaceName !== "backend") {
    process.stderr.write(`Usage: ${programName()} openapi [web|backend]\n`);
    return 2;
  }
  const dir = await mkdtemp(join(tmpdir(), "berth-openapi-"));
  try {
    const kernel = await openKernel(
      loadConfig({ DATA_DIR: dir, LOG_LEVEL: "error" }, { cwd: dir, settings: allSettings }),
    );
    try {
      const response = await createApp(kernel)[surfaceName].handle(new Request("http://localhost/swagger/json"));
      const document = await response.json();
      if (!response.ok) throw new Error(`The document can't be made: ${JSON.stringify(document)}`);
      process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
      return 0;
    } finally {
      await kernel.close();
    }
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
