// The contract's scenarios about replies: whole, in parts, growing, and when the platform fails.
import { describe, expect, test } from "bun:test";
import type { Harness } from "./harness.ts";

export function defineSendingScenarios(harness: Harness): void {
  describe("out", () => {
    test("a reply is shown once, and its id is told", async () => {
      const parts = await harness.send(harness.message({ text: "**Hello** there" }));
      expect(harness.platform.visibleMessages()).toEqual([
        { id: parts[0] ?? "", text: expect.stringContaining("Hello") },
      ]);
      expect(parts.length).toBe(1);
    });

    test("in a group it is tied to what it answers", async () => {
      const id = harness.platform.userSays("question", "group", true);
      await harness.send(harness.message({ peer: harness.platform.peers.group, replyTo: id }));
      expect(harness.platform.visibleMessages("group")).toMatchObject([{ text: "the reply", replyTo: id }]);
      expect(harness.platform.visibleMessages()).toEqual([]);
    });

    test("an answer to a message that was taken back arrives, tied to nothing", async () => {
      const id = harness.platform.userSays("question", "group", true);
      harness.platform.deleteLast();
      await harness.send(harness.message({ peer: harness.platform.peers.group, replyTo: id }));
      const [shown, ...more] = harness.platform.visibleMessages("group");
      expect(shown?.text).toBe("the reply");
      expect(shown?.replyTo).toBeUndefined();
      expect(more).toEqual([]);
    });

    test("a long one comes in parts that fit, in order, whole", async () => {
      const lines = Array.from({ length: Math.ceil(harness.platform.limit / 10) }, (_, n) => `line number ${n}.`);
      const parts = await harness.send(harness.message({ text: lines.join("\n\n") }));
      const shown = harness.platform.visibleMessages();
      expect(shown.length).toBeGreaterThan(1);
      expect(shown.map(({ id }) => id)).toEqual(parts);
      expect(shown.flatMap(({ text }) => text.split(/\n+/))).toEqual(lines);
      for (const { text } of shown) expect(text.length).toBeLessThanOrEqual(harness.platform.limit);
    });

    test("parts that were delivered before are not sent again", async () => {
      const text = `${"a".repeat(harness.platform.limit)} ${"b".repeat(harness.platform.limit)} ${"c".repeat(10)}`;
      await harness.send(harness.message({ text, deliveredParts: ["one", "two"] }));
      expect(harness.platform.visibleMessages().map((part) => part.text)).toEqual(["c".repeat(10)]);
    });

    test("told to wait, it says for how long; then it is shown once", async () => {
      harness.platform.failNextSend("busy");
      const out = harness.message();
      const error = await harness.expectChannelError(harness.send(out));
      expect(error.kind).toBe("busy");
      expect(error.retryAfter).toBeGreaterThanOrEqual(1900);
      expect(harness.platform.visibleMessages()).toEqual([]);
      harness.platform.channel.forget(harness.platform.binding);
      await harness.send(out);
      expect(harness.platform.visibleMessages().length).toBe(1);
    });

    test.each(["broken", "cut"] as const)(
      "a call that is %s is unreachable; the next try shows it once",
      async (fault) => {
        harness.platform.failNextSend(fault);
        const out = harness.message();
        expect(await harness.expectChannelError(harness.send(out))).toMatchObject({ kind: "unreachable" });
        expect(out.deliveredParts).toEqual([]);
        await harness.send(out);
        expect(harness.platform.visibleMessages().length).toBe(1);
      },
    );

    test("a platform that does not answer is not waited for after the signal", async () => {
      harness.platform.failNextSend("silent");
      expect(await harness.expectChannelError(harness.send(harness.message(), AbortSignal.timeout(50)))).toMatchObject({
        kind: "unreachable",
      });
    });

    test("a failure between parts goes on where it was", async () => {
      const text = `${"a".repeat(harness.platform.limit)} ${"b".repeat(10)}`;
      const out = harness.message({ text });
      const failed = harness.platform.channel.send(
        harness.platform.binding,
        out,
        (part) => {
          out.deliveredParts.push(part);
          harness.platform.failNextSend("broken");
        },
        harness.signal,
      );
      expect(await harness.expectChannelError(failed)).toMatchObject({ kind: "unreachable" });
      await harness.send(out);
      expect(harness.platform.visibleMessages().map((part) => part.text.charAt(0))).toEqual(["a", "b"]);
    });

    test("a kill between a part's arrival and its note repeats that part alone, and only where the platform can't tell", async () => {
      const text = `${"a".repeat(harness.platform.limit)} ${"b".repeat(harness.platform.limit)} ${"c".repeat(10)}`;
      const [first = ""] = await harness.send(harness.message({ text }));
      // What is known after the restart: one part, and that there was a try.
      await harness.send(harness.message({ text, attempts: 1, deliveredParts: [first] }));
      const shown = harness.platform.visibleMessages().map((part) => part.text.charAt(0));
      expect(shown).toEqual(harness.platform.isIdempotent ? ["a", "b", "c"] : ["a", "b", "c", "b", "c"]);
    });

    test("an answer that is lost, or a crash before it was noted, shows a reply twice only where the platform can't tell", async () => {
      harness.platform.failNextSend("lost");
      const out = harness.message();
      expect(await harness.expectChannelError(harness.send(out))).toMatchObject({ kind: "unreachable" });
      await harness.send(out);
      expect(harness.platform.visibleMessages().length).toBe(harness.platform.isIdempotent ? 1 : 2);
    });

    test("somebody who does not want it ends it for that conversation alone", async () => {
      harness.platform.userBlocksBot();
      expect(await harness.expectChannelError(harness.send(harness.message()))).toMatchObject({
        kind: "refused",
        scope: "peer",
      });
      await harness.send(harness.message({ peer: harness.platform.peers.group }));
      expect(harness.platform.visibleMessages("group").length).toBe(1);
    });

    test("an address that is none is refused, and nothing is sent", async () => {
      for (const peer of ["", "x", "1:2:3", "1e5", "@someone"])
        expect(await harness.expectChannelError(harness.send(harness.message({ peer })))).toMatchObject({
          kind: "refused",
          scope: "peer",
        });
    });

    test("typing is shown", async () => {
      const id = harness.platform.userSays("question");
      await harness.platform.channel.typing(
        harness.platform.binding,
        harness.platform.peers.private,
        harness.signal,
        id,
      );
      expect(harness.platform.typingCount()).toBe(1);
    });
  });

  describe("growing", () => {
    test.each(["private", "group"] as const)(
      "in a %s place it is shown while it grows, where that is possible, and in the end stands there once",
      async (kind) => {
        const replyTo = harness.platform.userSays("question", kind, true);
        const preview = { draftId: 7, peer: harness.platform.peers[kind], group: kind === "group", replyTo };
        let shownAs: string | undefined;
        for (const text of ["One", "One two", "One two **thr", "One two **three**"]) {
          const id = await harness.platform.channel.preview?.(
            harness.platform.binding,
            { ...preview, text, ...(shownAs === undefined ? {} : { messageId: shownAs }) },
            harness.signal,
          );
          shownAs = id ?? shownAs;
        }
        expect(harness.platform.previewTexts(kind).length > 1).toBe(harness.capabilities.hasPreviews);
        const out = harness.message({ peer: preview.peer, text: "One two **three** four", replyTo });
        if (shownAs !== undefined) out.previewMessageId = shownAs;
        const parts = await harness.send(out);
        expect(harness.platform.visibleMessages(kind).map(({ id }) => id)).toEqual(parts);
        expect(harness.platform.visibleMessages(kind)[0]?.text).toContain("four");
        expect(harness.platform.visibleMessages(kind).length).toBe(1);
      },
    );

    test("a preview that somebody removed is no place for the reply: it stands on its own", async () => {
      const replyTo = harness.platform.userSays("question", "group", true);
      const peer = harness.platform.peers.group;
      const preview = { draftId: 7, peer, group: true, replyTo, text: "One" };
      const id = await harness.platform.channel.preview?.(harness.platform.binding, preview, harness.signal);
      const out = harness.message({ peer, text: "One two", replyTo });
      if (id !== undefined) {
        harness.platform.removeBotMessage(id);
        expect(harness.platform.visibleMessages("group")).toEqual([]);
        const grown = { ...preview, text: "One tw", messageId: id };
        expect(
          await harness.platform.channel.preview?.(harness.platform.binding, grown, harness.signal),
        ).toBeUndefined();
        out.previewMessageId = id;
      }
      const parts = await harness.send(out);
      expect(harness.platform.visibleMessages("group")).toEqual([{ id: parts[0] ?? "", text: "One two", replyTo }]);
    });
  });
}
