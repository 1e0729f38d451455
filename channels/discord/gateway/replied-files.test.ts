// Tests which files a reply on Discord brings along.
import { describe, expect, test } from "bun:test";
import { isMessage, readMessage } from "./messages.ts";

const bot = { id: "900000000000000001", username: "helper" };
const ada = { id: "700000000000000001", username: "ada" };
const channel_id = "800000000000000001";
const file = (filename: string, content_type: string) => ({
  ...{ id: "600000000000000001", filename, content_type, size: 5 },
  url: `https://cdn.discordapp.com/attachments/1/600000000000000001/${filename}`,
});
const VOICE = 1 << 13;

/** Ada's reply to a message with these fields. */
function replyTo(replied: object, own: object = {}) {
  const message: unknown = {
    ...{ id: "500000000000000002", channel_id, author: ada, content: "keep it", type: 19, attachments: [] },
    referenced_message: { id: "500000000000000001", channel_id, author: ada, content: "", ...replied },
    ...own,
  };
  if (!isMessage(message)) throw new Error("not a message");
  return readMessage(message, bot);
}
const guide = { attachments: [file("guide.pdf", "application/pdf")] };

describe("a reply", () => {
  test("brings the files of the message along, and names them", () => {
    const read = replyTo(guide);
    expect(read).toMatchObject({ text: "[in answer to a message with document: guide.pdf]\nkeep it" });
    expect(read?.attachments).toMatchObject([
      { name: "guide.pdf", ref: expect.stringContaining(`${channel_id}/500000000000000001/`) },
    ]);
  });

  test("brings the agent's own files along, but not what it has said", () => {
    expect(replyTo({ ...guide, author: bot })?.attachments).toHaveLength(1);
    const spoken = { attachments: [file("voice-message.ogg", "audio/ogg")], flags: VOICE };
    expect(replyTo({ ...spoken, author: bot })).toMatchObject({ text: "keep it" });
    expect(replyTo({ ...spoken, author: bot })?.attachments).toBeUndefined();
    const [recording] = replyTo(spoken)?.attachments ?? [];
    expect(recording).toMatchObject({ kind: "audio" });
    expect(recording).not.toHaveProperty("voice");
  });

  test("with a file of its own has that one alone", () => {
    const read = replyTo(guide, { attachments: [file("other.txt", "text/plain")] });
    expect(read?.attachments).toMatchObject([{ name: "other.txt" }]);
    expect(read?.text).not.toContain("guide.pdf");
  });

  test.each([[null], [{}], [{ id: "x" }], [{ attachments: "no" }]])("to %j is read without files", (replied) => {
    expect(replyTo({}, { referenced_message: replied && { author: ada, ...replied } })?.attachments).toBeUndefined();
  });
});
