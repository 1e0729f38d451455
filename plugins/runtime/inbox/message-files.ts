// Offers the files of a message to tools, which fetch them when they need them.
import type { MessageFile } from "../../skills/index.ts";
import type { FetchFile } from "../platforms.ts";
import type { Attachment } from "./attachments.ts";

export const messageFiles = (agentId: string, files: readonly Attachment[], fetch: FetchFile): MessageFile[] => {
  const names = new Set<string>();
  return files.map((file) => {
    const name = uniqueName(file, names);
    names.add(name);
    return {
      name,
      mediaType: file.mimeType,
      ...(file.size !== undefined && { size: file.size }),
      read: (limit, signal) => fetch(agentId, file, limit, signal),
    };
  });
};

/** The file's own name, or its kind; with a number if another file has it. */
function uniqueName({ name, kind }: Attachment, taken: ReadonlySet<string>): string {
  const wanted = name ?? kind;
  let candidate = wanted;
  for (let n = 2; taken.has(candidate); n++) candidate = `${n}-${wanted}`;
  return candidate;
}
