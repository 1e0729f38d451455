// Installs Bun and the packages, and runs Bun with the given arguments: `node scripts/with-bun.mjs src/server/build.ts`.

import { bun, install, run } from "./bun.mjs";

await install();
process.exitCode = await run(bun, process.argv.slice(2));
