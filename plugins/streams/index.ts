// Live streams: an agent's owner publishes video to Berth by RTMP, and viewers play it from Berth as HLS.

import { plugin } from "../../src/kernel/plugin.ts";
import { agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { planSettings } from "../auth/settings.ts";
import { publicPage } from "../public-page/index.ts";
import { createAdmission } from "./admission.ts";
import { createEmbeddedDriver } from "./embedded/embedded-driver.ts";
import { streamSettings } from "./settings.ts";
import { createStateRecorder } from "./state-recorder.ts";
import { disabledDriver } from "./stream-driver.ts";
import { endStreamsWithAgents } from "./stream-lifecycle.ts";
import { createStreamService } from "./stream-service.ts";
import { createStreamStore } from "./stream-store.ts";
import { viewerRoutes } from "./viewer-routes.ts";

export type { StreamAddresses, StreamService, StreamState, StreamStatus } from "./stream-service.ts";

const ROTATE_KEYS_JOB = "streams.strangers-out";

export const streams = plugin("streams", (host) => {
  const { kernel } = host;
  const { config, jobs, log, metrics } = kernel;
  const authService = host.use(auth);
  const { identities, users } = authService;
  const agentService = host.use(agents);
  const { publicPageOf } = host.use(publicPage);

  const rows = createStreamStore(kernel);
  const stateRecorder = createStateRecorder({ ...kernel, agents: agentService, rows });
  const hooks = {
    admit: createAdmission({ users, agents: agentService, plans: kernel.config.of(planSettings).table, rows }),
    onStarted: (stream: { id: string; agentId: string }) => stateRecorder.recordState(stream, "active"),
    onEnded: (stream: { id: string; agentId: string }, reason: string | undefined) =>
      stateRecorder.recordState(stream, "idle", reason),
    logForAgent: ({ agentId }: { agentId: string }, text: string) =>
      agentService.log(agentId, "warning", text, "stream"),
  };
  const driver = config.of(streamSettings).driver === "off" ? disabledDriver : createEmbeddedDriver(kernel, hooks);
  let acceptsPublishers = false;
  const service = createStreamService({ driver, rows, acceptsPublishers: () => acceptsPublishers });
  endStreamsWithAgents({ agents: agentService, driver, log });

  // When the owner of an address reclaims an account, a stranger may have used it before and seen the keys: replace them.
  authService.onAccountReclaim((userId) => [jobs.enqueueStatement(ROTATE_KEYS_JOB, { userId })]);
  jobs.handle(ROTATE_KEYS_JOB, async (payload) => {
    const { userId } = payload as { userId: string };
    // Also with STREAM_DRIVER=off: the rows remain, and their keys would work once streams are switched on again.
    for (const { id } of await agentService.list(userId)) await service.rotateKeyIfPresent(id);
  });

  metrics.gauge("berth_live_streams", "Streams with a publisher.", () => driver.publishedStreams().length);

  async function publicNameOf(id: string): Promise<string | null | undefined> {
    const agentId = await rows.agentIdOf(id);
    const agent = agentId === undefined ? undefined : await agentService.find(agentId);
    if (!agent) return undefined;
    return (await publicPageOf(agent.id)).enabled ? agent.name : null;
  }

  return {
    service,
    // Players fetch a segment every second or two, many of them from one address. The route limits requests that fail.
    selfLimitedPaths: [{ surface: "web", method: "GET", prefix: "/live/", deep: true }],
    ...viewerRoutes({ ...kernel, identities, streamService: service, publicNameOf }),
    lateRoutes: {
      web: [
        async () => (await import("./web-routes.ts")).webRoutes({ ...kernel, identities, guards: agentService.guards }),
      ],
      backend: [
        async () =>
          (await import("./backend-routes.ts")).backendRoutes({ guards: agentService.guards, streamService: service }),
      ],
    },
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
