// Begins sign-ins at MCP servers that want more rights, and ends sign-ins when the owner's browser comes back.
import { AppError } from "../../src/kernel/errors.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import type { Connections } from "./connections/connections.ts";
import { createGuardedFetch } from "./connections/guarded-fetch.ts";
import { createOAuthProvider, SIGN_IN_MS } from "./connections/oauth-provider.ts";
import type { SignInStore } from "./connections/sign-in-store.ts";
import { askForScope, type MissingScope } from "./connections/step-up.ts";
import type { Target, Targets } from "./targets.ts";

interface Deps extends Pick<Kernel, "outbound" | "log"> {
  targets: Targets;
  signIns: SignInStore;
  connections: Pick<Connections, "close">;
}

export function createSignInFlow({ outbound, log, targets, signIns, connections }: Deps) {
  return {
    /** Makes the address at which the owner grants more rights. */
    async begin(target: Target, missing: MissingScope): Promise<void> {
      // A connection in use would store the sign-in as it knows it.
      await connections.close(target.key.agentId, target.name);
      try {
        const { server } = await targets.resolve(target);
        if ("url" in server) await askForScope(server, outbound, missing);
      } catch (error) {
        log.warn("a sign-in with more rights could not be begun", { agentId: target.key.agentId, error });
      }
    },

    /** Ends the sign-in that `parameters` (of the redirect, RFC 6749) belong to. Throws 400 `MCP_SIGN_IN_FAILED`. */
    async finish(agentId: string, name: string, parameters: URLSearchParams): Promise<Target> {
      const target = await targets.require(agentId, name);
      const key = targets.signInKey(target);
      const signIn = await signIns.load(key);
      const state = parameters.get("state");
      const isValid = state !== null && state === signIn.state && (signIn.startedAt ?? 0) + SIGN_IN_MS > Date.now();
      if (!isValid || target.settings.url === undefined) throw signInFailed("This sign-in has ended. Begin it again.");
      if (parameters.has("error")) throw signInFailed("The server has refused the sign-in. Try it again.");
      const url = new URL(target.settings.url);
      const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
      const transport = new StreamableHTTPClientTransport(url, {
        authProvider: createOAuthProvider(targets.addresses, signIn, (changed) => signIns.save(key, changed)),
        fetch: createGuardedFetch(outbound, url, async () => new Map()),
      });
      try {
        await transport.finishAuth(parameters);
      } catch (cause) {
        log.warn("a sign-in at an MCP server failed", { agentId, error: cause });
        throw signInFailed("The server has not accepted the sign-in. Try it again.", cause);
      }
      return target;
    },
  };
}

const signInFailed = (message: string, cause?: unknown) =>
  new AppError(400, "MCP_SIGN_IN_FAILED", message, {}, cause === undefined ? {} : { cause });
