// One message of a conversation: what a person wrote, or a reply with its steps and the turn behind it.

import { Bell, Paperclip, Pencil, RotateCcw } from "lucide-react";
import { memo, type ReactNode, useState } from "react";
import { path } from "../../../../api/api.ts";
import { Button } from "../../../../parts/button.tsx";
import { IconButton } from "../../../../parts/icon-button.tsx";
import { FileLink } from "../../../../parts/outside-link.tsx";
import { Markdown } from "../../../../parts/text/markdown.tsx";
import { CopyButton } from "../../../../parts/values/copy-button.tsx";
import { Status } from "../../../../parts/values/status.tsx";
import {
  formatBytes,
  formatDuration,
  formatNumber,
  formatTime,
  formatUsd,
  said,
  type Text,
  t,
  text,
  tn,
} from "../../../../viewer/language.ts";
import type { Attached, MessageView } from "../chat-data.ts";
import { Steps, toShown } from "./steps.tsx";

/** Characters of a text that are shown before somebody asks for the rest. */
const SHOWN = 12_000;

/** Why there is no reply, by the code of the API. */
const REASONS: Readonly<Record<string, Text>> = {
  AGENT_STOPPED: text("The agent was stopped before it could answer. Start it, then try again."),
  BUDGET_EXCEEDED: text("The budget is used up. Raise it in the set-up, or try again in the next period."),
  CANCELLED: text("You stopped the reply."),
  FILE_UNAVAILABLE: text("A file could not be read. Send it again."),
  TRANSCRIPTION_UNAVAILABLE: text("The recording could not be written down. Try again shortly, or write it."),
  MODEL_UNAVAILABLE: text("The model can't be reached, or refused the message. The agent's log says more."),
  PARKED: text("It could not be answered after several tries."),
  PRICE_UNAVAILABLE: text("The price of the model could not be found out. Try again shortly."),
  PRICE_UNKNOWN: text("The price of this model is not known. Choose another model in the set-up."),
};

export const reasonOf = ({ code, message }: { code: string; message: string }): string => {
  const known = REASONS[code];
  return known ? t(known) : said(message);
};

/** The width in which a conversation is read. */
export const Column = ({ children, className = "" }: { children: ReactNode; className?: string }) => (
  <div className={`mx-auto w-full max-w-[46rem] px-4 ${className}`}>{children}</div>
);

interface PersonProps {
  agentId: string;
  message: Pick<MessageView, "text" | "kind" | "senderName" | "createdAt" | "attachments" | "byOwner"> &
    Partial<Pick<MessageView, "transcribedBy">>;
  /** Below the text: what became of it. */
  children?: ReactNode;
  onEdit?: (() => void) | undefined;
}

/** What a person wrote; the owner's is at the right. */
export function PersonMessage({ agentId, message, children, onEdit }: PersonProps) {
  const { text, kind, senderName, createdAt, attachments, byOwner, transcribedBy } = message;
  if (kind === "reminder") return <Reminder text={text} />;
  const name = senderName || (byOwner ? t("You") : t("Somebody"));
  const words = wordsOf(message);
  const files = attachments.length > 0 && <Attachments agentId={agentId} files={attachments} />;
  return (
    <Column className={`group flex flex-col py-2 ${byOwner ? "items-end" : "items-start"}`}>
      <p className={`mb-0.5 text-soft text-xs ${byOwner ? "" : "text-sm"}`}>
        <bdi className={byOwner ? "sr-only" : "font-semibold text-ink"}>{name}</bdi> <Time at={createdAt} />
      </p>
      {transcribedBy && files}
      {words !== "" && (
        <div className={`flex w-full items-end gap-0.5 ${byOwner ? "flex-row-reverse" : ""}`}>
          <div
            dir="auto"
            className={`min-w-0 whitespace-pre-wrap max-w-[92%] rounded-large px-3 py-2 sm:max-w-[85%] ${byOwner ? "bg-wash" : "border border-edge bg-card"}`}
          >
            <LongText text={words}>{(shown) => <bdi>{shown}</bdi>}</LongText>
          </div>
          <span className="flex shrink-0 items-center text-soft text-xs opacity-0 transition-opacity group-focus-within:opacity-100 group-hover:opacity-100 pointer-coarse:hidden">
            {onEdit && (
              <IconButton label={t("Edit and send again")} onClick={onEdit}>
                <Pencil />
              </IconButton>
            )}
            <CopyButton value={words} label={t("Copy the message")} />
          </span>
        </div>
      )}
      {transcribedBy ? (
        <p className="mt-0.5 text-soft text-xs">{t("Transcribed by {model}", { model: modelName(transcribedBy) })}</p>
      ) : (
        files
      )}
      {children}
    </Column>
  );
}

