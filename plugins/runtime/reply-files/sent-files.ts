// Shows the files of a reply to programs: what they are, and where they are fetched.
import { type Static, t } from "elysia";
import type { ReplyFile } from "../../uploads/index.ts";

export const sentFile = t.Object(
  {
    id: t.String(),
    name: t.String(),
    type: t.String({ description: "The media type" }),
    size: t.Integer({ description: "Bytes" }),
    kind: t.Union([t.Literal("picture"), t.Literal("audio"), t.Literal("voice"), t.Literal("document")]),
    caption: t.Union([t.String(), t.Null()]),
    url: t.String({ description: "Its path on this server; fetch it with the same credentials" }),
  },
  { title: "SentFile" },
);

export type SentFile = Static<typeof sentFile>;

/** The field `files` of a reply; nothing for a reply without files. */
export const sentFiles = t.Optional(t.Array(sentFile, { description: "Left out if there are none" }));

const withUrl = <File extends { id: string }>(agentId: string, file: File) => ({
  ...file,
  url: `/api/agents/${agentId}/uploads/${file.id}`,
});

export const toSentFile = (agentId: string, file: ReplyFile): SentFile => withUrl(agentId, file);

/** For spreading into a reply. */
export const withFiles = (agentId: string, files: readonly ReplyFile[] = []): { files?: SentFile[] } =>
  files.length > 0 ? { files: files.map((file) => toSentFile(agentId, file)) } : {};

/** The same for an event: what the files are, without what they say. */
export const withFileFacts = (agentId: string, files: readonly ReplyFile[]): { files?: Omit<SentFile, "caption">[] } =>
  files.length > 0 ? { files: files.map(({ caption: _, ...file }) => withUrl(agentId, file)) } : {};
