// Defines the API's request and response schemas of live streams.
import { t } from "elysia";
import type { StreamAddresses, StreamStatus } from "./stream-service.ts";

const nullableText = (description: string) => t.Union([t.String({ description }), t.Null()]);

const addresses = {
  liveStreamId: nullableText("the stream's public id"),
  streamKey: nullableText("the secret that lets an encoder publish"),
  rtmpServer: nullableText("the RTMP address to publish to, for encoders that take the key in a field beside it"),
  rtmp: nullableText("the RTMP address with the key, as one URL"),
  hls: nullableText("the HLS playlist, for players"),
  playbackUrl: nullableText("the page that plays the stream in a browser"),
};

/** All fields are null with `STREAM_DRIVER=off`. */
export const stream = t.Object(
  {
    ...addresses,
    state: t.Union([t.Literal("idle"), t.Literal("active"), t.Literal("unavailable"), t.Literal("none")], {
      description:
        "active: on the air; unavailable: publishing is impossible, since the port is taken or streams are off; none: with " +
        "`orNone=1`, an agent without a stream",
    }),
    since: t.Union([
      t.String({ description: "when it last went on or off the air, or was created; ISO 8601" }),
      t.Null(),
    ]),
    bitrate: t.Union([
      t.Integer({ description: "bits per second, averaged over the last ten seconds; null unless active" }),
      t.Null(),
    ]),
  },
  { title: "LiveStream" },
);

/** In place of the 404, for a page that shows whether there is one: a browser reports each 404 as an error. */
export const NO_STREAM = {
  ...{ liveStreamId: null, streamKey: null, rtmpServer: null, rtmp: null, hls: null, playbackUrl: null },
  ...{ state: "none" as const, since: null, bitrate: null },
};
export const streamQuery = t.Object({
  orNone: t.Optional(
    t.Literal("1", { description: "Answers for an agent without a stream with the state `none` instead of 404" }),
  ),
});

export const rotateResult = t.Object({ success: t.Literal(true), ...addresses });
export const removeResult = t.Object({ success: t.Literal(true) });

export const toStream = ({ since, ...rest }: StreamStatus) => ({
  ...rest,
  since: since === null ? null : new Date(since).toISOString(),
});
export const toRotateResult = (fields: StreamAddresses) => ({ success: true as const, ...fields });

export const CREATE_ERRORS = { 409: ["STREAMS_OFF", "OPERATION_IN_PROGRESS"] };
export const CHANGE_ERRORS = { 404: "STREAM_NOT_FOUND", 409: ["STREAMS_OFF", "OPERATION_IN_PROGRESS"] };
