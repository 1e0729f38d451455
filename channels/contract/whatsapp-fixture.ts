// Drives the strict fake of WhatsApp through the interface that the contract's scenarios use.
import { startWhatsApp } from "../../tests/support/whatsapp.ts";
import { createWhatsApp } from "../whatsapp/index.ts";
import type { ConversationKind, PlatformFixture } from "./harness.ts";

const SECRET = "c".repeat(40);
const NUMBER = "106540352242922";
/** There are no groups: `group` is another person. */
const PEOPLE: Record<ConversationKind, string> = { private: "15550001111", group: "15550002222" };
const OTHERS: Record<string, { userId: string }> = { [PEOPLE.group]: { userId: "US.13491208655302741918" } };

export async function createWhatsAppFixture(): Promise<PlatformFixture> {
  const fake = await startWhatsApp();
  const token = "EAAcontractTestToken";
  fake.addApp("9001", "the-app-secret");
  const account = fake.addAccount(token, {
    waba: "102290129340398",
    numbers: [{ id: NUMBER, display: "+1 555-000-9999" }],
  });
  const channel = createWhatsApp({
    apiRoot: fake.url,
    app: { id: "9001", secret: "the-app-secret" },
    log: { warn: () => undefined },
    statusTimeout: 300,
  });
  const detail = JSON.stringify({ app: "9001", numbers: [NUMBER] });
  const binding = { agentId: "agent", token, bot: { id: "102290129340398", username: "+15550009999", detail } };
  const faults = {
    busy: { status: 429, code: 130429 },
    broken: { status: 500, code: 131000 },
    cut: "cut",
    silent: "hang",
  } as const;
  let last = "";
  const say = (text: string, kind: ConversationKind = "private") => {
    last = account.says(text, { from: PEOPLE[kind], ...OTHERS[PEOPLE[kind]] });
    return last;
  };
  // A business can write only to people who wrote within 24 hours. No address is registered yet, so nothing is posted.
  for (const kind of ["private", "group"] as const) say("hello", kind);
  await fake.waitFor(() => account.pending() === 0);
  // Statuses come here until a scenario registers an address; people's messages wait until then.
  const sink = {
    accept: () => Promise.reject(new Error("not here")),
    reportAlive: () => undefined,
    saveResumePoint: () => undefined,
    reportUndelivered: () => Promise.resolve(),
  };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => channel.webhook.receive(binding, SECRET, request, sink),
  });
  await channel.webhook.register(binding, { url: `${server.url}hook`, secret: SECRET }, AbortSignal.timeout(5_000));
  return {
    channel,
    binding,
    strangeToken: "EAAsomebodyElses",
    peers: { private: `${NUMBER}:${PEOPLE.private}`, group: `${NUMBER}:${PEOPLE.group}` },
    limit: 4096,
    userSays: say,
    userSendsPicture: (bytes, caption) =>
      account.sendsFile("image", bytes, { mime: "image/jpeg", caption, from: PEOPLE.private }),
    userReplies: (id, body) =>
      void account.pushes(
        { type: "text", text: { body }, context: { from: PEOPLE.private, id } },
        { from: PEOPLE.private },
      ),
    userSendsVoice: (bytes) =>
      account.sendsFile("audio", bytes, { mime: "audio/ogg; codecs=opus", voice: true, from: PEOPLE.private }),
    redeliverLast: () => account.repeats(last),
    editLast: (text) => account.edits(last, text),
    deleteLast: () => account.deletes(last),
    userSaysOutOfOrder(texts) {
      account.hold();
      const ids = texts.map((text) => say(text));
      account.release(true);
      return ids;
    },
    removeBotMessage: () => {
      throw new Error("What a business sent stays.");
    },
    visibleMessages: (kind = "private") =>
      account.sent(PEOPLE[kind]).map(({ id, text, replyTo, file }) => ({
        ...{ id, text },
        ...(replyTo === undefined ? {} : { replyTo }),
        ...(file && { file }),
      })),
    visibleChoices: (id) =>
      account
        .sent(PEOPLE.private)
        .flatMap((one) => (one.id === id ? (one.buttons ?? []) : []))
        .map(({ id: text, title: label }) => ({ label, text })),
    userChooses(id, { label: title, text }) {
      const interactive = { type: "button_reply", button_reply: { id: text, title } };
      account.pushes({ type: "interactive", interactive, context: { id } }, { from: PEOPLE.private });
    },
    previewTexts: () => [],
    typingCount: () => account.typing().length,
    failNextSend: (fault) =>
      fault === "lost" ? fake.fail("messages", "cut", { when: "after" }) : fake.fail("messages", faults[fault]),
    shownAs: { picture: "image", voice: "voice", audio: "audio", document: "document" },
    failNextFiles(fault) {
      if (fault === "lost") fake.fail("messages", "cut", { when: "after" });
      else if (fault === "refused") fake.fail("upload", { status: 400, code: 100 }, { times: 2 });
      else fake.fail("upload", faults[fault]);
    },
    failNextReceive: () => {
      throw new Error("There is no connection to fail.");
    },
    userBlocksBot: () => account.blocks(PEOPLE.private),
    revokeToken: () => fake.revoke(token),
    unconfirmedCount: () => account.pending(),
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await fake.stop();
    },
  };
}
