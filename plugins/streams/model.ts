// Streams on the wire. Interface, "Provision with channel tokens"; shapes that it leaves open are described here.
import { t } from "elysia";
import type { StreamAddresses, StreamStatus } from "./stream-service.ts";

const nullableText = (description: string) => t.Union([t.String({ description }), t.Null()]);

const addresses = {
  liveStreamId: nullableText("the public name of the stream"),
  streamKey: nullableText("what the publisher shows: a secret"),
  rtmpServer: nullableText("where to publish to; encoders ask for the key beside it"),
  rtmp: nullableText("the same with the key, as one address"),
  hls: nullableText("the playlist, for players"),
  playbackUrl: nullableText("the page, for people"),
};

/** All fields are null with `STREAM_DRIVER=off`. */
export const stream = t.Object({
  ...addresses,
  state: t.Union([t.Literal("idle"), t.Literal("active"), t.Literal("unavailable")], {
    description: "active: on the air; unavailable: nobody can publish, since the port is taken or streams are off",
  }),
  since: t.Union([t.String({ description: "ISO 8601: since when it is on the air, or is not" }), t.Null()]),
  bitrate: t.Union([t.Integer({ description: "bits in a second, over the last ten; null while idle" }), t.Null()]),
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

/** A playlist or a segment, whose form is HLS's own (RFC 8216). */
export const mediaResponses = {
  responses: {
    200: {
      description: "The playlist, or a piece of the stream",
      content: {
        "application/vnd.apple.mpegurl": { schema: { type: "string" as const } },
        "video/mp4": { schema: { type: "string" as const, format: "binary" } },
      },
    },
  },
};
