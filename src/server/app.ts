// The table of contents: every plugin, in order, and the two surfaces they make together.
import { type AnyElysia, Elysia } from "elysia";
import { admin, type Commands } from "../../plugins/admin/index.ts";
import { agentStats } from "../../plugins/agent-stats/index.ts";
import { agents } from "../../plugins/agents/index.ts";
import { ai } from "../../plugins/ai/index.ts";
import { auth } from "../../plugins/auth/index.ts";
import { channels } from "../../plugins/channels/index.ts";
import { gateway } from "../../plugins/gateway/index.ts";
import { gating } from "../../plugins/gating/index.ts";
import { interaction } from "../../plugins/interaction/index.ts";
import { lifecycle } from "../../plugins/lifecycle/index.ts";
import { provisioning } from "../../plugins/provisioning/index.ts";
import { publicPage } from "../../plugins/public-page/index.ts";
import { runtime } from "../../plugins/runtime/index.ts";
import { skills } from "../../plugins/skills/index.ts";
import { social } from "../../plugins/social/index.ts";
import { streams } from "../../plugins/streams/index.ts";
import { verification } from "../../plugins/verification/index.ts";
import { wallet } from "../../plugins/wallet/index.ts";
import { webhooks } from "../../plugins/webhooks/index.ts";
import { healthRoutes } from "../kernel/http/health-routes.ts";
import { errorHandler } from "../kernel/http/http.ts";
import { swaggerRoutes } from "../kernel/http/openapi/swagger-routes.ts";
import { createRequestDurations, createSurface, type Surface } from "../kernel/http/surface.ts";
import { type BuiltPlugin, createHost, type Kernel, type Plugin, runPluginStep } from "../kernel/plugin.ts";

/** In the order in which they start; they stop in reverse. */
const PLUGINS: readonly Plugin<unknown>[] = [
  auth,
  agents,
  agentStats,
  ai,
  skills,
  runtime,
  channels,
  streams,
  lifecycle,
  interaction,
  gateway,
  publicPage,
  provisioning,
  verification,
  gating,
  social,
  wallet,
  webhooks,
  admin,
];

export interface App {
  readonly web: Surface;
  readonly backend: Surface;
  /** Starts the plugins' background work. Throws StartError with the name of the one that can't. */
  start(): Promise<void>;
  /** Stops what was started and closes all sockets; one that fails does not keep the others from it. */
  stop(): Promise<void>;
  /** The model that answers unless an agent names another; settled once it is known whether there is an Ollama. */
  defaultModel(): Promise<{ label: string; demo: boolean }>;
  /** What commands and the start-up ask of accounts. */
  readonly accounts: ReturnType<typeof auth.setup>["service"];
  /** What the operator can do from the command line while this runs. */
  readonly commands: Commands;
}

/** Builds every plugin once over this kernel, and the surfaces from their routes. */
export function createApp(kernel: Kernel, external: readonly Plugin<unknown>[] = []): App {
  const host = createHost(kernel);
  for (const wanted of [...PLUGINS, ...external]) host.use(wanted);
  const { built } = host;
  const { log } = kernel;

  const buildRoutes = (surfaceName: "web" | "backend") => {
    // Hosts may be of any length, such as a container's name; Elysia else takes the first slash after the eleventh letter.
    const app: AnyElysia = new Elysia({ name: surfaceName, normalize: true, handler: { standardHostname: false } })
      .use(errorHandler(log))
      .use(healthRoutes(surfaceName, host));
    for (const { parts } of built) if (parts[surfaceName]) app.use(parts[surfaceName]);
    return app.use(swaggerRoutes(surfaceName, app));
  };
  const requestDurations = createRequestDurations(kernel);
  const sockets = built.flatMap(({ parts }) => parts.sockets ?? []);
  const web = createSurface("web", buildRoutes("web"), kernel, requestDurations, sockets);
  const backend = createSurface("backend", buildRoutes("backend"), kernel, requestDurations, []);
  kernel.backend.attach(backend.handle);

  const started: BuiltPlugin[] = [];
  return {
    web,
    backend,
    accounts: host.use(auth),
    commands: { ...host.use(admin).commands, "vault.rotate": () => kernel.keyRotation.run() },
    defaultModel: async () => host.use(ai).resolveTurnModel({ choice: "model_a", keys: {} }),
    async start() {
      for (const one of built) {
        // One that fails halfway is stopped like the others.
        started.push(one);
        await runPluginStep(one, "be started", () => one.parts.start?.());
      }
    },
    async stop() {
      // Sockets last, and also where no background work runs: what is being answered still goes out over them.
      const hasSockets = ({ parts }: BuiltPlugin) => parts.sockets !== undefined;
      const withoutSockets = started.splice(0).filter((one) => !hasSockets(one));
      const failures: unknown[] = [];
      for (const one of [...withoutSockets.reverse(), ...built.filter(hasSockets).reverse()]) {
        try {
          await one.parts.stop?.();
        } catch (error) {
          log.error("a plugin could not be stopped", { plugin: one.name, error });
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}
