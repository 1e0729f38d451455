// Runs Bun with the given arguments once it and the packages are there: `node scripts/with-bun.mjs src/server/build.ts`.

import { bun, install, run } from "./bun.mjs";

await install();
process.exitCode = await run(bun, process.argv.slice(2));
