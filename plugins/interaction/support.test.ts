// Starts the whole application on a real port with a scripted upstream, for tests of interaction, gateway and others.

import { plugin, type ServiceOf } from "../../src/kernel/plugin.ts";
import { subscribe } from "../../tests/support/account-setup.ts";
import { type Client, createClient } from "../../tests/support/client.ts";
import { createWatch } from "../../tests/support/eventually.ts";
import { openServer } from "../../tests/support/server.ts";
import { startUpstream } from "../../tests/support/upstream.ts";
import { agents } from "../agents/index.ts";
import { skills } from "../skills/index.ts";

export type InteractionFixture = Awaited<ReturnType<typeof openInteractionFixture>>;
export type Frame = Record<string, unknown> & { type: string };

export async function openInteractionFixture(env: Record<string, string> = {}) {
  const upstream = await startUpstream({ key: "sk-test" });
  let agentService: ServiceOf<typeof agents> | undefined;
  let skillService: ServiceOf<typeof skills> | undefined;
  const window = plugin("window", (host) => {
    agentService = host.use(agents);
    skillService = host.use(skills);
    return { service: undefined };
  });
  const server = await openServer({
    env: {
      BASE_URL: "https://berth.example",
      PROVIDER_5_BASE_URL: upstream.url,
      // The prices of its models are not known, so that they count as dear ones.
      AI_PLAN_BUDGETS_USD_PER_MONTH: "free:500",
      AI_UNPAID_BUDGET_USD_PER_DAY: "500",
      PROVIDER_5_API_KEY: "sk-test",
      MODEL_A: "provider_5:fake-small",
      ...env,
    },
    plugins: [window],
  });
  const { kernel, app, web: origin } = server;
  await kernel.jobs.start();
  await app.start();

  return {
    upstream,
    app,
    kernel,
    origin,
    get agents() {
      if (!agentService) throw new Error("There are no agents.");
      return agentService;
    },
    get skills() {
      if (!skillService) throw new Error("There are no skills.");
      return skillService;
    },
    /** A signed-in user whose plan has room for agents. */
    async member(): Promise<Client & { userId: string }> {
      const client = createClient(origin);
      const userId = await client.join();
      await subscribe({ app }, client.account.email, "enterprise");
      return Object.assign(client, { userId });
    },
    async provision(owner: Client, config: object = {}): Promise<string> {
      const answer = await owner.post<{ agent: { id: string } }>("/api/agents/provision", { name: "Harbour", config });
      if (answer.status !== 201) throw new Error(`provision: ${answer.status} ${answer.text}`);
      return answer.body.agent.id;
    },
    async rows(sql: string, ...args: string[]) {
      return (await kernel.database.read(sql, args)).rows.map((row): Record<string, unknown> => ({ ...row }));
    },
    async [Symbol.asyncDispose]() {
      await kernel.jobs.stop();
      await server[Symbol.asyncDispose]();
      await upstream.stop();
    },
  };
}

/** Opens a socket that collects its frames. */
export function openSocket(url: string, headers: Record<string, string>, protocols: string[] = []) {
  const watch = createWatch();
  const frames: Frame[] = [];
  let closed: number | undefined;
  // The option `headers` is an extension of Bun.
  const socket = new WebSocket(url.replace("http", "ws"), { headers, ...(protocols.length > 0 && { protocols }) });
  socket.addEventListener("message", ({ data }) => {
    frames.push(JSON.parse(String(data)) as Frame);
    watch.changed();
  });
  socket.addEventListener("close", ({ code }) => {
    closed = code;
    watch.changed();
  });
  socket.addEventListener("open", () => watch.changed());
  return {
    socket,
    frames,
    get protocol() {
      return socket.protocol;
    },
    send: (frame: unknown) => socket.send(typeof frame === "string" ? frame : JSON.stringify(frame)),
    /** The first frame of this type (and id), now or later. */
    next: (type: string, id?: string) =>
      watch.waitFor(
        () => frames.find((frame) => frame.type === type && (id === undefined || frame.id === id)),
        5_000,
        `a frame ${type} ${id ?? ""}`,
      ),
    closed: () => watch.waitFor(() => closed, 5_000, "the socket is closed"),
    close: () => socket.close(),
  };
}
