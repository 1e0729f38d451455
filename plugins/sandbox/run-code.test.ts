// Tests `run_code` in turns: what the model gets, the files of a message, and the taint of what is read.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { silent } from "../../tests/support/database.ts";
import { rejectionOf } from "../../tests/support/rejection.ts";
import { callTool, toolContext } from "../../tests/support/skills.ts";
import type { Agent } from "../agents/index.ts";
import { openRuntimeFixture, type RuntimeFixture } from "../runtime/support.test.ts";
import { type MessageFile, skills, TAINT, type Taint, type ToolContext } from "../skills/index.ts";
import { prepareTool } from "../skills/prepared-tool.ts";
import type { NewReplyFile, ReplyFileMaker } from "../uploads/index.ts";
import { sandbox as sandboxPlugin } from "./index.ts";
import { createRunCodeSkill } from "./run-code-skill.ts";
import { createSandbox } from "./runner/sandbox.ts";
import { drawSvg } from "./sending/svg-picture.ts";

describe("in a turn", () => {
  let fixture: RuntimeFixture;
  beforeAll(async () => {
    fixture = await openRuntimeFixture();
    fixture.host.use(sandboxPlugin);
  });
  beforeEach(() => fixture.upstream.reset());
  afterAll(async () => {
    fixture?.host.use(sandboxPlugin).stop();
    await fixture?.[Symbol.asyncDispose]();
  });
  const offered = () => fixture.upstream.chats.at(-1)?.body.tools?.map((tool) => tool.function.name) ?? [];

  async function agentThatRuns(code: string, config = {}): Promise<{ agent: Agent; results: string[] }> {
    const agent = await fixture.agent({ skills: { "run-code": true }, ...config });
    const results: string[] = [];
    fixture.upstream.script(({ toolResults }) => {
      results.push(...toolResults.map(({ content }) => content));
      return results.length > 0 ? "Done." : { toolCalls: [{ name: "run_code", arguments: { code } }] };
    });
    return { agent, results };
  }

  test("it is offered only to agents that have it switched on", async () => {
    const agent = await fixture.agent();
    await fixture.chat(agent, "Compute.");
    expect(offered()).not.toContain("run_code");
    await fixture.host.use(skills).setEnabled(agent.id, "run-code", true);
    await fixture.chat(agent, "Compute.");
    expect(offered()).toContain("run_code");
  });

  test("the model gets what the program printed and returned", async () => {
    const { agent, results } = await agentThatRuns("console.log('adding'); return 20 + 22");
    await fixture.chat(agent, "What is 20 + 22?");
    expect(results).toEqual(["adding\n\nReturned: 42"]);
  });

  test("an agent whose owner has forbidden it does not run it", async () => {
    const { agent, results } = await agentThatRuns("return 1", { approvals: { run_code: "deny" } });
    await fixture.chat(agent, "Compute.");
    expect(results).toEqual([expect.stringContaining("The owner of this agent has forbidden run_code.")]);
  });
});

