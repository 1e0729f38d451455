// The contract's scenarios for sending replies: whole, in parts, as previews, and when the platform fails.
import { describe, expect, test } from "bun:test";
import type { Harness } from "./harness.ts";

export function defineSendingScenarios(harness: Harness): void {
  describe("sending", () => {
    test("shows a reply once and reports its id", async () => {
      const parts = await harness.send(harness.message({ text: "**Hello** there" }));
      expect(harness.platform.visibleMessages()).toEqual([
        { id: parts[0] ?? "", text: expect.stringContaining("Hello") },
      ]);
      expect(parts.length).toBe(1);
    });

    test("refers to the answered message in a group", async () => {
      const id = harness.platform.userSays("question", "group", true);
      await harness.send(harness.message({ peer: harness.platform.peers.group, replyTo: id }));
      expect(harness.platform.visibleMessages("group")).toMatchObject([{ text: "the reply", replyTo: id }]);
      expect(harness.platform.visibleMessages()).toEqual([]);
    });

    test("sends a reply without a reference if the answered message was deleted", async () => {
      const id = harness.platform.userSays("question", "group", true);
      harness.platform.deleteLast();
      await harness.send(harness.message({ peer: harness.platform.peers.group, replyTo: id }));
      const [shown, ...more] = harness.platform.visibleMessages("group");
      expect(shown?.text).toBe("the reply");
      expect(shown?.replyTo).toBe(harness.capabilities.refersToDeleted ? id : undefined);
      expect(more).toEqual([]);
    });

    test("splits a long reply into parts that fit, in order, without loss", async () => {
      const lines = Array.from({ length: Math.ceil(harness.platform.limit / 10) }, (_, n) => `line number ${n}.`);
      const parts = await harness.send(harness.message({ text: lines.join("\n\n") }));
      const shown = harness.platform.visibleMessages();
      expect(shown.length).toBeGreaterThan(1);
      expect(shown.map(({ id }) => id)).toEqual(parts);
      expect(shown.flatMap(({ text }) => text.split(/\n+/))).toEqual(lines);
      for (const { text } of shown) expect(text.length).toBeLessThanOrEqual(harness.platform.limit);
    });

    test("does not send delivered parts again", async () => {
      const text = `${"a".repeat(harness.platform.limit)} ${"b".repeat(harness.platform.limit)} ${"c".repeat(10)}`;
      await harness.send(harness.message({ text, deliveredParts: ["one", "two"] }));
      expect(harness.platform.visibleMessages().map((part) => part.text)).toEqual(["c".repeat(10)]);
    });

    test("reports how long the platform asks to wait; then shows the reply once", async () => {
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

    test("does not wait for a silent platform after the signal aborts", async () => {
      harness.platform.failNextSend("silent");
      expect(await harness.expectChannelError(harness.send(harness.message(), AbortSignal.timeout(50)))).toMatchObject({
        kind: "unreachable",
      });
    });

    test("continues after a failure between parts with the next part", async () => {
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

    test("repeats one part after a crash before it was recorded, and only where sends are not idempotent", async () => {
      const text = `${"a".repeat(harness.platform.limit)} ${"b".repeat(harness.platform.limit)} ${"c".repeat(10)}`;
      const [first = ""] = await harness.send(harness.message({ text }));
      // Known after the restart: one part, and that there was a try.
      await harness.send(harness.message({ text, attempts: 1, deliveredParts: [first] }));
      const shown = harness.platform.visibleMessages().map((part) => part.text.charAt(0));
      expect(shown).toEqual(harness.capabilities.isIdempotent ? ["a", "b", "c"] : ["a", "b", "c", "b", "c"]);
    });

    test("shows a reply twice after a lost response only where sends are not idempotent", async () => {
      harness.platform.failNextSend("lost");
      const out = harness.message();
      expect(await harness.expectChannelError(harness.send(out))).toMatchObject({ kind: "unreachable" });
      await harness.send(out);
      expect(harness.platform.visibleMessages().length).toBe(harness.capabilities.isIdempotent ? 1 : 2);
    });

    test("fails for one conversation only when a person blocks the bot", async () => {
      harness.platform.userBlocksBot();
      expect(await harness.expectChannelError(harness.send(harness.message()))).toMatchObject({
        kind: "refused",
        scope: "peer",
      });
      await harness.send(harness.message({ peer: harness.platform.peers.group }));
      expect(harness.platform.visibleMessages("group").length).toBe(1);
    });

    test("refuses an invalid address and sends nothing", async () => {
      for (const peer of ["", "x", "1:2:3", "1e5", "@someone"])
        expect(await harness.expectChannelError(harness.send(harness.message({ peer })))).toMatchObject({
          kind: "refused",
          scope: "peer",
        });
    });

    test("shows typing", async () => {
      const id = harness.platform.userSays("question");
      await harness.platform.channel.typing(
        harness.platform.binding,
        harness.platform.peers.private,
        harness.signal,
        id,
      );
      expect(harness.platform.typingCount()).toBe(harness.capabilities.hasTyping === false ? 0 : 1);
    });
  });

  describe("previews", () => {
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

    test("sends the reply as a new message if the preview was removed", async () => {
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
