// The versions of the agent runtime that this process can run, and the time-limited health check of an agent.
import { AppError } from "../../src/kernel/errors.ts";
import { withTimeout } from "../../src/kernel/util/timeout.ts";
import { type Agent, RUNTIME_VERSION } from "../agents/index.ts";

/** One version of the runtime. */
export interface Runtime {
  /** Dotted, such as `1.0.0`. */
  readonly version: string;
  /** Throws when it can't run this agent; the message of an AppError is shown to the owner. */
  check(agent: Agent, signal: AbortSignal): Promise<void>;
}

export interface RuntimeRegistry {
  /** Adds a version, such as a third-party plugin's. Throws if the version is registered already. */
  register(runtime: Runtime): void;
  /** The registered versions. */
  versions(): string[];
  /**
   * The version of an update request: by image, by version, else this binary's own. 400 `UNKNOWN_IMAGE` if it is not
   * registered.
   */
  resolveVersion(request: { image?: string | undefined; version?: string | undefined }): string;
  /** Resolves when the agent is healthy; throws 500 `UNHEALTHY` with the reason if it is not, or not in time. */
  check(agent: Agent, version?: string): Promise<void>;
}

/** How long an agent may take to come up. */
const HEALTH_TIMEOUT_MS = 15_000;
const IMAGE = "berth/agent:";

export const imageOf = (version: string) => `${IMAGE}${version}`;

export function createRuntimeRegistry(builtInCheck: Runtime["check"], timeoutMs = HEALTH_TIMEOUT_MS): RuntimeRegistry {
  const runtimesByVersion = new Map<string, Runtime>([
    [RUNTIME_VERSION, { version: RUNTIME_VERSION, check: builtInCheck }],
  ]);

  return {
    register(runtime) {
      if (runtimesByVersion.has(runtime.version))
        throw new Error(`The runtime ${runtime.version} is registered already.`);
      runtimesByVersion.set(runtime.version, runtime);
    },

    versions: () => [...runtimesByVersion.keys()],

    resolveVersion({ image, version }) {
      const requested = version ?? (image?.startsWith(IMAGE) ? image.slice(IMAGE.length) : image) ?? RUNTIME_VERSION;
      const isContradictory = image !== undefined && version !== undefined && image !== imageOf(version);
      if (runtimesByVersion.has(requested) && !isContradictory) return requested;
      const available = [...runtimesByVersion.keys()].map(imageOf).join(", ");
      throw new AppError(400, "UNKNOWN_IMAGE", `There is no such image. This binary has: ${available}.`);
    },

    async check(agent, version = agent.runtimeVersion) {
      const runtime = runtimesByVersion.get(version);
      if (!runtime)
        throw unhealthy(`it needs the runtime ${version}, which this binary does not have; update the agent`);
      try {
        await withTimeout((signal) => runtime.check(agent, signal), {
          ms: timeoutMs,
          error: () => unhealthy(`it was not up within ${timeoutMs / 1000} s`),
        });
      } catch (error) {
        if (error instanceof AppError && error.code === "UNHEALTHY") throw error;
        throw unhealthy(error instanceof AppError ? error.message : "its runtime failed; see the agent's log", error);
      }
    },
  };
}

const unhealthy = (why: string, cause?: unknown) =>
  new AppError(500, "UNHEALTHY", `The agent could not come up: ${why.replace(/\.$/, "")}.`, {}, { cause });
