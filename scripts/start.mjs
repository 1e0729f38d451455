// Runs `npm start`: installs packages if they are missing, builds if sources have changed, and serves.

import { binary, build, install, run } from "./bun.mjs";

await install();
await build();
process.exitCode = await run(binary, ["serve", ...process.argv.slice(2)]);
