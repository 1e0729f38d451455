// RTMP of one publisher: the library's reader of the protocol, behind bounds of our own (RTMP 1.0, Adobe 2012).
import logger from "node-media-server/src/core/logger.js";
import Rtmp from "node-media-server/src/protocol/rtmp.js";

/** What a publisher says. Each is called while `read` runs. */
export interface RtmpHandler {
  /** To be sent to the publisher. */
  send(bytes: Uint8Array): void;
  /** It wants to publish under this name. Nothing of its media counts until it is let in. */
  onPublish(name: string): void;
  /** A piece of media: FLV's type of tag (8 audio, 9 video), milliseconds, and a body that is only good for now. */
  onMedia(type: number, clock: number, body: Uint8Array): void;
  /** It has said that it ends the stream. */
  onEnded(): void;
}

export interface RtmpReader {
  /** Takes bytes as they come. Throws whatever is wrong with them; nothing may be read afterwards. */
  read(bytes: Buffer): void;
  /** Answers `publish`. */
  accept(): void;
  /** Answers it with a no, or ends what was accepted. */
  refuse(code: "NetStream.Publish.BadName" | "NetStream.Publish.Failed", text: string): void;
}

/** Bytes of a message before the publisher is let in, and of a command ever. Real ones have a few hundred. */
const MAX_COMMAND_BYTES = 16 * 1024;
/** Of one message; a key frame at the bit rate that is allowed has a third of it. */
const MAX_MESSAGE_BYTES = 2 * 1024 * 1024;
/** Held for one publisher: for each chunk stream the largest message it carried. */
const MAX_BUFFERED_BYTES = 6 * 1024 * 1024;
/** Encoders use four or five. */
const MAX_CHUNK_STREAMS = 16;
const MAX_CHUNK_BYTES = 0xff_ff_ff;
/** What we tell publishers to wait for, RTMP 1.0 §5.4.4; the library names 5,000,000. */
const ACK_EVERY_BYTES = 2_500_000;
const MAX_STREAM_NAME_LENGTH = 512;

const COMMAND_TYPES = [17, 20];

// It would write what strangers send to standard output.
logger.log = () => undefined;

class BoundedRtmp extends Rtmp {
  accepted = false;
  constructor(readonly handler: RtmpHandler) {
    super();
    // A parser of FLV files with a megabyte of its own, of which nothing is used here.
    this.flv = undefined;
    this.onOutputCallback = (bytes) => handler.send(bytes);
  }

  protected override packetParse(): void {
    super.packetParse();
    const { inPackets, parserPacket } = this;
    if (inPackets.size > MAX_CHUNK_STREAMS) throw new Error("too many chunk streams");
    // Else its length could change under what was read already, and the library would read backwards, for ever.
    if (parserPacket.bytes > 0 && parserPacket.header.fmt !== 3) throw new Error("a message within a message");
  }

  protected override packetAlloc(): void {
    const { length, type } = this.parserPacket.header;
    const maxBytes = this.accepted && !COMMAND_TYPES.includes(type) ? MAX_MESSAGE_BYTES : MAX_COMMAND_BYTES;
    if (length > maxBytes) throw new Error("a message that is too long");
    super.packetAlloc();
    let buffered = 0;
    for (const { capacity } of this.inPackets.values()) buffered += capacity;
    if (buffered > MAX_BUFFERED_BYTES) throw new Error("too much at once");
  }

  protected override controlHandler(): void {
    super.controlHandler();
    if (this.inChunkSize < 1 || this.inChunkSize > MAX_CHUNK_BYTES) throw new Error("a chunk size that can't be");
  }

  protected override dataHandler(): void {
    const { header, payload, clock } = this.parserPacket;
    if (this.accepted) this.handler.onMedia(header.type, clock, payload.subarray(0, header.length));
  }

  protected override onPublish({ streamName }: { streamName?: unknown }): void {
    if (typeof streamName !== "string" || streamName.length > MAX_STREAM_NAME_LENGTH)
      throw new Error("no name to publish under");
    this.streamId = this.parserPacket.header.stream_id;
    this.handler.onPublish(streamName.split("?")[0] ?? "");
  }

  protected override onPlay(): void {
    throw new Error("nothing is played by RTMP here");
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
        // A sequence number of 32 bits that begins anew (§5.4.3).
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
