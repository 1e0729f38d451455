// The table of contents: every plugin, in order, and the two surfaces they make together.
import { type AnyElysia, Elysia } from "elysia";
import { admin, type Commands } from "../plugins/admin/index.ts";
import { agents } from "../plugins/agents/index.ts";
import { ai } from "../plugins/ai/index.ts";
import { auth } from "../plugins/auth/index.ts";
import { channels } from "../plugins/channels/index.ts";
import { figures } from "../plugins/figures/index.ts";
import { gateway } from "../plugins/gateway/index.ts";
import { gating } from "../plugins/gating/index.ts";
import { interaction } from "../plugins/interaction/index.ts";
import { lifecycle } from "../plugins/lifecycle/index.ts";
import { provisioning } from "../plugins/provisioning/index.ts";
import { runtime } from "../plugins/runtime/index.ts";
import { skills } from "../plugins/skills/index.ts";
import { social } from "../plugins/social/index.ts";
import { streams } from "../plugins/streams/index.ts";
import { verification } from "../plugins/verification/index.ts";
import { visits } from "../plugins/visits/index.ts";
import { wallet } from "../plugins/wallet/index.ts";
import { webhooks } from "../plugins/webhooks/index.ts";
import { health } from "./health.ts";
import { errorHandler } from "./http.ts";
import { type BuiltPlugin, createHost, inItsName, type Kernel, type Plugin } from "./plugin.ts";
import { createSurface, type Surface, servedTimes } from "./surface.ts";
import { swaggerPage } from "./swagger.ts";

/** In the order in which they start; they stop in reverse. */
const PLUGINS: readonly Plugin<unknown>[] = [
  auth,
  agents,
  figures,
  ai,
  skills,
  runtime,
  channels,
  streams,
  lifecycle,
  interaction,
  gateway,
  visits,
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

  const routesOf = (side: "web" | "backend") => {
    // Hosts may be of any length, such as a container's name; Elysia else takes the first slash after the eleventh letter.
    const app: AnyElysia = new Elysia({ name: side, normalize: true, handler: { standardHostname: false } })
      .use(errorHandler(log))
      .use(health(side, host));
    for (const { parts } of built) if (parts[side]) app.use(parts[side]);
    return app.use(swaggerPage(side, app));
  };
  const served = servedTimes(kernel);
  const sockets = built.flatMap(({ parts }) => parts.sockets ?? []);
  const web = createSurface("web", routesOf("web"), kernel, served, sockets);
  const backend = createSurface("backend", routesOf("backend"), kernel, served, []);
  kernel.backend.attach(backend.handle);

  const started: BuiltPlugin[] = [];
  return {
    web,
    backend,
    accounts: host.use(auth),
    commands: { ...host.use(admin).commands, "vault.rotate": () => kernel.resealing.run() },
    defaultModel: async () => host.use(ai).resolveTurnModel({ choice: "model_a", keys: {} }),
    async start() {
      for (const one of built) {
        // One that fails halfway is stopped like the others.
        started.push(one);
        await inItsName(one, "be started", () => one.parts.start?.());
      }
    },
    async stop() {
      // Sockets last, and also where no background work runs: what is being answered still goes out over them.
      const hasSockets = ({ parts }: BuiltPlugin) => parts.sockets !== undefined;
      const first = started.splice(0).filter((one) => !hasSockets(one));
      const failures: unknown[] = [];
      for (const one of [...first.reverse(), ...built.filter(hasSockets).reverse()]) {
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
