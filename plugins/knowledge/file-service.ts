// Adds, reads again, searches and deletes the files that an agent knows.
import { GuardFailed, type Statement } from "../../src/kernel/database/database.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import { type Agent, agentNotFound } from "../agents/index.ts";
import type { VectorIndex } from "../ai/index.ts";
import { kindOf, unreadable } from "../documents/index.ts";
import type { UploadedFile, UploadFiles } from "../uploads/index.ts";
import { nameOfAddress, requireAddress } from "./addresses.ts";
import type { ChunkStore, Passage } from "./chunk-store.ts";
import { type FileStore, fileNotFound, type KnowledgeFile, type NewFile, type Refresh } from "./file-store.ts";
import type { Indexing } from "./indexing.ts";
import { type Quota, tooManyBytes, tooManyFiles } from "./quota.ts";

/** Passages by meaning that are merged with those by words. */
const NEAREST = 20;

type Owned = Pick<Agent, "id" | "userId">;

interface Deps extends Pick<Kernel, "database" | "outbound" | "audit"> {
  bytes: UploadFiles;
  store: FileStore;
  chunks: ChunkStore;
  indexing: Indexing;
  quotaFor(userId: string): Promise<Quota>;
  /** Undefined without an embedding model. */
  vectors: VectorIndex | undefined;
  /** Called when an agent has got its first file, or lost its last one. */
  onChanged(agentId: string): void;
}

export type FileService = ReturnType<typeof createFileService>;

export function createFileService({
  database,
  outbound,
  audit,
  bytes,
  store,
  chunks,
  indexing,
  quotaFor,
  vectors,
  onChanged,
}: Deps) {
  const audited = (action: string, { id, agentId, name }: Pick<KnowledgeFile, "id" | "agentId" | "name">, more = {}) =>
    audit.record({
      action: `file.${action}`,
      target: { kind: "file", id, name },
      details: { agent: agentId, ...more },
    });

  async function insert({ id: agentId, userId }: Owned, file: NewFile): Promise<KnowledgeFile> {
    const quota = await quotaFor(userId);
    const [statement, ...guards] = store.insertStatements(file, quota);
    try {
      await database.write([
        ...(statement ? [{ ...statement, after: () => onChanged(agentId) }] : []),
        ...guards,
        indexing.indexStatement(file),
        indexing.stateStatement(userId, { ...file, status: "queued" }),
        audited("create", file, { origin: file.origin, size: file.size, isAddress: file.url !== null }),
      ]);
    } catch (error) {
      if (!(error instanceof GuardFailed)) throw error;
      const used = await store.sums(agentId);
      if (used.files >= quota.files) throw tooManyFiles(quota);
      if (used.bytes + file.size > quota.bytes) throw tooManyBytes(quota);
      throw agentNotFound();
    }
    return store.require(agentId, file.id);
  }

  return {
    /**
     * @throws AppError 413 `FILE_QUOTA_EXCEEDED`, 422 `UNREADABLE_DOCUMENT`, 429 `FILE_LIMIT_REACHED`, 500
     *   `UPLOAD_NOT_STORED`
     */
    async add(agent: Owned, file: UploadedFile, origin: KnowledgeFile["origin"] = "owner"): Promise<KnowledgeFile> {
      // Said at once where it can be seen at once.
      if (!kindOf(file)) throw unreadable("UNSUPPORTED");
      const id = Bun.randomUUIDv7();
      await bytes.write(agent.id, id, file.bytes);
      try {
        const { name, type } = file;
        const size = file.bytes.byteLength;
        const digest = new Bun.CryptoHasher("sha256").update(file.bytes).digest("base64url");
        return await insert(agent, {
          id,
          agentId: agent.id,
          name,
          type,
          size,
          url: null,
          refresh: null,
          origin,
          digest,
        });
      } catch (error) {
        await bytes.remove(agent.id, [id]);
        throw error;
      }
    },

    /** @throws AppError 400 `INVALID_ADDRESS`, `ADDRESS_NOT_ALLOWED`, 429 `FILE_LIMIT_REACHED` */
    async addAddress(agent: Owned, address: string, refresh: Refresh | null): Promise<KnowledgeFile> {
      const url = await requireAddress(outbound, address);
      const id = Bun.randomUUIDv7();
      const name = nameOfAddress(url);
      const origin = "owner" as const;
      return insert(agent, {
        id,
        agentId: agent.id,
        name,
        type: "",
        size: 0,
        url: url.href,
        refresh,
        origin,
        digest: null,
      });
    },

    /** Reads an address again, or a file whose reading failed. @throws AppError 404 `FILE_NOT_FOUND` */
    async readAgain({ id: agentId, userId }: Owned, fileId: string): Promise<KnowledgeFile> {
      const file = await store.require(agentId, fileId);
      const queued = { status: "queued" as const, error: null, errorCode: null };
      await writeFor([
        ...store.updateStatements(fileId, queued),
        indexing.indexStatement(file),
        indexing.stateStatement(userId, { ...file, ...queued }),
      ]);
      return store.require(agentId, fileId);
    },

    /** @throws AppError 404 `FILE_NOT_FOUND` */
    async setRefresh({ id: agentId }: Owned, fileId: string, refresh: Refresh | null): Promise<KnowledgeFile> {
      const file = await store.require(agentId, fileId);
      await writeFor([
        ...store.updateStatements(fileId, { refresh }),
        indexing.indexStatement({ agentId, id: fileId }),
        audited("update", file, { refresh }),
      ]);
      return store.require(agentId, fileId);
    },

    /** It is no longer found at once; its passages are deleted by a job. @throws AppError 404 `FILE_NOT_FOUND` */
    async remove({ id: agentId }: Owned, fileId: string): Promise<void> {
      const file = await store.require(agentId, fileId);
      const [statement, ...guards] = store.removeStatements(agentId, fileId);
      await writeFor([
        ...(statement ? [{ ...statement, after: () => onChanged(agentId) }] : []),
        ...guards,
        indexing.sweepStatement({ agentId, id: fileId }),
        audited("delete", file),
      ]);
    },

    /** By words, and by meaning where an embedding model is configured. */
    async search({ id: agentId, userId }: Owned, question: string, limit: number): Promise<Passage[]> {
      const nearest = await vectors?.nearest({ agentId, userId, text: question }, NEAREST);
      return chunks.search(agentId, question, limit, nearest);
    },

    list: store.list,
    find: store.find,
    require: store.require,

    async usage({ id: agentId, userId }: Owned): Promise<{ used: Quota; quota: Quota }> {
      const [used, quota] = await Promise.all([store.sums(agentId), quotaFor(userId)]);
      return { used, quota };
    },
  };

  async function writeFor(statements: Statement[]): Promise<void> {
    try {
      await database.write(statements);
    } catch (error) {
      throw error instanceof GuardFailed ? fileNotFound() : error;
    }
  }
}
