// The thread that unpacks and reads a skill's folder.
import type { FolderReply } from "./folder-reader.ts";
import { UnusableFolder } from "./problems.ts";
import { readSkillFolder } from "./skill-folder.ts";

declare const self: Worker;

function* replies(bytes: Uint8Array): Generator<FolderReply, void> {
  try {
    const { files, ...folder } = readSkillFolder(bytes);
    for (const file of files) yield { file };
    yield { folder };
  } catch (error) {
    if (!(error instanceof UnusableFolder)) throw error;
    yield { problems: error.problems };
  }
}

self.onmessage = ({ data }: MessageEvent<Uint8Array>) => {
  for (const reply of replies(data)) self.postMessage(reply);
};
