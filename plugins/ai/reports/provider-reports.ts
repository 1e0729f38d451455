// Reports each provider for admins: whether it can be reached, its circuit breaker, its last calls and its models.

import type { Catalogue } from "../providers/catalogue.ts";
import type { BreakerState } from "../providers/circuit-breaker.ts";
import type { ProviderId } from "../providers/provider.ts";
import type { ProviderHealth } from "../providers/provider-health.ts";
import type { Providers } from "../providers/providers.ts";
import type { CallFigures, CallRecorder } from "./call-figures.ts";

export interface ProviderReport extends CallFigures {
  id: ProviderId;
  /** For people: what answers, which may be a local server or the demo model in place of the provider. */
  label: string;
  /** The provider's own name. */
  name: string;
  /** Whether it is called with the operator's key or address. Agents with keys of their own may call any provider. */
  configured: boolean;
  /** The built-in demo model stands for it. */
  demo: boolean;
  /** By the last probe; undefined if it is not configured or not probed yet. */
  reachable: boolean | undefined;
  breaker: BreakerState;
  /** Milliseconds until a call is permitted again; 0 while the breaker is closed. */
  retryAfterMs: number;
  /** Models of it in the catalogue. */
  models: number;
  /** The name of the setting with its key. */
  keySetting: string;
}

interface Deps {
  providers: Pick<Providers, "registry" | "operatorUpstream">;
  health: Pick<ProviderHealth, "breakerOf" | "reachabilityOf">;
  catalogue: Pick<Catalogue, "listKnown">;
  calls: Pick<CallRecorder, "figuresOf">;
}

export const createProviderReports =
  ({ providers, health, catalogue, calls }: Deps) =>
  (): ProviderReport[] => {
    const counts = new Map<ProviderId, number>();
    for (const { provider } of catalogue.listKnown()) counts.set(provider, (counts.get(provider) ?? 0) + 1);
    return providers.registry.all.map(({ id, label, env }) => {
      const upstream = providers.operatorUpstream(id);
      const breaker = upstream && health.breakerOf(upstream);
      return {
        id,
        label: upstream?.label ?? label,
        name: label,
        configured: upstream !== undefined && !upstream.demo,
        demo: upstream?.demo ?? false,
        reachable: upstream && health.reachabilityOf(upstream),
        breaker: breaker?.state() ?? "closed",
        retryAfterMs: breaker?.retryAfterMs() ?? 0,
        models: counts.get(id) ?? 0,
        keySetting: `${env}_API_KEY`,
        ...calls.figuresOf(id),
      };
    });
  };
