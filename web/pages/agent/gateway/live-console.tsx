// Talks to the agent over its WebSocket and shows the frames of both directions, as a program would see them.

import { useEffect, useRef, useState } from "react";
import { randomKey } from "../../../api/random-key.ts";
import { Button } from "../../../parts/button.tsx";
import { TextField } from "../../../parts/forms/field.tsx";
import { Form } from "../../../parts/forms/form.tsx";
import { showError } from "../../../parts/toast.tsx";
import { Status } from "../../../parts/values/status.tsx";
import { formatTime, t } from "../../../viewer/language.ts";
import { type SocketState, useGateway } from "./use-gateway.ts";

export function LiveConsole({ address }: { address: string }) {
  const { state, frames, connect, disconnect, send, clear } = useGateway(address);
  const [message, setMessage] = useState("");
  const log = useRef<HTMLDivElement>(null);
  const last = frames.at(-1)?.id;
  useEffect(() => {
    if (last !== undefined) log.current?.scrollTo({ top: log.current.scrollHeight });
  }, [last]);
  const isOpen = state.kind === "open";
  const submit = () => {
    const words = message.trim();
    if (words === "") return;
    if (send({ type: "chat", id: randomKey().slice(0, 8), message: words })) setMessage("");
    else showError(t("The connection is gone. Connect again."));
  };
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <div role="status" className="flex-1">
          <StateLine state={state} />
        </div>
        {frames.length > 0 && (
          <Button look="bare" onClick={clear}>
            {t("Empty the list")}
          </Button>
        )}
        {isOpen || state.kind === "connecting" ? (
          <Button onClick={disconnect}>{t("Disconnect")}</Button>
        ) : (
          <Button look="primary" onClick={connect}>
            {t("Connect")}
          </Button>
        )}
      </div>
      <div
        ref={log}
        role="log"
        aria-label={t("Messages of the connection")}
        tabIndex={0}
        className="h-72 overflow-y-auto rounded-large border border-edge bg-well p-2 font-mono text-sm"
      >
        {frames.length === 0 && (
          <p className="p-2 font-sans text-soft">{t("Connect, then send a message: what comes back appears here.")}</p>
        )}
        <ol>
          {frames.map(({ id, direction, at, text }) => (
            <li key={id} className="flex gap-2 py-0.5">
              <span className="shrink-0 text-soft">{formatTime(at, { timeStyle: "medium" })}</span>
              <span className={`shrink-0 ${direction === "out" ? "text-sea" : "text-good"}`}>
                <span aria-hidden="true">{direction === "out" ? "→" : "←"}</span>
                <span className="sr-only">{direction === "out" ? t("sent") : t("received")}</span>
              </span>
              <span className="min-w-0 whitespace-pre-wrap break-all">{text}</span>
            </li>
          ))}
        </ol>
      </div>
      <Form onSubmit={submit} className="flex items-end gap-2">
        <div className="flex-1">
          <TextField
            label={t("Message to the agent")}
            isLabelHidden
            placeholder={t("Message to the agent")}
            value={message}
            onChange={(event) => setMessage(event.target.value)}
            disabled={!isOpen}
          />
        </div>
        <Button type="submit" disabled={!isOpen || message.trim() === ""}>
          {t("Send")}
        </Button>
        <Button disabled={!isOpen} onClick={() => send({ type: "ping" })}>
          {t("Ping")}
        </Button>
      </Form>
    </div>
  );
}

function StateLine({ state }: { state: SocketState }) {
  if (state.kind === "open") return <Status tone="good">{t("Connected")}</Status>;
  if (state.kind === "connecting") return <Status tone="busy">{t("Connecting …")}</Status>;
  if (state.kind === "closed") return <Status tone="warn">{reasonOf(state.code)}</Status>;
  return <Status tone="idle">{t("Not connected")}</Status>;
}

/** The close codes of docs/gateway.md. */
function reasonOf(code: number): string {
  if (code === 4401) return t("Refused: your session has ended, or the agent is gone");
  if (code === 4429) return t("Too many messages or connections. Wait a little, then connect again.");
  if (code === 1012 || code === 1001) return t("Berth is restarting. Connect again in a moment.");
  return t("The connection was lost (code {code}). Connect again.", { code });
}
