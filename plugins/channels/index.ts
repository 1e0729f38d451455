// Channels: the bots that agents answer as, hosted in this process: connected, kept connected, heard and spoken through.

import { createOrder } from "../../src/order.ts";
import { plugin } from "../../src/plugin.ts";
import { agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { figures } from "../figures/index.ts";
import { runtime } from "../runtime/index.ts";
import { createAdapters } from "./adapters.ts";
import { backendRoutes } from "./backend.ts";
import { createCallbacks } from "./callbacks.ts";
import { createChannels } from "./channels.ts";
import { createConnections } from "./connections.ts";
import { createDeliver } from "./delivery.ts";
import { createEstate } from "./estate.ts";
import { createFetchFile } from "./files.ts";
import { createHooks } from "./hooks.ts";
import { createIntake } from "./intake.ts";
import { createKeeper } from "./keeper.ts";
import { createLines } from "./lines.ts";
import { createLinks } from "./links.ts";
import { createNews, type State } from "./news.ts";
import { createOwnerCommands } from "./owner-commands.ts";
import { createPairings } from "./pairings.ts";
import { createPreviews } from "./previews.ts";
import { createResumes } from "./resumes.ts";
import { CHANNEL_IDS } from "./schema.ts";
import { createSupervisor } from "./supervisor.ts";
import { createTrials } from "./trials.ts";
import { webRoutes } from "./web.ts";

export type { ChannelId } from "../../channels/channel.ts";
export { isChannelId } from "./adapters.ts";
export type { ChannelState, CheckedToken, ConnectRequest, GivenToken } from "./channels.ts";
export { CONNECT_ERRORS } from "./model.ts";
export { readOwnerId } from "./owner-id.ts";

export const channels = plugin("channels", (host) => {
  const { kernel } = host;
  const { log, metrics } = kernel;
  const { identities } = host.use(auth);
  const hosted = host.use(agents);
  const talks = host.use(runtime);

  const counted = host.use(figures);
  const adapters = createAdapters({ ...kernel, traffic: counted.traffic });
  const connections = createConnections(kernel);
  const pairings = createPairings(kernel);
  const inOrder = createOrder();
  const lines = createLines({ agents: hosted, adapters, connections });
  const resumes = createResumes({ log, connections });
  const news = createNews({ ...kernel, agents: hosted, runtime: talks });
  const { undelivered, lost } = news;
  const intake = createIntake({ ...kernel, agents: hosted, runtime: talks, pairings, resumes, lost });
  const { sinkOf } = intake;
  const callbacks = createCallbacks(kernel.config, adapters);
  const links = createLinks(news.state);
  const held = { log, adapters, callbacks, connections, lines, links };
  const keeper = createKeeper({ ...held, sinkOf });
  const supervisor = createSupervisor({ ...held, agents: hosted, keeper, inOrder });
  const service = createChannels({
    ...kernel,
    agents: hosted,
    adapters,
    connections,
    lines,
    pairings,
    supervisor,
    inOrder,
  });
  const trials = createTrials(kernel.limits);
  const hooks = createHooks({ ...kernel, agents: hosted, lines, intake, traffic: counted.traffic });
  counted.holds(lines.held);
  counted.keeps(supervisor.kept);
  talks.obeyVia(createOwnerCommands({ lines, pairings, intake }));
  const previews = createPreviews({ log, adapters, lines, runtime: talks });

  for (const channel of CHANNEL_IDS) {
    talks.deliverVia(channel, createDeliver(channel, { log, agents: hosted, lines, supervisor, undelivered }));
    talks.fetchFileVia(channel, createFetchFile(channel, { lines }));
    talks.previewVia(channel, (entry) => previews.of(channel, entry));
  }
  metrics.gauge(
    "berth_channel_connections",
    "Bots by state; one whose platform posts to us is counted only while that is being set up or has failed.",
    ["state"],
    () => Object.entries(supervisor.counts()).map(([state, count]) => [{ state: state as State }, count] as const),
  );

  /** Connections are kept where the backend runs. */
  let started = false;
  let starting: Promise<void> = Promise.resolve();
  const failed = (agentId: string) => (error: unknown) =>
    log.error("channels could not be settled", { agentId, error });
  hosted.onChange((agentId) => {
    if (started) inOrder(agentId, () => supervisor.settle(agentId)).catch(failed(agentId));
  });
  hosted.beforeDelete(service.removing);
  hosted.onDelete((agentId) => service.removed(agentId, CHANNEL_IDS));

  const estate = createEstate({ ...kernel, agents: hosted, connections, lines, pairings });

  return {
    service: { ...service, estate },
    web: webRoutes({ backend: kernel.backend, identities, guards: hosted.guards, hooks }),
    backend: backendRoutes({
      identities,
      guards: hosted.guards,
      channels: service,
      pairings,
      lines,
      intake,
      hooks,
      trials,
    }),
    start() {
      started = true;
      // Not waited for: a platform that is down does not keep Berth from serving.
      starting = supervisor.startAll().catch(failed("all"));
    },
    async stop() {
      started = false;
      await Promise.all([supervisor.stop(), intake.stop()]);
      await starting;
      await resumes.stop();
    },
  };
});
