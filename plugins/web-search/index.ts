// The plugin of web search: the tool `web_search`, with keys of the operator or of an agent's owner.
import { plugin } from "../../src/kernel/plugin.ts";
import { createOutbound } from "../../src/kernel/security/outbound.ts";
import { agents } from "../agents/index.ts";
import { skills } from "../skills/index.ts";
import { searchProviders } from "./providers/registry.ts";
import { createSearchService } from "./search-service.ts";
import { createSearchSkill } from "./search-skill.ts";
import { webSearchSettings } from "./settings.ts";

const ALL_NETWORKS = ["0.0.0.0/0", "::/0"];

export const webSearch = plugin("web-search", ({ kernel, use }) => {
  const { credentials, guards } = use(agents);
  const { access, searchesPerDay } = kernel.config.of(webSearchSettings);
  const search = createSearchService({
    ...kernel,
    credentials,
    providers: searchProviders,
    operatorAccess: access,
    operatorOutbound: createOutbound({ allow: ALL_NETWORKS }),
    searchesPerDay,
    now: Date.now,
  });
  const skillList = [createSearchSkill(search)];
  use(skills).register({ id: "built-in", skillsFor: () => skillList });
  return {
    service: {},
    lateRoutes: { web: [async () => (await import("./routes.ts")).searchRoutes({ guards, search })] },
  };
});
