// Drives the strict fake of Slack through the interface that the contract's scenarios use.
import { newAppId, startSlack, tokensFor } from "../../tests/support/slack.ts";
import type { Binding, ChannelAdapter, Sink } from "../port.ts";
import { writeCredentials } from "../shared/credential-text.ts";
import { CREDENTIAL_FIELDS } from "../slack/credentials.ts";
import { createSlack } from "../slack/index.ts";
import type { ConversationKind, PlatformFixture } from "./harness.ts";

const UNLIMITED = { every: 0, burst: 1 };
const silentLog = { debug: () => undefined, warn: () => undefined };
const textOf = (tokens: { botToken: string; appToken: string }) => writeCredentials(CREDENTIAL_FIELDS, { ...tokens });

export async function createSlackFixture(): Promise<PlatformFixture> {
  const fake = await startSlack();
  const [id, strangeId] = [newAppId(), newAppId()];
  const tokens = tokensFor(id);
  const app = fake.addApp(tokens, { username: "contract_bot" });
  const channels: Record<ConversationKind, string> = { private: app.dm(), group: app.channel() };
  const detail = JSON.stringify({ user: app.botUser, team: app.team });
  const binding: Binding = { agentId: "agent", token: textOf(tokens), bot: { id, username: "contract_bot", detail } };
  const adapter = createSlack({
    apiRoot: fake.url,
    commands: {},
    log: silentLog,
    rules: { edit: UNLIMITED, edits: UNLIMITED, typing: UNLIMITED },
  });
  const faults = {
    busy: { status: 429, retryAfter: 2 },
    broken: { status: 502 },
    cut: "cut",
    silent: "hang",
  } as const;
  let last = "";
  /** Keeps the resume point, as the host of a channel does. */
  const channel: ChannelAdapter = {
    ...adapter,
    listener: {
      listen: (given: Binding, sink: Sink, signal: AbortSignal) =>
        adapter.listener.listen(
          given,
          {
            ...sink,
            saveResumePoint(resume) {
              given.resume = resume;
              sink.saveResumePoint(resume);
            },
          },
          signal,
        ),
    },
  };
  const say = (text: string, kind: ConversationKind, isNamed: boolean) => {
    last = app.userSays(channels[kind], text, { mention: isNamed });
    return last;
  };
  const sends = (name: string, type: string, bytes: Uint8Array, words: string, isVoice = false) => {
    last = app.userSays(channels.private, words, { files: [{ name, type, bytes, isVoice }] });
    return last;
  };
  return {
    channel,
    binding,
    strangeToken: textOf(tokensFor(strangeId)),
    peers: channels,
    limit: 4_000,
    userSays: (text, kind = "private", isNamed = false) => say(text, kind, isNamed),
    userSendsPicture: (bytes, words) => sends("picture.jpg", "image/jpeg", bytes, words),
    userReplies: (id, words) => void app.userSays(channels.private, words, { thread: id.split(":")[1] ?? "" }),
    userSendsVoice: (bytes) => sends("audio_message.ogg", "audio/ogg", bytes, "", true),
    redeliverLast: () => app.repeats(last),
    editLast: (text) => app.userEdits(last, text),
    deleteLast: () => app.userDeletes(last),
    userSaysOutOfOrder(texts) {
      app.hold();
      const ids = texts.map((text) => say(text, "private", false));
      app.release(true);
      return ids;
    },
    removeBotMessage: (id) => app.userDeletes(id),
    visibleMessages: (kind = "private") =>
      app.sent(channels[kind]).map(({ id, channel: place, text, thread, file }) => ({
        ...{ id, text },
        ...(file && { file }),
        ...(thread === undefined ? {} : { replyTo: `${place}:${thread}` }),
      })),
    shownAs: { picture: "file", voice: "file", audio: "file", document: "file" },
    visibleChoices: (id) =>
      app
        .sent()
        .flatMap((one) => (one.id === id ? one.buttons.map(({ label, value: text }) => ({ label, text })) : [])),
    userChooses: (id, { text }) => app.userPresses(id, text),
    previewTexts: (kind = "private") => app.sent(channels[kind]).flatMap(({ edits, text }) => [...edits, text]),
    typingCount: (kind = "private") => app.statuses(channels[kind]).filter(({ status }) => status !== "").length,
    failNextSend: (fault) =>
      fault === "lost"
        ? fake.fail("chat.postMessage", "cut", { when: "after" })
        : fake.fail("chat.postMessage", faults[fault]),
    failNextFiles(fault) {
      if (fault === "lost") fake.fail("files.completeUploadExternal", "cut", { when: "after" });
      else if (fault === "refused") fake.fail("files.getUploadURLExternal", { error: "file_uploads_disabled" });
      else fake.fail("upload", faults[fault]);
    },
    failNextReceive: (fault) =>
      fault === "broken" ? fake.fail("apps.connections.open", faults.broken) : app.nextConnection("cut"),
    userBlocksBot: () => app.closes(channels.private),
    revokeToken() {
      fake.revoke(tokens.appToken);
      fake.revoke(tokens.botToken);
    },
    unconfirmedCount: () => app.unconfirmed,
    [Symbol.asyncDispose]: () => fake.stop(),
  };
}
