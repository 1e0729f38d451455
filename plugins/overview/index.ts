// The plugin of the overview: one list of an account's agents with what each of them does, costs and needs.
import { plugin } from "../../src/kernel/plugin.ts";
import { once } from "../../src/kernel/util/cache.ts";
import { agents } from "../agents/index.ts";
import { ai } from "../ai/index.ts";
import { approvals } from "../approvals/index.ts";
import { auth } from "../auth/index.ts";
import { channels } from "../channels/index.ts";
import { publicPage } from "../public-page/index.ts";
import { runtime } from "../runtime/index.ts";

export const overview = plugin("overview", ({ kernel, use }) => {
  const { identities } = use(auth);
  const services = {
    agents: use(agents),
    ai: use(ai),
    approvals: use(approvals),
    channels: use(channels),
    publicPage: use(publicPage),
    sessions: use(runtime).sessions,
  };
  const routes = once(async () => {
    const [{ createOverview }, { overviewRoutes }] = await Promise.all([
      import("./overview.ts"),
      import("./routes.ts"),
    ]);
    return overviewRoutes({ ...kernel, identities, overview: createOverview(services) });
  });
  return {
    service: {},
    lateRoutes: { web: [async () => (await routes()).web], backend: [async () => (await routes()).backend] },
  };
});
