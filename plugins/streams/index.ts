// Live streams: an agent's video, published to Berth by RTMP and played from it as HLS.
import { AppError } from "../../src/kernel/errors.ts";
import { plugin } from "../../src/kernel/plugin.ts";
import { agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { publicPage } from "../public-page/index.ts";
import { createAdmission } from "./admission.ts";
import { backendRoutes } from "./backend-routes.ts";
import { createEmbeddedDriver } from "./embedded/embedded-driver.ts";
import { createPlayerPages } from "./player-page.ts";
import { createStateRecorder } from "./state-recorder.ts";
import { disabledDriver } from "./stream-driver.ts";
import { createStreamService } from "./stream-service.ts";
import { createStreamStore } from "./stream-store.ts";
import { webRoutes } from "./web-routes.ts";

export type { StreamAddresses, StreamService, StreamState, StreamStatus } from "./stream-service.ts";

/** Players of other origins may know it too; and nobody keeps it, since it may be on the air in a second. */
const OFF_AIR_HEADERS = { "access-control-allow-origin": "*", "cache-control": "no-store" };
const streamOffAir = () => {
  const text = "Nothing is on the air here right now. Try again later.";
  return new AppError(404, "STREAM_OFF_AIR", text, {}, { headers: OFF_AIR_HEADERS });
};

const ROTATE_KEYS_JOB = "streams.strangers-out";

export const streams = plugin("streams", (host) => {
  const { kernel } = host;
  const { config, jobs, log, metrics } = kernel;
  const accounts = host.use(auth);
  const { identities, users } = accounts;
  const agentService = host.use(agents);
  const { publicPageOf } = host.use(publicPage);

  const rows = createStreamStore(kernel);
  const stateRecorder = createStateRecorder({ ...kernel, agents: agentService, rows });
  const hooks = {
    admit: createAdmission({ users, agents: agentService, rows }),
    onStarted: (stream: { id: string; agentId: string }) => stateRecorder.recordState(stream, "active"),
    onEnded: (stream: { id: string; agentId: string }, reason: string | undefined) =>
      stateRecorder.recordState(stream, "idle", reason),
    logForAgent: ({ agentId }: { agentId: string }, text: string) =>
      agentService.log(agentId, "warning", text, "stream"),
  };
  const driver = config.streams.driver === "off" ? disabledDriver : createEmbeddedDriver(kernel, hooks);
  let acceptsPublishers = false;
  const service = createStreamService({ driver, rows, acceptsPublishers: () => acceptsPublishers });

  const logEndFailure = (agentId: string) => (error: unknown) =>
    log.error("a live stream could not be ended", { agentId, error });
  agentService.onChange((agentId) => {
    if (driver.publishedStreams().some((stream) => stream.agentId === agentId))
      endIfStopped(agentId).catch(logEndFailure(agentId));
  });
  agentService.onDelete(async (agentId) => {
    // Its row has gone with the agent's own.
    for (const { id } of driver.publishedStreams().filter((stream) => stream.agentId === agentId)) {
      await driver.end(id, "the agent was removed.");
    }
  });
  async function endIfStopped(agentId: string): Promise<void> {
    const agent = await agentService.find(agentId);
    if (agent?.status !== "stopped") return;
    for (const { id } of driver.publishedStreams().filter((stream) => stream.agentId === agentId)) {
      await driver.end(id, "the agent was stopped.");
    }
  }

  // A key that a stranger was shown opens nothing for the owner's agents: each gets another.
  accounts.onAccountReclaim((userId) => [jobs.enqueueStatement(ROTATE_KEYS_JOB, { userId })]);
  jobs.handle(ROTATE_KEYS_JOB, async (payload) => {
    const { userId } = payload as { userId: string };
    // Also while streams are switched off: the rows are there, and the keys in them good again once they are back.
    for (const { id } of await agentService.list(userId)) await service.rotateKeyIfPresent(id);
  });

  metrics.gauge("berth_live_streams", "Streams with a publisher.", () => driver.publishedStreams().length);

  function mediaResponse(id: string, file: string): Response {
    const found = driver.fileResponse(id, file);
    if (found) return found;
    throw streamOffAir();
  }

  async function publicNameOf(id: string): Promise<string | null | undefined> {
    const agentId = await rows.agentIdOf(id);
    const agent = agentId === undefined ? undefined : await agentService.find(agentId);
    if (!agent) return undefined;
    return (await publicPageOf(agent.id)).enabled ? agent.name : null;
  }

  return {
    service,
    web: webRoutes({
      ...kernel,
      identities,
      guards: agentService.guards,
      mediaResponse,
      publicNameOf,
      playerPages: createPlayerPages(),
    }),
    backend: backendRoutes({ identities, guards: agentService.guards, streamService: service, mediaResponse }),
    async start() {
      acceptsPublishers = true;
      driver.removeLeftovers();
      await stateRecorder.recordInterrupted();
      if (await rows.hasAny()) await driver.open();
    },
    async stop() {
      acceptsPublishers = false;
      await driver.close();
      await stateRecorder.flush();
    },
  };
});
