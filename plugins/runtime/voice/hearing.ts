// Writes down the recordings of a message that the agent's model can't listen to. The words become a part of the message,
// stored together with what they have cost, so that no later try pays again.
import { guard } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import { bracketNote } from "../../../src/kernel/util/text/quoted-text.ts";
import type { Agent, agents as agentsPlugin } from "../../agents/index.ts";
import { type ai as aiPlugin, isProviderAway, type Transcriber } from "../../ai/index.ts";
import { type Attachment, serializeAttachments } from "../inbox/attachments.ts";
import type { Inbox } from "../inbox/inbox.ts";
import {
  CANT_LISTEN,
  claimedKind,
  FILE_GONE,
  fetchBytes,
  holdFileMemory,
  type LoadFilesRequest,
  MAX_FILES,
  sanitizeName,
  tooLargeReason,
  unsupportedAudioMessage,
  unsupportedReason,
} from "../turn/file-loading.ts";
import type { RunningTurn } from "../turn/model-turn.ts";

interface Deps extends Pick<Kernel, "database" | "log"> {
  ai: Pick<ServiceOf<typeof aiPlugin>, "transcriberFor">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "log">;
  inbox: Pick<Inbox, "saveWordsStatement">;
}

interface Heard {
  /** The files that are still to be loaded for the model. */
  files: Attachment[];
  /** Sentences about recordings that could not be written down, for the sender. */
  omissions: string[];
}

/** Models for it take about 25 minutes at most. */
const LONGEST_MINUTES = 20;
const TOO_LONG = `This recording is too long for me: ${LONGEST_MINUTES} minutes are the most. Send it in parts, or write it to me.`;
const AWAY = "I can't listen to recordings right now. Write it to me, or send it again later.";
const NOT_UNDERSTOOD = "I could not make out this recording. Write it to me, or send it as an MP3 or WAV file.";
const SILENT = "[No speech was recognised in it.]";

export function createHearing({ ai, agents, database, log, inbox }: Deps) {
  /** The words of a recording, and their payment; a sentence for the sender if there are none to be had. */
  async function listen(
    request: LoadFilesRequest,
    file: Attachment,
    transcriber: Transcriber,
    turnId: string,
  ): Promise<string | Awaited<ReturnType<Transcriber["transcribe"]>>> {
    const { agentId, signal, canRetry } = request;
    const bytes = await fetchBytes(request, file, "audio");
    if (!bytes) return FILE_GONE;
    const recording = transcriber.recordingOf(bytes);
    if (!recording) return unsupportedAudioMessage(file);
    if (recording.seconds > LONGEST_MINUTES * 60) return TOO_LONG;
    try {
      return await transcriber.transcribe({ ...recording, bytes, turnId, signal });
    } catch (error) {
      signal.throwIfAborted();
      // A budget that is used up ends the turn like one for a call of the model.
      if (!(error instanceof AppError) || error.status === 402) throw error;
      const isAway = isProviderAway(error);
      const cause = error.cause instanceof Error ? error.cause.message : error.message;
      log.warn("a recording was not written down", { agentId, code: error.code, cause });
      agents.log(
        agentId,
        "warning",
        `A recording was not written down. ${reasonOf(error, isAway, transcriber)}`,
        "runtime",
      );
      if (isAway && canRetry) throw new AppError(503, "TRANSCRIPTION_UNAVAILABLE", AWAY, {}, { cause: error });
      if (isAway) return AWAY;
      // The address is of a server that writes nothing down, or the key is not for it.
      return error.status === 404 || error.code === "PROVIDER_MISCONFIGURED" ? CANT_LISTEN : NOT_UNDERSTOOD;
    }
  }

  /**
   * Writes the words into the entry of the turn, and into its row.
   * @throws AppError 402 `BUDGET_EXCEEDED`, 503 `TRANSCRIPTION_UNAVAILABLE` when a later try may succeed
   */
  return async (turn: RunningTurn, agent: Agent, request: LoadFilesRequest): Promise<Heard> => {
    const { acceptedInputs, signal } = request;
    const isUnheard = (file: Attachment) => unsupportedReason(file, claimedKind(file), acceptedInputs) !== undefined;
    const all = [...request.files];
    const isToWrite = (file: Attachment) => claimedKind(file) === "audio" && !file.writtenDown;
    const isLeft = (file: Attachment) => !(file.writtenDown && isUnheard(file));
    const transcriber = all.some(isToWrite) ? await ai.transcriberFor(agent) : undefined;
    if (!transcriber) return { files: all.filter(isLeft), omissions: [] };

    const omissions = new Set<string>();
    const failed = new Set<Attachment>();
    const wanted = all.filter((file) => isToWrite(file) && (transcriber.isForAll || isUnheard(file)));
    for (const file of wanted.slice(0, MAX_FILES)) {
      const tooLarge = tooLargeReason(file, "audio");
      const release = tooLarge ? undefined : await holdFileMemory([file], signal);
      try {
        const heard = tooLarge ?? (await listen(request, file, transcriber, turn.entry.id));
        if (typeof heard === "string") {
          omissions.add(heard);
          failed.add(file);
          continue;
        }
        const at = all.indexOf(file);
        all[at] = { ...file, writtenDown: true };
        await store(turn, all, withWords(turn.entry.content, file, heard.result), heard);
      } finally {
        release?.();
      }
    }
    return { files: all.filter((file) => isLeft(file) && !failed.has(file)), omissions: [...omissions] };
  };

  async function store(
    turn: RunningTurn,
    files: readonly Attachment[],
    content: string,
    { model, payment }: Exclude<Awaited<ReturnType<typeof listen>>, string>,
  ): Promise<void> {
    const words = { content, attachments: serializeAttachments(files) };
    try {
      await database.write([
        inbox.saveWordsStatement(turn.entry, words, model),
        guard("turn.pending"),
        payment.statement(),
      ]);
    } catch (error) {
      // The words are lost, but the provider charges for them.
      await payment.record();
      throw error;
    }
    Object.assign(turn.queued, words);
    Object.assign(turn.entry, words);
  }
}

/** The owner does not learn how the operator's provider fails. */
function reasonOf({ message }: AppError, isAway: boolean, { ownKey }: Transcriber): string {
  if (ownKey) return message;
  return isAway ? "The model for it can't be reached right now." : "The model for it did not take it.";
}

/** A voice message is what its sender says. Any other recording may be of anybody, so its words stay a quotation. */
function withWords(content: string, { voice, name = "the recording" }: Attachment, words: string): string {
  if (words === "") return `${content}\n${SILENT}`;
  return `${content}\n${voice ? words : bracketNote(`${sanitizeName(name)} says`, words, words.length)}`;
}
