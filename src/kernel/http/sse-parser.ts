// Parses a stream of server-sent events (WHATWG HTML §9.2) as Berth writes them.

/** Yields the events of a stream as they arrive. Leaving the loop cancels the stream. */
export async function* parseEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<{ event: string; data: string }> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
      yield parseFrame(rest.slice(0, end));
      rest = rest.slice(end + 2);
    }
  }
}

/** Yields the events of a text that consists of whole ones. */
export async function* parseFrames(text: string): AsyncGenerator<{ event: string; data: string }> {
  for (const frame of text.split("\n\n")) if (frame !== "") yield parseFrame(frame);
}

function parseFrame(frame: string): { event: string; data: string } {
  const lines = frame.split("\n");
  const field = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2));
  return { event: field("event").join("") || "message", data: field("data").join("\n") };
}
