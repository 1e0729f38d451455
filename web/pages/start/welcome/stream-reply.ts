// Sends a message to an agent and follows its reply as it is written.

import { send } from "../../../api/api.ts";
import { ApiError } from "../../../api/errors.ts";
import { t } from "../../../viewer/language.ts";

interface Watch {
  onText: (more: string) => void;
  /** The agent uses a tool. */
  onTool: (name: string) => void;
  signal: AbortSignal;
}

/** Resolves with the whole reply. Throws what `send` throws, and ApiError for a turn that failed. */
export async function streamReply(
  agentId: string,
  message: string,
  { onText, onTool, signal }: Watch,
): Promise<string> {
  const response = await send("POST", "/api/agent", {
    body: { message, agentId },
    headers: { accept: "text/event-stream" },
    signal,
  });
  for await (const { event, data } of framesOf(response)) {
    if (event === "delta") onText(String(data.text ?? ""));
    if (event === "tool" && data.state === "called") onTool(String(data.name ?? ""));
    if (event === "reply") return String(data.reply ?? "");
    if (event === "error") {
      throw new ApiError(
        Number(data.status ?? 500),
        String(data.code ?? "UNKNOWN"),
        String(data.error ?? ""),
        data,
        undefined,
      );
    }
  }
  throw new ApiError(502, "STREAM_ENDED", t("The reply broke off. Send the message again."), {}, undefined);
}

interface Frame {
  event: string;
  data: Record<string, unknown>;
}

/** Server-sent events, as the API writes them: one `event` and one `data` line each. */
async function* framesOf({ body }: Response): AsyncGenerator<Frame, void> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  while (reader) {
    const { done, value = "" } = await reader.read();
    rest += value;
    const frames = rest.split("\n\n");
    rest = frames.pop() ?? "";
    for (const frame of frames) {
      const [, event = "", data = ""] = /^event: (.*)\ndata: (.*)$/.exec(frame) ?? [];
      if (event !== "") yield { event, data: JSON.parse(data) as Record<string, unknown> };
    }
    if (done) return;
  }
}
