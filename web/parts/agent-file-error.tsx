// Why no agent was made of a file. For one that holds none it says which files to choose: the server's error tells what is wrong in
// this file, which helps nobody who took the wrong one.

import { messageFor } from "../app/errors.ts";
import { t } from "../app/language.ts";
import { ErrorNote } from "./error-note.tsx";
import { Notice } from "./status.tsx";

export function AgentFileError({ error }: { error: unknown }) {
  if (messageFor(error, "INVALID_JSON", "UNKNOWN_FORMAT") === undefined) return <ErrorNote error={error} />;
  return (
    <div role="alert">
      <Notice tone="bad">
        <p>
          {t(
            "There is no agent in this file. Choose an exported agent (JSON), a character card, an elizaOS character, or a zip of an OpenClaw workspace.",
          )}
        </p>
      </Notice>
    </div>
  );
}
