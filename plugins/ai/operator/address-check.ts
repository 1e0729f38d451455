// Decides which addresses an admin may store for a model provider: public ones, this machine, and what OUTBOUND_ALLOW names.

import { type Config, isLoopbackUrl } from "../../../src/kernel/config/config.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Outbound } from "../../../src/kernel/security/outbound.ts";

export type AddressCheck = (url: string) => Promise<void>;

interface Deps {
  config: Pick<Config, "web" | "backend">;
  outbound: Pick<Outbound, "check">;
}

/**
 * Rejects with 400 `INVALID_ADDRESS` or `ADDRESS_NOT_ALLOWED`, or 502 `UPSTREAM_UNREACHABLE` for a host without an address.
 * This machine is allowed, because a local Ollama is there, but not Berth's own ports, whose calls would come back here.
 */
export function createAddressCheck({ config, outbound }: Deps): AddressCheck {
  const ownPorts = new Set([config.web.port, config.backend.port].map(String));
  return async (text) => {
    const url = URL.parse(text);
    if (!url || !isLoopbackUrl(text)) return outbound.check(text);
    if (!/^https?:$/.test(url.protocol) || url.username || url.password)
      throw notAllowed("it is no plain http address");
    if (ownPorts.has(url.port)) throw notAllowed("Berth itself listens there");
  };
}

const notAllowed = (reason: string) =>
  new AppError(400, "ADDRESS_NOT_ALLOWED", `This address is not allowed: ${reason}.`);
