// Lists every plugin in order, builds them, and makes the two surfaces from their parts.
import { type AnyElysia, Elysia } from "elysia";
import { admin, type Commands } from "../../plugins/admin/index.ts";
import { agentModels } from "../../plugins/agent-models/index.ts";
import { agentStats } from "../../plugins/agent-stats/index.ts";
import { agents } from "../../plugins/agents/index.ts";
import { ai } from "../../plugins/ai/index.ts";
import { approvals } from "../../plugins/approvals/index.ts";
import { auth } from "../../plugins/auth/index.ts";
import { billing } from "../../plugins/billing/index.ts";
import { chains } from "../../plugins/chains/index.ts";
import { channels } from "../../plugins/channels/index.ts";
import { clientChats } from "../../plugins/client-chats/index.ts";
import { console as webConsole } from "../../plugins/console/index.ts";
import { documentWriter } from "../../plugins/document-writer/index.ts";
import { documentation } from "../../plugins/documentation/index.ts";
import { documents } from "../../plugins/documents/index.ts";
import { embed } from "../../plugins/embed/index.ts";
import { fleet } from "../../plugins/fleet/index.ts";
import { gateway } from "../../plugins/gateway/index.ts";
import { gating } from "../../plugins/gating/index.ts";
import { interaction } from "../../plugins/interaction/index.ts";
import { knowledge } from "../../plugins/knowledge/index.ts";
import { lifecycle } from "../../plugins/lifecycle/index.ts";
import { mcp } from "../../plugins/mcp/index.ts";
import { mcpServer } from "../../plugins/mcp-server/index.ts";
import { modelProviders } from "../../plugins/model-providers/index.ts";
import { openaiApi } from "../../plugins/openai-api/index.ts";
import { overview } from "../../plugins/overview/index.ts";
import { peers } from "../../plugins/peers/index.ts";
import { pictures } from "../../plugins/pictures/index.ts";
import { privacy } from "../../plugins/privacy/index.ts";
import { provisioning } from "../../plugins/provisioning/index.ts";
import { publicPage } from "../../plugins/public-page/index.ts";
import { runtime } from "../../plugins/runtime/index.ts";
import { sandbox } from "../../plugins/sandbox/index.ts";
import { schedules } from "../../plugins/schedules/index.ts";
import { setup } from "../../plugins/setup/index.ts";
import { skillFolders } from "../../plugins/skill-folders/index.ts";
import { skills } from "../../plugins/skills/index.ts";
import { social } from "../../plugins/social/index.ts";
import { streams } from "../../plugins/streams/index.ts";
import { uploads } from "../../plugins/uploads/index.ts";
import { verification } from "../../plugins/verification/index.ts";
import { wallet } from "../../plugins/wallet/index.ts";
import { webSearch } from "../../plugins/web-search/index.ts";
import { webhooks } from "../../plugins/webhooks/index.ts";
import { migratePlugin } from "../kernel/database/migrate.ts";
import { requireSoundRoutes } from "../kernel/external-routes.ts";
import { errorHandler } from "../kernel/http/error-response.ts";
import { healthRoutes } from "../kernel/http/health-routes.ts";
import { swaggerRoutes } from "../kernel/http/openapi/swagger-routes.ts";
import { createRequestDurations, createSurface, type Surface } from "../kernel/http/surface.ts";
import type { LatePart } from "../kernel/late-apps.ts";
import { createLateRouter } from "../kernel/late-routes.ts";
import { backendHome } from "../kernel/pages/backend-home.ts";
import type { Kernel, Plugin, ServiceOf } from "../kernel/plugin.ts";
import { type BuiltPlugin, createHost, latePartsOf, runPluginStep } from "../kernel/plugin-host.ts";
import { describeApi } from "./api/api-description.ts";
import { readExamples } from "./api/api-examples.ts";
import { describeTags } from "./api/api-tags.ts";

