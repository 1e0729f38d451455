// Finds the agents that sites may show, and decides whether a request comes from one of their sites.
import type { Config } from "../../src/kernel/config/config.ts";
import { createRequestMemo } from "../../src/kernel/http/request-context.ts";
import { trustedOrigins } from "../../src/kernel/http/trusted-origins.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { Agent, agents as agentsPlugin } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";

/** An agent whose owner has named sites, and how the chat looks there. */
export interface Embedding {
  agent: Agent;
  /** At least one. */
  origins: readonly string[];
  /** Empty for none. */
  greeting: string;
  /** `#rrggbb`; undefined for Berth's own colour. */
  accent: string | undefined;
  theme: "auto" | "light" | "dark";
}

/** An embedding that is asked for by a page which may show it. */
export interface AdmittedPage {
  embedding: Embedding;
  /** The page's origin. Of the page for frames, it is Berth's own. */
  origin: string;
}

export interface Embeddings {
  /** By the agent's subdomain or id; undefined if its owner has named no site, or has a disabled account. */
  find(name: string): Promise<Embedding | undefined>;
  /** Undefined if the request's `Origin` is missing, or neither a site of the agent that its path names nor Berth's own. */
  admitted(request: Request): Promise<AdmittedPage | undefined>;
}

interface Deps {
  config: Pick<Config, "baseUrl" | "backend">;
  users: Pick<ServiceOf<typeof auth>["users"], "byId">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find" | "findBySubdomain" | "settings">;
}

/** The form of a subdomain and of an id. Other texts are not looked up. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
/** `/api/embed/<agent>`, and what is below it. */
const PATH = /^\/api\/embed\/([^/]+)/;

export function createEmbeddings({ config, users, agents }: Deps): Embeddings {
  // Pages of CORS_ORIGINS are no sites of an agent.
  const ownOrigins = trustedOrigins({ ...config, corsOrigins: [] }, "web");

  async function find(name: string): Promise<Embedding | undefined> {
    if (!NAME.test(name)) return undefined;
    const agent = (await agents.findBySubdomain(name.toLowerCase())) ?? (await agents.find(name));
    if (!agent) return undefined;
    const { embed = {} } = await agents.settings(agent.id);
    const { origins = [], greeting = "", accent, theme = "auto" } = embed;
    if (origins.length === 0 || (await users.byId(agent.userId))?.disabledAt !== null) return undefined;
    return { agent, origins, greeting: greeting.trim(), accent, theme };
  }

  const known = createRequestMemo<{ page: AdmittedPage | undefined }>();
  async function look(request: Request): Promise<AdmittedPage | undefined> {
    const origin = request.headers.get("origin");
    const [, name = ""] = PATH.exec(new URL(request.url).pathname) ?? [];
    const embedding = origin === null ? undefined : await find(name);
    if (origin === null || !embedding) return undefined;
    return embedding.origins.includes(origin) || ownOrigins.has(origin) ? { embedding, origin } : undefined;
  }

  return {
    find,
    async admitted(request) {
      const { page } = known.get(request) ?? known.set(request, { page: await look(request) });
      return page;
    },
  };
}
