// The pipe for live video of a machine of a cluster, as its settings want it.
import { streamSettings } from "../../../plugins/streams/settings.ts";
import { createRtmpPipe, type RtmpPipe } from "../../cluster/relay/rtmp-pipe.ts";
import type { Config } from "../../kernel/config/config.ts";
import type { Log } from "../../kernel/telemetry/log.ts";

export interface VideoPipeDeps {
  config: Config;
  /** The address of another node that owns the cell. */
  owner(): string | undefined;
  log: Log;
}

/** Does nothing without streams, or with a port that nobody can know. */
export function createVideoPipe({ config, owner, log }: VideoPipeDeps): RtmpPipe {
  const { driver, rtmpPort: port } = config.of(streamSettings);
  const pipe = createRtmpPipe({
    host: config.web.host,
    port,
    target() {
      const address = owner();
      return address === undefined ? undefined : { host: new URL(address).hostname.replace(/^\[|\]$/g, ""), port };
    },
    log,
  });
  const isUsed = driver === "embedded" && port !== 0;
  return { ...pipe, open: async () => void (isUsed && (await pipe.open())) };
}
