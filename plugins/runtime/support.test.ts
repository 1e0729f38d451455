// Starts the runtime for tests: the real parts over a database file, a scripted upstream, and a platform that collects deliveries.

import { createLog } from "../../src/kernel/telemetry/log.ts";
import { eventually } from "../../tests/support/eventually.ts";
import { openPluginHost } from "../../tests/support/plugin-host.ts";
import { temporaryDir } from "../../tests/support/process.ts";
import { startUpstream } from "../../tests/support/upstream.ts";
import { agentStats } from "../agent-stats/index.ts";
import { type Agent, agents } from "../agents/index.ts";
import { ai } from "../ai/index.ts";
import { approvals } from "../approvals/index.ts";
import { auth } from "../auth/index.ts";
import { type Skill, skills } from "../skills/index.ts";
import { uploads } from "../uploads/index.ts";
import type { InboundMessage } from "./inbox/entries.ts";
import type { Delivery, DeliveryOutcome, FetchFile, PlatformHooks } from "./platforms.ts";
import { createRuntime } from "./runtime.ts";
import type { ChatRequest } from "./turn/turn-requests.ts";

export type RuntimeFixture = Awaited<ReturnType<typeof openRuntimeFixture>>;

type Row = Record<string, unknown>;

/** Turns and deliveries are retried after 1 ms, so that tests see all tries. `registered` are skills of another source. */
export async function openRuntimeFixture(
  env: Record<string, string> = {},
  moreTimings: object = {},
  registered: readonly Skill[] = [],
) {
  const dir = temporaryDir();
  const upstream = await startUpstream({ key: "sk-test" });
  const sent: Delivery[] = [];
  const platform = {
    answer: (_: Delivery): Promise<DeliveryOutcome> | DeliveryOutcome => ({ kind: "sent" }),
    fetchFile: undefined as FetchFile | undefined,
    preview: undefined as PlatformHooks["preview"],
    typing: undefined as PlatformHooks["typing"],
    isOwner: undefined as PlatformHooks["isOwner"],
  };
  const logged: string[] = [];
  const rejections: unknown[] = [];
  const rejected = (error: unknown) => void rejections.push(error);
  process.on("unhandledRejection", rejected);
  let running = await start();

  async function start() {
    const opened = await openPluginHost({
      env: {
        PROVIDER_5_BASE_URL: upstream.url,
        PROVIDER_5_API_KEY: "sk-test",
        // The prices of the fake's models are not known, so that they count as dear ones.
        AI_PLAN_BUDGETS_USD_PER_MONTH: "free:500",
        AI_UNPAID_BUDGET_USD_PER_DAY: "500",
        ...env,
      },
      dir: dir.path,
      log: createLog({ level: "warn", format: "json", write: (line) => void logged.push(line) }),
    });
    const { kernel, host } = opened;
    const agentService = host.use(agents);
    const skillService = host.use(skills);
    skillService.register({ id: "test", skillsFor: () => registered });
    const authService = host.use(auth);
    const aiService = host.use(ai);
    const timings = { turnRetries: [1], firstDelivery: 1, ...moreTimings };
    const runtime = createRuntime({
      ...kernel,
      agents: agentService,
      ai: aiService,
      skills: skillService,
      approvals: host.use(approvals),
      uploads: host.use(uploads),
      agentStats: host.use(agentStats),
      users: host.use(auth).users,
      timings,
    });
    runtime.service.registerPlatform("channel_a", {
      async deliver(delivery) {
        const outcome = await platform.answer(delivery);
        if (outcome.kind === "sent") sent.push({ ...delivery });
        return outcome;
      },
      get fetchFile() {
        return platform.fetchFile;
      },
      preview: (...given) => platform.preview?.(...given),
      typing: (entry) => platform.typing?.(entry) ?? { end: async () => undefined },
      isOwner: async (...given) => (await platform.isOwner?.(...given)) ?? false,
    });
    await opened.start();
    return { opened, kernel, agentService, authService, skillService, aiService, runtime, host };
  }

  async function stop(): Promise<void> {
    await running.runtime.stop();
    await running.opened[Symbol.asyncDispose]();
  }

  let made = 0;
  const fixture = {
    upstream,
    /** Deliveries that arrived at the platform, in order. */
    sent,
    platform,
    /** Lines that were logged as warnings or errors. */
    logged,
    /** Unhandled rejections. */
    rejections,
    get runtime() {
      return running.runtime;
    },
    get agents() {
      return running.agentService;
    },
    get kernel() {
      return running.kernel;
    },
    get models() {
      return running.aiService;
    },
    get host() {
      return running.host;
    },
    /** `ownKey`: its owner pays the provider; otherwise the operator does. */
    async agent(config: object = {}, { isAdmin = false, ownKey = "" } = {}): Promise<Agent> {
      const email = `user-${++made}-${crypto.randomUUID()}@example.com`;
      const { id: userId } = await running.authService.users.create({
        email,
        name: "Ada",
        passwordHash: "none",
        isAdmin,
      });
      if (ownKey) await running.agentService.credentials.set({ kind: "user", id: userId }, "provider_5", ownKey);
      const all = JSON.stringify({ model: "provider_5:fake-small", ...config });
      return running.agentService.provision({ userId, isAdmin: true, name: "Harbour", model: "custom", config: all });
    },
    /** The present row of the agent. */
    async reload({ id }: Agent): Promise<Agent> {
      const agent = await running.agentService.find(id);
      if (!agent) throw new Error("The agent was deleted.");
      return agent;
    },
    chat(agent: Agent, message: string, more: Partial<ChatRequest> = {}) {
      const who = { id: agent.userId, name: "" };
      const signal = new AbortController().signal;
      return running.runtime.service.chat({
        agent,
        platform: "web",
        message,
        sender: who,
        byOwner: true,
        signal,
        ...more,
      });
    },
    /** Accepts a message of a chat of the channel. */
    hear(agent: Agent, content: string, more: Partial<InboundMessage> = {}) {
      const arrival: InboundMessage = {
        agentId: agent.id,
        platform: "channel_a",
        platformMessageId: crypto.randomUUID(),
        to: { peer: "chat-1" },
        sender: { id: "7", name: "Bob" },
        byOwner: false,
        content,
        ...more,
      };
      return running.runtime.service.accept([arrival]);
    },
    async rows(sql: string, ...args: (string | number)[]): Promise<Row[]> {
      return (await running.kernel.database.read(sql, args)).rows.map((row): Row => ({ ...row }));
    },
    inbox: (agent: Agent) =>
      fixture.rows("SELECT content, status, attempts, error FROM inbox WHERE agent_id = ? ORDER BY id", agent.id),
    messagesOf: (agent: Agent) =>
      fixture.rows("SELECT role, content FROM messages WHERE agent_id = ? ORDER BY seq", agent.id),
    /** Resolves when nothing runs or waits in memory. */
    idle: () => eventually(() => running.runtime.heldCount() === 0, { what: "the runtime is idle", timeoutMs: 18_000 }),
    start: () => running.runtime.start(),
    stop,
    /** Stops everything and starts it again over the same data. */
    async restart() {
      await stop();
      running = await start();
      await running.runtime.start();
    },
    async [Symbol.asyncDispose]() {
      await stop();
      await upstream.stop();
      process.off("unhandledRejection", rejected);
      dir.remove();
    },
  };
  return fixture;
}