describe("files", () => {
  const runner = createSandbox();
  afterAll(() => runner.stop());

  async function call(
    code: string,
    files: readonly MessageFile[] = [],
    more: Pick<ToolContext, "attach"> = {},
    send?: readonly string[],
  ) {
    const [tool] = createRunCodeSkill(runner).tools("agent");
    if (!tool) throw new Error("No tool.");
    const taints: Taint[] = [];
    const context = toolContext("agent", { ...more, files, raiseTaint: (taint) => void taints.push(taint) });
    return {
      ...(await callTool(prepareTool(tool, "run-code", silent), { code, ...(send && { send }) }, context)),
      taints,
    };
  }
  const file = (name: string, content: string, more: Partial<MessageFile> = {}): MessageFile => ({
    name,
    mediaType: "text/csv",
    read: async (limit) => (content.length > limit ? undefined : new TextEncoder().encode(content)),
    ...more,
  });

  test("of the message can be read; their text is marked, and taints the turn", async () => {
    const { text, taints } = await call("return files.read('a.csv').split(',').length", [file("a.csv", "1,2,3")]);
    expect(text).toStartWith('<untrusted source="run_code">\nReturned: 3\n</untrusted>');
    expect(taints).toEqual([TAINT.outside]);
  });

  test("are not fetched for code that does not name them", async () => {
    let fetched = 0;
    const read = async () => {
      fetched++;
      return undefined;
    };
    const { text, taints } = await call("return 1", [file("a.csv", "", { read })]);
    expect(text).toBe("Returned: 1");
    expect({ fetched, taints }).toEqual({ fetched: 0, taints: [] });
  });

  test("that can't be had are errors of the program", async () => {
    const failing = async (more: Partial<MessageFile>) =>
      (await call("return files.read('a')", [file("a", "x", more)])).text;
    expect(await failing({ read: async () => undefined })).toContain("This file is gone, or too large.");
    expect(await failing({ read: () => Promise.reject(new Error("socket")) })).toContain("can't be fetched right now");
    expect(await failing({ size: 3_000_000 })).toContain("too large");
  });

  test("that it writes come with the result, by name and type", async () => {
    const { text, files } = await call(
      "files.write('chart.svg', '<svg/>'); files.write('data.bin', new Uint8Array(2))",
    );
    expect(text).toStartWith("Wrote: chart.svg (6 bytes), data.bin (2 bytes). They were not sent:");
    expect(files).toEqual([
      { name: "chart.svg", mediaType: "image/svg+xml", data: btoa("<svg/>") },
      { name: "data.bin", mediaType: "application/octet-stream", data: "AAA=" },
    ]);
  });

  test("that the model names are sent; an SVG as a picture", async () => {
    const sent: NewReplyFile[] = [];
    const attach = async (file: NewReplyFile | ReplyFileMaker) => {
      if (typeof file === "function") throw new Error("The file is there already.");
      sent.push(file);
      return { ...file, id: "1", size: file.bytes.length, kind: "document" as const, caption: null };
    };
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><text y="15">Ä</text></svg>';
    const code = `files.write('chart.svg', ${JSON.stringify(svg)}); files.write('a.csv', '1;2'); files.write('b.svg', 'none')`;
    const names = ["chart.svg", "a.csv", "b.svg", "c.txt"];
    const { text } = await call(code, [], { attach }, names);
    expect(sent.map(({ name, type }) => [name, type])).toEqual([
      ["chart.png", "image/png"],
      ["a.csv", "text/csv"],
    ]);
    // The width in a PNG's header: small charts are drawn larger.
    expect(Buffer.from(sent[0]?.bytes ?? []).readUInt32BE(16)).toBe(1_200);
    expect(text.split("\n\n").at(-1)?.split("\n")).toEqual([
      "chart.png is sent with your reply. Don't repeat its content.",
      "a.csv is sent with your reply. Don't repeat its content.",
      expect.stringMatching(/^b\.svg was not sent\. The SVG can't be drawn/),
      "c.txt was not sent, because the program has not written it.",
    ]);
  });

  test("are not sent where a reply is text alone", async () => {
    const { text } = await call("files.write('a.csv', '1;2')", [], {}, ["a.csv"]);
    expect(text).toContain("Files can't be sent in this conversation");
  });

  test("a program that fails says why, and one without output says what to do", async () => {
    expect((await call("null.x")).text).toContain("The program failed. TypeError");
    expect((await call("")).text ?? "").toContain("not valid");
    expect((await call("1")).text).toContain("Print with console.log, or return a value.");
  });
});

test("a drawing ends with its turn, also if that ends before the drawing begins", async () => {
  const turn = new AbortController();
  const drawing = drawSvg('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>', turn.signal);
  turn.abort(new Error("The turn is over."));
  expect(String(await rejectionOf(drawing))).toContain("The turn is over.");
});
