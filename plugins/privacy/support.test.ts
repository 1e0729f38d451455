// Plants a marker in every table and file that can hold somebody's data, and looks for it in files.
import { expect } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Kernel } from "../../src/kernel/plugin.ts";

export const MARK = "zqxmarkerzqx";
export const ID = "8812345671";
export const OTHER = "9900000002";
export const CHANNEL = "channel_a";

/** Files of the data folder in which a text occurs, also in compressed ones. */
export function filesOf(folder: string, text: string): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => {
      const bytes = readFileSync(path);
      return (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).includes(text);
    });
}

/** Writes as a sender does, and lets the agent keep everything that it can keep of them. */
export const planter =
  ({ database, config }: Pick<Kernel, "database" | "config">, agentId: string) =>
  async (sender: string, mark: string, { group = "", at = Date.now() } = {}): Promise<void> => {
    const write = (sql: string, ...args: (string | number | null)[]) => database.write([{ sql, args }]);
    const peer = group || sender;
    const session = `${agentId}: ${group || `with ${sender === ID ? "them" : "another"}`}`;
    const [turn, step] = [Bun.randomUUIDv7(), 1];
    const text = `${mark} says hello`;
    await write(
      "INSERT OR IGNORE INTO sessions (id, agent_id, platform, peer, summary, summary_upto, created_at, last_activity_at) VALUES (?, ?, ?, ?, ?, 0, ?, ?)",
      ...[session, agentId, CHANNEL, peer, text, at, at],
    );
    await write(
      `INSERT INTO inbox (id, agent_id, session_id, platform, platform_message_id, peer, sender_id, sender_name, by_owner, is_group, content,
      topic, attachments, transcribed_by, status, received_at, settled_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, 'x', 'done', ?, ?)`,
      ...[
        turn,
        agentId,
        session,
        CHANNEL,
        `${peer}:${turn}`,
        peer,
        sender,
        `${mark} Name`,
        group ? 1 : 0,
        text,
        text,
        `[{"name":"${mark}"}]`,
        at,
        at,
      ],
    );
    for (const role of ["user", "assistant"])
      await write(
        "INSERT INTO messages (id, session_id, agent_id, inbox_id, platform, role, content, steps, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ...[Bun.randomUUIDv7(), session, agentId, turn, CHANNEL, role, text.repeat(300), `["${mark}"]`, at],
      );
    await write(
      "UPDATE sessions SET message_count = (SELECT count(*) FROM messages WHERE session_id = ?1) WHERE id = ?1",
      session,
    );
    await write(
      "INSERT INTO outbox (id, inbox_id, agent_id, platform, peer, body, status, created_at) VALUES (?, ?, ?, ?, ?, ?, 'sent', ?)",
      ...[Bun.randomUUIDv7(), turn, agentId, CHANNEL, peer, text, at],
    );
    await write(
      "INSERT INTO turn_steps (agent_id, turn_id, seq, kind, name, input, output, taint) VALUES (?, ?, ?, 'tool', 'x', ?, ?, 0)",
      ...[agentId, turn, step, text, text],
    );
    await write(
      `INSERT INTO approvals (id, agent_id, session_id, turn_id, step, code, platform, by_owner, tool, class, summary, input, status, requested_at, expires_at)
      VALUES (?, ?, ?, ?, 1, ?, ?, 0, 'x', 'write', ?, ?, 'denied', ?, ?)`,
      ...[Bun.randomUUIDv7(), agentId, session, turn, turn.slice(-6), CHANNEL, text, text, at, at],
    );
    await write(
      "INSERT INTO memories (id, agent_id, circle, content, digest, source, created_at, updated_at, turn_id) VALUES (?, ?, ?, ?, ?, 'agent', ?, ?, ?)",
      ...[Bun.randomUUIDv7(), agentId, `${CHANNEL}:${peer}`, `${text} ${turn}`, turn, at, at, turn],
    );
    await write(
      "INSERT INTO memory_vectors (seq, agent_id, model, dimensions, embedding) SELECT max(seq), ?, 'x', 1, CAST(? AS BLOB) FROM memories",
      ...[agentId, mark],
    );
    // Those of a group have no author.
    if (!group)
      await write(
        "INSERT INTO reminders (id, agent_id, session_id, platform, peer, by_owner, text, dedupe, due_at, created_at) VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?, ?)",
        ...[Bun.randomUUIDv7(), agentId, session, CHANNEL, peer, text, turn, at, at],
      );
    await write(
      "INSERT INTO agent_logs (id, agent_id, at, level, source, message) VALUES (?, ?, ?, 'info', 'x', ?)",
      ...[Bun.randomUUIDv7(), agentId, at, `${mark} Name (${sender}) wrote`],
    );
    const data = JSON.stringify({ agentId, sessionId: session, inboxId: turn, text });
    const [event] = await write(
      "INSERT INTO events (id, type, agent_id, data, created_at) VALUES (?, 'agent.message', ?, ?, ?)",
      ...[turn, agentId, data, at],
    );
    expect(event?.rowsAffected).toBe(1);
    await write(
      "INSERT INTO jobs (id, kind, payload, run_at, max_attempts, created_at) VALUES (?, 'runtime.extract-facts', ?, ?, 1, ?)",
      ...[turn, JSON.stringify({ agentId, sessionId: session, peer, ...(!group && { mark }) }), at + 1e9, at],
    );
    const upload = Bun.randomUUIDv7();
    await write(
      "INSERT INTO uploads (id, agent_id, name, type, size, created_at) VALUES (?, ?, ?, 'text/plain', 3, ?)",
      ...[upload, agentId, `${mark}.txt`, at],
    );
    await write(
      "INSERT INTO upload_uses (agent_id, message_id, upload_id) VALUES (?, ?, ?)",
      ...[agentId, turn, upload],
    );
    mkdirSync(join(config.dataDir, "uploads", agentId), { recursive: true });
    writeFileSync(join(config.dataDir, "uploads", agentId, upload), text);
  };
