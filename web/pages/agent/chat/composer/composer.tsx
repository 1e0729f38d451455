// The place where a message is written: text, files, pictures and voice. Drafts stay in the tab.

import { ArrowUp, LoaderCircle, Mic, Paperclip, Square, X } from "lucide-react";
import { type ClipboardEvent, type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from "react";
import { Form } from "../../../../parts/forms/form.tsx";
import { useFileDrop } from "../../../../parts/forms/use-file-drop.ts";
import { IconButton } from "../../../../parts/icon-button.tsx";
import { formatBytes, t } from "../../../../viewer/language.ts";
import { Column } from "../messages/message.tsx";
import type { Outgoing } from "../sending.ts";
import { type ChosenFile, useFiles } from "./files.ts";
import { useSlashMenu } from "./slash-menu.tsx";
import { canRecord } from "./voice.ts";
import { VoiceRecorder } from "./voice-recorder.tsx";

interface Props {
  agentId: string;
  agentName: string;
  /** Names the draft that is kept. */
  draftKey: string;
  /** A text to go on with, such as an earlier message. */
  wanted: { text: string } | undefined;
  isRunning: boolean;
  onSend: (message: Outgoing) => void;
  onStop: () => void;
}

const MAX_LENGTH = 100_000;

export function Composer({ agentId, agentName, draftKey, wanted, isRunning, onSend, onStop }: Props) {
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const [text, setText] = useDraft(draftKey);
  const { files, add, drop, clear } = useFiles(agentId);
  const [isRecording, setRecording] = useState(false);

  // The field grows with its text, up to a third of the screen.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text
  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${element.scrollHeight}px`;
  }, [text]);
  useEffect(() => {
    if (!wanted) return;
    setText(wanted.text);
    field.current?.focus();
  }, [wanted, setText]);
  useEffect(() => {
    // On a phone the keyboard would cover what is read. A device without any pointer has a keyboard of its own.
    if (!matchMedia("(pointer: coarse)").matches) field.current?.focus({ preventScroll: true });
  }, []);

  const isUploading = files.some(({ uploaded }) => !uploaded);
  const canSend = (text.trim() !== "" || files.length > 0) && !isUploading;
  const send = () => {
    if (!canSend) return;
    const attachments = files.flatMap(({ uploaded }) => uploaded ?? []);
    const voice = files.flatMap(({ isVoice, uploaded }) => (isVoice && uploaded ? [uploaded.id] : []));
    onSend({ text: text.trim(), attachments, voice });
    setText("");
    clear();
  };
  const slash = useSlashMenu(agentId, text, setText);
  const onKeyDown = (event: KeyboardEvent) => {
    if (slash.onKeyDown(event)) return;
    // A word that is being composed is ended by Enter, too.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  const onPaste = (event: ClipboardEvent) => {
    const given = [...event.clipboardData.files];
    if (given.length === 0) return;
    event.preventDefault();
    add(given);
  };

  const { isOver, handlers: dropHandlers } = useFileDrop(add);
  return (
    <Column className="pt-1 pb-3">
      <Form
        aria-label={t("Write a message")}
        onSubmit={() => {
          send();
        }}
        {...dropHandlers}
        className={`rounded-large border bg-card p-1.5 transition-colors has-[textarea:focus-visible]:outline-2 has-[textarea:focus-visible]:outline-sea ${isOver ? "border-sea bg-wash" : "border-line"}`}
      >
        {files.length > 0 && (
          <ul aria-label={t("Files of this message")} className="flex flex-wrap gap-2 p-1.5">
            {files.map((file) => (
              <FileChip key={file.key} file={file} onDrop={() => drop(file.key)} />
            ))}
          </ul>
        )}
        {!isRecording && slash.list}
        {isRecording ? (
          <VoiceRecorder
            onDone={(file) => {
              setRecording(false);
              if (file) add([file], true);
              field.current?.focus();
            }}
          />
        ) : (
          <textarea
            ref={field}
            {...slash.field}
            aria-label={t("Message to {name}", { name: agentName })}
            placeholder={t("Write to {name}…", { name: agentName })}
            value={text}
            rows={1}
            maxLength={MAX_LENGTH}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={onKeyDown}
            onPaste={onPaste}
            className="block max-h-[33dvh] w-full resize-none bg-transparent px-2 py-1.5 text-base outline-none placeholder:text-soft pointer-coarse:text-md"
          />
        )}
        <div className="flex items-center gap-0.5">
          <IconButton label={t("Add files or pictures")} onClick={() => picker.current?.click()}>
            <Paperclip />
          </IconButton>
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            onChange={(event) => {
              add([...(event.target.files ?? [])]);
              event.target.value = "";
            }}
          />
          {canRecord() && !isRecording && (
            <IconButton label={t("Record your voice")} onClick={() => setRecording(true)}>
              <Mic />
            </IconButton>
          )}
          <span className="ml-1 hidden flex-1 truncate text-soft text-xs sm:block">
            {isOver ? t("Drop the files here") : t("Enter sends, Shift+Enter begins a new line")}
          </span>
          <span className="flex-1 sm:hidden" />
          {isRunning && (
            <IconButton
              label={t("Stop the reply")}
              onClick={onStop}
              className="border border-line bg-card text-ink hover:bg-hover"
            >
              <Square />
            </IconButton>
          )}
          <button
            type="submit"
            aria-label={t("Send")}
            title={t("Send")}
            disabled={!canSend}
            className="ml-1 grid size-8 place-items-center rounded-round bg-fill text-white transition-colors hover:bg-fill-strong disabled:bg-well disabled:text-soft [&_svg]:size-4"
          >
            <ArrowUp aria-hidden="true" />
          </button>
        </div>
      </Form>
    </Column>
  );
}

const FileChip = ({ file: { name, size, preview, uploaded }, onDrop }: { file: ChosenFile; onDrop: () => void }) => (
  <li className="flex max-w-56 items-center gap-2 rounded-round border border-line bg-page py-1 pr-0 pl-1.5 text-sm">
    {preview ? (
      <img src={preview} alt="" className="size-8 rounded-round object-cover" />
    ) : (
      <Paperclip className="size-4 shrink-0 text-soft" aria-hidden="true" />
    )}
    <span className="min-w-0">
      <bdi className="block truncate">{name}</bdi>
      <span className="block text-soft text-xs">{uploaded ? formatBytes(size) : t("is uploaded…")}</span>
    </span>
    {!uploaded && <LoaderCircle className="size-4 shrink-0 animate-spin text-sea" aria-hidden="true" />}
    <IconButton label={t("Remove {name}", { name })} onClick={onDrop}>
      <X />
    </IconButton>
  </li>
);

/** A text that a reload of the tab keeps. */
function useDraft(key: string): [string, (text: string) => void] {
  const storedAs = `berth-draft ${key}`;
  const [text, setText] = useState(() => sessionStorage.getItem(storedAs) ?? "");
  const [change] = useState(() => (next: string) => {
    setText(next);
    if (next === "") sessionStorage.removeItem(storedAs);
    else sessionStorage.setItem(storedAs, next);
  });
  return [text, change];
}
