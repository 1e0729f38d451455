// Shows a file of a skill as plain text.

import { useQuery } from "@tanstack/react-query";
import { visibleText } from "../../../../src/kernel/util/text/visible-text.ts";
import { api, path } from "../../../api/api.ts";
import { Dialog } from "../../../parts/dialog.tsx";
import { Loaded } from "../../../parts/page/loaded.tsx";
import { CodeBlock } from "../../../parts/text/code-block.tsx";
import { formatBytes, t } from "../../../viewer/language.ts";
import { type SkillFile, skillKey } from "./data.ts";

/** Characters that are shown: a browser is slow with a text of a megabyte in one piece. */
const MAX_SHOWN = 200_000;

interface Props {
  skillId: string;
  file: SkillFile;
  onClose: () => void;
}

export function FileDialog({ skillId, file, onClose }: Props) {
  const query = useQuery({
    queryKey: [...skillKey(skillId), "file", file.path],
    queryFn: () => api.get<{ text: string | null }>(path`/api/skills/${skillId}/file`, { path: file.path }),
  });
  const title = visibleText(file.path);
  return (
    <Dialog title={title} width="wide" onClose={onClose}>
      <Loaded query={query}>
        {({ text }) => (
          <div className="flex flex-col gap-2">
            <CodeBlock code={visibleText((text ?? "").slice(0, MAX_SHOWN))} label={title} />
            {(text ?? "").length > MAX_SHOWN && (
              <p className="text-soft text-sm">
                {t("This is the beginning of {size}.", { size: formatBytes(file.size) })}
              </p>
            )}
          </div>
        )}
      </Loaded>
    </Dialog>
  );
}
