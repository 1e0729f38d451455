// Administration: what admins do over HTTP and the operator on the command line, and the log of it.
import { contextOf } from "../../src/http.ts";
import { plugin } from "../../src/plugin.ts";
import { agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { createAudit } from "./audit.ts";
import { createCommands } from "./commands.ts";
import { adminRoutes } from "./routes.ts";

export type { Commands } from "./commands.ts";

const DAY = 86_400_000;

export const admin = plugin("admin", (host) => {
  const { database, idempotency, jobs } = host.kernel;
  const accounts = host.use(auth);
  const audit = createAudit({ database });

  accounts.onFirstAdmin((user, request) => {
    const { address, id: requestId } = contextOf(request);
    const details = { name: user.name, isAdmin: true, emailVerified: true, password: true };
    const itself = { kind: "user", id: user.id, name: user.email, address, requestId } as const;
    return audit.by(itself)({ action: "user.create", user, details });
  });
  jobs.every("admin.prune-audit", DAY, () => audit.prune());

  return {
    service: { commands: createCommands(accounts.administration, audit) },
    web: adminRoutes({ accounts, agents: host.use(agents), audit, idempotency }),
  };
});