/** The plugins in the order in which they start. They stop in reverse order. */
const PLUGINS: readonly Plugin<unknown>[] = [
  chains,
  auth,
  agents,
  agentStats,
  ai,
  openaiApi,
  documents,
  skills,
  sandbox,
  pictures,
  documentWriter,
  webSearch,
  mcp,
  approvals,
  uploads,
  runtime,
  schedules,
  knowledge,
  channels,
  streams,
  lifecycle,
  clientChats,
  agentModels,
  interaction,
  gateway,
  publicPage,
  embed,
  peers,
  overview,
  provisioning,
  verification,
  gating,
  social,
  wallet,
  skillFolders,
  mcpServer,
  webhooks,
  admin,
  billing,
  privacy,
  fleet,
  webConsole,
  documentation,
  modelProviders,
  setup,
];

type SurfaceName = Surface["name"];

export interface App {
  readonly web: Surface;
  readonly backend: Surface;
  /** Lists the routes of a surface that are built at the first request for one of them. */
  lateParts(surfaceName: SurfaceName): readonly LatePart[];
  /**
   * Checks the routes of third-party plugins and, where the backend runs, migrates their tables, before anything is served. Throws
   * StartError with the name of a plugin.
   */
  prepareExternal(): Promise<void>;
  /** Asks every plugin whether it could start, and changes nothing. Throws StartError with the name of a plugin that could not. */
  check(): Promise<void>;
  /** Starts the plugins' background work. Throws StartError with the name of a plugin that fails. */
  start(): Promise<void>;
  /** Stops the started plugins and closes all sockets. If one fails, the others are stopped nevertheless. */
  stop(): Promise<void>;
  /** Returns the default model of agents, once it is known whether an Ollama is running. */
  defaultModel(): Promise<{ label: string; demo: boolean }>;
  /** The service of accounts, for commands and the start. */
  readonly accounts: ReturnType<typeof auth.setup>["service"];
  /** The start registers its own work here: the report of settings, and backups. */
  readonly instance: Pick<
    ServiceOf<typeof fleet>,
    "registerSettingsReport" | "registerBackupWork" | "listenToCopy" | "figures"
  >;
  /** The start registers where the list of erasures is kept besides. */
  readonly people: Pick<ServiceOf<typeof privacy>, "registerListStorage">;
  /** The commands that change data, by name. */
  readonly commands: Commands;
}