const Reminder = ({ text }: { text: string }) => (
  <Column className="py-2">
    <p className="flex items-start gap-1.5 text-soft text-sm">
      <Bell className="mt-0.5 size-3.5 shrink-0" aria-hidden="true" />
      <span>
        {t("A reminder fell due:")} <bdi>{text}</bdi>
      </span>
    </p>
  </Column>
);

/** Parsed once, though the feed is rendered with each word of the next reply. */
const Words = memo(({ text }: { text: string }) => <Markdown text={text} />);

interface ReplyProps {
  agentId: string;
  name: string;
  message: MessageView;
  /** Requests for approval, or others, below the text. */
  children?: ReactNode;
  onOpenTurn: () => void;
  onRetry?: (() => void) | undefined;
}

/** A reply of the agent. */
export function Reply({ agentId, name, message, children, onOpenTurn, onRetry }: ReplyProps) {
  const { text, steps, usage, createdAt, state, attachments } = message;
  return (
    <Column className="group py-2">
      <ReplyHead name={name} at={createdAt} />
      <Steps steps={toShown(steps)} />
      <div dir="auto">
        <LongText text={isFilesAlone(message) ? "" : text}>{(shown) => <Words text={shown} />}</LongText>
      </div>
      {attachments.length > 0 && <Attachments agentId={agentId} files={attachments} isReply />}
      {children}
      <div className="mt-1 flex min-h-8 flex-wrap items-center gap-x-0.5 text-soft text-xs">
        {state === "cancelled" && <span className="mr-1.5 text-sm">{t("Stopped here.")}</span>}
        <button
          type="button"
          onClick={onOpenTurn}
          className="-ml-1.5 min-w-0 rounded-round px-1.5 py-1 text-left hover:bg-hover hover:text-ink"
          title={t("The turn behind this reply")}
        >
          {usage ? usageLine(usage, steps.length) : t("How this reply came about")}
        </button>
        <span className="flex items-center opacity-0 transition-opacity group-focus-within:opacity-100 group-hover:opacity-100 pointer-coarse:opacity-100">
          <CopyButton value={text} label={t("Copy the reply")} />
          {onRetry && (
            <IconButton label={t("Try again: sends your message once more")} onClick={onRetry}>
              <RotateCcw />
            </IconButton>
          )}
        </span>
      </div>
    </Column>
  );
}

export const ReplyHead = ({ name, at }: { name: string; at: string | undefined }) => (
  <p className="mb-0.5 flex items-baseline gap-2">
    <bdi className="truncate font-semibold">{name}</bdi>
    {at && (
      <span className="shrink-0 text-soft text-xs">
        <Time at={at} />
      </span>
    )}
  </p>
);

/** A model's own name, without its provider. */
const modelName = (model: string) => model.split(":").slice(1).join(":") || model;

function usageLine(usage: NonNullable<MessageView["usage"]>, tools: number): string {
  const { model, inputTokens, outputTokens, costUsd, ms } = usage;
  return [
    model && modelName(model),
    tn("{n} token", "{n} tokens", inputTokens + outputTokens),
    formatUsd(costUsd),
    formatDuration(ms),
    ...(tools > 0 ? [tn("{n} step", "{n} steps", tools)] : []),
  ]
    .filter(Boolean)
    .join(" · ");
}

