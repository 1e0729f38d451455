// The reply that is being written: its steps and words as they come, or why it waits.

import { LoaderCircle } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { Markdown } from "../../../../parts/text/markdown.tsx";
import { CopyButton } from "../../../../parts/values/copy-button.tsx";
import { t } from "../../../../viewer/language.ts";
import type { LiveTurn } from "../live-turn.ts";
import { Attachments, Column, ReplyHead, reasonOf } from "./message.tsx";
import { Steps } from "./steps.tsx";

interface LiveReplyProps {
  agentId: string;
  name: string;
  turn: LiveTurn;
  children?: ReactNode;
}

export function LiveReply({ agentId, name, turn, children }: LiveReplyProps) {
  const { steps, text, files, status, pause } = turn;
  const isOver = status === "done";
  return (
    <Column className="py-2">
      <ReplyHead name={name} at={undefined} />
      <Steps steps={steps} />
      <div dir="auto" aria-busy={!isOver}>
        <Markdown text={text} />
      </div>
      {files.length > 0 && <Attachments agentId={agentId} files={files} isReply />}
      {children}
      <div className="mt-1 flex min-h-8 items-center gap-2 text-soft text-sm">
        {pause ? <Pause {...pause} /> : !isOver && <Working turn={turn} />}
      </div>
    </Column>
  );
}

/** What was written of a reply until it was stopped, before the server gives it as a message. */
export const StoppedReply = ({ name, turn: { steps, text } }: { name: string; turn: LiveTurn }) => (
  <Column className="py-2">
    <ReplyHead name={name} at={undefined} />
    <Steps steps={steps} />
    <div dir="auto">
      <Markdown text={text} />
    </div>
    <p className="mt-1 flex min-h-8 items-center gap-1 text-soft text-sm">
      {t("Stopped here.")}
      <CopyButton value={text} label={t("Copy the reply")} />
    </p>
  </Column>
);

function Working({ turn: { isConnected, text, status } }: { turn: LiveTurn }) {
  const words = !isConnected
    ? t("The connection is lost. The agent goes on, and the rest comes when the connection is back.")
    : status === "waiting"
      ? t("Waits for its turn…")
      : text === ""
        ? t("Thinks…")
        : t("Writes…");
  return (
    <>
      <LoaderCircle className="size-3.5 shrink-0 animate-spin text-sea" aria-hidden="true" />
      {words}
    </>
  );
}

/** The turn goes on by itself, and says when. */
function Pause({ code, message, retryAt }: NonNullable<LiveTurn["pause"]>) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (retryAt === undefined) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [retryAt]);
  const seconds = retryAt === undefined ? undefined : Math.max(0, Math.ceil((retryAt - now) / 1_000));
  return (
    <p className="text-warn">
      {code === "MODEL_UNAVAILABLE" ? t("The model can't be reached right now.") : reasonOf({ code, message })}{" "}
      {seconds !== undefined && t("The next try comes by itself in {n} s.", { n: seconds })}
    </p>
  );
}
