// Speaks replies: decides whether one is spoken, and attaches the spoken words as a file of the turn, which is paid once.
import { AppError } from "../../../src/kernel/errors.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import type { Agent, AgentSettings, agents as agentsPlugin } from "../../agents/index.ts";
import { type ai as aiPlugin, isProviderAway } from "../../ai/index.ts";
import { parseAttachments } from "../inbox/attachments.ts";
import type { InboxEntry } from "../inbox/entries.ts";
import type { TurnFiles } from "../reply-files/turn-files.ts";
import { toSpeechText } from "./speech-text.ts";

interface Deps extends Pick<Kernel, "log"> {
  ai: Pick<ServiceOf<typeof aiPlugin>, "speakerFor">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "log">;
}

/** The turn whose reply is spoken. */
interface SpeakingTurn {
  readonly entry: InboxEntry;
  readonly files: TurnFiles | undefined;
  readonly signal: AbortSignal;
}

/** A spoken reply. */
export interface SpokenReply {
  /** The upload with the sound. */
  fileId: string;
  /** What is said in it. */
  words: string;
  /** It says the whole reply. */
  isWhole: boolean;
}

const EXTENSIONS: Readonly<Record<string, string>> = { "audio/ogg": "ogg", "audio/mpeg": "mp3", "audio/wav": "wav" };

/** Whether the reply to an entry is to be spoken. */
export function isToSpeak({ voice }: AgentSettings, entry: InboxEntry): boolean {
  if (voice?.replies === "always") return true;
  return voice?.replies === "when spoken to" && parseAttachments(entry.attachments).some(({ voice: own }) => own);
}

export function createSpeaking({ ai, agents, log }: Deps) {
  /** Attaches the spoken reply to the turn; undefined, with a line in the agent's log, if it can't be spoken. */
  return async (turn: SpeakingTurn, agent: Agent, reply: string): Promise<SpokenReply | undefined> => {
    const { files, signal, entry } = turn;
    const { text: words, isWhole } = toSpeechText(reply);
    if (!files || words === "") return undefined;
    const key = `${entry.id}.speech`;
    const stored = await files.find(key);
    if (stored) return { fileId: stored.id, words, isWhole };
    const fail = (reason: string) => {
      agents.log(agent.id, "warning", `The reply was not read aloud. ${reason}`, "runtime");
      return undefined;
    };
    let ownKey = false;
    try {
      const speaker = await ai.speakerFor(agent);
      if (!speaker) return fail("No provider has a model for it.");
      ownKey = speaker.ownKey;
      const { result, payment } = await speaker.speak({ text: words, turnId: entry.id, signal });
      const { bytes, mediaType } = result;
      try {
        const name = `reply.${EXTENSIONS[mediaType] ?? "audio"}`;
        const { id } = await files.attach(key, { name, bytes, type: mediaType, kind: "voice" });
        return { fileId: id, words, isWhole };
      } finally {
        await payment.record();
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof AppError)) throw error;
      const cause = error.cause instanceof Error ? error.cause.message : error.message;
      log.warn("a reply was not read aloud", { agentId: agent.id, code: error.code, cause });
      return fail(reasonOf(error, ownKey));
    }
  };
}

/** The owner does not learn how the operator's provider fails. */
function reasonOf(error: AppError, ownKey: boolean): string {
  if (ownKey || !error.code.startsWith("PROVIDER_")) return error.message;
  return isProviderAway(error) ? "The model for it can't be reached right now." : "The model for it did not take it.";
}
