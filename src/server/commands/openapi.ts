// Runs `berth openapi`: prints the document of /swagger/json, from an application in a temporary folder.

import { programName } from "../../kernel/config/program-name.ts";
import { withTemporaryApp } from "../temporary-app.ts";

export async function openapiCommand(surfaceName = "web"): Promise<number> {
  if (surfaceName !== "web" && surfaceName !== "backend") {
    process.stderr.write(`Usage: ${programName()} openapi [web|backend]\n`);
    return 2;
  }
  const document = await withTemporaryApp(async (app) => {
    const response = await app[surfaceName].handle(new Request("http://localhost/swagger/json"));
    const document = await response.json();
    if (!response.ok) throw new Error(`The document can't be made: ${JSON.stringify(document)}`);
    return document;
  });
  process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
  return 0;
}
