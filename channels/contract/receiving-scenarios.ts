// The contract's scenarios for identifying a token and for receiving messages.
import { describe, expect, test } from "bun:test";
import { eventually } from "../../tests/support/eventually.ts";
import { channelErrorOf, createMemorySink, type Harness } from "./harness.ts";

export function defineReceivingScenarios(harness: Harness): void {
  describe("identify", () => {
    test("returns the bot of a token", async () => {
      expect(await harness.platform.channel.identify(harness.platform.binding.token, harness.signal)).toMatchObject(
        harness.platform.binding.bot,
      );
    });

    test("refuses a token of no bot, and a text that is no token", async () => {
      for (const token of [harness.platform.strangeToken, "", "../../x", "a b", "1:x/../y?z"]) {
        const error = await channelErrorOf(
          harness.platform.channel.identify(token, harness.signal),
          harness.platform.strangeToken,
        );
        expect(error).toMatchObject({ kind: "refused", scope: "bot" });
      }
    });

    test("reports a platform that is down as unreachable, not the token as refused", async () => {
      await harness.platform[Symbol.asyncDispose]();
      expect(
        await harness.expectChannelError(
          harness.platform.channel.identify(harness.platform.binding.token, harness.signal),
        ),
      ).toMatchObject({
        kind: "unreachable",
      });
    });
  });

  describe("receiving", () => {
    test("delivers a message once, complete, with its author and time", async () => {
      const { state, sink, waitFor } = createMemorySink();
      const listening = harness.receive(sink);
      await waitFor(() => state.alive > 0);
      const id = harness.platform.userSays("hello there");
      await waitFor(() => state.messages.length === 1);
      const [received] = state.messages;
      expect(received).toMatchObject({ platformMessageId: id, text: "hello there", group: false, addressed: true });
      expect(received?.peer).toBe(harness.platform.peers.private);
      expect(Math.abs((received?.sentAt ?? 0) - Date.now())).toBeLessThan(5000);
      harness.stop();
      await listening;
      expect(state.messages.length).toBe(1);
    });

    test("keeps the order of messages", async () => {
      const { state, sink, waitFor, texts } = createMemorySink();
      const sent = Array.from({ length: 150 }, (_, n) => `message ${n}`);
      for (const text of sent.slice(0, 120)) harness.platform.userSays(text);
      const listening = harness.receive(sink);
      await waitFor(() => state.messages.length === 120);
      for (const text of sent.slice(120)) harness.platform.userSays(text);
      await waitFor(() => state.messages.length === 150);
      expect(texts()).toEqual(sent);
      harness.stop();
      await listening;
    });

    test.if(harness.capabilities.hasGroups)(
      "tells groups from private conversations, and whether the bot is addressed",
      async () => {
        const { state, sink, waitFor } = createMemorySink();
        const listening = harness.receive(sink);
        harness.platform.userSays("to nobody", "group");
        harness.platform.userSays("to you", "group", true);
        await waitFor(() => state.messages.length === 2);
        expect(state.messages.map(({ group, addressed }) => ({ group, addressed }))).toEqual([
          { group: true, addressed: false },
          { group: true, addressed: true },
        ]);
        expect(state.messages[0]?.peer).toBe(harness.platform.peers.group);
        harness.stop();
        await listening;
      },
    );

    test("confirms a message only after it was stored", async () => {
      const { state, sink, waitFor } = createMemorySink();
      const gate = Promise.withResolvers<void>();
      state.gate = gate.promise;
      harness.platform.userSays("keep me");
      const listening = harness.receive(sink);
      await waitFor(() => state.alive > 0);
      expect(harness.platform.unconfirmedCount()).toBe(1);
      gate.resolve();
      await eventually(() => harness.platform.unconfirmedCount() === 0);
      harness.stop();
      await listening;
    });

    test("gives a second delivery the same id", async () => {
      const { state, sink, waitFor } = createMemorySink();
      const listening = harness.receive(sink);
      const id = harness.platform.userSays("again");
      await waitFor(() => state.messages.length === 1);
      harness.platform.redeliverLast();
      await eventually(() => harness.platform.unconfirmedCount() === 0);
      expect(new Set(state.messages.map(({ platformMessageId }) => platformMessageId))).toEqual(new Set([id]));
      harness.stop();
      await listening;
    });

    test("does not deliver an edited message again", async () => {
      const { state, sink, waitFor, texts } = createMemorySink();
      const listening = harness.receive(sink);
      await waitFor(() => state.alive > 0);
      harness.platform.userSays("first");
      harness.platform.editLast("changed");
      harness.platform.userSays("second");
      await waitFor(() => state.messages.length === 2);
      expect(texts()).not.toContain("changed");
      harness.stop();
      await listening;
    });

    test("a voice message is the sender's own words, and its sound can be fetched", async () => {
      const sound = Buffer.from("OggS spoken words");
      const { state, sink, waitFor } = createMemorySink();
      const receiving = harness.receive(sink);
      await waitFor(() => state.alive > 0);
      const id = harness.platform.userSendsVoice(sound);
      await waitFor(() => state.messages.length === 1);
      const [message] = state.messages;
      expect(message).toMatchObject({ platformMessageId: id, attachments: [{ kind: "audio", voice: true }] });
      // Nothing but the note that names it: the words are not known yet.
      expect(message?.text).toMatch(/^\[[^\n]+\]$/);
      const [file] = message?.attachments ?? [];
      if (!file) throw new Error("There is no file.");
      expect(file.mimeType).toStartWith("audio/ogg");
      const { channel, binding } = harness.platform;
      expect(Buffer.compare(await channel.fetchFile(binding, file, sound.length, harness.signal), sound)).toBe(0);
      harness.stop();
      await receiving;
    });

    test("names a file and fetches it up to a limit", async () => {
      const { state, sink, waitFor } = createMemorySink();
      const listening = harness.receive(sink);
      await waitFor(() => state.alive > 0);
      const picture = crypto.getRandomValues(new Uint8Array(70_000));
      const id = harness.platform.userSendsPicture(picture, "look at this");
      await waitFor(() => state.messages.length === 1);
      const [message] = state.messages;
      expect(message?.platformMessageId).toBe(id);
      expect(message?.text).toMatch(/^\[.+\]\nlook at this$/);
      expect(message?.attachments).toMatchObject([{ kind: "image", mimeType: "image/jpeg" }]);
      const [file] = message?.attachments ?? [];
      if (!file) throw new Error("There is no file.");
      expect(JSON.stringify(file)).not.toContain(harness.platform.binding.token);
      const { channel, binding } = harness.platform;
      const fetched = await channel.fetchFile(binding, file, picture.length, harness.signal);
      expect(Buffer.compare(fetched, picture)).toBe(0);
      for (const [wanted, limit] of [
        [file, picture.length - 1],
        [{ ...file, ref: `${file.ref}0` }, picture.length],
        [{ ...file, ref: "../x" }, picture.length],
      ] as const) {
        const refused = await harness.expectChannelError(channel.fetchFile(binding, wanted, limit, harness.signal));
        expect(refused).toMatchObject({ kind: "refused", scope: "peer" });
      }
      harness.stop();
      await listening;
    });

    test("a reply to a message with a file has the file, or says which message it is", async () => {
      const { state, sink, waitFor } = createMemorySink();
      const listening = harness.receive(sink);
      await waitFor(() => state.alive > 0);
      const picture = crypto.getRandomValues(new Uint8Array(1_000));
      const id = harness.platform.userSendsPicture(picture, "look at this");
      await waitFor(() => state.messages.length === 1);
      harness.platform.userReplies(id, "keep it");
      await waitFor(() => state.messages.length === 2);
      const message = state.messages.at(-1);
      expect(message?.text).toContain("keep it");
      const [file] = message?.attachments ?? [];
      if (!file) expect(message?.repliesTo).toBe(id);
      else {
        expect(message?.text).toMatch(/^\[.+\]\nkeep it$/);
        const { channel, binding } = harness.platform;
        const fetched = await channel.fetchFile(binding, file, picture.length, harness.signal);
        expect(Buffer.compare(fetched, picture)).toBe(0);
      }
      harness.stop();
      await listening;
    });

    test("a recording that is replied to was not spoken for the reply", async () => {
      const { state, sink, waitFor } = createMemorySink();
      const listening = harness.receive(sink);
      await waitFor(() => state.alive > 0);
      const id = harness.platform.userSendsVoice(Buffer.from("OggS spoken words"));
      await waitFor(() => state.messages.length === 1);
      harness.platform.userReplies(id, "what is said there?");
      await waitFor(() => state.messages.length === 2);
      expect(state.messages.at(-1)?.attachments ?? []).not.toContainEqual(expect.objectContaining({ voice: true }));
      harness.stop();
      await listening;
    });

    test("does not deliver a deleted message again, and goes on with the next", async () => {
      const { state, sink, waitFor, texts } = createMemorySink();
      const listening = harness.receive(sink);
      await waitFor(() => state.alive > 0);
      harness.platform.userSays("first");
      await waitFor(() => state.messages.length === 1);
      harness.platform.deleteLast();
      harness.platform.userSays("second");
      await waitFor(() => state.messages.length === 2);
      expect(texts()).toEqual(["first", "second"]);
      harness.stop();
      await listening;
    });

    test("delivers messages that arrive out of order, each with its own id", async () => {
      const { state, sink, waitFor } = createMemorySink();
      const listening = harness.receive(sink);
      await waitFor(() => state.alive > 0);
      const sent = ["one", "two", "three"];
      const ids = harness.platform.userSaysOutOfOrder(sent);
      await waitFor(() => state.messages.length === 3);
      await eventually(() => harness.platform.unconfirmedCount() === 0);
      const received = new Map(state.messages.map(({ platformMessageId, text }) => [platformMessageId, text]));
      expect(ids.map((id) => received.get(id))).toEqual(sent);
      expect(state.messages.length).toBe(3);
      harness.stop();
      await listening;
    });

    test("stops at once, even while the platform is silent", async () => {
      const { state, sink, waitFor } = createMemorySink();
      const listening = harness.receive(sink);
      await waitFor(() => state.alive > 0);
      harness.stop();
      await listening;
    });
  });

  describe.if(harness.capabilities.hasListener)("by a listener", () => {
    test("receives again what could not be stored", async () => {
      const { state, sink, waitFor } = createMemorySink();
      harness.platform.userSays("keep me");
      state.broken = true;
      expect(await harness.expectChannelError(harness.listen(sink))).toMatchObject({ kind: "unreachable" });
      expect(harness.platform.unconfirmedCount()).toBe(1);
      state.broken = false;
      const listening = harness.listen(sink);
      await waitFor(() => state.messages.length === 1);
      harness.stop();
      await listening;
    });

    test.each(["broken", "cut"] as const)(
      "a connection that is %s ends the listening, and nothing is lost",
      async (fault) => {
        const { state, sink, waitFor } = createMemorySink();
        harness.platform.failNextReceive(fault);
        harness.platform.userSays("still here");
        expect(await harness.expectChannelError(harness.listen(sink))).toMatchObject({ kind: "unreachable" });
        const listening = harness.listen(sink);
        await waitFor(() => state.messages.length === 1);
        harness.stop();
        await listening;
      },
    );

    test("reports a revoked token as refused", async () => {
      harness.platform.revokeToken();
      expect(await harness.expectChannelError(harness.listen(createMemorySink().sink))).toMatchObject({
        kind: "refused",
        scope: "bot",
      });
    });

    test.if(harness.capabilities.isSingleReceiver)("a second receiver is a conflict", async () => {
      const first = createMemorySink();
      const listening = harness.listen(first.sink);
      await first.waitFor(() => first.state.alive > 0);
      const endings = [listening, harness.listen(createMemorySink().sink)].map((ended) =>
        ended.catch((error: unknown) => error),
      );
      expect(await Promise.race(endings)).toMatchObject({ kind: "conflict", scope: "bot" });
      harness.stop();
      await Promise.all(endings);
    });
  });

  describe.if(harness.capabilities.hasWebhook)("posted", () => {
    test("receives posts until it is unregistered, and again those that could not be stored", async () => {
      const { state, sink, waitFor, texts } = createMemorySink();
      await using server = harness.serve(sink);
      await harness.register(`${server.url}hook`);
      state.broken = true;
      harness.platform.userSays("hello");
      await eventually(() => harness.platform.unconfirmedCount() === 1);
      state.broken = false;
      await waitFor(() => state.messages.length === 1);
      await eventually(() => harness.platform.unconfirmedCount() === 0);
      await harness.webhook().unregister(harness.platform.binding, harness.signal);
      harness.platform.userSays("later");
      const listening = harness.capabilities.hasListener ? harness.listen(sink) : harness.register(`${server.url}hook`);
      if (!harness.capabilities.hasListener) {
        await listening;
        harness.platform.userSays("after it");
      }
      await waitFor(() => state.messages.length === 2);
      expect(texts()).toEqual(["hello", harness.capabilities.hasListener ? "later" : "after it"]);
      harness.stop();
      await listening;
    });

    test("refuses a stranger's post", async () => {
      const { state, sink } = createMemorySink();
      await using server = harness.serve(sink);
      const response = await fetch(server.url, { method: "POST", body: "{}" });
      expect(response.status).toBe(401);
      expect(state).toMatchObject({ messages: [], alive: 0 });
    });
  });
}
