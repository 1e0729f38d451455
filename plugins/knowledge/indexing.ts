// Reads files into passages, as durable jobs: after a kill a job goes on behind the passages that are written.
//
// The passages of a file get a new generation number, which searches use as soon as all of them are there; so a file that
// is read again is found in its earlier form meanwhile.
import { GuardFailed, type Statement } from "../../src/kernel/database/database.ts";
import { AppError } from "../../src/kernel/errors.ts";
import type { JobContext } from "../../src/kernel/jobs/jobs.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import { DAY, MINUTE } from "../../src/kernel/util/time.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { VectorIndex } from "../ai/index.ts";
import type { DocumentReader } from "../documents/index.ts";
import { MAX_UPLOAD_BYTES, type UploadFiles } from "../uploads/index.ts";
import { fetchAddress, REFRESH_MS } from "./addresses.ts";
import { type ChunkStore, STEP } from "./chunk-store.ts";
import type { FileStore, KnowledgeFile } from "./file-store.ts";
import { type Quota, tooManyBytes, tooManyChunks } from "./quota.ts";

const INDEX = "knowledge.index";
const EMBED = "knowledge.embed";
const SWEEP = "knowledge.sweep";
const MAX_ATTEMPTS = 6;
const TIMEOUT_MS = 10 * MINUTE;
/** Passages between two events about the progress. */
const PROGRESS_STEP = 1_000;

interface Deps extends Pick<Kernel, "database" | "jobs" | "events" | "outbound"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "log">;
  documents: Pick<DocumentReader, "readChunks">;
  bytes: UploadFiles;
  store: FileStore;
  chunks: ChunkStore;
  /** Undefined without an embedding model. */
  vectors: VectorIndex | undefined;
  /** Undefined for an agent that is gone. */
  ownerOf(agentId: string): Promise<{ userId: string; quota: Quota } | undefined>;
}

interface Source {
  bytes: Uint8Array<ArrayBuffer>;
  changes: Partial<KnowledgeFile>;
  url?: string;
}

export type Indexing = ReturnType<typeof createIndexing>;

