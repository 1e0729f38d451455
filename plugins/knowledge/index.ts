// The plugin of knowledge: files that owners give to agents, which agents search and quote.
import { plugin } from "../../src/kernel/plugin.ts";
import { DAY } from "../../src/kernel/util/time.ts";
import { agents } from "../agents/index.ts";
import { ai, createVectorIndex } from "../ai/index.ts";
import { auth } from "../auth/index.ts";
import { planSettings } from "../auth/settings.ts";
import { documents } from "../documents/index.ts";
import { skills } from "../skills/index.ts";
import { createUploadFiles } from "../uploads/index.ts";
import { createBackupRows } from "./backup-rows.ts";
import { createChunkStore, PASSAGE_TEXTS } from "./chunk-store.ts";
import { createFileService } from "./file-service.ts";
import { createFileStore } from "./file-store.ts";
import { createIndexing } from "./indexing.ts";
import { createKnowledgeSource } from "./knowledge-skill.ts";
import { quotaOf } from "./quota.ts";

export { exportedFile, MAX_IMPORTED_PASSAGES } from "./backup-rows.ts";

export const knowledge = plugin("knowledge", ({ kernel, use }) => {
  const agentService = use(agents);
  const skillService = use(skills);
  const { identities, users } = use(auth);
  const bytes = createUploadFiles({ dataDir: kernel.config.dataDir, folder: "knowledge", files: kernel.files });
  const store = createFileStore(kernel);
  const chunks = createChunkStore(kernel);
  const { embedder } = use(ai);
  const vectors =
    embedder && createVectorIndex({ ...kernel, embedder }, { name: "knowledge_vectors", texts: PASSAGE_TEXTS });
  const quotaFor = async (userId: string) => quotaOf(await users.byId(userId), kernel.config.of(planSettings).table);
  const onChanged = (agentId: string) => skillService.invalidate(agentId);
  const indexing = createIndexing({
    ...kernel,
    agents: agentService,
    documents: use(documents),
    bytes,
    store,
    chunks,
    vectors,
    async ownerOf(agentId) {
      const agent = await agentService.find(agentId);
      return agent && { userId: agent.userId, quota: await quotaFor(agent.userId) };
    },
  });
  const service = createFileService({ ...kernel, bytes, store, chunks, indexing, quotaFor, vectors, onChanged });
  skillService.register(
    createKnowledgeSource({
      service,
      hasFiles: store.hasFiles,
      agentOf: agentService.find,
    }),
  );
  agentService.beforeDelete(chunks.deleteOfAgent);
  agentService.onDelete((agentId) => bytes.removeAgent(agentId));
  kernel.jobs.every("knowledge.orphans", DAY, async () => {
    const exists = async (agentId: string) => (await agentService.find(agentId)) !== undefined;
    await bytes.removeOrphans({ idsOf: store.idsOf, exists });
  });

  const { guards } = agentService;
  return {
    service: { backupRows: createBackupRows({ ...kernel, indexing, onChanged }) },
    lateRoutes: {
      web: [async () => (await import("./routes.ts")).webRoutes({ ...kernel, identities, guards, service })],
      backend: [async () => (await import("./routes.ts")).backendRoutes({ guards, service })],
    },
  };
});
