// The contract's scenarios for files in replies: each arrives in the platform's own way, or its reader is told.
import { describe, expect, test } from "bun:test";
import type { FileKind, OutgoingFile } from "../port.ts";
import type { Harness } from "./harness.ts";

const latin = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));

/** The first bytes are those of the type; platforms look at them. */
const CONTENT: Readonly<Record<FileKind, { mimeType: string; name: string; bytes: Uint8Array<ArrayBuffer> }>> = {
  picture: { mimeType: "image/png", name: "chart.png", bytes: latin("\x89PNG\r\n\x1a\n a chart") },
  voice: { mimeType: "audio/ogg", name: "answer.ogg", bytes: latin("OggS spoken words") },
  audio: { mimeType: "audio/mpeg", name: "song.mp3", bytes: latin("ID3 a song") },
  document: { mimeType: "text/csv", name: "table.csv", bytes: latin("a;b\n1;2\n") },
};

function fileOf(kind: FileKind, more: Partial<OutgoingFile> = {}): OutgoingFile {
  const { bytes, ...about } = CONTENT[kind];
  return {
    kind,
    ...about,
    size: bytes.length,
    inReadersLanguage: (text) => text,
    withBytes: (use) => use(bytes),
    ...more,
  };
}

export function defineFileScenarios(harness: Harness): void {
  const shown = () => harness.platform.visibleMessages();

  describe("files", () => {
    test("follow the text, each in the platform's own way, in order", async () => {
      const kinds = ["picture", "voice", "audio", "document"] as const;
      const files = kinds.map((kind) => fileOf(kind, kind === "picture" ? { caption: "Sales by month" } : {}));
      const parts = await harness.send(harness.message({ text: "Here they are.", files }));
      expect(shown().map(({ id }) => id)).toEqual(parts);
      expect(shown()[0]).toMatchObject({ text: "Here they are." });
      expect(shown().map(({ file }) => file && { as: file.as, bytes: file.bytes })).toEqual([
        undefined,
        ...kinds.map((kind) => ({ as: harness.platform.shownAs[kind], bytes: CONTENT[kind].bytes })),
      ]);
      expect(shown()[4]?.file?.name).toBe("table.csv");
      expect(shown()[1]?.file?.caption ?? shown()[1]?.text).toBe("Sales by month");
    });

    test("are a reply without a text", async () => {
      const replyTo = harness.platform.userSays("question", "group", true);
      const peer = harness.platform.peers.group;
      await harness.send(harness.message({ text: "", peer, replyTo, files: [fileOf("picture")] }));
      const [only, ...more] = harness.platform.visibleMessages("group");
      expect(only).toMatchObject({ replyTo, file: { as: harness.platform.shownAs.picture } });
      expect(more).toEqual([]);
    });

    test("that are too large are not read; their reader is told where they are", async () => {
      const address = "https://example.com/files/1";
      const withBytes = () => Promise.reject(new Error("It was read."));
      const files = [fileOf("document", { size: 101_000_000, address, withBytes }), fileOf("picture")];
      const parts = await harness.send(harness.message({ files }));
      expect(parts).toHaveLength(3);
      expect(shown()[1]?.text).toMatch(/^table\.csv \(101 MB\) can't be sent here: \w+ takes files of up to \d+ MB\./);
      expect(shown()[1]?.text).toContain(address);
      expect(shown()[2]?.file).toBeDefined();
    });

    test("that were deleted meanwhile are named", async () => {
      await harness.send(harness.message({ files: [fileOf("picture", { withBytes: (use) => use(undefined) })] }));
      expect(shown().map(({ text }) => text)).toEqual([
        "the reply",
        expect.stringContaining("it was deleted meanwhile."),
      ]);
    });

    test("that the platform refuses do not fail the reply", async () => {
      harness.platform.failNextFiles("refused");
      await harness.send(harness.message({ text: "", files: [fileOf("picture"), fileOf("document")] }));
      expect(shown()[0]?.text).toContain("did not take it. The owner of this agent can pass it on.");
      expect(shown()[1]?.file?.bytes).toEqual(CONTENT.document.bytes);
      expect(shown()).toHaveLength(2);
    });

    test("that hold spoken words leave the words where the sound can't be sent", async () => {
      const files = [fileOf("voice", { words: "Ahoy there", withBytes: (use) => use(undefined) })];
      await harness.send(harness.message({ text: "", files }));
      expect(shown().map(({ text }) => text)).toEqual(["Ahoy there"]);
    });

    test("that were delivered are not sent again", async () => {
      const files = [fileOf("picture"), fileOf("document")];
      await harness.send(harness.message({ files, attempts: 1, deliveredParts: ["text", "picture"] }));
      expect(shown().map(({ file }) => file?.name)).toEqual(["table.csv"]);
    });

    test.each(["broken", "cut", "busy"] as const)(
      "a call that is %s is repeated; the file is shown once",
      async (fault) => {
        harness.platform.failNextFiles(fault);
        const out = harness.message({ text: "", files: [fileOf("picture")] });
        expect(await harness.expectChannelError(harness.send(out))).toMatchObject({
          kind: fault === "busy" ? fault : "unreachable",
        });
        harness.platform.channel.forget(harness.platform.binding);
        await harness.send(out);
        expect(shown().map(({ file }) => file?.bytes)).toEqual([CONTENT.picture.bytes]);
      },
    );

    test("are shown twice after a lost response only where sends are not idempotent", async () => {
      harness.platform.failNextFiles("lost");
      const out = harness.message({ text: "", files: [fileOf("picture")] });
      expect(await harness.expectChannelError(harness.send(out))).toMatchObject({ kind: "unreachable" });
      await harness.send(out);
      expect(shown()).toHaveLength(harness.capabilities.isIdempotent ? 1 : 2);
    });
  });
}
