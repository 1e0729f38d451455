// A program as a user of @berth/client writes it. It is compiled in a project of its own, without anything of this repository.
import { type AgentConfig, BerthError, type ChatEvent, createClient } from "@berth/client";

export interface Given {
  url: string;
  key: string;
  /** Left out in pages, whose browser keeps the session. */
  password?: { email: string; password: string };
}

/** Everything that the client does, against a running service; resolves with what it has seen. */
export async function scenario({ url, key, password }: Given) {
  const berth = createClient({ url, key });
  const account = await berth.account();

  const config: AgentConfig = { instructions: "Be brief.", temperature: 0.2, skills: { reminder: false } };
  const { agent } = await berth.agents.create({ name: "Package", config });
  const names: string[] = [];
  for await (const { name } of berth.agents.list()) names.push(name);
  await berth.agents.configure(agent.id, { ...config, temperature: 0.5 });
  const { temperature } = await berth.agents.config(agent.id);

  // Events that happened while nobody listened.
  let created = "";
  for await (const event of berth.events({ types: ["agent.created"], lastEventId: "0" })) {
    if (event.data.id !== agent.id) continue;
    created = event.type;
    break;
  }

  const upload = await berth.uploads.add(
    agent.id,
    new Blob(["High tide is at nine."], { type: "text/plain" }),
    "tides.txt",
  );
  const events: ChatEvent[] = [];
  for await (const event of berth.chat(agent.id, { message: "Hello there", attachments: [upload.id] }))
    events.push(event);
  const deltas = events.flatMap((event) => (event.type === "delta" ? [event.text] : [])).join("");
  const last = events.at(-1);
  const reply = last?.type === "reply" ? last : undefined;
  const again = await berth.chat(agent.id, { message: "And again", conversationId: reply?.conversationId }).reply();
  const downloaded = await (await berth.uploads.get(agent.id, upload.id)).text();

  const abort = new AbortController();
  let aborted: unknown;
  try {
    for await (const event of berth.chat(agent.id, "Too long", { signal: abort.signal }))
      if (event.type) abort.abort("enough");
  } catch (error) {
    aborted = error;
  }

  const stopped = (await berth.agents.stop(agent.id)).status;
  const refused = await berth
    .chat(agent.id, "Are you there?")
    .reply()
    .catch((error: unknown) => error);
  const wrong = await berth.agents.configure(agent.id, { temperature: 9 }).catch((error: unknown) => error);
  await berth.agents.start(agent.id);
  const lines: string[] = [];
  for await (const { message } of berth.logs(agent.id)) lines.push(message);
  await berth.agents.delete(agent.id);
  const gone = await berth.agents.get(agent.id).catch((error: unknown) => error);

  let session: string | undefined;
  if (password) {
    const person = createClient({ url });
    await person.signIn(password);
    session = (await person.account()).email;
    await person.signOut();
    const out = await person.account().catch((error: unknown) => error);
    if (!(out instanceof BerthError && out.status === 401)) session = "still signed in";
  }
  const codeOf = (error: unknown) => (error instanceof BerthError ? error.code : String(error));
  return {
    email: account.email,
    names,
    temperature,
    created,
    isWhole: reply !== undefined && deltas === reply.text,
    sameConversation: again.conversationId === reply?.conversationId,
    downloaded,
    aborted,
    stopped,
    refused: codeOf(refused),
    wrong: wrong instanceof BerthError ? wrong.issues.map(({ path }) => path) : String(wrong),
    hasRequestId: wrong instanceof BerthError && wrong.requestId !== undefined,
    hasLog: lines.length > 0,
    gone: codeOf(gone),
    session,
  };
}
