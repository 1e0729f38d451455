// Types for the modules of node-media-server that Berth imports. They are private, so package.json pins the version.
declare module "node-media-server/src/protocol/rtmp.js" {
  interface Command {
    cmd: unknown;
    streamName?: unknown;
  }
  export default class Rtmp {
    flv: unknown;
    inChunkSize: number;
    streamId: number;
    readonly inPackets: ReadonlyMap<number, { readonly capacity: number }>;
    readonly parserPacket: {
      readonly header: { readonly fmt: number; readonly length: number; readonly type: number; stream_id: number };
      readonly payload: Buffer;
      /** Milliseconds. */
      readonly clock: number;
      /** Bytes of the message received so far. */
      readonly bytes: number;
    };
    onOutputCallback: (buffer: Buffer) => void;
    parserData(buffer: Buffer): string | null;
    protected packetParse(): void;
    protected packetAlloc(): void;
    protected controlHandler(): void;
    protected dataHandler(): void;
    protected onPublish(command: Command): void;
    protected onPlay(command: Command): void;
    protected onDeleteStream(command: Command): void;
    sendACK(bytes: number): void;
    sendStatusMessage(streamId: number, level: "status" | "error", code: string, description: string): void;
  }
}
declare module "node-media-server/src/core/logger.js" {
  const logger: { log(message: string, level?: string): void };
  export default logger;
}