/** Builds every plugin once, and the surfaces from their parts. Throws StartError if a plugin can't be built. */
export function createApp(kernel: Kernel, external: readonly Plugin<unknown>[] = []): App {
  const host = createHost(kernel);
  for (const plugin of PLUGINS) host.use(plugin);
  const builtIn = [...host.built];
  for (const plugin of external) host.use(plugin);
  const { built } = host;
  const { log } = kernel;
  const parts = built.map(({ parts }) => parts);
  const secretPaths = parts.flatMap(({ secretPaths = [] }) => secretPaths);
  const selfLimitedPaths = parts.flatMap(({ selfLimitedPaths = [] }) => selfLimitedPaths);
  const securitySchemes = Object.assign({}, ...parts.map(({ securitySchemes }) => securitySchemes));
  const socketPaths = Object.assign({}, ...parts.map(({ documentedPaths }) => documentedPaths));

  const errorFormats = parts.flatMap(({ errorFormats = [] }) => errorFormats);
  const latePrefixes = ["/api/", ...parts.flatMap(({ latePrefixes = [] }) => latePrefixes)];
  const errors = errorHandler(log, { secretPaths, errorFormats });
  const lateParts = (surfaceName: SurfaceName) => latePartsOf(built, surfaceName);
  const own: Record<SurfaceName, AnyElysia[]> = { web: [], backend: [] };
  const buildRoutes = (surfaceName: SurfaceName) => {
    // Without this option, Elysia looks for the path after the eleventh character, and short host names fail.
    const app: AnyElysia = new Elysia({ name: surfaceName, normalize: true, handler: { standardHostname: false } });
    const lateRouter = createLateRouter(surfaceName, () => lateParts(surfaceName), errors, {
      prefixes: latePrefixes,
      // A route of a third-party plugin may win against one that is listed.
      places:
        external.length === 0
          ? async () => (await import("./api/late-places.ts")).readLatePlaces()?.[surfaceName]
          : undefined,
    });
    const health: AnyElysia = healthRoutes(surfaceName, host);
    const home = surfaceName === "backend" ? backendHome() : undefined;
    const swagger = swaggerRoutes(surfaceName, async () => [app, ...(await lateRouter.apps())], {
      description: describeApi(surfaceName),
      tags: describeTags(kernel.config.baseUrl),
      paths: surfaceName === "web" ? socketPaths : {},
      securitySchemes,
      examples: () => readExamples(surfaceName),
      reference: host.use(webConsole).reference,
    });
    own[surfaceName] = [health, ...(home ? [home] : []), swagger];
    app.use(errors).use(health);
    for (const one of parts) if (one[surfaceName]) app.use(one[surfaceName]);
    app.use(lateRouter.fallback);
    if (home) app.use(home);
    return app.use(swagger);
  };
  const requestDurations = createRequestDurations(kernel);
  const web = createSurface("web", buildRoutes("web"), kernel, requestDurations, {
    sockets: parts.flatMap(({ sockets = [] }) => sockets),
    virtualHosts: parts.flatMap(({ virtualHost }) => virtualHost ?? []),
    selfLimitedPaths,
    crossOriginPaths: parts.flatMap(({ crossOriginPaths = [] }) => crossOriginPaths),
    secretPaths,
    errorFormats,
  });
  const backend = createSurface("backend", buildRoutes("backend"), kernel, requestDurations, {
    selfLimitedPaths,
    secretPaths,
    errorFormats,
  });
  kernel.backend.attach(backend.handle);

  const started: BuiltPlugin[] = [];
  return {
    web,
    backend,
    lateParts,
    accounts: host.use(auth),
    instance: host.use(fleet),
    people: host.use(privacy),
    commands: withOperator(kernel, {
      ...host.use(admin).commands,
      ...host.use(lifecycle).commands,
      ...host.use(fleet).commands,
      ...host.use(privacy).commands,
      async "vault.rotate"() {
        const results = await kernel.keyRotation.run();
        const target = { kind: "vault", id: kernel.vault.keyId, name: "" };
        await kernel.database.write([kernel.audit.record({ action: "vault.rotate", target })]);
        return results;
      },
    }),
    defaultModel: async () => host.use(ai).resolveTurnModel({ choice: "model_a", keys: {} }),
    async prepareExternal() {
      if (external.length === 0) return;
      const added = built.filter((one) => !builtIn.includes(one));
      for (const name of ["web", "backend"] as const)
        await requireSoundRoutes(name, { own: own[name], builtIn, external: added });
      if (kernel.config.role === "web") return;
      for (const one of added) {
        const { migrations = [] } = one.parts;
        if (migrations.length > 0)
          await runPluginStep(one, "be migrated", () => migratePlugin(kernel.database, one.name, migrations, log));
      }
    },
    async check() {
      for (const one of built) await runPluginStep(one, "be started", () => one.parts.check?.());
    },
    async start() {
      for (const one of built) {
        // Added first, so that a plugin that fails while starting is stopped too.
        started.push(one);
        await runPluginStep(one, "be started", () => one.parts.start?.());
      }
    },
    async stop() {
      // Plugins with sockets come last, since replies in progress are sent over them. They are also stopped if they were
      // never started.
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

/** The changes of a command are its operator's in the audit log. */
const withOperator = ({ audit }: Pick<Kernel, "audit">, commands: Commands): Commands =>
  Object.fromEntries(
    Object.entries(commands).map(([name, run]) => [
      name,
      (args) => {
        const actor = { kind: "command", id: null, name: args.operator ?? "", address: null, requestId: null } as const;
        return audit.as(actor, () => run(args));
      },
    ]),
  );
