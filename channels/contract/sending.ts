// The contract's scenarios about replies: whole, in parts, growing, and when the platform fails.
import { describe, expect, test } from "bun:test";
import type { Stage } from "./platform.ts";

export function sending(on: Stage): void {
  describe("out", () => {
    test("a reply is shown once, and its id is told", async () => {
      const parts = await on.send(on.message({ text: "**Hello** there" }));
      expect(on.platform.shown()).toEqual([{ id: parts[0] ?? "", text: expect.stringContaining("Hello") }]);
      expect(parts.length).toBe(1);
    });

    test("in a group it is tied to what it answers", async () => {
      const id = on.platform.says("question", "group", true);
      await on.send(on.message({ peer: on.platform.peers.group, replyTo: id }));
      expect(on.platform.shown("group")).toMatchObject([{ text: "the reply", replyTo: id }]);
      expect(on.platform.shown()).toEqual([]);
    });

    test("an answer to a message that was taken back arrives, tied to nothing", async () => {
      const id = on.platform.says("question", "group", true);
      on.platform.deletes();
      await on.send(on.message({ peer: on.platform.peers.group, replyTo: id }));
      const [shown, ...more] = on.platform.shown("group");
      expect(shown?.text).toBe("the reply");
      expect(shown?.replyTo).toBeUndefined();
      expect(more).toEqual([]);
    });

    test("a long one comes in parts that fit, in order, whole", async () => {
      const lines = Array.from({ length: Math.ceil(on.platform.limit / 10) }, (_, n) => `line number ${n}.`);
      const parts = await on.send(on.message({ text: lines.join("\n\n") }));
      const shown = on.platform.shown();
      expect(shown.length).toBeGreaterThan(1);
      expect(shown.map(({ id }) => id)).toEqual(parts);
      expect(shown.flatMap(({ text }) => text.split(/\n+/))).toEqual(lines);
      for (const { text } of shown) expect(text.length).toBeLessThanOrEqual(on.platform.limit);
    });

    test("parts that were delivered before are not sent again", async () => {
      const text = `${"a".repeat(on.platform.limit)} ${"b".repeat(on.platform.limit)} ${"c".repeat(10)}`;
      await on.send(on.message({ text, deliveredParts: ["one", "two"] }));
      expect(on.platform.shown().map((part) => part.text)).toEqual(["c".repeat(10)]);
    });

    test("told to wait, it says for how long; then it is shown once", async () => {
      on.platform.sendFails("busy");
      const out = on.message();
      const error = await on.fails(on.send(out));
      expect(error.kind).toBe("busy");
      expect(error.retryAfter).toBeGreaterThanOrEqual(1900);
      expect(on.platform.shown()).toEqual([]);
      on.platform.channel.forget(on.platform.binding);
      await on.send(out);
      expect(on.platform.shown().length).toBe(1);
    });

    test.each(["broken", "cut"] as const)(
      "a call that is %s is unreachable; the next try shows it once",
      async (accident) => {
        on.platform.sendFails(accident);
        const out = on.message();
        expect(await on.fails(on.send(out))).toMatchObject({ kind: "unreachable" });
        expect(out.deliveredParts).toEqual([]);
        await on.send(out);
        expect(on.platform.shown().length).toBe(1);
      },
    );

    test("a platform that does not answer is not waited for after the signal", async () => {
      on.platform.sendFails("silent");
      expect(await on.fails(on.send(on.message(), AbortSignal.timeout(50)))).toMatchObject({ kind: "unreachable" });
    });

    test("a failure between parts goes on where it was", async () => {
      const text = `${"a".repeat(on.platform.limit)} ${"b".repeat(10)}`;
      const out = on.message({ text });
      const failed = on.platform.channel.send(
        on.platform.binding,
        out,
        (part) => {
          out.deliveredParts.push(part);
          on.platform.sendFails("broken");
        },
        on.signal,
      );
      expect(await on.fails(failed)).toMatchObject({ kind: "unreachable" });
      await on.send(out);
      expect(on.platform.shown().map((part) => part.text.charAt(0))).toEqual(["a", "b"]);
    });

    test("a kill between a part's arrival and its note repeats that part alone, and only where the platform can't tell", async () => {
      const text = `${"a".repeat(on.platform.limit)} ${"b".repeat(on.platform.limit)} ${"c".repeat(10)}`;
      const [first = ""] = await on.send(on.message({ text }));
      // What is known after the restart: one part, and that there was a try.
      await on.send(on.message({ text, attempts: 1, deliveredParts: [first] }));
      const shown = on.platform.shown().map((part) => part.text.charAt(0));
      expect(shown).toEqual(on.platform.idempotent ? ["a", "b", "c"] : ["a", "b", "c", "b", "c"]);
    });

    test("an answer that is lost, or a crash before it was noted, shows a reply twice only where the platform can't tell", async () => {
      on.platform.sendFails("lost");
      const out = on.message();
      expect(await on.fails(on.send(out))).toMatchObject({ kind: "unreachable" });
      await on.send(out);
      expect(on.platform.shown().length).toBe(on.platform.idempotent ? 1 : 2);
    });

    test("somebody who does not want it ends it for that conversation alone", async () => {
      on.platform.blocks();
      expect(await on.fails(on.send(on.message()))).toMatchObject({ kind: "refused", scope: "peer" });
      await on.send(on.message({ peer: on.platform.peers.group }));
      expect(on.platform.shown("group").length).toBe(1);
    });

    test("an address that is none is refused, and nothing is sent", async () => {
      for (const peer of ["", "x", "1:2:3", "1e5", "@someone"])
        expect(await on.fails(on.send(on.message({ peer })))).toMatchObject({ kind: "refused", scope: "peer" });
    });

    test("typing is shown", async () => {
      const id = on.platform.says("question");
      await on.platform.channel.typing(on.platform.binding, on.platform.peers.private, on.signal, id);
      expect(on.platform.typing()).toBe(1);
    });
  });

  describe("growing", () => {
    test.each(["private", "group"] as const)(
      "in a %s place it is shown while it grows, where that is possible, and in the end stands there once",
      async (place) => {
        const replyTo = on.platform.says("question", place, true);
        const preview = { draftId: 7, peer: on.platform.peers[place], group: place === "group", replyTo };
        let shownAs: string | undefined;
        for (const text of ["One", "One two", "One two **thr", "One two **three**"]) {
          const id = await on.platform.channel.preview?.(
            on.platform.binding,
            { ...preview, text, ...(shownAs === undefined ? {} : { messageId: shownAs }) },
            on.signal,
          );
          shownAs = id ?? shownAs;
        }
        expect(on.platform.grew(place).length > 1).toBe(on.ways.grows);
        const out = on.message({ peer: preview.peer, text: "One two **three** four", replyTo });
        if (shownAs !== undefined) out.previewMessageId = shownAs;
        const parts = await on.send(out);
        expect(on.platform.shown(place).map(({ id }) => id)).toEqual(parts);
        expect(on.platform.shown(place)[0]?.text).toContain("four");
        expect(on.platform.shown(place).length).toBe(1);
      },
    );

    test("a preview that somebody removed is no place for the reply: it stands on its own", async () => {
      const replyTo = on.platform.says("question", "group", true);
      const peer = on.platform.peers.group;
      const preview = { draftId: 7, peer, group: true, replyTo, text: "One" };
      const id = await on.platform.channel.preview?.(on.platform.binding, preview, on.signal);
      const out = on.message({ peer, text: "One two", replyTo });
      if (id !== undefined) {
        on.platform.removes(id);
        expect(on.platform.shown("group")).toEqual([]);
        const grown = { ...preview, text: "One tw", messageId: id };
        expect(await on.platform.channel.preview?.(on.platform.binding, grown, on.signal)).toBeUndefined();
        out.previewMessageId = id;
      }
      const parts = await on.send(out);
      expect(on.platform.shown("group")).toEqual([{ id: parts[0] ?? "", text: "One two", replyTo }]);
    });
  });
}
