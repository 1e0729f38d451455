// The third step: a first talk with the agent, right here.

import { ArrowUp, Wrench } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Button, ButtonLink } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { TextField } from "../../../parts/forms/field.tsx";
import { Form } from "../../../parts/forms/form.tsx";
import { Markdown } from "../../../parts/text/markdown.tsx";
import { type Text, t, text } from "../../../viewer/language.ts";
import { StepPage } from "./frame.tsx";
import { streamReply } from "./stream-reply.ts";

interface Props {
  agent: { id: string; name: string };
  serving: "own" | "demo";
  onDone: () => void;
  onSkip: () => void;
}

interface Message {
  id: number;
  from: "me" | "agent";
  words: string;
  tools: readonly string[];
  isWriting: boolean;
}

const BEGINNINGS: readonly Text[] = [
  text("Hello! What can you do for me?"),
  text("What time is it?"),
  text("Remember that I like short answers."),
];

export function TalkStep({ agent, serving, onDone, onSkip }: Props) {
  const { messages, error, isBusy, say } = useTalk(agent.id);
  const [draft, setDraft] = useState("");
  const hasReply = messages.some(({ from, isWriting }) => from === "agent" && !isWriting);
  const submit = () => {
    if (isBusy || draft.trim() === "") return;
    void say(draft.trim());
    setDraft("");
  };
  return (
    <StepPage
      title={t("Talk to {name}", { name: agent.name })}
      intro={t("Write something, or take one of these. This is the same chat that people will have with it.")}
      onSkip={hasReply ? undefined : onSkip}
    >
      <section
        aria-label={t("Chat with {name}", { name: agent.name })}
        className="flex flex-col rounded-large border border-edge bg-card"
      >
        <Log messages={messages} name={agent.name}>
          {messages.length === 0 && (
            <div className="m-auto flex flex-wrap justify-center gap-2">
              {BEGINNINGS.map((beginning) => (
                <Button key={beginning} onClick={() => void say(t(beginning))}>
                  {t(beginning)}
                </Button>
              ))}
            </div>
          )}
        </Log>
        <Form onSubmit={submit} className="flex items-end gap-2 border-edge border-t p-3">
          <div className="min-w-0 flex-1">
            <TextField
              label={t("Your message")}
              isLabelHidden
              placeholder={t("Write to {name}", { name: agent.name })}
              value={draft}
              maxLength={4_000}
              onChange={(event) => setDraft(event.target.value)}
            />
          </div>
          <Button type="submit" look={hasReply ? "quiet" : "primary"} isBusy={isBusy} aria-label={t("Send")}>
            <ArrowUp aria-hidden="true" />
          </Button>
        </Form>
      </section>
      {error !== undefined && <ErrorNote error={error} />}
      {hasReply && (
        <div className="flex flex-col items-start gap-3">
          {serving === "demo" && (
            <p className="text-soft">
              {t("This was the demo model: it shows how it works. A real one understands you.")}
            </p>
          )}
          <div className="flex flex-wrap gap-2">
            <Button look="primary" onClick={onDone}>
              {t("Go on")}
            </Button>
            {serving === "demo" && <ButtonLink href="/welcome?step=model">{t("Choose a real model")}</ButtonLink>}
          </div>
        </div>
      )}
    </StepPage>
  );
}

function Log({ messages, name, children }: { messages: readonly Message[]; name: string; children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: follows the words as they come
  useEffect(() => {
    box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [messages]);
  return (
    <div
      ref={box}
      role="log"
      aria-label={t("Messages with {name}", { name })}
      tabIndex={0}
      className="flex h-80 flex-col gap-3 overflow-y-auto p-4"
    >
      {children}
      {messages.map((message) => (
        <Bubble key={message.id} message={message} name={name} />
      ))}
    </div>
  );
}

function Bubble({ message: { from, words, tools, isWriting }, name }: { message: Message; name: string }) {
  if (from === "me") {
    return (
      <div className="max-w-[85%] self-end whitespace-pre-wrap rounded-large rounded-br-none bg-wash px-3 py-2">
        <span className="sr-only">{t("You:")} </span>
        {words}
      </div>
    );
  }
  return (
    <div
      className="max-w-[85%] self-start rounded-large rounded-bl-none border border-edge bg-well px-3 py-2"
      aria-busy={isWriting}
    >
      <span className="sr-only">{t("{name}:", { name })} </span>
      {tools.map((tool, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same tool may be used twice
        <p key={index} className="flex items-center gap-1.5 text-soft text-sm">
          <Wrench className="size-3.5" aria-hidden="true" />
          {t("uses {tool}", { tool })}
        </p>
      ))}
      {words ? <Markdown text={words} /> : isWriting && <span className="text-soft">{t("thinks…")}</span>}
    </div>
  );
}

/** The messages of this step, and the way to say one. */
function useTalk(agentId: string) {
  const [messages, setMessages] = useState<readonly Message[]>([]);
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const [left] = useState(() => ({ abort: new AbortController() }));
  useEffect(() => {
    left.abort = new AbortController();
    return () => left.abort.abort();
  }, [left]);

  async function say(words: string): Promise<void> {
    const id = messages.length;
    const blank = { words: "", tools: [], isWriting: true };
    setError(undefined);
    setBusy(true);
    setMessages((before) => [
      ...before,
      { id, from: "me", words, tools: [], isWriting: false },
      { id: id + 1, from: "agent", ...blank },
    ]);
    const change = (make: (message: Message) => Partial<Message>) =>
      setMessages((before) => before.map((one) => (one.id === id + 1 ? { ...one, ...make(one) } : one)));
    try {
      const reply = await streamReply(agentId, words, {
        signal: left.abort.signal,
        onText: (more) => change((one) => ({ words: one.words + more })),
        onTool: (tool) => change((one) => ({ tools: [...one.tools, tool] })),
      });
      change(() => ({ words: reply, isWriting: false }));
    } catch (failure) {
      if (left.abort.signal.aborted) return;
      setMessages((before) => before.filter((one) => one.id < id));
      setError(failure);
    } finally {
      setBusy(false);
    }
  }
  return { messages, error, isBusy, say };
}
