// The plugin of uploads: files that an owner gives to an agent through the API, to be sent with messages.
import { plugin } from "../../src/kernel/plugin.ts";
import { measureBy } from "../../src/kernel/retention/deletion.ts";
import { DAY } from "../../src/kernel/util/time.ts";
import { agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { createUploadService } from "./upload-service.ts";
import { UNUSED_SIZE } from "./upload-store.ts";

export { type NewReplyFile, type ReplyFile, type ReplyFileMaker, replyFileNotes } from "./reply-files.ts";
export { createUploadGate, MAX_UPLOAD_BYTES, readUpload, toUploadedFile, type UploadedFile } from "./upload-body.ts";
export { createUploadFiles, type UploadFiles } from "./upload-files.ts";
export type { UploadAttachment, UploadService } from "./upload-service.ts";
export type { Upload } from "./upload-store.ts";

export const uploads = plugin("uploads", ({ kernel, use }) => {
  const agentService = use(agents);
  const { identities, users } = use(auth);
  const { service, removeAgent, sweep } = createUploadService({ ...kernel, agents: agentService, users });
  agentService.onDelete(removeAgent);
  kernel.retention.register({
    name: "uploads",
    what: "files that no message refers to",
    // So long a file stays that was never sent.
    keepMs: DAY,
    steps: [sweep],
    measure: measureBy(kernel.database, UNUSED_SIZE),
  });

  const { guards } = agentService;
  return {
    service,
    lateRoutes: {
      web: [async () => (await import("./routes.ts")).webRoutes({ ...kernel, identities, guards, uploads: service })],
      backend: [async () => (await import("./routes.ts")).backendRoutes({ guards, uploads: service })],
    },
  };
});
