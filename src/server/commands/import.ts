// Runs `berth import`: makes an agent of a folder or file of another program, or of an exported agent, also while the service runs.
import { realpath, stat } from "node:fs/promises";
import { type ReportRow, rowOf } from "../../../plugins/lifecycle/takeover/report.ts";
import { environment } from "../../kernel/config/config.ts";
import { programName } from "../../kernel/config/program-name.ts";
import { AppError } from "../../kernel/errors.ts";
import { loadAllSettings } from "../settings.ts";

type Flags = Readonly<Record<string, string | boolean | string[] | undefined>>;

/** Bytes of a file, as in requests. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;
/** Exit codes beside 0 and 1, a refusal. */
const USAGE = 2;
const ALREADY_IMPORTED = 3;

const FORMATS: Readonly<Record<string, string>> = {
  berth: "an exported agent",
  openclaw: "an OpenClaw workspace",
  elizaos: "an elizaOS character",
  "character-card": "a character card",
};

interface Preview {
  name: string;
  format: string;
  report: ReportRow[];
}
interface Imported extends Omit<Preview, "name"> {
  agent: { id: string; name: string; status: string };
  owner: string;
  switchedOff: { kind: string; name: string; how: string }[];
}

/** Returns the exit code: 0, 1 for a refusal (thrown), 2 with the usage, 3 if it was imported before. */
export async function importCommand(path: string | undefined, flags: Flags): Promise<number> {
  const { owner, "dry-run": isDryRun, again, json } = flags;
  if (path === undefined) {
    process.stderr.write(
      `Usage: ${programName()} import FOLDER|FILE [--owner EMAIL] [--dry-run] [--again] [--json]\n` +
        "Makes an agent of an OpenClaw workspace, an elizaOS character, a character card or an exported agent. --dry-run shows what would be taken over.\n",
    );
    return USAGE;
  }
  const { bytes, origin, rows } = await readSource(path);
  const config = loadAllSettings(environment());
  // Loaded here, because it loads the whole service.
  const { askService, runCommand } = await import("./run-command.ts");
  const data = Buffer.from(bytes).toString("base64");
  const print = (result: object, text: string) =>
    void process.stdout.write(json === true ? `${JSON.stringify(result, null, 2)}\n` : text);

  if (isDryRun === true) {
    const name = "agent.import-preview";
    const preview = ((await askService(config, name, { data })) ?? (await previewAlone(name, data))) as Preview;
    const result = { ...preview, report: [...preview.report, ...rows] };
    const head = `${clean(result.name)} would be made of ${FORMATS[result.format] ?? result.format}. Nothing was changed.\n`;
    print(result, head + reportText(result.report));
    return 0;
  }
  try {
    const args = {
      data,
      ...(typeof owner === "string" && { email: owner }),
      again: String(again === true),
      ...(origin && { origin }),
    };
    const imported = (await runCommand(config, "agent.import", args)) as Imported;
    const result = { ...imported, report: [...imported.report, ...rows] };
    print(result, importedText(result, config.baseUrl));
    return 0;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "ALREADY_IMPORTED") throw error;
    process.stderr.write(`berth: ${clean(error.message)} To ask for another: --again.\n`);
    return ALREADY_IMPORTED;
  }
}

/** Without a service: a preview reads no data of it, and makes none. */
async function previewAlone(name: string, data: string): Promise<unknown> {
  const { withTemporaryApp } = await import("../temporary-app.ts");
  const { dispatch } = await import("../control-socket.ts");
  return withTemporaryApp(({ commands }) => dispatch(commands, name, { data }));
}

interface Source {
  bytes: Uint8Array;
  /** SHA-256 of the folder's place; undefined for a file. */
  origin?: string;
  /** What of the folder was not read. */
  rows: ReportRow[];
}

async function readSource(path: string): Promise<Source> {
  const info = await stat(path).catch((error: unknown) => {
    throw error instanceof Error && "code" in error && ["ENOENT", "ENOTDIR"].includes(String(error.code))
      ? new AppError(404, "NOT_FOUND", `There is no folder or file ${path}.`)
      : error;
  });
  if (!info.isDirectory()) {
    if (!info.isFile() || info.size > MAX_FILE_BYTES) {
      throw new AppError(413, "BODY_TOO_LARGE", "This is no file of at most 32 MiB.");
    }
    return { bytes: await Bun.file(path).bytes(), rows: [] };
  }
  const { packFolder } = await import("../../../plugins/lifecycle/takeover/pack-folder.ts");
  const { zip, links, tooLarge } = await packFolder(path);
  if (!zip) {
    const text =
      "There is nothing in this folder that Berth can take over: an OpenClaw workspace has an AGENTS.md, SOUL.md or IDENTITY.md.";
    throw new AppError(400, "UNKNOWN_FORMAT", text);
  }
  const origin = new Bun.CryptoHasher("sha256").update(await realpath(path)).digest("hex");
  const rows = [
    ...links.map((one) => rowOf(false, one, "LINK")),
    ...tooLarge.map((one) => rowOf(false, one, "TOO_LARGE")),
  ];
  return { bytes: zip, origin, rows };
}

function importedText({ agent, owner, format, report, switchedOff }: Imported, baseUrl: string): string {
  const head = `${clean(agent.name)} is made of ${FORMATS[format] ?? format}, for ${clean(owner)}:\n${baseUrl}/agents/${agent.id}/chat\n`;
  const off = switchedOff.map(({ kind, name }) => `  ${kind === name ? kind : `${kind} ${clean(name)}`}\n`).join("");
  return `${head}${reportText(report)}${off === "" ? "" : `\nSwitched off, or asking first, until you decide:\n${off}`}`;
}

/** Two tables: what was taken, and what was not. */
function reportText(report: readonly ReportRow[]): string {
  const rows = (taken: boolean) => report.filter((row) => row.taken === taken);
  const table = (title: string, of: readonly ReportRow[]): string => {
    const cells = of.map(({ source, count, note }) => [
      clean(source),
      count === null ? "" : String(count),
      clean(note),
    ]);
    const width = (column: number) => Math.max(0, ...cells.map((row) => Bun.stringWidth(row[column] ?? "")));
    const pad = (text = "", to = 0) => text + " ".repeat(Math.max(0, to - Bun.stringWidth(text)));
    const lines = cells.map(([source, count, note]) => {
      return `  ${pad(source, width(0))}  ${" ".repeat(width(1) - (count ?? "").length)}${count}  ${note}\n`;
    });
    return lines.length === 0 ? "" : `\n${title}\n${lines.join("")}`;
  };
  return table("Taken over", rows(true)) + table("Not taken over", rows(false));
}

/** Without characters that a terminal would interpret: the texts come from the folder. */
const clean = (text: string) => text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "");
