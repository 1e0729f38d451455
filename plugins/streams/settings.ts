// The settings of live streams: the driver, its port, and the addresses shown to encoders and players.

import { httpUrl, oneOf, port, urlWithScheme } from "../../src/kernel/config/parsers.ts";
import { defineSettings } from "../../src/kernel/config/section.ts";
import { hostNameOf, withDefault } from "../../src/kernel/config/variable.ts";

export const streamSettings = defineSettings({
  name: "streams",
  variables: {
    STREAM_DRIVER: withDefault(
      oneOf("embedded", "off"),
      "embedded",
      "Live streams: RTMP in and HLS out in this process, or none.",
    ),
    RTMP_PORT: withDefault(port, "1935", "Port streams are sent to; 0 takes a free one."),
    STREAM_RTMP_URL: withDefault(
      urlWithScheme("rtmp", "rtmps"),
      {
        description: "`rtmp://<host of BASE_URL>:$RTMP_PORT/live`",
        compute: ({ text }) => `rtmp://${hostNameOf(text("BASE_URL"))}:${text("RTMP_PORT")}/live`,
      },
      "Address streams are sent to, without the key.",
    ),
    STREAM_PLAYBACK_URL: withDefault(
      httpUrl,
      { description: "`$BASE_URL/live`", compute: ({ text }) => `${text("BASE_URL").replace(/\/+$/, "")}/live` },
      "Address under which streams are played.",
    ),
  },
  needs: { "STREAM_DRIVER=embedded": ["RTMP_PORT", "STREAM_RTMP_URL", "STREAM_PLAYBACK_URL"] },
  build: (v, { sources }) => ({
    driver: v.STREAM_DRIVER,
    rtmpPort: v.RTMP_PORT,
    rtmpUrl: v.STREAM_RTMP_URL,
    /** The operator set the address; otherwise it follows the port. */
    hasCustomRtmpUrl: sources.STREAM_RTMP_URL !== "default",
    playbackUrl: v.STREAM_PLAYBACK_URL,
  }),
});