export function createIndexing(deps: Deps) {
  const { database, jobs, events, outbound, agents, documents, bytes: stored, store, chunks, vectors, ownerOf } = deps;

  const payloadOf = ({ agentId, id }: Pick<KnowledgeFile, "agentId" | "id">) => ({ agentId, fileId: id });
  const indexStatement = (file: Pick<KnowledgeFile, "agentId" | "id">, runAt?: number): Statement =>
    jobs.enqueueStatement(INDEX, payloadOf(file), {
      uniqueKey: file.id,
      maxAttempts: MAX_ATTEMPTS,
      ...(runAt !== undefined && { runAt }),
    });
  const sweepStatement = (file: Pick<KnowledgeFile, "agentId" | "id">): Statement =>
    jobs.enqueueStatement(SWEEP, payloadOf(file), { uniqueKey: file.id, maxAttempts: 20 });
  const stateStatement = (
    userId: string,
    { agentId, id, ...file }: Pick<KnowledgeFile, "agentId" | "id" | "name" | "status"> & Partial<KnowledgeFile>,
  ): Statement => {
    const { name, status, written = 0, expected = 0, chunks = 0, error = null } = file;
    const data = { agentId, fileId: id, name, status, written, expected, chunks, error };
    return events.recordStatement("file.state", { userId, agentId, data });
  };
  /** The statement that reads an address again at its time. */
  const nextStatements = (file: KnowledgeFile, now: number) =>
    file.refresh === null ? [] : [indexStatement(file, now + REFRESH_MS[file.refresh])];

  const embedStatements = (agentId: string) =>
    vectors ? [jobs.enqueueStatement(EMBED, { agentId }, { uniqueKey: agentId, maxAttempts: 4 })] : [];

  /** The bytes of the file; undefined if an address has not changed. */
  async function sourceOf(file: KnowledgeFile, signal: AbortSignal): Promise<Source | undefined> {
    const { agentId, id, url } = file;
    const kept = await stored.find(agentId, id);
    // Of a job that was interrupted, too: the passages that are written already are from these bytes.
    if (kept) return { bytes: new Uint8Array(await kept.arrayBuffer()), changes: {} };
    if (url === null) throw new AppError(410, "FILE_GONE", "The file is no longer there. Send it again.");
    const etag = file.generation > 0 ? file.etag : null;
    const fetched = await fetchAddress(outbound, url, { etag, maxBytes: MAX_UPLOAD_BYTES, signal });
    if (!fetched) return undefined;
    const { bytes, type } = fetched;
    if (bytes.byteLength === 0) throw new AppError(422, "ADDRESS_EMPTY", "There is nothing at this address.");
    const changes = { type, etag: fetched.etag, size: bytes.byteLength };
    await database.write(store.updateStatements(id, changes));
    await stored.write(agentId, id, bytes);
    return { bytes, changes, url: fetched.url };
  }

  async function requireRoom(file: KnowledgeFile, quota: Quota, size: number, count: number): Promise<void> {
    const used = await store.sums(file.agentId);
    if (used.bytes - file.size + size > quota.bytes) throw tooManyBytes(quota);
    const room = quota.chunks - (used.chunks - file.chunks);
    if (count > room) throw tooManyChunks(count, room);
  }

  async function index(file: KnowledgeFile, userId: string, quota: Quota, signal: AbortSignal): Promise<Statement[]> {
    const source = await sourceOf(file, signal);
    const now = Date.now();
    const ready = { ...file, status: "ready" as const, error: null, errorCode: null, readAt: now };
    const unchanged = () => [
      ...store.updateStatements(file.id, { status: "ready", error: null, errorCode: null, readAt: now }),
      stateStatement(userId, { ...ready, written: 0, expected: 0 }),
      sweepStatement(file),
      ...nextStatements(file, now),
    ];
    if (!source) return unchanged();
    const current = { ...file, ...source.changes };
    const digest = new Bun.CryptoHasher("sha256").update(source.bytes).digest("base64url");
    if (digest === file.digest && file.generation > 0) return unchanged();
    const { bytes } = source;
    const size = bytes.byteLength;
    const document = { bytes, type: current.type, name: file.name, url: source.url ?? file.url ?? undefined };
    const { facts, chunks: passages } = await documents.readChunks(document, signal);
    await requireRoom(file, quota, size, passages.length);
    await writePassages(current, userId, passages, signal);
    const { title, published = null, isCut } = facts;
    const name = file.url !== null && title !== "" ? title.slice(0, 200) : file.name;
    const generation = file.generation + 1;
    const done = {
      generation,
      chunks: passages.length,
      digest,
      title,
      published,
      isCut,
      name,
      written: 0,
      expected: 0,
    };
    const text = `The file ${JSON.stringify(name)} was read.`;
    const after = () => agents.log(file.agentId, "info", text, "knowledge", { file: file.id });
    return [
      ...store.updateStatements(file.id, { ...done, status: "ready", error: null, errorCode: null, readAt: now }),
      { ...stateStatement(userId, { ...ready, ...done }), after },
      sweepStatement(file),
      ...embedStatements(file.agentId),
      ...nextStatements(file, now),
    ];
  }

  async function writePassages(
    file: KnowledgeFile,
    userId: string,
    passages: Awaited<ReturnType<DocumentReader["readChunks"]>>["chunks"],
    signal: AbortSignal,
  ): Promise<void> {
    const { agentId, id } = file;
    const expected = passages.length;
    const isContinued = file.status === "indexing" && file.expected === expected;
    if (!isContinued) {
      await chunks.deleteAfter(agentId, id, file.generation, signal);
      const begun = { status: "indexing" as const, written: 0, expected };
      await database.write([...store.updateStatements(id, begun), stateStatement(userId, { ...file, ...begun })]);
    }
    const place = { agentId, fileId: id, generation: file.generation + 1 };
    for (let from = isContinued ? file.written : 0; from < expected; from += STEP) {
      signal.throwIfAborted();
      const part = passages.slice(from, from + STEP);
      const written = from + part.length;
      const isMilestone = Math.floor(written / PROGRESS_STEP) > Math.floor(from / PROGRESS_STEP);
      await database.writeLong([
        chunks.insertStatement(place, from, part),
        ...store.updateStatements(id, { written }),
        ...(isMilestone ? [stateStatement(userId, { ...file, status: "indexing", written, expected })] : []),
      ]);
    }
  }

  /** A file that was read before is still found in its earlier form. */
  function failureStatements(file: KnowledgeFile, userId: string, { code, message, extras }: AppError): Statement[] {
    const now = Date.now();
    // The reasons of a document have texts of their own.
    const errorCode = typeof extras.reason === "string" ? `DOCUMENT_${extras.reason}` : code;
    const failed = { status: "failed" as const, errorCode, error: message, written: 0, expected: 0 };
    const text = `The file ${JSON.stringify(file.name)} could not be read: ${message}`;
    const after = () => agents.log(file.agentId, "warning", text, "knowledge", { file: file.id });
    return [
      ...store.updateStatements(file.id, { ...failed, readAt: now }),
      { ...stateStatement(userId, { ...file, ...failed }), after },
      sweepStatement(file),
      ...nextStatements(file, now),
    ];
  }

  /** The owner sees why a file waits. The next try clears it, or says its own reason. */
  async function noteFailedTry(file: KnowledgeFile, userId: string, error: unknown): Promise<void> {
    const { code: errorCode, message } = error instanceof AppError ? error : notReadYet();
    if (file.error === message) return;
    const noted = { errorCode, error: message };
    const text = `The file ${JSON.stringify(file.name)} could not be read yet: ${message}`;
    const after = () => agents.log(file.agentId, "info", text, "knowledge", { file: file.id });
    await database.write([
      ...store.updateStatements(file.id, noted),
      { ...stateStatement(userId, { ...file, ...noted }), after },
    ]);
  }

  async function run(payload: unknown, { attempt, signal }: JobContext): Promise<Statement[] | undefined> {
    const { agentId, fileId } = payload as ReturnType<typeof payloadOf>;
    const [file, owner] = await Promise.all([store.find(agentId, fileId), ownerOf(agentId)]);
    if (!file || !owner) return [sweepStatement({ agentId, id: fileId })];
    try {
      return await index(file, owner.userId, owner.quota, signal);
    } catch (error) {
      signal.throwIfAborted();
      // It was deleted meanwhile.
      if (error instanceof GuardFailed) return [sweepStatement(file)];
      const failure = lastingFailure(error, attempt);
      if (!failure) {
        await noteFailedTry(file, owner.userId, error);
        throw error;
      }
      return failureStatements(file, owner.userId, failure);
    }
  }

  async function sweep(payload: unknown, { signal }: JobContext): Promise<void> {
    const { agentId, fileId } = payload as ReturnType<typeof payloadOf>;
    const file = await store.find(agentId, fileId);
    if (!file) await chunks.deleteAfter(agentId, fileId, -1, signal);
    else await chunks.deleteBefore(agentId, fileId, file.generation, signal);
    const isRead = file?.status === "queued" || file?.status === "indexing";
    if (!isRead) await stored.remove(agentId, [fileId]);
  }

  // Two, so that an address that responds slowly keeps no other file waiting.
  jobs.handle(INDEX, run, { concurrency: 2, timeoutMs: TIMEOUT_MS });
  if (vectors) {
    jobs.handle(
      EMBED,
      async (payload, { signal }) => {
        const { agentId } = payload as { agentId: string };
        const owner = await ownerOf(agentId);
        if (owner) await vectors.fill(agentId, owner.userId, signal);
      },
      { concurrency: 2, timeoutMs: TIMEOUT_MS },
    );
    // Another model is configured, or a provider was down: what is missing is made the next day at the latest.
    jobs.every("knowledge.vectors", DAY, async () =>
      (await store.agentsWithFiles()).flatMap((agentId) => embedStatements(agentId)),
    );
  }
  jobs.handle(SWEEP, sweep, { concurrency: 1, timeoutMs: TIMEOUT_MS });

  return { indexStatement, sweepStatement, stateStatement };
}

/** The cause is a fault of ours, which the operator finds in the log. */
const notReadYet = () => new AppError(500, "FILE_NOT_READ", "The file could not be read yet. It is tried again.");

/** The error that a later try will not change, or the last try's; undefined if it is tried again. */
function lastingFailure(error: unknown, attempt: number): AppError | undefined {
  if (!(error instanceof AppError)) {
    if (attempt < MAX_ATTEMPTS) return undefined;
    return new AppError(500, "FILE_NOT_READ", "The file could not be read. Send it again, or tell the operator.");
  }
  // Other work may have taken the memory.
  const mayPass = error.status >= 500 || error.status === 429 || error.extras.reason === "TOO_COMPLEX";
  return mayPass && attempt < (error.status === 422 ? 2 : MAX_ATTEMPTS) ? undefined : error;
}
