// Uploads the files of a message that is being written, and keeps what has arrived.

import { useState } from "react";
import { api, path } from "../../../../api/api.ts";
import { randomKey } from "../../../../api/random-key.ts";
import { messageOf } from "../../../../parts/error-note.tsx";
import { showError } from "../../../../parts/toast.tsx";
import { t } from "../../../../viewer/language.ts";
import type { Attached } from "../chat-data.ts";

/** A file that is on its way, or has arrived. */
export interface ChosenFile {
  key: string;
  name: string;
  size: number;
  /** An address in memory, for pictures. */
  preview: string | undefined;
  isVoice: boolean;
  uploaded: Attached | undefined;
}

const MAX_FILES = 10;
const MAX_BYTES = 20 * 1024 * 1024;

export function useFiles(agentId: string) {
  const [files, setFiles] = useState<readonly ChosenFile[]>([]);
  const drop = (key: string) =>
    setFiles((before) => {
      const gone = before.find((one) => one.key === key);
      if (gone?.preview) URL.revokeObjectURL(gone.preview);
      return before.filter((one) => one.key !== key);
    });

  async function upload(chosen: ChosenFile, file: File): Promise<void> {
    const form = new FormData();
    form.append("file", file, chosen.name);
    try {
      const uploaded = await api.post<Attached>(path`/api/agents/${agentId}/uploads`, form);
      setFiles((before) => before.map((one) => (one.key === chosen.key ? { ...one, uploaded } : one)));
    } catch (error) {
      showError(`${chosen.name}: ${messageOf(error)}`);
      drop(chosen.key);
    }
  }

  return {
    files,
    add(given: readonly File[], isVoice = false) {
      const room = MAX_FILES - files.length;
      if (given.length > room) showError(t("A message takes up to {n} files.", { n: MAX_FILES }));
      for (const file of given.slice(0, room)) {
        const name = file.name || t("picture.png");
        if (file.size > MAX_BYTES) {
          showError(t("{name} is larger than 20 MB. Make it smaller, or send a part of it.", { name }));
          continue;
        }
        const preview = file.type.startsWith("image/") ? URL.createObjectURL(file) : undefined;
        const chosen = { key: randomKey(), name, size: file.size, preview, isVoice, uploaded: undefined };
        setFiles((before) => [...before, chosen]);
        void upload(chosen, file);
      }
    },
    drop,
    clear: () => {
      for (const { preview } of files) if (preview) URL.revokeObjectURL(preview);
      setFiles([]);
    },
  };
}
