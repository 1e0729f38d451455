// Reads one publisher's RTMP (RTMP 1.0, Adobe 2012) by the library's parser, with added limits on sizes and commands.
import logger from "node-media-server/src/core/logger.js";
import Rtmp from "node-media-server/src/protocol/rtmp.js";

/** Receives a publisher's messages. Each function is called while `read` runs. */
export interface RtmpHandler {
  /** Sends bytes to the publisher. */
  send(bytes: Uint8Array): void;
  /** The publisher asks to publish under this name. Its media is ignored until `accept`. */
  onPublish(name: string): void;
  /** A message: FLV's tag type (8 audio, 9 video), the time in ms, and a body that the next message overwrites. */
  onMedia(type: number, clock: number, body: Uint8Array): void;
  /** The publisher has announced the end of the stream. */
  onEnded(): void;
}

export interface RtmpReader {
  /** Takes bytes as they arrive. Throws on a violation of the protocol or of a limit; don't call it again then. */
  read(bytes: Buffer): void;
  /** Accepts the `publish` command. */
  accept(): void;
  /** Refuses the `publish` command, or ends a stream that was accepted. */
  refuse(code: "NetStream.Publish.BadName" | "NetStream.Publish.Failed", text: string): void;
}

/** Limit for messages before the publisher is admitted, and for all commands. Real ones have a few hundred bytes. */
const MAX_COMMAND_BYTES = 16 * 1024;
/** Limit for one message; a key frame at the maximum bit rate has a third of it. */
const MAX_MESSAGE_BYTES = 2 * 1024 * 1024;
/** Limit for all buffers of one publisher. The parser keeps one per chunk stream, sized by its largest message. */
const MAX_BUFFERED_BYTES = 6 * 1024 * 1024;
/** Encoders use four or five. */
const MAX_CHUNK_STREAMS = 16;
const MAX_CHUNK_BYTES = 0xff_ff_ff;
/** Bytes between acknowledgements: half of the window of 5,000,000 that the library announces (RTMP 1.0 §5.4.4). */
const ACK_EVERY_BYTES = 2_500_000;
const MAX_STREAM_NAME_LENGTH = 512;

const COMMAND_TYPES = [17, 20];

// The library's logger would write bytes from unknown clients to standard output.
logger.log = () => undefined;

class BoundedRtmp extends Rtmp {
  accepted = false;
  constructor(readonly handler: RtmpHandler) {
    super();
    // The FLV parser holds a megabyte and is not used here.
    this.flv = undefined;
    this.onOutputCallback = (bytes) => handler.send(bytes);
  }

  protected override packetParse(): void {
    super.packetParse();
    const { inPackets, parserPacket } = this;
    if (inPackets.size > MAX_CHUNK_STREAMS) throw new Error("too many chunk streams");
    // A new header could shorten a message below the bytes already read; the library would then loop forever.
    if (parserPacket.bytes > 0 && parserPacket.header.fmt !== 3) throw new Error("a message within a message");
  }

  protected override packetAlloc(): void {
    const { length, type } = this.parserPacket.header;
    const maxBytes = this.accepted && !COMMAND_TYPES.includes(type) ? MAX_MESSAGE_BYTES : MAX_COMMAND_BYTES;
    if (length > maxBytes) throw new Error("a message that is too long");
    super.packetAlloc();
    let buffered = 0;
    for (const { capacity } of this.inPackets.values()) buffered += capacity;
    if (buffered > MAX_BUFFERED_BYTES) throw new Error("too many bytes in unfinished messages");
  }

  protected override controlHandler(): void {
    super.controlHandler();
    if (this.inChunkSize < 1 || this.inChunkSize > MAX_CHUNK_BYTES) throw new Error("an invalid chunk size");
  }

  protected override dataHandler(): void {
    const { header, payload, clock } = this.parserPacket;
    if (this.accepted) this.handler.onMedia(header.type, clock, payload.subarray(0, header.length));
  }

  protected override onPublish({ streamName }: { streamName?: unknown }): void {
    if (typeof streamName !== "string" || streamName.length > MAX_STREAM_NAME_LENGTH)
      throw new Error("no valid stream name");
    this.streamId = this.parserPacket.header.stream_id;
    this.handler.onPublish(streamName.split("?")[0] ?? "");
  }

  protected override onPlay(): void {
    throw new Error("playing by RTMP is not supported");
  }

  protected override onDeleteStream(): void {
    this.handler.onEnded();
  }
}

export function createRtmpReader(handler: RtmpHandler): RtmpReader {
  const rtmp = new BoundedRtmp(handler);
  let bytesRead = 0;
  let bytesAcknowledged = 0;

  return {
    read(bytes) {
      bytesRead += bytes.length;
      const problem = rtmp.parserData(bytes);
      if (problem !== null) throw new Error(problem);
      if (rtmp.accepted && bytesRead - bytesAcknowledged >= ACK_EVERY_BYTES) {
        bytesAcknowledged = bytesRead;
        // The sequence number has 32 bits and wraps around (§5.4.3).
        rtmp.sendACK(bytesRead % 2 ** 32);
      }
    },
    accept() {
      rtmp.accepted = true;
      rtmp.sendStatusMessage(rtmp.streamId, "status", "NetStream.Publish.Start", "Publishing.");
    },
    refuse(code, text) {
      rtmp.accepted = false;
      rtmp.sendStatusMessage(rtmp.streamId, "error", code, text);
    },
  };
}
