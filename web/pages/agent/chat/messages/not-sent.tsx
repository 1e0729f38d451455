// A message that is on its way, or why it is not.

import { CloudOff, RotateCcw, X } from "lucide-react";
import { Button } from "../../../../parts/button.tsx";
import { IconButton } from "../../../../parts/icon-button.tsx";
import { t } from "../../../../viewer/language.ts";
import type { Unsent } from "../sending.ts";
import { PersonMessage } from "./message.tsx";

interface Props {
  agentId: string;
  message: Unsent;
  sendAgain: (key: string) => void;
  remove: (key: string) => void;
}

export function NotSent({ agentId, message, sendAgain, remove }: Props) {
  const { key, problem } = message;
  const shown = { ...message, kind: "message" as const, senderName: "", byOwner: true };
  return (
    <PersonMessage agentId={agentId} message={shown}>
      {problem && (
        <div role="alert" className="mt-1 flex max-w-[85%] flex-wrap items-center justify-end gap-2 text-sm">
          <span className="inline-flex items-center gap-1.5 text-warn">
            <CloudOff className="size-4 shrink-0" aria-hidden="true" />
            {problem.isTriedAgain
              ? t("Not sent yet. It is kept here, and sent when Berth answers again.")
              : t("Not sent: {reason}", { reason: problem.message })}
          </span>
          {!problem.isTriedAgain && (
            <Button onClick={() => sendAgain(key)}>
              <RotateCcw aria-hidden="true" />
              {t("Try again")}
            </Button>
          )}
          <IconButton label={t("Remove this message")} onClick={() => remove(key)}>
            <X />
          </IconButton>
        </div>
      )}
    </PersonMessage>
  );
}
