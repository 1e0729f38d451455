// `npm start`: installs what is missing, builds what is out of date, and serves.

import { binary, build, install, run } from "./bun.mjs";

await install();
await build();
process.exitCode = await run(binary, ["serve", ...process.argv.slice(2)]);
