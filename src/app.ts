// The table of contents: every plugin, in order, and the two surfaces they make together.
import { type AnyElysia, Elysia } from "elysia";
import { agents } from "../plugins/agents/index.ts";
import { ai } from "../plugins/ai/index.ts";
import { auth } from "../plugins/auth/index.ts";
import { channels } from "../plugins/channels/index.ts";
import { interaction } from "../plugins/interaction/index.ts";
import { runtime } from "../plugins/runtime/index.ts";
import { skills } from "../plugins/skills/index.ts";
import { health } from "./health.ts";
import { errorHandler } from "./http.ts";
import { createHost, type Kernel, type Plugin } from "./plugin.ts";
import { createSurface, type Surface, servedTimes } from "./surface.ts";
import { swaggerPage } from "./swagger.ts";

/** In the order in which they start; they stop in reverse. */
const PLUGINS: readonly Plugin<unknown>[] = [auth, agents, ai, skills, runtime, channels, interaction];

export interface App {
  readonly web: Surface;
  readonly backend: Surface;
  /** Starts the plugins' background work. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** The model that answers unless an agent names another; settled once it is known whether there is an Ollama. */
  defaultModel(): Promise<{ label: string; demo: boolean }>;
  /** What commands and the start-up ask of accounts. */
  readonly accounts: ReturnType<typeof auth.setup>["service"];
}

/** Builds every plugin once over this kernel, and the surfaces from their routes. */
export function createApp(kernel: Kernel, external: readonly Plugin<unknown>[] = []): App {
  const host = createHost(kernel);
  for (const wanted of [...PLUGINS, ...external]) host.use(wanted);
  const parts = host.built.map(({ parts }) => parts);
  const { log } = kernel;

  const routesOf = (side: "web" | "backend") => {
    const app: AnyElysia = new Elysia({ name: side, normalize: true }).use(errorHandler(log)).use(health(side, host));
    for (const part of parts) if (part[side]) app.use(part[side]);
    return app.use(swaggerPage(side, app));
  };
  const served = servedTimes(kernel);
  const sockets = parts.flatMap((part) => part.sockets ?? []);
  const web = createSurface("web", routesOf("web"), kernel, served, sockets);
  const backend = createSurface("backend", routesOf("backend"), kernel, served, []);
  kernel.backend.attach(backend.handle);

  const started: typeof parts = [];
  return {
    web,
    backend,
    accounts: host.use(auth),
    defaultModel: async () => host.use(ai).resolveTurnModel({ choice: "model_a", keys: {} }),
    async start() {
      for (const part of parts) {
        await part.start?.();
        started.push(part);
      }
    },
    async stop() {
      for (const part of started.splice(0).reverse()) await part.stop?.();
    },
  };
}
