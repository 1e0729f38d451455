// The settings of the messaging platforms, put together from the rows of the channel registry.
import type { ChannelId } from "../../channels/port.ts";
import { channelDefinitions, mapChannels } from "../../channels/registry.ts";
import type { SettingsSection } from "../../src/kernel/config/section.ts";
import type { Variables } from "../../src/kernel/config/variable.ts";

/** By channel, as the `build` of its row made them. */
export const channelSettings: SettingsSection<Record<ChannelId, unknown>> = {
  name: "channels",
  /** Computed when the configuration is read, so that rows added from outside count. */
  get variables(): Variables {
    return Object.assign({}, ...channelDefinitions().map(({ settings }) => settings.variables));
  },
  build: (values, context) => mapChannels(({ settings }) => settings.build(values, context)),
  validate: (values, context) => channelDefinitions().flatMap(({ settings }) => settings.validate(values, context)),
};
