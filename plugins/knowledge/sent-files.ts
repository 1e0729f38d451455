// Chooses the files that an owner means by "keep this": of the message itself, else of those before it.
import type { EarlierFile, MessageFile, ToolContext } from "../skills/index.ts";

/** What is looked at: earlier messages only if the message itself has no such file. */
type Chat = Pick<ToolContext, "files" | "earlierFiles">;

const isCalled = ({ name }: MessageFile, wanted: string) => name.toLowerCase().includes(wanted.trim().toLowerCase());

/** The files with this name, or, without a name, those of the newest message that has any. */
export async function findSentFiles(
  { files = [], earlierFiles }: Chat,
  name?: string,
): Promise<readonly MessageFile[]> {
  const own = name === undefined ? files : files.filter((file) => isCalled(file, name));
  if (own.length > 0) return own;
  const earlier = (await earlierFiles?.()) ?? [];
  return ofNewestMessage(name === undefined ? earlier : earlier.filter((file) => isCalled(file, name)));
}

/** Of the first message; if its sender's files are among them, those, without what the agent has answered with. */
function ofNewestMessage(files: readonly EarlierFile[]): readonly EarlierFile[] {
  const ofOne = files.filter(({ messageId }) => messageId === files[0]?.messageId);
  const fromPerson = ofOne.filter(({ byAgent }) => !byAgent);
  return fromPerson.length > 0 ? fromPerson : ofOne;
}