/** A message that was not answered, with the reason and what to do. */
export function NoReply({
  state,
  error,
  onRetry,
}: Pick<MessageView, "state" | "error"> & { onRetry: (() => void) | undefined }) {
  if (state !== "failed" && state !== "cancelled") return null;
  return (
    <div className="mt-1 flex max-w-[85%] flex-wrap items-center justify-end gap-2 text-sm">
      <Status tone={state === "failed" ? "bad" : "idle"}>{error ? reasonOf(error) : t("It was not answered.")}</Status>
      {onRetry && (
        <Button onClick={onRetry}>
          <RotateCcw aria-hidden="true" />
          {t("Try again")}
        </Button>
      )}
    </div>
  );
}

/** The time of day; the date is above the messages of a day. */
const Time = ({ at }: { at: string }) => (
  <time dateTime={at} title={formatTime(Date.parse(at))}>
    {formatTime(Date.parse(at), { timeStyle: "short" })}
  </time>
);

/** The beginning of a very long text, and the rest on request. */
function LongText({ text, children }: { text: string; children: (shown: string) => ReactNode }) {
  const [isWhole, setWhole] = useState(false);
  if (text.length <= SHOWN * 1.2 || isWhole) return <>{children(text)}</>;
  return (
    <>
      {children(`${text.slice(0, SHOWN)}…`)}
      <Button look="bare" onClick={() => setWhole(true)} className="-ml-3">
        {t("Show all {n} characters", { n: formatNumber(text.length) })}
      </Button>
    </>
  );
}

/** The lines in brackets name the files for the model; people see the files. */
export function wordsOf({ text, attachments }: Pick<MessageView, "text" | "attachments">): string {
  const lines = text.split("\n");
  let notes = 0;
  while (notes < attachments.length && /^\[.*\]$/.test(lines[notes] ?? "")) notes++;
  return lines.slice(notes).join("\n");
}

/** A reply without words has a line for each of its files instead, for the model. */
const isFilesAlone = ({ text, attachments }: Pick<MessageView, "text" | "attachments">) =>
  attachments.length > 0 && text.split("\n").every((line) => /^\[sent .*\]$/.test(line));

const SHOWN_PICTURES = /^image\/(?:png|jpeg|webp|gif)$/;

/** Files of a message, from this server alone. */
export const Attachments = ({
  agentId,
  files,
  isReply = false,
}: {
  agentId: string;
  files: readonly Attached[];
  isReply?: boolean;
}) => (
  <ul aria-label={t("Files")} className={`my-1 flex flex-wrap gap-2 ${isReply ? "" : "justify-end"}`}>
    {files.map((file) => (
      <li key={file.id} className="max-w-full">
        <AttachedFile file={file} address={path`/api/agents/${agentId}/uploads/${file.id}`} />
        {file.caption && (
          <p dir="auto" className="mt-0.5 max-w-80 text-soft text-sm">
            {file.caption}
          </p>
        )}
      </li>
    ))}
  </ul>
);

function AttachedFile({ file: { name, type, size, caption }, address }: { file: Attached; address: string }) {
  if (type.startsWith("audio/")) {
    // Without its metadata a player shows a length of 0:00.
    // biome-ignore lint/a11y/useMediaCaption: what a person has just recorded has no captions
    return <audio controls preload="metadata" src={address} aria-label={name} className="h-10 max-w-full" />;
  }
  if (SHOWN_PICTURES.test(type)) {
    return (
      <FileLink href={address}>
        <img
          src={address}
          alt={caption ?? name}
          loading="lazy"
          className="h-40 max-w-full rounded-large object-contain"
        />
      </FileLink>
    );
  }
  return (
    <a
      href={address}
      download={name}
      className="flex max-w-64 items-center gap-2 rounded-round border border-line bg-card px-2 py-1 text-sm hover:bg-hover"
    >
      <Paperclip className="size-4 shrink-0 text-soft" aria-hidden="true" />
      <bdi className="truncate">{name}</bdi>
      <span className="shrink-0 text-soft">{formatBytes(size)}</span>
    </a>
  );
}
