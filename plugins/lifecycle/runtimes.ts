// The versions of the agent runtime that this process can run, and whether an agent is well on its own.
import { AppError } from "../../src/errors.ts";
import type { Agent } from "../agents/index.ts";
import { RUNTIME_VERSION } from "../agents/index.ts";

/** One version of the runtime. */
export interface Runtime {
  /** Dotted, such as `1.0.0`. */
  readonly version: string;
  /** Throws when this agent can't be run by it; the message is for the owner. */
  check(agent: Agent, signal: AbortSignal): Promise<void>;
}

export interface Runtimes {
  /** Adds a version, such as a third-party plugin's. A version that is there already is an error. */
  carry(runtime: Runtime): void;
  /** Those that are carried. */
  versions(): string[];
  /** The version an `update` asks for: by image, by version, or this binary's own. Else 400 `UNKNOWN_IMAGE`. */
  wanted(request: { image?: string | undefined; version?: string | undefined }): string;
  /** Settles when the agent is well; throws 500 `UNHEALTHY` with the reason, also after the time is up. */
  check(agent: Agent, version?: string): Promise<void>;
}

/** How long an agent has to come up. Contract §5. */
const HEALTHY_WITHIN = 15_000;
const IMAGE = "berth/agent:";

export const imageOf = (version: string) => `${IMAGE}${version}`;

export function createRuntimes(own: Runtime["check"], within = HEALTHY_WITHIN): Runtimes {
  const carried = new Map<string, Runtime>([[RUNTIME_VERSION, { version: RUNTIME_VERSION, check: own }]]);

  return {
    carry(runtime) {
      if (carried.has(runtime.version)) throw new Error(`The runtime ${runtime.version} is carried already.`);
      carried.set(runtime.version, runtime);
    },

    versions: () => [...carried.keys()],

    wanted({ image, version }) {
      const named = version ?? (image?.startsWith(IMAGE) ? image.slice(IMAGE.length) : image) ?? RUNTIME_VERSION;
      const disagree = image !== undefined && version !== undefined && image !== imageOf(version);
      if (carried.has(named) && !disagree) return named;
      const there = [...carried.keys()].map(imageOf).join(", ");
      throw new AppError(400, "UNKNOWN_IMAGE", `There is no such image here. Those this binary carries: ${there}.`);
    },

    async check(agent, version = agent.runtimeVersion) {
      const runtime = carried.get(version);
      if (!runtime) throw unhealthy(`it needs the runtime ${version}, which this binary does not carry; update it`);
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(unhealthy(`it was not up within ${within / 1000} s`)), within);
      const givenUp = new Promise<never>((_, reject) => {
        late.signal.addEventListener("abort", () => reject(late.signal.reason), { once: true });
      });
      try {
        await Promise.race([runtime.check(agent, late.signal), givenUp]);
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
