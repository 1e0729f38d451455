// Tests that refusals of one bot do not affect the other bots of the host.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { type Discord, startDiscord, tokenFor } from "../../../tests/support/discord.ts";
import { toChannelError } from "../errors.ts";
import { createRestClients } from "./rest-clients.ts";

let fake: Discord;
beforeEach(async () => {
  fake = await startDiscord();
});
afterEach(() => fake.stop());

function aBot(id: string) {
  fake.addBot(tokenFor(id), { username: `bot_${id}` });
  return tokenFor(id);
}

test("a bot with too many refusals is blocked alone", async () => {
  const apis = createRestClients({ apiRoot: fake.url, maxPerBot: 3 });
  const [shut, other] = [aBot("515151515151515151"), aBot("525252525252525252")];
  const stop = new AbortController();
  const typing = (token: string) =>
    apis.call({ token }, stop.signal, { method: "post", path: "/channels/616161616161616161/typing" }).then(
      () => "done",
      (error: unknown) => toChannelError(error, "peer").kind,
    );
  fake.fail("typing", { status: 403, code: 50001 }, { times: 10 });
  for (let n = 0; n < 3; n++) expect(await typing(shut)).toBe("refused");
  expect(await typing(shut)).toBe("busy");
  expect(fake.calls.length).toBe(3);
  expect(await typing(other)).toBe("refused");
});
