// Sends messages so that none is lost: each is kept in this tab, with a key that makes a repetition harmless, until the
// server has it.

import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useState } from "react";
import { api, path } from "../../../api/api.ts";
import { ApiError, UnreachableError } from "../../../api/errors.ts";
import { randomKey } from "../../../api/random-key.ts";
import { messageOf } from "../../../parts/error-note.tsx";
import { type Attached, addSent, refreshConversation, tellOtherTabs } from "./chat-data.ts";

/** A message that the server does not have yet. */
export interface Unsent {
  key: string;
  text: string;
  attachments: Attached[];
  /** Ids of those that were spoken for it. */
  voice: string[];
  createdAt: string;
  /** Why it was not taken; without one it is on its way. */
  problem?: { message: string; isTriedAgain: boolean } | undefined;
}

export type Outgoing = Pick<Unsent, "text" | "attachments" | "voice">;

const RETRY_MS = 3_000;

export function useSending(agentId: string, conversationId: string | undefined, onBegun: (id: string) => void) {
  const client = useQueryClient();
  const storedAs = `berth-unsent ${agentId} ${conversationId ?? "new"}`;
  const [unsent, setUnsent] = useState(() => readStored(storedAs));
  const change = (next: (before: readonly Unsent[]) => readonly Unsent[]) =>
    setUnsent((before) => {
      const after = next(before);
      writeStored(storedAs, after);
      return after;
    });
  const remove = (key: string) => change((before) => before.filter((one) => one.key !== key));

  async function attempt(message: Unsent): Promise<void> {
    const { key, text, attachments, voice, createdAt } = message;
    const to = conversationId === undefined ? "" : path`/${conversationId}/messages`;
    const files = attachments.length > 0 && { attachments: attachments.map(({ id }) => id), voice };
    try {
      const sent = await api.post<{ turnId: string; conversationId: string }>(
        `${path`/api/agents/${agentId}/conversations`}${to}`,
        { message: text, ...files },
        { idempotencyKey: key },
      );
      remove(key);
      addSent(client, agentId, sent.conversationId, {
        id: sent.turnId,
        turnId: sent.turnId,
        seq: null,
        role: "user",
        kind: "message",
        text,
        transcribedBy: null,
        senderName: "",
        byOwner: true,
        createdAt,
        state: "waiting",
        error: null,
        steps: [],
        attachments,
        usage: null,
      });
      if (conversationId === undefined) onBegun(sent.conversationId);
      void refreshConversation(client, agentId, sent.conversationId);
      tellOtherTabs(agentId, sent.conversationId);
    } catch (error) {
      const isTriedAgain =
        error instanceof UnreachableError ||
        (error instanceof ApiError && (error.status >= 500 || error.status === 429));
      const problem = { message: messageOf(error), isTriedAgain };
      change((before) => before.map((one) => (one.key === key ? { ...one, problem } : one)));
    }
  }

  const retry = useEffectEvent((key?: string) => {
    for (const one of unsent) if (key ? one.key === key : one.problem?.isTriedAgain) void attempt(one);
  });
  // What an earlier visit of this tab could not send is sent now.
  const resume = useEffectEvent(() => {
    for (const one of unsent) if (!one.problem || one.problem.isTriedAgain) void attempt(one);
  });
  useEffect(() => resume(), []);
  const hasWaiting = unsent.some(({ problem }) => problem?.isTriedAgain);
  useEffect(() => {
    if (!hasWaiting) return;
    const again = () => retry();
    const timer = setInterval(again, RETRY_MS);
    addEventListener("online", again);
    return () => {
      clearInterval(timer);
      removeEventListener("online", again);
    };
  }, [hasWaiting]);

  return {
    unsent,
    remove,
    sendAgain(key: string) {
      const message = unsent.find((one) => one.key === key);
      if (!message) return;
      change((before) => before.map((one) => (one.key === key ? { ...one, problem: undefined } : one)));
      void attempt(message);
    },
    send(outgoing: Outgoing) {
      const message: Unsent = { ...outgoing, key: randomKey(), createdAt: new Date().toISOString() };
      change((before) => [...before, message]);
      void attempt(message);
    },
  };
}

function readStored(name: string): readonly Unsent[] {
  try {
    return JSON.parse(sessionStorage.getItem(name) ?? "[]") as Unsent[];
  } catch {
    return [];
  }
}

function writeStored(name: string, unsent: readonly Unsent[]): void {
  try {
    if (unsent.length === 0) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, JSON.stringify(unsent));
  } catch {
    // Without storage a reload loses what is not sent yet; the page still shows it.
  }
}
