// Parses a stream of server-sent events (WHATWG HTML §9.2) as Berth writes them.

/** Yields the events of a stream as they arrive. Leaving the loop cancels the stream. */
export async function* parseEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<{ event: string; data: string }> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
      const lines = rest.slice(0, end).split("\n");
      rest = rest.slice(end + 2);
      const field = (name: string) =>
        lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2));
      yield { event: field("event").join("") || "message", data: field("data").join("\n") };
    }
  }
}
