// Live streams: an agent's video, published to Berth by RTMP and played from it as HLS.
import { AppError } from "../../src/errors.ts";
import { plugin } from "../../src/plugin.ts";
import { agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { visits } from "../visits/index.ts";
import { createAdmission } from "./admission.ts";
import { backendRoutes } from "./backend.ts";
import { off } from "./driver.ts";
import { createEmbedded } from "./embedded/driver.ts";
import { createNews } from "./news.ts";
import { createPages } from "./page.ts";
import { createStreamRows } from "./rows.ts";
import { createStreams } from "./streams.ts";
import { webRoutes } from "./web.ts";

export type { StreamAddresses, StreamStanding, StreamState, Streams } from "./streams.ts";

/** Players of other origins may know it too; and nobody keeps it, since it may be on the air in a second. */
const OFF_AIR = { "access-control-allow-origin": "*", "cache-control": "no-store" };
const offAir = () => {
  const text = "Nothing is on the air here right now. Try again later.";
  return new AppError(404, "STREAM_OFF_AIR", text, {}, { headers: OFF_AIR });
};

const STRANGERS_OUT = "streams.strangers-out";

export const streams = plugin("streams", (host) => {
  const { kernel } = host;
  const { config, jobs, log, metrics } = kernel;
  const accounts = host.use(auth);
  const { identities, users } = accounts;
  const hosted = host.use(agents);
  const { page } = host.use(visits);

  const rows = createStreamRows(kernel);
  const news = createNews({ ...kernel, agents: hosted, rows });
  const desk = {
    admit: createAdmission({ users, agents: hosted, rows }),
    began: (stream: { id: string; agentId: string }) => news.tell(stream, "active"),
    ended: (stream: { id: string; agentId: string }, why: string | undefined) => news.tell(stream, "idle", why),
    note: ({ agentId }: { agentId: string }, text: string) => hosted.log(agentId, "warning", text, "stream"),
  };
  const driver = config.streams.driver === "off" ? off : createEmbedded(kernel, desk);
  let isServing = false;
  const service = createStreams({ driver, rows, isServing: () => isServing });

  const failed = (agentId: string) => (error: unknown) =>
    log.error("a live stream could not be ended", { agentId, error });
  hosted.onChange((agentId) => {
    if (driver.published().some((stream) => stream.agentId === agentId)) endIfStopped(agentId).catch(failed(agentId));
  });
  hosted.onDelete(async (agentId) => {
    // Its row has gone with the agent's own.
    for (const { id } of driver.published().filter((stream) => stream.agentId === agentId)) {
      await driver.end(id, "the agent was removed.");
    }
  });
  async function endIfStopped(agentId: string): Promise<void> {
    const agent = await hosted.find(agentId);
    if (agent?.status !== "stopped") return;
    for (const { id } of driver.published().filter((stream) => stream.agentId === agentId)) {
      await driver.end(id, "the agent was stopped.");
    }
  }

  // A key that a stranger was shown opens nothing for the owner's agents: each gets another.
  accounts.onTakeover((userId) => [jobs.enqueue(STRANGERS_OUT, { userId })]);
  jobs.handle(STRANGERS_OUT, async (payload) => {
    const { userId } = payload as { userId: string };
    // Also while streams are switched off: the rows are there, and the keys in them good again once they are back.
    for (const { id } of await hosted.list(userId)) await service.changeKey(id);
  });

  metrics.gauge("berth_live_streams", "Streams with a publisher.", () => driver.published().length);

  function watch(id: string, file: string): Response {
    const found = driver.file(id, file);
    if (found) return found;
    throw offAir();
  }

  async function nameOf(id: string): Promise<string | null | undefined> {
    const agentId = await rows.agentOf(id);
    const agent = agentId === undefined ? undefined : await hosted.find(agentId);
    if (!agent) return undefined;
    return (await page(agent.id)).enabled ? agent.name : null;
  }

  return {
    service,
    web: webRoutes({ ...kernel, identities, guards: hosted.guards, watch, nameOf, pages: createPages() }),
    backend: backendRoutes({ identities, guards: hosted.guards, streams: service, watch }),
    async start() {
      isServing = true;
      driver.sweep();
      await news.afterStart();
      if (await rows.some()) await driver.open();
    },
    async stop() {
      isServing = false;
      await driver.close();
      await news.written();
    },
  };
});
