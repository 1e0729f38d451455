// Tests what is said when a provider can't be reached: an address is to be checked only if somebody has chosen one.
import { expect, test } from "bun:test";
import type { Upstream } from "../providers/providers.ts";
import { defaultProvider } from "../providers/registry.ts";
import { tryProvider } from "./try-provider.ts";

const definition = defaultProvider;
/** Nothing listens at this port of the loopback. */
const CLOSED = "http://127.0.0.1:9";

async function messageFor(baseUrl: string): Promise<string> {
  const upstream: Upstream = {
    ...{ provider: definition.id, definition, label: definition.label, baseUrl },
    ...{ apiKey: "sk-or-v1-of-this-test", demo: false, local: false },
    // The closed port stands for the whole outside: no test leaves the machine.
    fetch: (_, init) => fetch(CLOSED, init),
  };
  const result = await tryProvider(upstream, "any/model", {
    catalogue: { entry: () => expect.unreachable() },
  });
  return result.ok ? "answers" : `${result.reason}: ${result.message}`;
}

test("a provider at its own address can't be reached: the connection is to be checked, not an address", async () => {
  const message = await messageFor(definition.baseUrl);
  expect(message).toStartWith(`no_connection: ${definition.label} can't be reached from the machine`);
  expect(message).not.toContain("address");
});

test("a server at a chosen address can't be reached: the address is to be checked", async () => {
  expect(await messageFor(`${CLOSED}/v1`)).toMatch(/^unreachable: .* Check the address/);
});
