// A third-party plugin that carries runtimes for the tests of updates: some are well, some are not, one spoils things.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Runtime } from "../../plugins/lifecycle/index.ts";
import type { Toolkit } from "../../src/server/external-plugins.ts";

/**
 * `2.0.0` is well, unless there is a file `sick` in the data folder; `2.1.0` is not; `2.2.0` never says; `2.3.0` spoils
 * the agent's memory, and then is not well.
 */
export default ({ plugin }: Toolkit) =>
  plugin("lying-runtime", (host) => {
    const { carry } = host.named("lifecycle") as { carry(runtime: Runtime): void };
    const { database, config } = host.kernel;
    carry({
      version: "2.0.0",
      async check() {
        if (existsSync(join(config.dataDir, "sick"))) throw new Error("a secret reason");
      },
    });
    carry({ version: "2.1.0", check: () => Promise.reject(new Error("a secret reason")) });
    carry({ version: "2.2.0", check: () => new Promise(() => undefined) });
    carry({
      version: "2.3.0",
      async check({ id }) {
        await database.write([{ sql: "DELETE FROM sessions WHERE agent_id = ?", args: [id] }]);
        throw new Error("and now it is gone");
      },
    });
    return { service: {} };
  });
