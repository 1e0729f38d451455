// Makes an adapter whose code is loaded at its first call: a service without bots of a channel needs none of it.
import type { ChannelDefinition } from "../../channels/definition.ts";
import type { ChannelAdapter, ConnectionListener, WebhookReceiver } from "../../channels/port.ts";
import { once } from "../../src/kernel/util/cache.ts";

/** `load` is called once. The capabilities say which of the optional verbs the adapter will have. */
export function createLateAdapter(
  { label, capabilities }: Pick<ChannelDefinition, "label" | "capabilities">,
  load: () => ChannelAdapter | Promise<ChannelAdapter>,
): ChannelAdapter {
  let loaded: ChannelAdapter | undefined;
  const adapter = once(async () => {
    loaded = await load();
    return loaded;
  });
  /** A verb that the capabilities promise. */
  function required<Verb>(verb: Verb | undefined): Verb {
    if (verb === undefined) throw new Error(`The adapter of ${label} lacks what its capabilities say.`);
    return verb;
  }
  const listener: ConnectionListener = {
    listen: async (...args) => required((await adapter()).listener).listen(...args),
  };
  const webhook: WebhookReceiver = {
    register: async (...args) => required((await adapter()).webhook).register(...args),
    unregister: async (...args) => required((await adapter()).webhook).unregister(...args),
    receive: async (...args) => required((await adapter()).webhook).receive(...args),
  };
  const preview: NonNullable<ChannelAdapter["preview"]> = async (...args) =>
    required((await adapter()).preview)(...args);
  return {
    ...(capabilities.hasListener && { listener }),
    ...(capabilities.hasWebhook && { webhook }),
    ...(capabilities.hasPreviews && { preview }),
    identify: async (...args) => (await adapter()).identify(...args),
    send: async (...args) => (await adapter()).send(...args),
    typing: async (...args) => (await adapter()).typing(...args),
    fetchFile: async (...args) => (await adapter()).fetchFile(...args),
    // What was never loaded remembers nothing.
    forget: (binding) => loaded?.forget(binding),
  };
}
