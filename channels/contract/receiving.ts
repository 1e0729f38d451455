// The contract's scenarios about who a token is, and about messages that come in.
import { describe, expect, test } from "bun:test";
import { eventually } from "../../tests/support/eventually.ts";
import { failure, memory, type Stage } from "./platform.ts";

export function receiving(on: Stage): void {
  describe("who", () => {
    test("a token is known by its platform", async () => {
      expect(await on.platform.channel.identify(on.platform.binding.token, on.signal)).toEqual(on.platform.binding.bot);
    });

    test("a token that is nobody's, or none at all, is refused", async () => {
      for (const token of [on.platform.strangeToken, "", "../../x", "a b", "1:x/../y?z"]) {
        const error = await failure(on.platform.channel.identify(token, on.signal), on.platform.strangeToken);
        expect(error).toMatchObject({ kind: "refused", scope: "bot" });
      }
    });

    test("a platform that is away is unreachable, which says nothing about the token", async () => {
      await on.platform[Symbol.asyncDispose]();
      expect(await on.fails(on.platform.channel.identify(on.platform.binding.token, on.signal))).toMatchObject({
        kind: "unreachable",
      });
    });
  });

  describe("in", () => {
    test("a message arrives once, whole, with who and when", async () => {
      const { state, sink, waitFor } = memory();
      const listening = on.hear(sink);
      await waitFor(() => state.alive > 0);
      const id = on.platform.says("hello there");
      await waitFor(() => state.messages.length === 1);
      const [received] = state.messages;
      expect(received).toMatchObject({ platformMessageId: id, text: "hello there", group: false, addressed: true });
      expect(received?.peer).toBe(on.platform.peers.private);
      expect(Math.abs((received?.sentAt ?? 0) - Date.now())).toBeLessThan(5000);
      on.stop();
      await listening;
      expect(state.messages.length).toBe(1);
    });

    test("messages keep their order", async () => {
      const { state, sink, waitFor, texts } = memory();
      const sent = Array.from({ length: 150 }, (_, n) => `message ${n}`);
      for (const text of sent.slice(0, 120)) on.platform.says(text);
      const listening = on.hear(sink);
      await waitFor(() => state.messages.length === 120);
      for (const text of sent.slice(120)) on.platform.says(text);
      await waitFor(() => state.messages.length === 150);
      expect(texts()).toEqual(sent);
      on.stop();
      await listening;
    });

    test.if(on.ways.groups)("a group is told apart, and so is being addressed in it", async () => {
      const { state, sink, waitFor } = memory();
      const listening = on.hear(sink);
      on.platform.says("to nobody", "group");
      on.platform.says("to you", "group", true);
      await waitFor(() => state.messages.length === 2);
      expect(state.messages.map(({ group, addressed }) => ({ group, addressed }))).toEqual([
        { group: true, addressed: false },
        { group: true, addressed: true },
      ]);
      expect(state.messages[0]?.peer).toBe(on.platform.peers.group);
      on.stop();
      await listening;
    });

    test("the platform is told only after it was stored", async () => {
      const { state, sink, waitFor } = memory();
      const gate = Promise.withResolvers<void>();
      state.gate = gate.promise;
      on.platform.says("keep me");
      const listening = on.hear(sink);
      await waitFor(() => state.alive > 0);
      expect(on.platform.unconfirmed()).toBe(1);
      gate.resolve();
      await eventually(() => on.platform.unconfirmed() === 0);
      on.stop();
      await listening;
    });

    test("a second delivery is known by its id", async () => {
      const { state, sink, waitFor } = memory();
      const listening = on.hear(sink);
      const id = on.platform.says("again");
      await waitFor(() => state.messages.length === 1);
      on.platform.repeats();
      await eventually(() => on.platform.unconfirmed() === 0);
      expect(new Set(state.messages.map(({ platformMessageId }) => platformMessageId))).toEqual(new Set([id]));
      on.stop();
      await listening;
    });

    test("a changed message is no second one", async () => {
      const { state, sink, waitFor, texts } = memory();
      const listening = on.hear(sink);
      await waitFor(() => state.alive > 0);
      on.platform.says("first");
      on.platform.edits("changed");
      on.platform.says("second");
      await waitFor(() => state.messages.length === 2);
      expect(texts()).not.toContain("changed");
      on.stop();
      await listening;
    });

    test("a file is named and can be fetched, no larger than wanted", async () => {
      const { state, sink, waitFor } = memory();
      const listening = on.hear(sink);
      await waitFor(() => state.alive > 0);
      const picture = crypto.getRandomValues(new Uint8Array(70_000));
      const id = on.platform.pictures(picture, "look at this");
      await waitFor(() => state.messages.length === 1);
      const [message] = state.messages;
      expect(message?.platformMessageId).toBe(id);
      expect(message?.text).toMatch(/^\[.+\]\nlook at this$/);
      expect(message?.attachments).toMatchObject([{ kind: "image", mimeType: "image/jpeg" }]);
      const [file] = message?.attachments ?? [];
      if (!file) throw new Error("There is no file.");
      expect(JSON.stringify(file)).not.toContain(on.platform.binding.token);
      const { channel, binding } = on.platform;
      const fetched = await channel.fetchFile(binding, file, picture.length, on.signal);
      expect(Buffer.compare(fetched, picture)).toBe(0);
      for (const [wanted, limit] of [
        [file, picture.length - 1],
        [{ ...file, ref: `${file.ref}0` }, picture.length],
        [{ ...file, ref: "../x" }, picture.length],
      ] as const) {
        const refused = await on.fails(channel.fetchFile(binding, wanted, limit, on.signal));
        expect(refused).toMatchObject({ kind: "refused", scope: "peer" });
      }
      on.stop();
      await listening;
    });

    test("a message that was taken back is no second one, and does not hold up the next", async () => {
      const { state, sink, waitFor, texts } = memory();
      const listening = on.hear(sink);
      await waitFor(() => state.alive > 0);
      on.platform.says("first");
      await waitFor(() => state.messages.length === 1);
      on.platform.deletes();
      on.platform.says("second");
      await waitFor(() => state.messages.length === 2);
      expect(texts()).toEqual(["first", "second"]);
      on.stop();
      await listening;
    });

    test("what comes in another order is all there, each under its own id", async () => {
      const { state, sink, waitFor } = memory();
      const listening = on.hear(sink);
      await waitFor(() => state.alive > 0);
      const sent = ["one", "two", "three"];
      const ids = on.platform.disorders(sent);
      await waitFor(() => state.messages.length === 3);
      await eventually(() => on.platform.unconfirmed() === 0);
      const received = new Map(state.messages.map(({ platformMessageId, text }) => [platformMessageId, text]));
      expect(ids.map((id) => received.get(id))).toEqual(sent);
      expect(state.messages.length).toBe(3);
      on.stop();
      await listening;
    });

    test("stopping ends it at once, even while the platform says nothing", async () => {
      const { state, sink, waitFor } = memory();
      const listening = on.hear(sink);
      await waitFor(() => state.alive > 0);
      on.stop();
      await listening;
    });
  });

  describe.if(on.ways.listens)("by a connection of its own", () => {
    test("what could not be stored comes again", async () => {
      const { state, sink, waitFor } = memory();
      on.platform.says("keep me");
      state.broken = true;
      expect(await on.fails(on.listen(sink))).toMatchObject({ kind: "unreachable" });
      expect(on.platform.unconfirmed()).toBe(1);
      state.broken = false;
      const listening = on.listen(sink);
      await waitFor(() => state.messages.length === 1);
      on.stop();
      await listening;
    });

    test.each(["broken", "cut"] as const)(
      "a connection that is %s ends the listening, and nothing is lost",
      async (accident) => {
        const { state, sink, waitFor } = memory();
        on.platform.receiveFails(accident);
        on.platform.says("still here");
        expect(await on.fails(on.listen(sink))).toMatchObject({ kind: "unreachable" });
        const listening = on.listen(sink);
        await waitFor(() => state.messages.length === 1);
        on.stop();
        await listening;
      },
    );

    test("a token taken back is refused", async () => {
      on.platform.revokes();
      expect(await on.fails(on.listen(memory().sink))).toMatchObject({ kind: "refused", scope: "bot" });
    });

    test.if(on.ways.exclusive)("a second receiver is a conflict", async () => {
      const first = memory();
      const listening = on.listen(first.sink);
      await first.waitFor(() => first.state.alive > 0);
      const endings = [listening, on.listen(memory().sink)].map((ended) => ended.catch((error: unknown) => error));
      expect(await Promise.race(endings)).toMatchObject({ kind: "conflict", scope: "bot" });
      on.stop();
      await Promise.all(endings);
    });
  });

  describe.if(on.ways.posted)("posted", () => {
    test("what the platform posts arrives, again when it could not be stored, until it is taken back", async () => {
      const { state, sink, waitFor, texts } = memory();
      await using server = on.serve(sink);
      await on.register(`${server.url}hook`);
      state.broken = true;
      on.platform.says("hello");
      await eventually(() => on.platform.unconfirmed() === 1);
      state.broken = false;
      await waitFor(() => state.messages.length === 1);
      await eventually(() => on.platform.unconfirmed() === 0);
      await on.posts().unregister(on.platform.binding, on.signal);
      on.platform.says("later");
      const listening = on.ways.listens ? on.listen(sink) : on.register(`${server.url}hook`);
      if (!on.ways.listens) {
        await listening;
        on.platform.says("after it");
      }
      await waitFor(() => state.messages.length === 2);
      expect(texts()).toEqual(["hello", on.ways.listens ? "later" : "after it"]);
      on.stop();
      await listening;
    });

    test("a stranger's post is turned away", async () => {
      const { state, sink } = memory();
      await using server = on.serve(sink);
      const response = await fetch(server.url, { method: "POST", body: "{}" });
      expect(response.status).toBe(401);
      expect(state).toMatchObject({ messages: [], alive: 0 });
    });
  });
}
