// The port to where backups are kept.

export interface StoredFile {
  name: string;
  bytes: number;
}

export interface BackupStorage {
  /** The path or address of a file, for people. */
  addressOf(name: string): string;
  /** The file exists under its name once it is complete. Throws StartError, with nothing left under the name. */
  write(name: string, chunks: AsyncIterable<Uint8Array>, expectedBytes: number): Promise<void>;
  /** Undefined if there is none. Throws StartError. */
  read(name: string): Promise<{ body: ReadableStream<Uint8Array>; bytes: number } | undefined>;
  /** A file that a list has named, as a whole, with one request. Throws if it is not there any more. */
  readListed(name: string): Promise<Uint8Array>;
  /** All files, those of others, too. Throws StartError. */
  list(): Promise<StoredFile[]>;
  remove(name: string): Promise<void>;
}
