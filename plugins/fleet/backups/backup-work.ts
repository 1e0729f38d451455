// The port to what makes and keeps backups, which is the composition root's: a plugin can't copy the database that it runs on.

/** How far a backup was checked after it was stored: read back as a whole, or also decrypted and unpacked. */
export type Verification = "checksum" | "opened" | "copied";

/** A complete backup. */
export interface KeptBackup {
  name: string;
  bytes: number;
  /** Epoch ms. */
  createdAt: number;
  verified: Verification;
  /** The continuous copy has asked for it, since it has begun anew. */
  isForCopy?: true;
}

export interface MakeOptions {
  name: string;
  /** The continuous copy has asked for it. */
  isForCopy: boolean;
  signal: AbortSignal;
  /** From 0 to 1. */
  onProgress(progress: number): void;
}

/** How a round of the continuous copy ended. */
export interface CopyRound {
  /** Epoch ms: what was committed before can be restored. Undefined: nothing new is certain. */
  copiedAt: number | undefined;
  /** Stored in this round. */
  bytes: number;
  segments: number;
  /** The chains of segments for which a backup has to be made, on top of which they can be put: the copy has begun anew. */
  needsBackup: string | undefined;
  /** Why nothing could be stored, as a sentence for admins. */
  problem: string | undefined;
}

export interface CopyListener {
  onRound(round: CopyRound): void;
}

export interface BackupWork {
  /** Makes, stores and verifies a backup without blocking the service. Rejects with a sentence for admins. */
  make(options: MakeOptions): Promise<KeptBackup>;
  /** Newest first. Rejects with a sentence for admins if the place can't be read. */
  list(): Promise<KeptBackup[]>;
  /** The bytes of a backup in `list`. */
  read(name: string): Promise<{ body: ReadableStream<Uint8Array>; bytes: number } | undefined>;
  remove(name: string): Promise<void>;
}
