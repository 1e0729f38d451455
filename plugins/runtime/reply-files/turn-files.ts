// Collects the files that a turn sends with its reply. They are stored when a tool attaches them, so that none is lost in a crash.
import type { Agent } from "../../agents/index.ts";
import { idOfCall } from "../../skills/index.ts";
import type { NewReplyFile, ReplyFile, ReplyFileMaker, UploadService } from "../../uploads/index.ts";
import type { InboxEntry } from "../inbox/entries.ts";

export interface TurnFiles {
  /**
   * Stores a file. `key`: the same when the turn is repeated after a crash; the file that it had stored is returned then.
   * Rejects as `UploadService.addToReply`.
   */
  attach(key: string, file: NewReplyFile | ReplyFileMaker): Promise<ReplyFile>;
  /** The file that an earlier try has attached under this key. */
  find(key: string): Promise<ReplyFile | undefined>;
  /** All files of the turn, also those of earlier tries. */
  list(): Promise<readonly ReplyFile[]>;
}

/** Other agents and visitors of the public page get text alone. */
const TEXT_ONLY: readonly InboxEntry["platform"][] = ["agent", "public"];

/** The files of one try of a turn; undefined where replies have none. */
export function createTurnFiles(
  uploads: Pick<UploadService, "addToReply" | "ofReplies">,
  agent: Agent,
  { id: turnId, platform, hasSteps, attempts }: InboxEntry,
): TurnFiles | undefined {
  if (TEXT_ONLY.includes(platform)) return undefined;
  // Only an earlier try can have left files that this one does not know: usually nothing has to be read.
  let mayHaveFiles = hasSteps || attempts > 0;
  const fileIdOf = (key: string) => idOfCall(`${key}.file`);
  async function list(): Promise<readonly ReplyFile[]> {
    return mayHaveFiles ? ((await uploads.ofReplies(agent.id, [turnId])).get(turnId) ?? []) : [];
  }
  return {
    async attach(key, file) {
      mayHaveFiles = true;
      return uploads.addToReply(agent, turnId, fileIdOf(key), file);
    },
    find: async (key) => (await list()).find(({ id }) => id === fileIdOf(key)),
    list,
  };
}
