// A third-party plugin that registers agent runtimes for the tests of updates: healthy, unhealthy, and destructive ones.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Runtime } from "../../plugins/lifecycle/index.ts";
import type { Toolkit } from "../../src/server/external-plugins.ts";

/**
 * The health check of `2.0.0` passes unless the data folder has a file `sick`; that of `2.1.0` fails; that of `2.2.0`
 * never ends; that of `2.3.0` deletes the agent's sessions, then fails.
 */
export default ({ plugin }: Toolkit) =>
  plugin("test-runtimes", (host) => {
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
