// The versions of the agent runtime that this process can run, and whether an agent is well on its own.
import { AppError } from "../../src/kernel/errors.ts";
import type { Agent } from "../agents/index.ts";
import { RUNTIME_VERSION } from "../agents/index.ts";

/** One version of the runtime. */
export interface Runtime {
  /** Dotted, such as `1.0.0`. */
  readonly version: string;
  /** Throws when this agent can't be run by it; the message is for the owner. */
  check(agent: Agent, signal: AbortSignal): Promise<void>;
}

export interface RuntimeRegistry {
  /** Adds a version, such as a third-party plugin's. A version that is there already is an error. */
  register(runtime: Runtime): void;
  /** Those that are carried. */
  versions(): string[];
  /** The version an `update` asks for: by image, by version, or this binary's own. Else 400 `UNKNOWN_IMAGE`. */
  resolveVersion(request: { image?: string | undefined; version?: string | undefined }): string;
  /** Settles when the agent is well; throws 500 `UNHEALTHY` with the reason, also after the time is up. */
  check(agent: Agent, version?: string): Promise<void>;
}

/** How long an agent has to come up. Contract §5. */
const HEALTH_TIMEOUT_MS = 15_000;
const IMAGE = "berth/agent:";

export const imageOf = (version: string) => `${IMAGE}${version}`;

export function createRuntimeRegistry(builtInCheck: Runtime["check"], timeoutMs = HEALTH_TIMEOUT_MS): RuntimeRegistry {
  const runtimesByVersion = new Map<string, Runtime>([
    [RUNTIME_VERSION, { version: RUNTIME_VERSION, check: builtInCheck }],
  ]);

  return {
    register(runtime) {
      if (runtimesByVersion.has(runtime.version)) throw new Error(`The runtime ${runtime.version} is carried already.`);
      runtimesByVersion.set(runtime.version, runtime);
    },

    versions: () => [...runtimesByVersion.keys()],

    resolveVersion({ image, version }) {
      const requested = version ?? (image?.startsWith(IMAGE) ? image.slice(IMAGE.length) : image) ?? RUNTIME_VERSION;
      const isContradictory = image !== undefined && version !== undefined && image !== imageOf(version);
      if (runtimesByVersion.has(requested) && !isContradictory) return requested;
      const available = [...runtimesByVersion.keys()].map(imageOf).join(", ");
      throw new AppError(400, "UNKNOWN_IMAGE", `There is no such image here. Those this binary carries: ${available}.`);
    },

    async check(agent, version = agent.runtimeVersion) {
      const runtime = runtimesByVersion.get(version);
      if (!runtime) throw unhealthy(`it needs the runtime ${version}, which this binary does not carry; update it`);
      const timeout = new AbortController();
      const timer = setTimeout(() => timeout.abort(unhealthy(`it was not up within ${timeoutMs / 1000} s`)), timeoutMs);
      const timedOut = new Promise<never>((_, reject) => {
        timeout.signal.addEventListener("abort", () => reject(timeout.signal.reason), { once: true });
      });
      try {
        await Promise.race([runtime.check(agent, timeout.signal), timedOut]);
      } catch (error) {
        if (error instanceof AppError && error.code === "UNHEALTHY") throw error;
        throw unhealthy(error instanceof AppError ? error.message : "its runtime failed; see its log", error);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

const unhealthy = (why: string, cause?: unknown) =>
  new AppError(500, "UNHEALTHY", `The agent could not come up: ${why.replace(/\.$/, "")}.`, {}, { cause });
